"""The laws of a Datafly release, on random tables, against a naive implementation in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from psycopg import sql

from anondb.api import Database, Release
from anondb.errors import UnsatisfiableError
from anondb.policy.load import parse
from anondb.run.plan import Options
from tests.properties.examples import Example, diagnosis, laws, tables
from tests.properties.oracle import Class, Row

SOURCE = sql.Identifier("clinic", "Admissions 2024")


def fill(db: Database, example: Example, order: list[int] | None = None) -> None:
    """The source, its rows in this physical order."""
    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(column.name), sql.SQL(column.type))
        for column in example.columns
    )
    db.connection.execute(
        sql.SQL(
            "drop schema if exists clinic cascade; create schema clinic; create schema if not exists share;"
            "create table {} (name text, {}, diagnosis text, record int)"
        ).format(SOURCE, columns)
    )
    with db.connection.cursor() as cursor, cursor.copy(sql.SQL("copy {} from stdin").format(SOURCE)) as copy:
        for record in range(len(example.rows)) if order is None else order:
            copy.write_row((f"person {record}", *example.rows[record], diagnosis(record), record))
    if example.analyzed:
        db.connection.execute(sql.SQL("analyze {}").format(SOURCE))


def publish(db: Database, example: Example, folder: Path) -> Release:
    text = example.policy(folder)
    for number, column in enumerate(example.columns):
        if column.written == "stored":
            db.hierarchies.load(f"vgh {number}", folder / f"{number}.csv", replace=True)
    return db.run(parse(text, base=folder), options=Options(allow_empty=True))


def released(db: Database) -> list[tuple[object, ...]]:
    return db.connection.execute("select * from share.admissions").fetchall()


def released_bytes(db: Database) -> bytes:
    return copied(db, sql.Identifier("share", "admissions"))


def copied(db: Database, table: sql.Identifier) -> bytes:
    with db.connection.cursor() as cursor, cursor.copy(sql.SQL("copy {} to stdout").format(table)) as copy:
        return b"".join(copy)


@laws
@given(example=tables())
def test_the_release_is_the_oracles_release(db: Database, tmp_path: Path, example: Example) -> None:
    fill(db, example)
    if not example.satisfiable:
        with pytest.raises(UnsatisfiableError, match="larger than the table"):
            publish(db, example, tmp_path)
        return
    expected = example.outcome()
    result = publish(db, example, tmp_path).result
    assert tuple(result.levels.values()) == expected.levels
    rows = ((*labels, *example.kept(record)) for record, labels in example.released_as(expected).items())
    assert Counter(released(db)) == Counter(rows)
    assert result.records == len(example.rows)
    assert result.suppressed == expected.suppressed + len(example.rows) - len(example.eligible)


@laws
@given(example=tables())
def test_every_class_has_k_records_and_every_record_is_accounted_for(
    db: Database, tmp_path: Path, example: Example
) -> None:
    assume(example.satisfiable)
    fill(db, example)
    result = publish(db, example, tmp_path).result
    rows = released(db)
    sizes = Counter(row[: len(example.columns)] for row in rows)
    assert all(size >= example.k for size in sizes.values())
    assert (len(rows), len(sizes)) == (result.released, result.classes)
    assert result.k == min(sizes.values(), default=0)
    left_out = len(example.rows) - len(example.eligible)
    in_small_classes = result.suppressed - left_out
    assert in_small_classes <= example.suppression * len(example.eligible)
    if example.suppress == "mask":
        assert result.released == len(example.eligible)
    else:
        assert result.released + result.suppressed == result.records


@laws
@given(example=tables())
def test_every_released_value_covers_the_value_that_it_stands_for(
    db: Database, tmp_path: Path, example: Example
) -> None:
    assume(example.satisfiable)
    example = replace(example, numbered=True)
    fill(db, example)
    publish(db, example, tmp_path)
    hierarchies = example.hierarchies
    for *labels, of_record, record in released(db):
        assert isinstance(record, int)
        original: Row = example.rows[record]
        assert of_record == diagnosis(record)
        for label, value, hierarchy in zip(labels, original, hierarchies, strict=True):
            if value is None:
                assert label in (None, hierarchy.root)
            else:
                assert isinstance(label, str)
                assert hierarchy.covers(label, value)


@laws
@given(example=tables(suppress=["mask"], suppression=["0.02", "0.05", "0.1", "0.29"]))
def test_masked_records_are_one_class_at_the_roots_that_has_k_records_itself(
    db: Database, tmp_path: Path, example: Example
) -> None:
    assume(example.satisfiable)
    fill(db, example)
    result = publish(db, example, tmp_path).result
    masked = result.suppressed - (len(example.rows) - len(example.eligible))
    roots = tuple(hierarchy.root for hierarchy in example.hierarchies)
    at_the_roots = sum(row[: len(roots)] == roots for row in released(db))
    assert masked == 0 or at_the_roots >= max(masked, example.k)


two_runs = settings(laws, max_examples=max(laws.max_examples // 2, 1))


@two_runs
@given(example=tables())
def test_the_same_rows_give_the_same_bytes_whatever_their_order_and_statistics_and_stay_as_they_are(
    db: Database, tmp_path: Path, example: Example
) -> None:
    assume(example.satisfiable)
    order = list(range(len(example.rows)))
    fill(db, example)
    before = copied(db, SOURCE)
    publish(db, example, tmp_path)
    first = released_bytes(db)
    assert copied(db, SOURCE) == before
    Random(7).shuffle(order)
    fill(db, replace(example, analyzed=not example.analyzed), order)
    publish(db, example, tmp_path)
    assert released_bytes(db) == first


@two_runs
@given(example=tables(suppress=["mask"], suppression=["0.1", "0.29", "0.5"]), seed=st.integers(0, 2**16))
def test_records_of_one_class_can_change_places_without_a_trace(
    db: Database, tmp_path: Path, example: Example, seed: int
) -> None:
    """Whatever a release shows, its order included, cannot tell which of a class's values was whose."""
    assume(example.satisfiable)
    members: dict[Class, list[int]] = {}
    for record, labels in example.released_as(example.outcome()).items():
        members.setdefault(labels, []).append(record)
    exchanged = list(example.rows)
    for records in members.values():
        for record, other in zip(records, Random(seed).sample(records, len(records)), strict=True):
            exchanged[record] = example.rows[other]
    fill(db, example)
    publish(db, example, tmp_path)
    first = released_bytes(db)
    fill(db, replace(example, rows=tuple(exchanged)))
    publish(db, example, tmp_path)
    assert released_bytes(db) == first
