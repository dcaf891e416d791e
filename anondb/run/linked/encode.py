"""Encode linked tables: their columns one by one, then their rows with the rows above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from anondb.errors import UsageError
from anondb.methods.method import Job
from anondb.policy.model import Privacy
from anondb.run import encode as single
from anondb.run.encode import Encoded
from anondb.run.engine import Engine
from anondb.run.engines import engine_of
from anondb.run.linked import places, places_sql
from anondb.run.linked import rows_sql as sql
from anondb.run.linked.plan import LinkedPlan, LinkedScratch, TablePlan
from anondb.run.linked.rows_sql import Words
from anondb.run.statement import MANY, Runner, Statement, row
from anondb.sqltree.tables import Quasi


@dataclass(frozen=True)
class TableCounts:
    """What was counted of the source of a table."""

    rows: int  # that have a person
    orphans: int  # without one: left out
    cut: int  # beyond the most rows of a person


@dataclass(frozen=True)
class EncodedTables:
    """Linked tables in codes, as far as Python needs to know them."""

    columns: Mapping[int, Encoded]  # by the numbers of the columns
    words: Words
    tables: tuple[TableCounts, ...]

    def quasi(self, number: int) -> Quasi:
        return self.columns[number].quasi[0]

    @property
    def persons(self) -> int:
        return self.tables[0].rows


def encode(job: Job, linked: LinkedPlan, names: LinkedScratch) -> EncodedTables:
    """Columns first, so that the one copy of each table has their codes."""
    db = job.db
    single.take_keys(db, job.engine, job.plan, names.keys)
    columns: dict[int, Encoded] = {}
    for table in linked.tables:
        options = replace(job.options, allow_empty=job.options.allow_empty or table.parent is not None)
        for quasi in table.plan.quasi:
            plan = replace(table.plan, quasi=(quasi,), sensitive=(), unit=None)
            columns[quasi.number] = single.encode(db, engine_of(db, plan), plan, names.column(quasi), options)
    words = Words(
        linked,
        {number: encoded.quasi[0] for number, encoded in columns.items()},
        {number: encoded.nodes[0] for number, encoded in columns.items()},
    )
    if all(table.plan.distribution is None for table in linked.tables):
        places.share(db, names, max((found.records for found in columns.values()), default=0))
    for number, encoded in columns.items():
        quasi = encoded.quasi[0]
        db.run(Statement(f"words q{number}", sql.column_words(names, quasi, words)))
        packed = names.column(quasi).packed
        db.run(Statement(f"word statistics q{number}", places_sql.analyze(names, packed)))
    counts = [_copy(job, linked, names, table, words, columns) for table in linked.tables]
    return EncodedTables(columns, words, tuple(counts))


def _copy(
    job: Job,
    linked: LinkedPlan,
    names: LinkedScratch,
    table: TablePlan,
    words: Words,
    columns: Mapping[int, Encoded],
) -> TableCounts:
    db, privacy = job.db, job.plan.policy.privacy
    engine: Engine = engine_of(db, table.plan)
    engine.copy_records(
        f"rows {table.label}",
        lambda source: sql.copied_rows(
            names,
            linked,
            table,
            words,
            source,
            privacy.max_rows,
            numbered=tells_rows_apart(privacy) or bool(linked.children(table)),
        ),
    )
    db.run(Statement(f"row statistics {table.label}", places_sql.analyze(names, names.rows(table))))
    rows, orphans = _counts(db, names, table)
    if orphans and privacy.orphans == "refuse":
        _refuse_orphans(table, linked, orphans)
    if orphans:
        db.run(Statement(f"leave out orphans {table.label}", sql.without_orphans(names, table)))
    for child in linked.children(table):
        [several] = db.one(
            Statement(f"keys {child.label}", sql.faults_of_key(names, child, table), answers=row(several=0))
        )
        if several:
            raise UsageError(
                f"parent.key of {child.plan.policy.target}: {several:,} keys stand in several rows of "
                f"{table.plan.policy.source}, so that it is not known whose the rows of {child.plan.policy.source} are",
                hint="name a key of the parent that is unique, or all columns of one",
            )
    there = next((e.records for q in table.plan.quasi for e in [columns[q.number]]), rows)
    return TableCounts(rows - orphans, orphans, max(there - rows, 0))


def tells_rows_apart(privacy: Privacy) -> bool:
    """Whether single rows are known together, or left out; else the paths of labels that lead to them are enough."""
    return privacy.knows in (2, "all") or privacy.suppress == "rows"


def _counts(db: Runner, names: LinkedScratch, table: TablePlan) -> Sequence[int]:
    if table.parent is not None:
        figures = sql.figures_of_rows(names, table)
        return db.one(Statement(f"count rows {table.label}", figures, answers=row(rows=MANY, orphans=0)))
    question = sql.faults_of_unit(names, table)
    rows, several, nobody = db.one(
        Statement(f"count rows {table.label}", question, answers=row(rows=MANY, several=0, nobody=0))
    )
    if several:
        raise UsageError(
            f"{several:,} persons have several rows in {table.plan.policy.source}, the table of the persons",
            hint="take a table, or a view, with one row for each person; rows that a person has many of hang below it",
        )
    return rows, nobody


def _refuse_orphans(table: TablePlan, linked: LinkedPlan, orphans: int) -> None:
    source, one = table.plan.policy.source, orphans == 1
    if table.parent is None:
        told = f'{orphans:,} row{"s" * (not one)} of {source} name{"s" * one} nobody: "{linked.unit.name}" is NULL'
    else:
        above = linked.tables[table.parent].plan.policy.source
        told = f"{orphans:,} row{'s' * (not one)} of {source} {'has' if one else 'have'} no parent in {above}"
    raise UsageError(told, hint='mend the source, or leave them out: orphans = "leave out" in [privacy]')
