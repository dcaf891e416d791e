"""Nights: a release of one day, and the next one after some of its rows have changed, against the honest limit."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import mean
from typing import Any

from psycopg import sql

from anondb.db.connection import Connection, Door
from anondb.errors import UsageError
from benchmarks import limit, machine
from benchmarks.child import run_policy
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

SOURCE, QUASI = sql.Identifier("bench", "persons"), ["age", "zip", "job"]
STAGES = ("encode", "search", "publish", "verify")

_ROWS = """
insert into bench.persons
select i, (i * 7919) %% 80, 'Z' || (i * 31) %% 40, 'J' || (i * 17) %% 14, 'D' || (i * 13) %% 50
from generate_series(%s::bigint, %s) as i
"""
_LEAVE = "delete from bench.persons where person %% %s = 0"
_LEDGER = """
select round(sum(pg_total_relation_size(x)) / 1000000, 1)::float8,
       (select count(*) from anondb.member)
from unnest(array['anondb.member', 'anondb.cohort', 'anondb.series', 'anondb.series_release']::regclass[]) as x
"""
_POLICY = """
source = "bench.persons"
target = "bench.released_persons"
[privacy]
k = 5
suppression = 0.05
changes = "hold"
[method]
algorithm = "{algorithm}"
[columns]
person = {{ role = "identifier" }}
age    = {{ role = "quasi", hierarchy = {{ start = 0, widths = [5, 10, 20] }} }}
zip    = {{ role = "quasi", hierarchy = {{ mask = "right" }} }}
job    = {{ role = "quasi", hierarchy = {{ mask = "all" }} }}
diag   = {{ role = "sensitive" }}
"""


def run(options: Options) -> dict[str, Any]:
    """Persons of whom the given share changes: half of these leave, and as many join."""
    if not 0 < options.changed <= 1:
        raise UsageError("--changed must be above 0 and at most 1", hint="0.01 is one row in a hundred")
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        cases = [_measured(conninfo, connection, options, rows) for rows in options.rows]
        return {"benchmark": "nights", "machine": machine.facts(connection), "cases": cases}


def _measured(conninfo: str, connection: Connection, options: Options, rows: int) -> dict[str, Any]:
    connection.execute("create schema if not exists bench")
    connection.execute("drop table if exists bench.persons, bench.released_persons")
    connection.execute("delete from anondb.series")
    connection.execute("truncate anondb.member")
    connection.execute(
        "create table bench.persons (person bigint primary key, age int, zip text, job text, diag text)"
    )
    connection.execute(_ROWS.encode(), (1, rows))
    connection.execute("vacuum analyze bench.persons")
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "persons.toml"
        policy.write_text(_POLICY.format(algorithm=options.algorithm or "datafly"), encoding="utf-8")
        limits: list[dict[str, float]] = [limit.honest(connection, SOURCE, QUASI)]
        first = run_policy(conninfo, policy)
        [(ledger_mb, members)] = connection.execute(_LEDGER).fetchall()
        say(f"{rows:,} rows: first fill {_seconds(first):.2f} s, limit {limits[0]['honest']:.2f} s")
        every = max(round(2 / options.changed), 1)  # half of those who change leave
        left = connection.execute(_LEAVE, (every,)).rowcount
        joined = connection.execute(_ROWS.encode(), (2 * rows + 1, 2 * rows + left)).rowcount
        refresh = run_policy(conninfo, policy)
        limits.append(limit.honest(connection, SOURCE, QUASI))
        say(f"{rows:,} rows: refresh {_seconds(refresh):.2f} s, limit {limits[1]['honest']:.2f} s")
    honest = mean([found["honest"] for found in limits])
    return {
        "rows": rows,
        "left": left,
        "joined": joined,
        "honest_limit_seconds": round(honest, 4),
        "first_seconds": _seconds(first),
        "refresh_seconds": _seconds(refresh),
        "first_ratio": round(_seconds(first) / honest, 2),
        "refresh_ratio": round(_seconds(refresh) / honest, 2),
        "members": members,
        "ledger_mb": ledger_mb,
        "limits": limits,
        "first": first,
        "refresh": refresh,
    }


def _seconds(found: dict[str, Any]) -> float:
    """From encode to verify."""
    took: dict[str, float] = found["seconds"]
    return round(sum(took[stage] for stage in STAGES), 4)
