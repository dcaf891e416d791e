"""anondb.beta_likeness: by hand, against a naive program on random tables, and every mistake told."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql

from anondb.db.connection import Connection
from tests.refusals import refused

laws = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

Row = tuple[Any, ...]
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 2]),
        st.sampled_from([None, "", "a"]),
        st.sampled_from([None, "flu", "flu", "flu", "asthma", "Ulcer"]),
    ),
    max_size=30,
)


@pytest.fixture
def hospital(connection: Connection) -> Connection:
    connection.execute("create table patient (age int, zip text, disease text, note json)")
    return connection


def fill(connection: Connection, rows: Sequence[Row]) -> None:
    connection.execute("truncate patient")
    with connection.cursor() as cursor:
        cursor.executemany("insert into patient values (%s, %s, %s)", rows)


def likeness(connection: Connection, *kind: str) -> Any:
    arguments = ", ".join(["'patient'", "'{age,zip}'", "'disease'", *["%s"] * len(kind)])
    [(beta,)] = connection.execute(f"select anondb.beta_likeness({arguments})".encode(), kind).fetchall()
    return beta


def naive(rows: Sequence[Row], kind: str) -> float:
    everywhere = Counter(row[2] for row in rows)
    classes: dict[Row, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        classes[row[:2]][row[2]] += 1
    beta = 0.0
    for here in classes.values():
        for value, count in here.items():
            p, q = Fraction(everywhere[value], len(rows)), Fraction(count, here.total())
            gain = (q - p) / p
            if kind == "enhanced" and p < 1 and gain > -math.log(p):
                return math.inf
            beta = max(beta, float(gain))
    return beta


@laws
@given(ROWS)
def test_it_is_that_of_a_naive_program(hospital: Connection, rows: list[Row]) -> None:
    fill(hospital, rows)
    for kind in ("basic", "enhanced"):
        assert likeness(hospital, kind) == pytest.approx(naive(rows, kind), abs=1e-9)
    assert likeness(hospital) == likeness(hospital, "basic")


def test_by_hand(hospital: Connection) -> None:
    # of ten, two have asthma: 1/5. In the first class it is one of four: (1/4 - 1/5) / (1/5) = 1/4. In the second
    # flu is five of six, of ten eight: (5/6 - 4/5) / (4/5) = 1/24, and asthma becomes rarer
    rows = [(1, "a", "asthma")] + 3 * [(1, "a", "flu")] + [(2, "a", "asthma")] + 5 * [(2, "a", "flu")]
    fill(hospital, rows)
    assert likeness(hospital) == 0.25
    assert likeness(hospital, "enhanced") == 0.25  # ln 5 = 1.61; and 1/24 < ln 1.25 = 0.22


def test_the_enhanced_kind_keeps_a_frequent_value_from_filling_a_class(hospital: Connection) -> None:
    fill(hospital, 3 * [(1, "a", "flu")] + [(2, "a", "flu"), (2, "a", "asthma")])
    # flu is 4 of 5, and gains 1/4 > -ln 0.8 = 0.223; asthma gains (1/2 - 1/5) / (1/5) = 1.5 < ln 5
    assert likeness(hospital) == 1.5
    assert likeness(hospital, "enhanced") == math.inf


@pytest.mark.parametrize("kind", ["basic", "enhanced"])
@pytest.mark.parametrize(
    ("rows", "beta"),
    [
        ([], 0),
        ([(1, "a", "flu")], 0),
        ([(1, "a", None), (2, "a", None)], 0),  # p = 1: there is nothing to gain, and -ln 1 is 0
        ([(1, "a", "flu"), (1, "a", "asthma"), (1, "a", None)], 0),  # one class
        ([(1, "a", None), (1, "a", "flu")] * 2 + [(2, "a", None), (2, "a", "flu")], 0),  # NULL is a value
    ],
)
def test_where_nothing_is_gained_beta_is_0(
    hospital: Connection, rows: list[Row], beta: float, kind: str
) -> None:
    fill(hospital, rows)
    assert likeness(hospital, kind) == beta


def test_a_value_of_one_class_alone_gains_as_much_as_the_class_is_small(hospital: Connection) -> None:
    fill(hospital, [(1, "a", "flu"), (2, "a", None), *[(place, "a", "asthma") for place in range(3, 11)]])
    assert likeness(hospital) == 9  # from a tenth to all
    fill(hospital, [(1, "a", "flu"), (2, "a", "asthma")])
    assert likeness(hospital) == 1


def test_tenths_are_exact_whatever_the_order_of_the_rows(hospital: Connection) -> None:
    for tenths in range(1, 10):
        flu, others = [(1, "a", "flu")] * tenths, [(1, "a", "asthma")] * (10 - tenths)
        rows = flu + others + [(2, "a", "asthma")] * 10
        for ordered in (rows, rows[::-1]):
            fill(hospital, ordered)
            assert likeness(hospital) == 1  # from tenths of 20 to tenths of 10


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("class_beta('{}', '{}', array[1, 2])", 0),
        ("class_beta(null, null, array[1, 2], 'enhanced')", 0),
        ("class_beta('{1}', '{3}', array[5])", 0),
        ("class_beta('{1}', '{3}', array[5], 'enhanced')", 0),
        ("class_beta('{1,2}', '{1,0}', array[1, 1])", 1),  # what occurs no time gains nothing
        ("class_beta('{2}', '{1}', array[1, 0])", math.inf),
        ("class_beta('{3}', '{1}', array[1, 1])", math.inf),
        ("class_beta('{1}', '{1}', array[0.25, 0.75])", 3),  # a reference of shares
        ("class_beta('{2,1}', '{1,1}', array[1, 3], 'basic', 4)", 1),
    ],
)
def test_a_class_has_the_beta_of_its_values(connection: Connection, call: str, answer: float) -> None:
    [(found,)] = connection.execute(f"select anondb.{call}".encode()).fetchall()
    assert found == answer


def test_only_what_the_caller_may_read_is_measured(hospital: Connection, new_role: Callable[[], str]) -> None:
    role = sql.Identifier(new_role())
    hospital.execute(sql.SQL("grant usage on schema anondb, public to {}").format(role))
    hospital.execute(sql.SQL("grant select (age, zip) on patient to {}").format(role))
    with hospital.transaction(), pytest.raises(psycopg.errors.InsufficientPrivilege):  # noqa: PT012
        hospital.execute(sql.SQL("set local role {}").format(role))
        likeness(hospital)


def test_a_type_without_equality_is_refused_as_by_other_measures(hospital: Connection) -> None:
    with pytest.raises(psycopg.errors.UndefinedFunction, match="equality operator for type json"):
        hospital.execute("select anondb.beta_likeness('patient', '{age}', 'note')")


@pytest.mark.parametrize(
    ("state", "call"),
    [
        ("SA110", "beta_likeness('patient', '{}', 'disease')"),
        ("SA111", "beta_likeness('patient', '{age}', 'illness')"),
        ("SA111", "beta_likeness('patient', '{age}', null)"),
        ("SA112", "beta_likeness('patient', '{age,disease}', 'disease')"),
        ("SA120", "beta_likeness('patient', '{age}', 'disease', 'better')"),
        ("SA120", "beta_likeness('patient', '{age}', 'disease', null)"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(hospital: Connection, state: str, call: str) -> None:
    fill(hospital, [(1, "Secret", "flu")])
    told = refused(hospital, state, f"select anondb.{call}")
    assert "Secret" not in f"{told.message_primary} {told.message_detail} {told.message_hint}"
