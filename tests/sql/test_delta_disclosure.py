"""anondb.delta_disclosure: by hand, against a naive program on random tables, and every mistake told."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql

from anondb.db.connection import Connection
from tests.refusals import refused

laws = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])

Row = tuple[Any, ...]
# few places and values, and many rows: mostly every class has every value
ROWS = st.lists(st.tuples(st.sampled_from([None, 1]), st.sampled_from([None, "flu", "Flu"])), max_size=40)


@pytest.fixture
def hospital(connection: Connection) -> Connection:
    connection.execute("create table patient (age int, disease text, note json)")
    return connection


def fill(connection: Connection, rows: Sequence[Row]) -> None:
    connection.execute("truncate patient")
    with connection.cursor() as cursor:
        cursor.executemany("insert into patient values (%s, %s)", rows)


def disclosure(connection: Connection) -> Any:
    call = "select anondb.delta_disclosure('patient', '{age}', 'disease')"
    [(delta,)] = connection.execute(call).fetchall()
    return delta


def naive(rows: Sequence[Row]) -> float:
    everywhere = Counter(value for _, value in rows)
    classes: dict[Any, Counter[Any]] = defaultdict(Counter)
    for place, value in rows:
        classes[place][value] += 1
    delta = 0.0
    for here in classes.values():
        for value, count in everywhere.items():
            q = here[value] / here.total()
            delta = max(delta, abs(math.log(q / (count / len(rows)))) if q else math.inf)
    return delta


@laws
@given(ROWS)
def test_it_is_that_of_a_naive_program(hospital: Connection, rows: list[Row]) -> None:
    fill(hospital, rows)
    assert disclosure(hospital) == pytest.approx(naive(rows), abs=1e-9)


def test_by_hand(hospital: Connection) -> None:
    # of ten, four have the flu: 2/5. Of the first class it is one of four, of the second three of six
    rows = [(1, "flu"), *3 * [(1, "burn")], *3 * [(2, "flu")], *3 * [(2, "burn")]]
    fill(hospital, rows)
    # ln((1/4) / (2/5)) = -ln 1.6; burns: (3/4) / (3/5) = 1.25, and (1/2) / (3/5) = 1/1.2
    assert disclosure(hospital) == pytest.approx(math.log(1.6), abs=1e-12)


def test_what_becomes_rarer_counts_as_what_becomes_more_frequent(hospital: Connection) -> None:
    # the flu: 1/2 of all, 1/4 of the first class, 3/4 of the second
    fill(hospital, [(1, "flu"), *3 * [(1, "burn")], *3 * [(2, "flu")], (2, "burn")])
    assert disclosure(hospital) == pytest.approx(math.log(2), abs=1e-12)  # and not ln 1.5


@pytest.mark.parametrize(
    ("rows", "delta"),
    [
        ([], 0),
        ([(1, "flu")], 0),
        ([(1, None), (2, None), (2, None)], 0),  # one value: p = q = 1
        ([(1, "flu"), (1, "burn"), (1, None)], 0),  # one class
        ([(1, "flu"), (1, None), (2, "flu"), (2, None)], 0),  # NULL is a value
        ([(1, "flu"), (1, None), (2, "flu")], math.inf),  # and as one it is missing
        ([(1, "flu"), (2, "burn")], math.inf),
        ([(1, "flu"), (1, "burn"), (2, "flu"), (2, "burn"), (2, "ulcer")], math.inf),  # of one class alone
    ],
)
def test_the_extremes(hospital: Connection, rows: list[Row], delta: float) -> None:
    fill(hospital, rows)
    assert disclosure(hospital) == delta


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("class_delta('{}', '{}', array[1, 2])", 0),
        ("class_delta(null, null, array[1, 2])", 0),
        ("class_delta('{1}', '{3}', array[5])", 0),
        ("class_delta('{1}', '{3}', array[5, 0, null])", 0),  # what does not occur need not be there
        ("class_delta('{1}', '{3}', array[5, 1])", math.inf),
        ("class_delta('{1,2}', '{1,0}', array[1, 1])", math.inf),
        ("class_delta('{1,2}', '{1,1}', array[1, 0])", math.inf),
        ("class_delta('{2,1}', '{1,1}', array[0.2, 0.8])", math.log(2.5)),
        ("class_delta('{2,1}', '{1,1}', array[2, 8], array[10, 2])", math.log(2.5)),
    ],
)
def test_a_class_has_the_delta_of_its_values(connection: Connection, call: str, answer: float) -> None:
    [(found,)] = connection.execute(f"select anondb.{call}".encode()).fetchall()
    assert found == pytest.approx(answer, abs=1e-12)


def test_a_type_without_equality_is_refused_as_by_other_measures(hospital: Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedFunction, match="equality operator for type json"):
        hospital.execute("select anondb.delta_disclosure('patient', '{age}', 'note')")


def test_only_what_the_caller_may_read_is_measured(hospital: Connection, new_role: Callable[[], str]) -> None:
    role = sql.Identifier(new_role())
    hospital.execute(sql.SQL("grant usage on schema anondb, public to {}").format(role))
    hospital.execute(sql.SQL("grant select (age) on patient to {}").format(role))
    with hospital.transaction(), pytest.raises(psycopg.errors.InsufficientPrivilege):  # noqa: PT012
        hospital.execute(sql.SQL("set local role {}").format(role))
        disclosure(hospital)


@pytest.mark.parametrize(
    ("state", "call"),
    [
        ("SA110", "delta_disclosure('patient', '{}', 'disease')"),
        ("SA111", "delta_disclosure('patient', '{age}', 'illness')"),
        ("SA111", "delta_disclosure('patient', '{age}', null)"),
        ("SA112", "delta_disclosure('patient', '{age,disease}', 'disease')"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(hospital: Connection, state: str, call: str) -> None:
    fill(hospital, [(1, "Secret")])
    told = refused(hospital, state, f"select anondb.{call}")
    assert "Secret" not in f"{told.message_primary} {told.message_detail} {told.message_hint}"
