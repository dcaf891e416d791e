"""Risk of a table and measures of its classes: by hand, and against counting in memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql
from psycopg.rows import args_row

from anondb.db.connection import Connection
from tests.refusals import refused

Record = tuple[str | None, ...]
Figures = dict[tuple[str, str | None], float | None]
RECORDS = st.lists(
    st.tuples(*[st.sampled_from(["1", "2", "*", None])] * 2, st.sampled_from(["flu", "cold", None])),
    max_size=14,
)


@pytest.fixture
def tables(connection: Connection) -> Connection:
    connection.execute(
        "create temporary table t (q1 text, n text, s text); create temporary table population (like t)"
    )
    return connection


def fill(connection: Connection, table: str, rows: Sequence[Record]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("truncate {}").format(sql.Identifier(table)))
        if rows:
            cursor.executemany(
                sql.SQL("insert into {} values (%s, %s, %s)").format(sql.Identifier(table)), rows
            )


def figures(connection: Connection, call: str) -> Figures:
    query = sql.SQL("select f.name, f.of_column, f.value from anondb.{} as f").format(sql.SQL(call))
    with connection.cursor(row_factory=args_row(lambda *row: row)) as cursor:
        return {(name, column): value for name, column, value in cursor.execute(query)}


def classes(rows: Sequence[Record], *columns: int) -> Counter[Record]:
    return Counter(tuple(row[i] for i in columns) for row in rows)


def expected_risk(f: int, p: float) -> float:
    """The mean of 1 / F by its definition: F - f is negative binomial."""
    if f > 3:
        return p / (f - (1 - p))
    return sum(math.comb(big - 1, f - 1) * p**f * (1 - p) ** (big - f) / big for big in range(f, f + 4000))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS, RECORDS)
def test_every_risk_is_what_counting_in_memory_gives(
    tables: Connection, rows: list[Record], others: list[Record]
) -> None:
    fill(tables, "t", rows)
    fill(tables, "population", rows + others)
    kept = [row for row in rows if row[:2] != ("*", "*")]
    arguments = "'t', array['q1', 'n'], array[0.3, 0.5]"
    found = figures(tables, f"risk({arguments}, population => 'population', roots => array['*', '*'])")
    sizes, whole = classes(kept, 0, 1), classes(rows + others, 0, 1)
    if not kept:
        assert all(value is None for value in found.values())
        return
    prosecutor = [1 / sizes[row[:2]] for row in kept]
    journalist = [1 / whole[row[:2]] for row in kept]
    wanted: Figures = {}
    for name, risks in (("prosecutor", prosecutor), ("journalist", journalist)):
        wanted[f"{name}_max", None] = max(risks)
        wanted[f"{name}_mean", None] = sum(risks) / len(risks)
        for bound in (0.3, 0.5):
            wanted[f"{name}_above_{bound}", None] = sum(risk > bound for risk in risks) / len(risks)
    wanted["marketer", None] = wanted["journalist_mean", None]
    wanted["sample_uniques", None] = sum(n == 1 for n in sizes.values())
    wanted["population_uniques", None] = sum(whole[key] == 1 for key in sizes)
    wanted["risk_contribution", "q1"] = (len(sizes) - len(classes(kept, 1))) / len(kept)
    wanted["risk_contribution", "n"] = (len(sizes) - len(classes(kept, 0))) / len(kept)
    assert found == pytest.approx(wanted)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS.filter(bool), st.sampled_from([0.05, 0.3, 0.9, 1.0]))
def test_a_sampling_fraction_gives_estimates(tables: Connection, rows: list[Record], p: float) -> None:
    fill(tables, "t", rows)
    found = figures(tables, f"risk('t', array['q1', 'n'], array[0.2], fraction => {p})")
    sizes = classes(rows, 0, 1)
    risks = [expected_risk(sizes[row[:2]], p) if p < 1 else 1 / sizes[row[:2]] for row in rows]
    assert found["journalist_mean", None] == pytest.approx(sum(risks) / len(risks))
    assert found["journalist_max", None] == pytest.approx(max(risks))
    assert found["marketer", None] == found["journalist_mean", None]
    # Zayatz: how likely a sample unique is one in the population, by Bayes' rule
    unique = sum(n == 1 for n in sizes.values())
    seen_once = sum(n * p * (1 - p) ** (n - 1) for n in sizes.values())
    estimate = unique * (unique * p / seen_once) if unique else 0
    assert found["population_uniques", None] == pytest.approx(estimate)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS.filter(bool))
def test_attribute_disclosure_is_what_counting_in_memory_gives(
    tables: Connection, rows: list[Record]
) -> None:
    fill(tables, "t", rows)
    found = figures(tables, "attribute_disclosure('t', array['q1', 'n'], 's', array[0.5])")
    sizes, pairs = classes(rows, 0, 1), classes(rows, 0, 1, 2)
    top = {key: max(n for pair, n in pairs.items() if pair[:2] == key) / size for key, size in sizes.items()}
    shares = [top[row[:2]] for row in rows]
    assert found == pytest.approx(
        {
            ("attribute_disclosure_mean", "s"): sum(shares) / len(shares),
            ("attribute_disclosure_max", "s"): max(shares),
            ("attribute_disclosure_certain", "s"): sum(share == 1 for share in shares) / len(shares),
            ("attribute_disclosure_above_0.5", "s"): sum(share > 0.5 for share in shares) / len(shares),
        }
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RECORDS, st.integers(1, 4), st.integers(0, 3), st.booleans())
def test_discernibility_and_class_size_are_what_counting_gives(
    tables: Connection, rows: list[Record], k: int, left_out: int, masked: bool
) -> None:
    fill(tables, "t", rows)
    sizes = classes(rows, 0, 1)
    if masked:
        del sizes["*", "*"]
    total = len(rows) + left_out
    large = [n for n in sizes.values() if n >= k]
    roots = "array['*', '*']" if masked else "null"
    [(dm, average)] = tables.execute(
        f"select anondb.discernibility('t', array['q1', 'n'], {total}, {k}, roots => {roots}),"
        f" anondb.average_class_size('t', array['q1', 'n'], {k}, {roots})".encode()
    ).fetchall()
    assert dm == sum(n * n for n in large) + total * (total - sum(large))
    assert average == (pytest.approx(sizes.total() / len(sizes) / k) if sizes else None)


def test_by_hand(tables: Connection) -> None:
    """Classes of 1, 2 and 3 of ten records; the four others were suppressed."""
    rows = (
        [("a", "x", "flu")]
        + [("a", "y", "flu")] * 2
        + [("b", "x", "flu"), ("b", "x", "cold"), ("b", "x", None)]
    )
    fill(tables, "t", rows)
    found = figures(tables, "risk('t', array['q1', 'n'])")
    assert found["prosecutor_max", None] == 1
    assert found["prosecutor_mean", None] == found["marketer", None] == 0.5
    assert found["prosecutor_above_0.2", None] == 1
    assert found["sample_uniques", None] == 1
    assert found["risk_contribution", "q1"] == pytest.approx(1 / 6)  # a, x and b, x become one
    assert found["journalist_max", None] is None is found["population_uniques", None]
    surely = figures(tables, "attribute_disclosure('t', array['q1', 'n'], 's')")
    assert surely["attribute_disclosure_mean", "s"] == pytest.approx((1 + 2 + 3 * (1 / 3)) / 6)
    assert surely["attribute_disclosure_certain", "s"] == 0.5
    call = "select anondb.discernibility('t', array['q1', 'n']{})"
    assert tables.execute(call.format("").encode()).fetchall() == [(1 + 4 + 9,)]
    assert tables.execute(call.format(", records => 10").encode()).fetchall() == [(14 + 40,)]
    assert tables.execute(call.format(", k => 2").encode()).fetchall() == [(13 + 6,)]
    assert tables.execute("select anondb.average_class_size('t', array['q1', 'n'], 2)").fetchall() == [(1,)]


def test_before_and_after_stand_side_by_side(tables: Connection) -> None:
    fill(tables, "population", [("1", "x", None), ("2", "x", None), ("3", "y", None)])
    fill(tables, "t", [("1-2", "x", None), ("1-2", "x", None), ("*", "*", None)])
    found = tables.execute(
        "select r.name, r.of_column, r.before, r.after from anondb.risk_before_after("
        " 'population', 't', array['q1', 'n'], array[0.5], roots => array['*', '*']) as r where r.before is not null"
    ).fetchall()
    assert found == [
        ("prosecutor_max", None, 1, 0.5),
        ("prosecutor_mean", None, 1, 0.5),
        ("prosecutor_above_0.5", None, 1, 0),
        ("marketer", None, 1, 0.5),
        ("sample_uniques", None, 3, 0),
        ("risk_contribution", "q1", pytest.approx(1 / 3), 0),
        ("risk_contribution", "n", 0, 0),
    ]


@pytest.mark.parametrize(
    ("state", "call"),
    [
        ("SA110", "risk('t', '{}')"),
        ("SA111", "risk('t', array['zip'])"),
        ("SA111", "risk('t', array['q1'], population => 'pg_class')"),
        ("SA178", "risk('t', array['q1'], array[1.5])"),
        ("SA178", "attribute_disclosure('t', array['q1'], 's', array[null]::float8[])"),
        ("SA179", "risk('t', array['q1'], fraction => 0)"),
        ("SA179", "risk('t', array['q1'], fraction => 'nan')"),
        ("SA180", "risk('t', array['q1'], population => 't', fraction => 0.5)"),
        ("SA111", "attribute_disclosure('t', array['q1'], 'illness')"),
        ("SA173", "risk('t', array['q1'], roots => array['*', '*'])"),
        ("SA177", "discernibility('t', array['q1'], k => 0)"),
        ("SA177", "average_class_size('t', array['q1'], null)"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(tables: Connection, state: str, call: str) -> None:
    fill(tables, "t", [("1", "x", None)])
    refused(tables, state, f"select anondb.{call}")


@pytest.mark.parametrize("columns", [3, 17])
def test_codes_that_lie_side_by_side_tell_the_same(connection: Connection, columns: int) -> None:
    """Seventeen columns of up to 300 codes, some of them negative, take several numbers of 8 bytes."""
    names = [f"o{number}" for number in range(columns)]
    rows = sql.SQL(", ").join(
        sql.SQL("(hashint8extended(g.i % 150, {}) % {})::int as {}").format(
            sql.Literal(number), sql.Literal((2, 3, 300)[number % 3]), sql.Identifier(name)
        )
        for number, name in enumerate(names)
    )
    connection.execute(
        sql.SQL(
            "create temp table coded as select {}, (g.i % 4 + 1)::bigint as n from generate_series(1, 600) as g (i)"
        ).format(rows)
    )
    texts = sql.SQL(", ").join(sql.SQL("{0}::text as {0}").format(sql.Identifier(name)) for name in names)
    connection.execute(sql.SQL("create temp table texts as select {}, n from coded").format(texts))
    asked = "select r.name, r.of_column, r.value, r.note from anondb.risk(%s::text::regclass, %s, counts => 'n') as r"
    by_codes, by_texts = (
        connection.execute(asked, (table, names)).fetchall() for table in ("coded", "texts")
    )
    assert by_codes == by_texts
    assert len(by_codes) > columns
    connection.execute(sql.SQL("update coded set {} = null where n = 1").format(sql.Identifier(names[0])))
    assert connection.execute(asked, ("coded", names)).fetchall() != by_codes
