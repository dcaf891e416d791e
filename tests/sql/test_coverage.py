"""anondb.covers: does a released value contain an original one?"""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb.db import vgh
from anondb.db.connection import Connection
from tests import toys
from tests.refusals import refused
from tests.sql.linked_oracle import Value, reads


def covers(connection: Connection, released: Value, original: Value, tree: str | None = None) -> bool:
    row = connection.execute(
        "select anondb.covers(%s::text, %s::text, %s::text)", [released, original, tree]
    ).fetchone()
    assert row is not None
    return bool(row[0])


YES = [
    ("a", "a"),
    ("*", "a"),
    ("*", None),
    (None, None),
    ("[17, 22)", "17"),
    ("[17, 22)", "21.99"),
    ("[17, 22]", "22"),
    ("(16,22]", "17"),
    ("[-5, -1)", "-5"),
    ("[1e2, 2e2]", "150"),
    ("{a, b}", "b"),
    ("{a, b, c}", "b, c"),
    ("{a}", "a"),
    ("12**", "1299"),
    ("12**", "12"),  # a shorter value is filled up
    ("**99", "1299"),
    ("**", "12"),
    ("2024-03-09", "2024-03-09 23:59:59.5+02"),
    ("2024-03", "2024-03-31"),
    ("2024-Q1", "2024-03-31"),
    ("2024", "2024-12-31"),
    ("2020s", "2029-12-31"),
    ("[2024-01-01, 2024-02-01)", "2024-01-31"),
]
NO = [
    ("a", "A"),
    ("a", None),
    (None, "a"),
    ("", None),
    ("[17, 22)", "22"),
    ("(17, 22)", "17"),
    ("[22, 17]", "20"),
    ("[17, 22)", "x"),
    ("[a, c]", "b"),
    ("{a, b}", "a, b, c"),
    ("{a, b}", ""),
    ("{ab}", "a"),
    ("12**", "12345"),
    ("12**", "1"),
    ("12**", "2199"),
    ("**", "123"),
    ("2024-Q1", "2024-04-01"),
    ("2024", "2024"[:3]),
    ("2024-02", "2024-02-30"),  # no such day
    ("2020s", "2030-01-01"),
    ("[2024-01-01, 2024-02-01)", "2024-02-01"),
    ("fish", "salmon"),
]


@pytest.fixture
def animals(connection: Connection) -> Connection:
    vgh.store(connection, "v", toys.vgh("salmon#1;fish;animal", "cat;mammal;animal"))
    return connection


def test_what_is_contained_and_what_is_not(connection: Connection) -> None:
    for cases, expected in ((YES, True), (NO, False)):
        assert [pair for pair in cases if covers(connection, *pair) is not expected] == []


def test_a_label_contains_what_lies_below_it(animals: Connection) -> None:
    assert covers(animals, "fish", "salmon", "v")
    assert covers(animals, "animal", "cat", "v")
    assert covers(animals, "animal", None, "v")  # NULL is at the root with the others
    assert not covers(animals, "fish", "cat", "v")
    assert not covers(animals, "fish", None, "v")
    assert not covers(animals, "animal", "stone", "v")
    assert not covers(animals, "salmon#1", "salmon", "v")
    refused(animals, "SA140", "select anondb.covers('a', 'b', 'unknown')")


VALUES = st.one_of(
    st.none(), st.sampled_from(["", "1", "2", "2.5", "10", "-1", "a", "ab", "a, b", "b", "[1, 2]"])
)
LABELS = st.one_of(
    VALUES,
    st.sampled_from(["*", "**", "a*", "*b", "***b", "a**", "{a, b}", "{1, 2}", "{a, b, a}", "*a*", "[1, a]"]),
    st.builds("{}{}, {}{}".format, st.sampled_from("[("), *[st.integers(-2, 11)] * 2, st.sampled_from("])")),
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(VALUES, min_size=1, max_size=8), st.lists(LABELS, min_size=1, max_size=8))
def test_it_is_what_reading_each_pair_gives(
    connection: Connection, values: list[Value], labels: list[Value]
) -> None:
    found = connection.execute(
        "select c.original, c.released_value from anondb.coverage(%s::text[], %s::text[]) as c",
        [values, labels],
    ).fetchall()
    known = [value for value in values if value is not None]
    numbers = bool(known) and all(value.lstrip("-").replace(".", "").isdigit() for value in known)
    wanted = {(value, label) for value in values for label in labels if reads(label, value, (), numbers)}
    assert len(found) == len(set(found))
    assert set(found) == wanted


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.datetimes(datetime(1000, 1, 1), datetime(9990, 1, 1)), min_size=1, max_size=6),
    st.sampled_from(["day", "month", "quarter", "year", "decade"]),
)
def test_a_calendar_label_contains_the_moments_that_have_it(
    connection: Connection, moments: list[datetime], unit: str
) -> None:
    rows = connection.execute(
        "select m::text, anondb.date_label(m, %s) from unnest(%s::timestamp[]) as m", [unit, moments]
    ).fetchall()
    labels = {str(value): str(label) for value, label in rows}
    found = connection.execute(
        "select c.original, c.released_value from anondb.coverage(%s::text[], %s::text[]) as c",
        [list(labels), list(labels.values())],
    ).fetchall()
    assert set(found) == set(labels.items())
