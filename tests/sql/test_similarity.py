"""Similarities of concepts: against a naive reading of their definitions, and as a table that is kept right."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from itertools import combinations_with_replacement
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb import resources
from anondb.db import ontology
from anondb.db.connection import Connection
from anondb.db.errors import translate
from anondb.db.install.upgrade import upgrade
from anondb.errors import UsageError
from anondb.ontology import graph
from anondb.ontology.csvfile import parse
from anondb.ontology.measures import MEASURES
from anondb.ontology.model import Concept, Edge, Ontology

ANIMALS = parse(
    "dog,mammal\ncat,mammal\nbat,mammal\nbat,flyer\nmammal,animal\nflyer,animal\n", place="animals.csv"
)


class Oracle:
    """The measures as their papers define them, one pair at a time, on sets of keys."""

    def __init__(self, found: Ontology) -> None:
        self.parents: dict[str, set[str]] = {concept.key: set() for concept in found.concepts}
        for edge in found.edges:
            self.parents[edge.child].add(edge.parent)
        depths = graph.depths(found)
        self.shortest = {key: depth for key, (depth, _) in depths.items()}
        self.longest = {key: depth for key, (_, depth) in depths.items()}
        self.virtual = found.root_depth > 0
        self.levels = max(self.longest.values()) - found.root_depth + 1
        self.root_depth = found.root_depth
        self.up = {key: self._distances(key) for key in self.parents}

    def _distances(self, key: str) -> dict[str, int]:
        found, front = {key: 0}, {key}
        while front:
            front = {parent for child in front for parent in self.parents[child]} - found.keys()
            found |= dict.fromkeys(front, max(found.values()) + 1)
        return found

    def links(self, a: str, b: str) -> int | None:
        common = self.up[a].keys() & self.up[b].keys()
        if common:
            return min(self.up[a][c] + self.up[b][c] for c in common)
        above_root = self.root_depth - 1
        return self.shortest[a] + self.shortest[b] - 2 * above_root if self.virtual else None

    def wup(self, a: str, b: str) -> float:
        if a == b:
            return 1
        common = self.up[a].keys() & self.up[b].keys()
        lowest = [c for c in common if not any(c in self.up[d] and c != d for d in common)]
        if not lowest:
            return 2 / (self.shortest[a] + self.shortest[b]) if self.virtual else 0
        deepest = min(lowest, key=lambda c: (-self.shortest[c], self.up[a][c] + self.up[b][c], c))
        depth = self.shortest[deepest]
        return 2 * depth / (self.up[a][deepest] + self.up[b][deepest] + 2 * depth)

    def wup_depth(self, a: str, b: str) -> float:
        if a == b:
            return 1
        depths = [self.longest[c] for c in self.up[a].keys() & self.up[b].keys()]
        both = self.longest[a] + self.longest[b]
        return 2 * max(depths, default=1 if self.virtual else 0) / both if both else 0

    def path(self, a: str, b: str) -> float:
        links = self.links(a, b)
        return 0 if links is None else 1 / (1 + links)

    def lch(self, a: str, b: str) -> float:
        links = self.links(a, b)
        if links is None:
            return 0
        return max(0, -math.log((1 + links) / (2 * self.levels)) / math.log(2 * self.levels))

    def shared(self, a: str, b: str) -> float:
        return len(self.up[a].keys() & self.up[b].keys()) / len(self.up[a].keys() | self.up[b].keys())


@st.composite
def ontologies(draw: st.DrawFn) -> Ontology:
    """Small graphs with several parents, several roots, and a virtual root or none."""
    size = draw(st.integers(2, 9))
    keys = [f"c{number}" for number in range(size)]
    edges = []
    for number in range(1, size):
        above = draw(st.sets(st.sampled_from(keys[:number]), max_size=3))
        edges += [Edge(keys[number], parent, "isa") for parent in sorted(above)]
    # of WordNet's kind, which may have concepts without any edge
    root_depth = draw(st.sampled_from([0, 2]))
    return Ontology("wordnet", None, root_depth, [Concept(key, "n", key, "") for key in keys], edges)


def similarities(connection: Connection, measure: str) -> Iterator[tuple[str, str, float]]:
    """Of all pairs of concepts in the database, both ways round."""
    query = """
    select x.key, y.key, s.similarity
    from (select array_agg(p.id) as a, array_agg(q.id) as b
          from anondb.concept as p cross join anondb.concept as q) as t
    cross join lateral anondb.similarities(t.a, t.b, %s) as s
    join anondb.concept as x on x.id = s.a join anondb.concept as y on y.id = s.b
    """
    return iter(connection.execute(query, (measure,)).fetchall())  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=ontologies())
def test_every_measure_is_what_its_definition_says_in_both_directions_and_within_0_and_1(
    connection: Connection, found: Ontology
) -> None:
    ontology.store(connection, "any", found)
    oracle = Oracle(found)
    for measure in MEASURES:
        rows = list(similarities(connection, measure))
        assert len(rows) == len(found.concepts) ** 2
        for a, b, similarity in rows:
            assert similarity == pytest.approx(getattr(oracle, measure)(a, b), abs=1e-12), (measure, a, b)
            assert 0 <= similarity <= 1
            assert a != b or similarity == 1


def test_a_measure_of_text_is_the_measure_of_the_concepts(connection: Connection) -> None:
    ontology.store(connection, "animals", ANIMALS)
    oracle = Oracle(ANIMALS)
    for measure in MEASURES:
        for a, b in combinations_with_replacement(("dog", "cat", "bat", "flyer", "animal"), 2):
            found = ontology.similarity(connection, a, b, measure, "animals")
            assert found == pytest.approx(getattr(oracle, measure)(a, b), abs=1e-12)


def ids(connection: Connection, *keys: str) -> list[int]:
    rows = connection.execute(
        "select c.id from anondb.concept as c where c.key = any(%s) order by 1", (list(keys),)
    )
    return [int(str(id_)) for (id_,) in rows]


@pytest.mark.parametrize("measure", MEASURES)
def test_what_is_kept_is_what_would_be_computed(connection: Connection, measure: str) -> None:
    ontology.store(connection, "animals", ANIMALS)
    every = "select anondb.remember_all_pairs(array_agg(c.id), %s) from anondb.concept as c"
    assert connection.execute(every, (measure,)).fetchone() == (6 * 7 / 2,)
    assert connection.execute(every, (measure,)).fetchone() == (0,)
    kept = connection.execute(
        """
        select x.key, y.key, k.similarity from anondb.concept_similarity as k
        join anondb.concept as x on x.id = k.a join anondb.concept as y on y.id = k.b where k.measure = %s
        """,
        (measure,),
    ).fetchall()
    direct = {(a, b): similarity for a, b, similarity in similarities(connection, measure)}
    assert len(kept) == 21
    assert all(direct[a, b] == similarity for a, b, similarity in kept)  # type: ignore[index]


def test_what_is_kept_goes_with_its_ontology(connection: Connection) -> None:
    ontology.store(connection, "animals", ANIMALS)
    ontology.store(connection, "other", parse("x,y\n", place="x.csv"))
    keep = "select anondb.remember_all_pairs(array_agg(c.id)) from anondb.concept as c group by c.ontology"
    count = "select count(*) from anondb.concept_similarity"
    assert sorted(connection.execute(keep).fetchall()) == [(3,), (21,)]
    ontology.store(connection, "animals", parse("dog,animal\n", place="x.csv"))
    assert connection.execute(count).fetchall() == [(3,)]
    ontology.drop(connection, "other")
    assert connection.execute(count).fetchall() == [(0,)]


def test_a_pair_is_computed_once_whatever_its_order(connection: Connection) -> None:
    ontology.store(connection, "animals", ANIMALS)
    dog, cat = ids(connection, "dog", "cat")
    keep = "select anondb.remember_similarities(%s, %s, 'wup')"
    assert connection.execute(keep, ([dog, cat, dog], [cat, dog, cat])).fetchone() == (1,)
    assert connection.execute(keep, ([cat], [dog])).fetchone() == (0,)
    assert connection.execute("select anondb.remember_similarities('{}', '{}')").fetchone() == (0,)


def test_a_new_measure_is_one_function(connection: Connection) -> None:
    ontology.store(connection, "animals", ANIMALS)
    connection.execute(
        """
        create function anondb.similarity_always_half(int[], int[])
        returns table (a int, b int, similarity double precision) language sql stable
        as 'select p.a, p.b, 0.5::float8 from unnest($1, $2) as p (a, b)'
        """
    )
    assert ontology.similarity(connection, "dog", "cat", "always_half", "animals") == 0.5
    kept = connection.execute(
        "select anondb.remember_all_pairs(array_agg(c.id), 'always_half') from anondb.concept as c"
    )
    assert kept.fetchone() == (21,)


@pytest.mark.parametrize("measure", ["nope", "", "wup(int[], int[]); drop", "Wup", 'a"b', "x" * 80])
def test_an_unknown_measure_is_told_with_those_that_there_are(connection: Connection, measure: str) -> None:
    ontology.store(connection, "animals", ANIMALS)
    with pytest.raises(UsageError, match="there is no similarity measure") as caught:
        ontology.similarity(connection, "dog", "cat", measure, "animals")
    # the list of the policy is that of the functions
    assert caught.value.hint == f"There are: {', '.join(sorted(MEASURES))}."


def test_concepts_of_different_ontologies_are_never_compared(connection: Connection) -> None:
    ontology.store(connection, "animals", ANIMALS)
    ontology.store(connection, "pets", parse("dog,pet\n", place="pets.csv"))
    here, there = ids(connection, "dog")
    for call in (
        "select from anondb.similarities(%s, %s, %s)",
        "select anondb.remember_similarities(%s, %s, %s)",
    ):
        for measure in MEASURES:
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(call.encode(), ([here], [there], measure))
            assert caught.value.sqlstate == "SA135"
            assert (
                translate(caught.value).message == "dog (animals) and dog (pets) are of different ontologies"
            )


@pytest.mark.parametrize(("first", "second"), [([1, 99999], [1, 1]), ([1], [None]), ([1, 1], [1])])
def test_concepts_that_do_not_exist_are_told(
    connection: Connection, first: list[int], second: list[int | None]
) -> None:
    ontology.store(connection, "animals", ANIMALS)
    [real] = ids(connection, "dog")
    with pytest.raises(psycopg.Error) as caught:
        connection.execute(
            "select from anondb.similarities(%s::int[], %s::int[])",
            ([real if id_ == 1 else id_ for id_ in first], [real if id_ == 1 else id_ for id_ in second]),
        )
    assert caught.value.sqlstate == "SA134"


def test_an_upgrade_of_the_functions_forgets_what_the_old_ones_computed(
    connection: Connection, tmp_path: Path
) -> None:
    ontology.store(connection, "animals", ANIMALS)
    connection.execute("select anondb.remember_all_pairs(array_agg(c.id)) from anondb.concept as c")
    folder = shutil.copytree(resources.path("sql"), tmp_path / "sql")
    with (folder / "ontology" / "similarity.sql").open("a") as file:
        file.write("-- a later version\n")
    upgrade(connection, sql_dir=folder)
    assert connection.execute("select count(*) from anondb.concept_similarity").fetchall() == [(0,)]
    assert len(ontology.catalogue(connection)) == 1


def test_wordnets_verbs_meet_in_its_virtual_root(connection: Connection) -> None:
    words = [
        Concept("run.v.01", "v", "run", ""),
        Concept("sit.v.01", "v", "sit", ""),
        Concept("jog.v.01", "v", "jog", ""),
    ]
    found = Ontology("wordnet", "3.0", 2, words, [Edge("jog.v.01", "run.v.01", "isa")])
    ontology.store(connection, "wordnet", found)
    oracle = Oracle(found)
    for measure in MEASURES:
        expected = getattr(oracle, measure)("jog.v.01", "sit.v.01")
        assert ontology.similarity(connection, "jog.v.01", "sit.v.01", measure, "wordnet") == pytest.approx(
            expected
        )
    assert oracle.wup("jog.v.01", "sit.v.01") == 2 / (3 + 2)
