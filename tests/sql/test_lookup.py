"""Many terms that are looked up by one statement mean what each of them means by itself."""

from __future__ import annotations

import random
from typing import cast

import psycopg
import pytest

from anondb.db.connection import Connection
from tests.sql.test_terms import FOUND, one

PARTS = (
    "cheap", "old", "the", "red", "senior", "of", "in", "for", "12", "xqz", "others", "other", "running", "iii", "-",
    "women", "boxes", "wolves", "knives", "software", "engineer", "tooth", "brush", "dogs", "men", "cancer", "lung",
    "/", "nurses", "photographing", "fire", "fighter", "São", "é", "(", ")", ",", "&", "bus", "stop", "s", "churches",
    "fields", "parks", "Paris", "type", "2", "grade", "jordan", "wells",
)  # fmt: skip
ODD = (
    "",
    " ",
    "*",
    " * ",
    "dog.n.01",
    "DOG.N.01",
    "#1",
    "dog#1",
    "dog#01",
    "dogs#2",
    "dog#0",
    "_",
    "1",
    "17",
    "-",
    "a-b",
)

_BOTH = """
select t.term, (select s.concept from anondb.term_senses(t.term, o.id) as s order by s.sense limit 1), f.concept
from anondb.ontology as o cross join unnest(%s::text[]) as t (term)
left join lateral (select x.concept from anondb.first_senses(array[t.term], o.id) as x) as f on true
"""
_MANY = """
select f.term, f.concept from anondb.ontology as o cross join lateral anondb.first_senses(%s::text[], o.id) as f
"""


def terms(seed: int) -> list[str]:
    draw = random.Random(seed)
    known = [term for found in FOUND.values() for term in found if "#" not in term]
    made = {
        draw.choice((" ", " ", " ", "-", "/", ", ", "  ")).join(
            draw.choice(known if draw.random() < 0.4 else PARTS) for _ in range(draw.choice((1, 2, 2, 3, 4)))
        )
        for _ in range(700)
    }
    return sorted(
        {*made, *map(str.upper, list(made)[:40]), *(f"{term}s" for term in list(made)[:40]), *known, *ODD}
    )


@pytest.mark.parametrize("seed", range(3))
def test_terms_mean_together_what_they_mean_alone(wordnet_connection: Connection, seed: int) -> None:
    wordnet_connection.execute("select anondb.map_term('red bus', 'dog'), anondb.map_term('xqz', 'nurse')")
    asked = terms(seed)
    rows = wordnet_connection.execute(_BOTH.encode(), (asked,)).fetchall()
    assert len(rows) == len(asked)
    assert [row for row in rows if row[1] != row[2]] == []
    assert sum(row[1] is not None for row in rows) > len(asked) / 2
    found = wordnet_connection.execute(_MANY.encode(), (asked,)).fetchall()
    assert dict(cast(list[tuple[str, int]], found)) == {
        term: concept for term, concept, _ in rows if concept is not None
    }


def test_a_sense_that_is_not_there_is_refused(wordnet_connection: Connection) -> None:
    with pytest.raises(psycopg.Error) as refused, wordnet_connection.transaction():
        wordnet_connection.execute(_MANY.encode(), (["dog", "dog#99"],))
    assert refused.value.sqlstate == "SA131"


def test_nothing_is_found_for_nothing(wordnet_connection: Connection) -> None:
    assert wordnet_connection.execute(_MANY.encode(), ([],)).fetchall() == []
    assert wordnet_connection.execute(_MANY.encode(), ([None],)).fetchall() == []
    assert one(wordnet_connection, "select count(*) from anondb.first_senses(null, 1)") == 0
