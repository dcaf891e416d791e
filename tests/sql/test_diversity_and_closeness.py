"""anondb.l_diversity and anondb.t_closeness: on any relation, against a naive program, with every mistake told."""

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

from anondb.db import vgh
from anondb.db.connection import Connection
from tests import toys
from tests.refusals import refused

laws = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

# leaves in an order that is not that of their bytes; one with a sense, one short branch
TREE = {
    "flu": ("flu", "lung", "any"),
    "asthma": ("asthma", "lung", "any"),
    "Ulcer": ("Ulcer", "stomach", "any"),
    "burn": ("burn", "burn", "any"),
    "gastritis": ("gastritis", "stomach", "any"),
}
LEAVES = list(TREE)


@pytest.fixture
def hospital(connection: Connection) -> Connection:
    rows = [";".join(path) for path in TREE.values()]
    vgh.store(connection, "disease", toys.vgh(rows[0].replace("flu", "flu#2", 1), *rows[1:]))
    connection.execute("create table patient (age int, zip text, disease text, stay int, note json)")
    return connection


def fill(connection: Connection, rows: Sequence[Sequence[Any]]) -> None:
    connection.execute("truncate patient")
    with connection.cursor() as cursor:
        cursor.executemany("insert into patient values (%s, %s, %s, %s)", rows)


def value(connection: Connection, call: str, *parameters: Any) -> Any:
    [(found,)] = connection.execute(f"select anondb.{call}".encode(), parameters).fetchall()
    return found


def diversity(connection: Connection, *arguments: Any) -> Any:
    return value(connection, "l_diversity('patient', '{age,zip}', 'disease', %s, %s)", *arguments)


def closeness(connection: Connection, distance: str, column: str = "disease", tree: str | None = None) -> Any:
    return value(connection, "t_closeness('patient', '{age,zip}', %s, %s, %s)", column, distance, tree)


# a naive program

Row = tuple[Any, ...]
ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 2]),
        st.sampled_from([None, "", "a", "A"]),
        st.sampled_from([None, *LEAVES]),
        st.sampled_from([None, -5, 3, 20]),
    ),
    max_size=30,
)


def classes(rows: Sequence[Row], column: int) -> list[Counter[Any]]:
    found: dict[Row, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        found[row[:2]][row[column]] += 1
    return list(found.values())


def shares(counts: Counter[Any], values: Sequence[Any]) -> list[float]:
    return [counts[value] / counts.total() for value in values]


def entropy_l(counts: Counter[Any]) -> float:
    return math.exp(-sum(p * math.log(p) for p in shares(counts, list(counts))))


def recursive_l(counts: Counter[Any], c: float) -> int:
    r = sorted(counts.values(), reverse=True)
    return max(l for l in range(1, len(r) + 1) if l == 1 or r[0] < c * sum(r[l - 1 :]))  # noqa: E741


def apart(values: Sequence[Any], a: Counter[Any], b: Counter[Any]) -> list[float]:
    return [p - q for p, q in zip(shares(a, values), shares(b, values), strict=True)]


def equal(values: Sequence[Any], a: Counter[Any], b: Counter[Any]) -> float:
    return sum(map(abs, apart(values, a, b))) / 2


def ordered(values: Sequence[Any], a: Counter[Any], b: Counter[Any]) -> float:
    differences = apart(values, a, b)
    cumulated = [sum(differences[: i + 1]) for i in range(len(values))]
    return sum(map(abs, cumulated)) / max(len(values) - 1, 1)


def hierarchical(values: Sequence[Any], a: Counter[Any], b: Counter[Any]) -> float:
    work = 0.0
    for level in (0, 1):
        nodes: Counter[Any] = Counter()
        for value_, difference in zip(values, apart(values, a, b), strict=True):
            nodes[TREE[value_][level] if value_ else None] += difference  # type: ignore[assignment]
        work += sum(map(abs, nodes.values())) / 2
    return work / 2


@laws
@given(ROWS, st.sampled_from([0.3, 1, 1.5, 3]))
def test_l_diversity_is_that_of_a_naive_program(hospital: Connection, rows: list[Row], c: float) -> None:
    fill(hospital, rows)
    found = classes(rows, 2)
    assert diversity(hospital, "distinct", None) == min(map(len, found), default=0)
    assert diversity(hospital, "entropy", None) == pytest.approx(
        min(map(entropy_l, found), default=0), abs=1e-9
    )
    assert diversity(hospital, "recursive", c) == min((recursive_l(one, c) for one in found), default=0)


@laws
@given(ROWS)
def test_t_closeness_is_that_of_a_naive_program(hospital: Connection, rows: list[Row]) -> None:
    fill(hospital, rows)

    def greatest(distance: Callable[..., float], column: int, order: Callable[[Any], Any]) -> Any:
        everyone = Counter(row[column] for row in rows)
        values = sorted(everyone, key=lambda value: (value is None, value is not None and order(value)))
        found = (distance(values, one, everyone) for one in classes(rows, column))
        return pytest.approx(max(found, default=0), abs=1e-9)

    assert closeness(hospital, "equal") == greatest(equal, 2, str)
    assert closeness(hospital, "ordered") == greatest(ordered, 2, str.encode)
    assert closeness(hospital, "ordered", "stay") == greatest(ordered, 3, int)
    assert closeness(hospital, "ordered", tree="disease") == greatest(ordered, 2, LEAVES.index)
    assert closeness(hospital, "hierarchical", tree="disease") == greatest(hierarchical, 2, LEAVES.index)


# by hand


# Li et al. 2007, table 5: zip code as the class, salary, disease
PAPER = [
    (1, 3, "gastric ulcer"),
    (1, 5, "stomach cancer"),
    (1, 9, "pneumonia"),
    (2, 6, "gastritis"),
    (2, 11, "flu"),
    (2, 8, "bronchitis"),
    (3, 4, "gastritis"),
    (3, 7, "bronchitis"),
    (3, 10, "stomach cancer"),
]


def test_the_papers_own_table(hospital: Connection) -> None:
    """It is 0.167-close by salary. Of the diseases the second class is farthest: of nine shares, four have to
    move, and two of these from stomach to lung, two levels more."""
    fill(hospital, [(place, "a", disease, salary) for place, salary, disease in PAPER])
    lung = [f"{disease};infection;lung;any" for disease in ("flu", "pneumonia", "bronchitis")]
    stomach = [
        f"{disease};stomach;digestive;any" for disease in ("gastric ulcer", "stomach cancer", "gastritis")
    ]
    vgh.store(hospital, "paper", toys.vgh(*lung, *stomach))
    assert closeness(hospital, "ordered", "stay") == pytest.approx(0.167, abs=5e-4)
    assert closeness(hospital, "hierarchical", tree="paper") == pytest.approx((4 + 2 + 2) / 9 / 3, abs=1e-9)


def test_four_equally_frequent_values_are_entropy_4_diverse(hospital: Connection) -> None:
    fill(hospital, [(1, "a", disease, 1) for disease in LEAVES[:4]] * 3)
    assert diversity(hospital, "entropy", None) == 4


def test_a_table_of_one_class_is_as_close_as_can_be(hospital: Connection) -> None:
    fill(hospital, [(1, "a", disease, 1) for disease in (*LEAVES, None)])
    assert [closeness(hospital, distance) for distance in ("equal", "ordered")] == [0, 0]
    assert closeness(hospital, "hierarchical", tree="disease") == 0


def test_null_meets_the_others_at_the_root(hospital: Connection) -> None:
    fill(hospital, [(1, "a", None, 1), (2, "a", "flu", 1)])
    # half of either class has to come from the other: all the way over the root
    assert closeness(hospital, "hierarchical", tree="disease") == 0.5
    fill(hospital, [(1, "a", "asthma", 1), (2, "a", "flu", 1)])
    assert closeness(hospital, "hierarchical", tree="disease") == 0.25


# what it is asked of


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("numeric", ["1.0", "1.00", "2"]),
        ("float8", ["0", "-0", "5"]),
        ("boolean", ["true", "t", "false"]),
        ("date", ["2024-01-01", "20240101", "2024-05-01"]),
        ("interval", ["1 day", "24 hours", "2 days"]),
        ("text[]", ["{a}", '{"a"}', "{b}"]),
        ("jsonb", ['{"a": 1}', '{"a":1}', "{}"]),
    ],
)
def test_values_are_equal_as_their_type_has_it(connection: Connection, type_: str, values: list[str]) -> None:
    connection.execute(f"create table typed (q int, s {type_})".encode())
    for place, text in enumerate(values):
        connection.execute("insert into typed values (%s, %s)", (place // 2, text))
    assert value(connection, "l_diversity('typed', '{q}', 's')") == 1
    connection.execute("update typed set q = 1")
    assert value(connection, "l_diversity('typed', '{q}', 's')") == 2
    assert value(connection, "t_closeness('typed', '{q}', 's', 'ordered')") == 0


def test_a_collation_that_takes_texts_for_equal_is_obeyed(hospital: Connection) -> None:
    try:
        hospital.execute(
            "create collation blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("this server knows no ICU collations")
    hospital.execute(
        "create table typed (q int, s text collate blind);"
        "insert into typed values (1, 'Flu'), (1, 'flu'), (2, 'FLU')"
    )
    assert value(hospital, "l_diversity('typed', '{q}', 's')") == 1
    for distance in ("equal", "ordered"):
        assert value(hospital, "t_closeness('typed', '{q}', 's', %s)", distance) == 0


def test_types_without_equality_are_refused_as_by_k_anonymity(hospital: Connection) -> None:
    for call in (
        "k_anonymity('patient', '{note}')",
        "l_diversity('patient', '{age}', 'note')",
        "t_closeness('patient', '{age}', 'note')",
    ):
        with pytest.raises(psycopg.errors.UndefinedFunction, match="equality operator for type json"):
            value(hospital, call)


def test_names_of_ours_and_odd_ones_are_columns_like_others(connection: Connection) -> None:
    for name in ("n", "q1", "value", "code", "leaf", "outside", "h", '"; drop table x--', "50 % %s $1"):
        odd, other = sql.Identifier(name), sql.Identifier("q2")
        connection.execute(sql.SQL("create table {0} ({0} int, {1} text)").format(odd, other))
        connection.execute(
            sql.SQL("insert into {} values (1, 'a'), (1, 'b'), (2, 'a'), (2, 'b')").format(odd)
        )
        table = odd.as_string(connection)
        for quasi, sensitive in ((name, "q2"), ("q2", name)):
            told = (table, [quasi, quasi], sensitive)
            assert value(connection, "l_diversity(%s::text::regclass, %s::name[], %s)", *told) == 2
            assert value(connection, "t_closeness(%s::text::regclass, %s::name[], %s)", *told) == 0
        connection.execute(sql.SQL("drop table {}").format(odd))


def test_only_what_the_caller_may_read_is_measured(hospital: Connection, new_role: Callable[[], str]) -> None:
    fill(hospital, [(1, "a", "flu", 1)])
    role = sql.Identifier(new_role())
    hospital.execute(sql.SQL("grant usage on schema anondb, public to {}").format(role))
    hospital.execute(sql.SQL("grant select (age, zip) on patient to {}").format(role))
    for measure in ("l_diversity", "t_closeness"):
        with hospital.transaction(), pytest.raises(psycopg.errors.InsufficientPrivilege):  # noqa: PT012
            hospital.execute(sql.SQL("set local role {}").format(role))
            value(hospital, f"{measure}('patient', '{{age,zip}}', 'disease')")


@pytest.mark.parametrize(
    ("state", "call"),
    [
        ("SA110", "l_diversity('patient', '{}', 'disease')"),
        ("SA110", "t_closeness('patient', null, 'disease')"),
        ("SA111", "l_diversity('patient', '{age}', 'illness')"),
        ("SA111", "t_closeness('patient', '{age}', null)"),
        ("SA111", "k_anonymity('patient', '{age}', 'person')"),
        ("SA112", "l_diversity('patient', '{age,disease}', 'disease')"),
        ("SA112", "t_closeness('patient', '{disease}', 'disease')"),
        ("SA113", "l_diversity('patient', '{age}', 'disease', 'entropic')"),
        ("SA113", "l_diversity('patient', '{age}', 'disease', null)"),
        ("SA114", "l_diversity('patient', '{age}', 'disease', 'recursive')"),
        ("SA114", "l_diversity('patient', '{age}', 'disease', 'recursive', 0)"),
        ("SA114", "l_diversity('patient', '{age}', 'disease', 'recursive', 'nan')"),
        ("SA114", "l_diversity('patient', '{age}', 'disease', 'recursive', 'infinity')"),
        ("SA115", "l_diversity('patient', '{age}', 'disease', 'entropy', 2)"),
        ("SA115", "l_diversity('patient', '{age}', 'disease', c => 2)"),
        ("SA116", "t_closeness('patient', '{age}', 'disease', 'euclid')"),
        ("SA116", "t_closeness('patient', '{age}', 'disease', null)"),
        ("SA117", "t_closeness('patient', '{age}', 'disease', 'hierarchical')"),
        ("SA118", "t_closeness('patient', '{age}', 'disease', 'equal', 'disease')"),
        ("SA140", "t_closeness('patient', '{age}', 'disease', 'hierarchical', 'illness')"),
        ("SA119", "t_closeness('patient', '{age}', 'zip', 'hierarchical', 'disease')"),
        ("SA119", "t_closeness('patient', '{age}', 'zip', 'ordered', 'disease')"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(hospital: Connection, state: str, call: str) -> None:
    fill(
        hospital,
        [(1, "Secret 1", "flu", 1), (2, "Secret 2", "flu", 1), (2, None, "flu", 1), (2, "flu", "flu", 1)],
    )
    told = refused(hospital, state, f"select anondb.{call}")
    assert "Secret" not in f"{told.message_primary} {told.message_detail} {told.message_hint}"
    if state == "SA119":
        assert (
            told.message_primary
            == '2 distinct values of public.patient.zip are no leaves of hierarchy "disease"'
        )
