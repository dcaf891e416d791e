"""What `learn` asks of a table: counts above the threshold, made in the database; no record leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.sqltree.tables import Relation

# money, oid and their like are in PostgreSQL's category of numbers too, and are none here
_COLUMNS = """
select a.attname, b.typname in ('int2', 'int4', 'int8', 'float4', 'float8', 'numeric'),
       b.typname in ('int2', 'int4', 'int8'), b.typname = 'date'
from pg_catalog.pg_attribute as a
join pg_catalog.pg_type as t on t.oid = a.atttypid
join pg_catalog.pg_type as b on b.oid = coalesce(nullif(t.typbasetype, 0), t.oid)
where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped
order by a.attnum
"""
_STEP = "select anondb.learning_step(%s::regclass, %s, %s)"
_COUNTS = """
select c.vals, c.n, c.left_out_values, c.left_out_records
from anondb.learned_counts(%s::regclass, %s::name[], %s::float8[], %s) as c
"""
_SHARE = "select anondb.mutual_information(%s::regclass, %s::name[], %s::float8[])"
_MOMENTS = "select m.mean, m.deviation from anondb.frequency_moments(%s::regclass, %s) as m"


class TableColumn(NamedTuple):
    name: str
    is_number: bool
    is_integer: bool
    is_date: bool


class Counted(NamedTuple):
    """Combinations of values that occur often enough, and how many combinations and records do not."""

    counts: dict[tuple[str, ...], int]
    left_out_values: int
    left_out_records: int


class LearningTable:
    """A table that a domain is learned from, or whose frequencies are looked at."""

    def __init__(self, connection: Connection, relation: Relation) -> None:
        self.connection = connection
        self.name = sql.Identifier(relation.schema, relation.name).as_string(connection)

    def columns(self) -> list[TableColumn]:
        with translated("reading the table's columns"):
            rows = self.connection.execute(_COLUMNS, (self.name,)).fetchall()
        return [TableColumn(*row) for row in cast(list[tuple[str, bool, bool, bool]], rows)]

    def step(self, column: str, bins: int) -> float:
        """How wide the bins of a column of numbers are."""
        with translated("looking for the width of bins"):
            [(step,)] = self.connection.execute(_STEP, (self.name, column, bins)).fetchall()
        return cast(float, step)

    def counts(self, columns: Sequence[str], steps: Sequence[float | None], threshold: int) -> Counted:
        with translated("counting"):
            fetched = self.connection.execute(
                _COUNTS, (self.name, list(columns), list(steps), threshold)
            ).fetchall()
        rows = cast(list[tuple[list[str] | None, int, int, int]], fetched)
        counts = {tuple(values): n for values, n, _, _ in rows if values is not None}
        return Counted(counts, rows[0][2], rows[0][3])

    def shared_information(self, columns: tuple[str, str], steps: Sequence[float | None]) -> float:
        with translated("measuring dependencies"):
            [(share,)] = self.connection.execute(_SHARE, (self.name, list(columns), list(steps))).fetchall()
        return cast(float, share)

    def moments(self, column: str) -> tuple[float, float]:
        """Mean and deviation of the frequencies of a column's values."""
        with translated("looking at frequencies"):
            [row] = self.connection.execute(_MOMENTS, (self.name, column)).fetchall()
        return cast(tuple[float, float], row)
