"""Synthetic tables: how long they take to draw, and that no functional dependency of a domain is violated."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Connection, Door
from benchmarks import machine
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

SEED = 7
# what decides what in a domain, as columns of its table
DEPENDENCIES = {
    "irish_census": [("field_of_study", "field_of_study_area")],
    "insurance": [("age", "age_range"), ("salary", "salary_class"), ("risk_of_accident", "risk_class")],
}
_VIOLATIONS = sql.SQL(
    "select count(*) from (select from bench.people as p group by p.{} having count(distinct p.{}) > 1) as v"
)


def run(options: Options) -> dict[str, Any]:
    """Every domain that has dependencies, at every size that was asked for."""
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Database(Door(conninfo)) as db:
        db.connection.execute("create schema bench")
        cases = [_measure(db, domain, rows, options) for domain in DEPENDENCIES for rows in options.rows]
        return {
            "benchmark": "generate",
            "machine": machine.facts(db.connection),
            "seed": SEED,
            "cases": cases,
        }


def _measure(db: Database, domain: str, rows: int, options: Options) -> dict[str, Any]:
    runs = []
    for _ in range(options.repeat):
        db.connection.execute("drop table if exists bench.people")
        began = time.perf_counter()
        db.synthetic.generate(domain, rows, "bench.people", seed=SEED)
        runs.append(round(time.perf_counter() - began, 3))
    violated = {
        f"{one} → {other}": _violations(db.connection, one, other) for one, other in DEPENDENCIES[domain]
    }
    seconds = median(runs)
    say(f"{domain}, {rows:,} rows: {seconds} s, {sum(violated.values())} violations")
    return {
        "domain": domain,
        "rows": rows,
        "seconds": seconds,
        "microseconds_a_row": round(seconds / rows * 1e6, 2),
        "violations": violated,
        "runs": runs,
    }


def _violations(connection: Connection, one: str, other: str) -> int:
    query = _VIOLATIONS.format(sql.Identifier(one), sql.Identifier(other))
    row = connection.execute(query).fetchone()
    return int(str(row[0])) if row else 0
