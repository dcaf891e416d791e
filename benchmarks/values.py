"""A quasi-identifier with as many different values as there are rows, against the same table with a thousand."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Door
from benchmarks import command, machine
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

FEW = 1_000
_KINDS = {
    "numbers": ("v::int", "{{ widths = [{0}, {1}, {2}] }}"),
    "moments": ("timestamp '2000-01-01' + v * interval '1 minute'", '{{ dates = ["day", "month", "year"] }}'),
    "codes": ("lpad(v::text, {3}, '0')", '{{ mask = "right" }}'),
}
# the same span for few and many: v runs through all numbers below that of the rows, or through every so many of them
_TABLE = """
create table bench.{} as
select {} as value, (hashint4(i + 7) & 65535) %% 20 as ward,
       'diagnosis ' || (hashint4(i + 23) & 65535) %% 100 as diagnosis
from (select i, (i::bigint * 7368787 %% %s) / %s * %s as v from generate_series(1, %s) as i) as rows
"""
_POLICY = """
source = "bench.{table}"
target = "bench.release"
[privacy]
k = 5
suppression = 0.05
changes = "free"
[method]
algorithm = "{algorithm}"
[columns]
value = {{ role = "quasi", hierarchy = {hierarchy} }}
ward = {ward}
diagnosis = {{ role = "sensitive" }}
"""
_WARD = {1: '{ role = "other" }', 2: '{ role = "quasi", hierarchy = { widths = [5, 10] } }'}


@dataclass(frozen=True)
class Case:
    kind: str
    rows: int
    values: int
    quasi: int

    def __str__(self) -> str:
        return f"{self.rows:,} rows, {self.values:,} {self.kind}, {self.quasi} quasi-identifiers"

    @property
    def table(self) -> str:
        return f"{self.kind}_{self.values}"

    def made(self, text: str) -> str:
        unit = max(self.rows // FEW, 2)
        return text.format(unit, unit * 10, unit * 100, len(str(self.rows - 1)))

    def fill(self, db: Database) -> None:
        step = max(self.rows // self.values, 1)
        table = sql.SQL(_TABLE).format(sql.Identifier(self.table), sql.SQL(self.made(_KINDS[self.kind][0])))
        db.connection.execute(table, (self.rows, step, step, self.rows))
        db.connection.execute(sql.SQL("analyze {}").format(sql.Identifier("bench", self.table)))

    def policy(self, algorithm: str) -> str:
        hierarchy = self.made(_KINDS[self.kind][1])
        return _POLICY.format(
            table=self.table, algorithm=algorithm, hierarchy=hierarchy, ward=_WARD[self.quasi]
        )


def run(options: Options) -> dict[str, Any]:
    """Each kind of value, alone and beside another quasi-identifier; few and many in turn."""
    with fresh_database(options.dsn) as conninfo, Database(Door(conninfo)) as db:
        db.connection.execute("create schema bench")
        found = [_pair(conninfo, db, options, kind, rows) for rows in options.rows for kind in _KINDS]
        return {
            "benchmark": "values",
            "machine": machine.facts(db.connection),
            "cases": [case for pair in found for case in pair],
        }


def _pair(conninfo: str, db: Database, options: Options, kind: str, rows: int) -> list[dict[str, Any]]:
    both = [Case(kind, rows, values, 1) for values in (FEW, rows)]
    for case in both:
        case.fill(db)
    pairs = []
    for quasi in _WARD:
        runs: list[list[dict[str, Any]]] = [[], []]
        for _ in range(options.repeat):
            for case, into in zip(both, runs, strict=True):
                into.append(_measured(conninfo, db, options, Case(kind, rows, case.values, quasi)))
        few, many = map(_middle, runs)
        ratios = {
            f"{name}_ratio": round(many[name] / few[name], 2) for name in ("command_seconds", "cpu_seconds")
        }
        say(
            f"{Case(kind, rows, rows, quasi)}: {ratios}; {many['command_seconds']} s, {many['backend_peak_mb']} MB"
        )
        pairs.append({"kind": kind, "rows": rows, "quasi": quasi, **ratios, "few": few, "many": many})
    for case in both:
        db.connection.execute(sql.SQL("drop table {}").format(sql.Identifier("bench", case.table)))
    return pairs


def _measured(conninfo: str, db: Database, options: Options, case: Case) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(case.policy(options.algorithm or "optimal"), encoding="utf-8")
        figures, found = command.policy(conninfo, sys.executable, policy)
    db.connection.execute("drop table bench.release")
    processors = (figures["client_cpu_seconds"] or 0) + (figures["server_cpu_seconds"] or 0)
    return {**figures, "cpu_seconds": processors, "levels": found["levels"], "seconds": found["seconds"]}


def _middle(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The run in the middle, by its processor time."""
    return sorted(runs, key=lambda run: run["cpu_seconds"])[len(runs) // 2]
