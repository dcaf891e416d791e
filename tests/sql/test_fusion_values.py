"""What the values of a column mean to a fusion: concepts, codes and spellings."""

from __future__ import annotations

from typing import Any

import pytest

from anondb.db import ontology
from anondb.db.connection import Connection
from tests import toys


def concepts(connection: Connection, *terms: str) -> dict[str, str]:
    found: list[Any] = connection.execute(
        "select v.term, c.key from anondb.value_concepts(%s::text[]) as v"
        " join anondb.concept as c on c.id = v.concept",
        (list(terms),),
    ).fetchall()
    return dict(found)


def coded(connection: Connection, values: dict[str | None, int]) -> dict[str | None, tuple[int, str | None]]:
    """Code and spelling of each value, numbered in the given order; NULL is 0."""
    leaves = [0 if value is None else place for place, value in enumerate(values, 1)]
    rows: list[Any] = connection.execute(
        "select v.leaf, v.code, v.spelling from anondb.code_values(%s::int[], %s::text[], %s::bigint[]) as v",
        (leaves, list(values), list(values.values())),
    ).fetchall()
    by_leaf = {leaf: (code, spelling) for leaf, code, spelling in rows}
    assert len(by_leaf) == len(rows)
    return {value: by_leaf[leaf] for leaf, value in zip(leaves, values, strict=True)}


@pytest.mark.parametrize(
    ("first", "second"),
    [("sport", "sports"), ("relaxation", "relax"), ("Hiking", "hiking"), ("nature", "NATURE")],
)
def test_spellings_of_one_meaning_have_one_concept(
    wordnet_connection: Connection, first: str, second: str
) -> None:
    found = concepts(wordnet_connection, first, second, "beach", "museum")
    assert found[first] == found[second]


def test_a_value_that_no_ontology_knows_has_no_concept(wordnet_connection: Connection) -> None:
    assert concepts(wordnet_connection, "xqzzt", "", "  ", "beach") == {"beach": "beach.n.01"}


def test_a_number_after_a_hash_is_no_sense_in_data(wordnet_connection: Connection) -> None:
    """And so no error either, which would have the value in it."""
    assert concepts(wordnet_connection, "beach#77") == {"beach#77": "beach.n.01"}


def test_other_values_tell_what_an_ambiguous_one_means(wordnet_connection: Connection) -> None:
    assert concepts(wordnet_connection, "bass", "trout", "perch")["bass"] in ("sea_bass.n.01", "bass.n.08")


def test_the_most_frequent_spelling_stands_for_a_concept(wordnet_connection: Connection) -> None:
    found = coded(wordnet_connection, {"sport": 2, "sports": 5, "beach": 1, None: 3, "xqzzt": 1, "XQZZT": 4})
    assert found == {
        "sport": (1, "sports"),
        "sports": (1, "sports"),
        "beach": (3, "beach"),
        None: (0, None),
        "xqzzt": (5, "XQZZT"),
        "XQZZT": (5, "XQZZT"),
    }


def test_of_equally_frequent_spellings_the_first_by_its_bytes_is_taken(
    wordnet_connection: Connection,
) -> None:
    assert coded(wordnet_connection, {"sports": 2, "Sport": 2})["sports"] == (1, "Sport")


def test_likeness_is_the_similarity_in_parts(wordnet_connection: Connection) -> None:
    keys: list[Any] = wordnet_connection.execute(
        "select c.key, c.id from anondb.concept as c where c.key in ('salmon.n.01', 'fish.n.01')"
    ).fetchall()
    ids = dict(keys)
    found = wordnet_connection.execute(
        "select l.a, l.b, l.likeness from anondb.concept_likeness(array[1, 2, 3], %s::int[], 'wup', 10000) as l",
        ([ids["salmon.n.01"], ids["fish.n.01"], None],),
    ).fetchall()
    assert sorted(found) == [(1, 2, 9231), (2, 1, 9231)]  # 1 - 0.0769, GOLDEN's figure


def test_a_value_means_what_the_first_ontology_says_that_knows_it(connection: Connection) -> None:
    """Several ontologies in order of preference; concepts of different ones have nothing in common."""
    ontology.store(connection, "one", toys.ontology({"thing": [], "cat": ["thing"], "axe": ["thing"]}))
    ontology.store(
        connection, "two", toys.ontology({"being": [], "cat": ["being"], "dog": ["being"]}, root_depth=2)
    )
    asked = (
        "select v.term, o.name, c.label, v.concept from anondb.value_concepts(%s::text[], %s::text[]) as v"
    )
    asked += " join anondb.concept as c on c.id = v.concept join anondb.ontology as o on o.id = c.ontology"
    values = ["cat", "dogs", "axe", "qwertz", None]
    for order, expected in (
        (["one", "two"], {("cat", "one", "cat"), ("dogs", "two", "dog"), ("axe", "one", "axe")}),
        (["two", "one"], {("cat", "two", "cat"), ("dogs", "two", "dog"), ("axe", "one", "axe")}),
        (["two"], {("cat", "two", "cat"), ("dogs", "two", "dog")}),
    ):
        found = connection.execute(asked, (values, order)).fetchall()
        assert {row[:3] for row in found} == expected
        of = {row[0]: row[3] for row in found}
    in_one, in_two = (
        {term: concept for term, _, _, concept in connection.execute(asked, (values, [name])).fetchall()}
        for name in ("one", "two")
    )
    assert of == in_two
    pairs = connection.execute(
        "select l.a, l.b from anondb.concept_likeness(array[1, 2, 3], %s::int[], 'wup', 100) as l",
        ([in_one["cat"], in_two["cat"], in_two["dogs"]],),
    ).fetchall()
    assert sorted(pairs) == [(2, 3), (3, 2)]
