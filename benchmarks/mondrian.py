"""Mondrian on the Adult data as it is, and scaled: classes, partitions, and where time goes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from anondb.db.connection import Connection, Door
from benchmarks import adult, machine
from benchmarks.child import repeated
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

K = 5
QUASI = tuple(adult.QUASI[:5])
FOUND = "records released classes iterations partitioned k".split()


@dataclass(frozen=True)
class Case:
    """A source, and how it is cut."""

    rows: int
    strict: bool
    numbered: bool  # every row has a number that is released too, so that no two rows are alike

    def __str__(self) -> str:
        kind = "numbered rows" if self.numbered else "rows"
        return f"{self.rows:,} {kind} × {len(QUASI)}, {'strict' if self.strict else 'relaxed'}"

    def policy(self, data: Path) -> str:
        """Ages by value, categories by the hierarchies that ARX comes with, the salary sensitive."""
        columns = dict.fromkeys(adult.COLUMNS, '{ role = "other" }')
        columns["salary_class"] = '{ role = "sensitive" }'
        if self.numbered:
            columns["i"] = '{ role = "other", keep = "identifying" }'
        for column in QUASI:
            columns[column] = (
                '{ role = "quasi" }' if column == "age" else adult.quasi(adult.in_file(data, column))
            )
        written = adult.policy(columns, {"algorithm": "mondrian"}, K, 0.0)
        return written.replace('"mondrian"', f'"mondrian"\nstrict = {str(self.strict).lower()}')


def run(options: Options) -> dict[str, Any]:
    """Adult itself, then the first size that was asked for."""
    adult.require(options.data)
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        adult.load(connection, options.data)
        cases = [
            *_of_source(conninfo, connection, options, adult.RECORDS, numbered=False),
            *_of_source(conninfo, connection, options, options.rows[0], numbered=False),
            *_of_source(conninfo, connection, options, options.rows[0], numbered=True),
        ]
        return {
            "benchmark": "mondrian",
            "machine": machine.facts(connection),
            "quasi": QUASI,
            "k": K,
            "cases": cases,
        }


def _of_source(
    conninfo: str, connection: Connection, options: Options, rows: int, *, numbered: bool
) -> list[dict[str, Any]]:
    connection.execute("drop table if exists bench.adult")
    if rows == adult.RECORDS and not numbered:
        adult.original(connection)
    else:
        adult.scale(connection, rows, numbered=numbered)
    return [_measure(conninfo, options, Case(rows, strict, numbered)) for strict in (True, False)]


def _measure(conninfo: str, options: Options, case: Case) -> dict[str, Any]:
    found = repeated(conninfo, case.policy(options.data), options.repeat, FOUND)
    say(f"{case}: {found['classes']:,} classes, {found['whole_seconds']} s")
    return {**asdict(case), **found}
