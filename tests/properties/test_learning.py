"""Learned domains: what is told of a table, as a naive look at its rows has it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Door
from anondb.errors import UsageError
from anondb.synthetic.domain import Conditional, Domain, Frequencies, Range, Value, Weights
from anondb.synthetic.domain_file import parse
from anondb.synthetic.learning import Learned, LearnOptions
from tests.properties.examples import WORDS, laws
from tests.servers import new_database

TEXTS = st.none() | st.sampled_from(WORDS)
# few values, so that combinations of them are on both sides of the threshold
DENSE = st.lists(
    st.tuples(*[st.sampled_from([*WORDS[:3], None])] * 2, st.sampled_from([1, 2, 3, None])),
    min_size=20,
    max_size=70,
)
ROWS = st.lists(st.tuples(TEXTS, TEXTS, st.none() | st.integers(-9, 25)), min_size=1, max_size=60)


@pytest.fixture(scope="module")
def shared(server: str, template: str) -> Iterator[Database]:
    with new_database(server, template) as dsn, Database(Door(dsn)) as database:
        yield database


def learned_of(db: Database, rows: Sequence[tuple[object, ...]], options: LearnOptions) -> Learned:
    db.connection.execute("drop table if exists t; create table t (a text, b text, n int)")
    with db.connection.cursor() as cursor:
        cursor.executemany("insert into t values (%s, %s, %s)", rows)
    return db.synthetic.learn("t", options)


def weights_of(domain: Domain, name: str) -> dict[tuple[str, ...], Weights]:
    [attribute] = [one for one in domain.attributes if one.name == name]
    match attribute.generator:
        case Frequencies(weights):
            return {(): weights}
        case Conditional(_, rows):
            return dict(rows)
        case _:
            raise AssertionError(name)


def has(record: object, value: Value) -> bool:
    """Whether a record's value is this one, or a number in this range."""
    if isinstance(value, Range):
        return isinstance(record, int) and value.low <= record <= value.high
    return record == value


def count(rows: Sequence[tuple[object, ...]], wanted: Mapping[int, Value]) -> int:
    """How many records have the wanted value at each of these places."""
    return sum(all(has(row[place], value) for place, value in wanted.items()) for row in rows)


@settings(laws, max_examples=30)
@given(rows=ROWS | DENSE, threshold=st.integers(1, 6), bins=st.integers(1, 30))
def test_nothing_rarer_than_the_threshold_is_told_nor_had_by_subtraction(
    shared: Database, rows: list[tuple[str | None, str | None, int | None]], threshold: int, bins: int
) -> None:
    """A figure is a count, or near it; sums of the file differ by nothing, or by as many as may be told."""
    options = LearnOptions(threshold, given={"b": ("a",), "n": ("b",)}, minimum=1, bins=bins)
    common = [
        {
            str(value)
            for value in {row[place] for row in rows} - {None}
            if count(rows, {place: str(value)}) >= threshold
        }
        for place in (0, 1)
    ]
    try:
        domain = parse(learned_of(shared, rows, options).text)
    except UsageError:
        assert common == [set(), set()]
        return
    assert [name in domain.columns for name in "ab"] == [bool(values) for values in common]
    told: dict[str, dict[Value, float]] = {}
    for place, name in ((place, name) for place, name in enumerate("abn") if name in domain.columns):
        table = weights_of(domain, name)
        told[name] = dict(table.pop(("*",) if ("*",) in table else ()))
        for value, figure in told[name].items():
            # every record that few of a kind left out may have been counted to it
            assert threshold <= count(rows, {place: value}) <= figure + threshold - 1
        if place < 2:
            assert set(told[name]) == common[place]
        assert lacks_nothing_rare(len(rows), told[name].values(), threshold) or table
        # "n" depends on what tells most of it where "b" is left out
        [other] = next(one.needs for one in domain.attributes if one.name == name) or [name]
        for (parent,), row in table.items():
            for value, figure in row.items():
                n = count(rows, {"ab".index(other): parent, place: value})
                assert n >= threshold
                assert figure >= threshold
                assert abs(figure - n) < threshold
            assert lacks_nothing_rare(told[other][parent], row.values(), threshold)
        for value, figure in told[name].items():
            beside = [row[value] for row in table.values() if value in row]
            assert lacks_nothing_rare(figure, beside, threshold)


def lacks_nothing_rare(total: float, parts: Collection[float], threshold: int) -> bool:
    missing = total - sum(parts)
    return missing == 0 or missing >= threshold


@settings(laws, max_examples=10)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_what_is_generated_was_there(
    shared: Database, rows: list[tuple[str | None, str | None, int | None]], seed: int
) -> None:
    options = LearnOptions(1, minimum=0)
    if not any(value is not None for row in rows for value in row):
        return
    domain = parse(learned_of(shared, rows, options).text)
    shared.connection.execute("drop table if exists again")
    shared.synthetic.generate(domain, 30, "again", seed=seed)
    made = shared.connection.execute("select * from again").fetchall()
    for place, name in enumerate(domain.columns):
        if name in "ab":
            assert {row[place] for row in made} <= {row["ab".index(name)] for row in rows}


ODD = {
    "numbers that an integer cannot hold": ("(5000000000 + i % 3)::bigint", 3),
    "what is not finite": (
        "case when i % 2 = 0 then 'NaN' when i % 3 = 0 then '-Infinity' else (i % 5)::float8 end",
        5,
    ),
    "money": ("(i % 3)::text::money", 3),
    "an object's number": ("'pg_class'::regclass", 1),
    "a truth": ("i % 2 = 0", 2),
    "a date": ("date '2020-02-28' + i % 3", 3),
    "a list": ("array[i % 2]", 2),
    "small numbers": ("(i % 3) * 1e-9", 3),
    "large numbers": ("(i % 3) * 1e200", 3),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_column_of_any_type_is_learned(shared: Database, kind: str) -> None:
    expression, values = ODD[kind]
    query = sql.SQL(
        "drop table if exists t; create table t as select {} as x from generate_series(1, 300) as i"
    )
    shared.connection.execute(query.format(sql.SQL(expression)))
    domain = parse(shared.synthetic.learn("t").text)
    [weights] = weights_of(domain, "x").values()
    assert len(weights) == values
    shared.connection.execute("drop table if exists again")
    assert shared.synthetic.generate(domain, 5, "again") == 5


def test_dates_are_learned_as_dates_however_the_session_writes_them(shared: Database) -> None:
    shared.connection.execute(
        "drop table if exists t; create table t as select date '2024-02-28' + i % 3 as d, "
        "case when i % 3 = 0 then 'first' else 'later' end as x from generate_series(1, 300) as i"
    )
    with shared.session.transaction(force_rollback=True):
        shared.session.execute("set local datestyle = 'German'")
        domain = parse(shared.synthetic.learn("t").text)
        assert [attribute.kind for attribute in domain.attributes] == ["date", "text"]
        shared.synthetic.generate(domain, 100, "dates")
        pairs = shared.session.execute(
            "select distinct d - date '2024-02-28', x from public.dates"
        ).fetchall()
        assert set(pairs) == {(0, "first"), (1, "later"), (2, "later")}
        shared.session.execute("update public.t set d = 'infinity' where x = 'first'")
        assert parse(shared.synthetic.learn("t").text).attributes[0].kind == "text"


def test_names_and_texts_that_mean_something_elsewhere_come_through(shared: Database) -> None:
    """Also the star of a release, which in a domain stands for all other values."""
    odd = ['"', "\\", "\n", "\x7f", "\x01", "'", "*", "é", ".", "a = 1"]
    shared.connection.execute('drop table if exists t; create table t ("a "" . b" text, "%s" text)')
    with shared.connection.cursor() as cursor:
        cursor.executemany(
            "insert into t values (%s, %s)", [(text, text * 2) for text in odd for _ in range(20)]
        )
    learned = shared.synthetic.learn("t", LearnOptions(given={"%s": ('a " . b',)}))
    shared.connection.execute("drop table if exists again")
    shared.synthetic.generate(parse(learned.text), 300, "again")
    made = shared.connection.execute("select * from again").fetchall()
    assert {one for one, _ in made} == set(odd)
    assert all(two == f"{one}{one}" for one, two in made if one != "*")


def test_a_column_with_the_longest_name_can_be_depended_on(shared: Database) -> None:
    """Others depend on its bins, an attribute whose name is longer still, and no column."""
    name = "n" * 63
    query = sql.SQL("create table t as select i as {}, i > 500 as large from generate_series(1, 1000) as i")
    shared.connection.execute("drop table if exists t, again")
    shared.connection.execute(query.format(sql.Identifier(name)))
    learned = shared.synthetic.learn("t", LearnOptions(given={"large": (name,)}))
    assert shared.synthetic.generate(parse(learned.text), 100, "again") == 100
    query = sql.SQL("select count(*) from again where large <> ({} >= 500)::text")
    assert shared.connection.execute(query.format(sql.Identifier(name))).fetchall() == [(0,)]
