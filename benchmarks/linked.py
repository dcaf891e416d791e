"""Linked tables: patients and their visits in one release, against the limit of the join; and pseudonyms alone."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from psycopg import sql

from anondb.db.connection import Connection, Door
from benchmarks import machine
from benchmarks.child import run_policy
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

VISITS_OF_A_PATIENT = 5

_PATIENTS = """
create table bench.patients as
select i as patient_id, date '1930-01-01' + (hashint4(i) & 32767) %% 29000 as birth,
       lpad(((hashint4(i + 7) & 65535) %% 1000)::text, 5, '90') as zip,
       (array['f', 'm'])[1 + (hashint4(i + 9) & 1)] as sex
from generate_series(1, %s) as i
"""
_VISITS = """
create table bench.visits as
select i as visit_id, 1 + (hashint4(i + 11) & 1073741823) %% {patients} as patient_id,
       date '2023-01-01' + (hashint4(i + 13) & 65535) %% 730 as visited,
       'ward ' || (hashint4(i + 17) & 65535) %% 20 as ward, 'reason ' || (hashint4(i + 19) & 65535) %% 40 as reason,
       'diagnosis ' || (hashint4(i + 23) & 65535) %% 100 as diagnosis
from generate_series(1, %s) as i
"""
_LIMIT = {
    "group": """
        select count(*) from (
            select p.birth, p.zip, p.sex, v.visited, v.ward, v.reason, count(*)
            from bench.visits as v join bench.patients as p on p.patient_id = v.patient_id
            group by p.birth, p.zip, p.sex, v.visited, v.ward, v.reason) as g
    """,
    "patients": "create table bench.copy as select * from bench.patients",
    "visits": "create table bench.copy as select * from bench.visits",
}
_PSEUDONYMS = """
select count(anondb.pseudonym(k.inner_key, k.outer_key, v.visit_id::text))
from bench.visits as v cross join (select * from anondb.derived_key('pseudonym', 'bench') offset 0) as k
"""
_POLICY = """
[privacy]
k = 5
unit = "patient_id"
suppression = 0.02
[method]
algorithm = "{algorithm}"
[[table]]
source = "bench.patients"
target = "bench.released_patients"
[table.columns]
patient_id = {{ role = "pseudonym" }}
birth      = {{ role = "quasi", hierarchy = {{ dates = true }} }}
zip        = {{ role = "quasi", hierarchy = {{ mask = "right" }} }}
sex        = {{ role = "quasi", hierarchy = {{ mask = "all" }} }}
[[table]]
source = "bench.visits"
target = "bench.released_visits"
parent = {{ table = "bench.released_patients", key = {{ patient_id = "patient_id" }} }}
[table.columns]
visit_id   = {{ role = "identifier" }}
patient_id = {{ role = "pseudonym" }}
visited    = {{ role = "quasi", hierarchy = {{ dates = ["month", "quarter", "year"] }} }}
ward       = {{ role = "quasi", hierarchy = {{ mask = "all" }} }}
reason     = {{ role = "quasi", hierarchy = {{ mask = "all" }} }}
diagnosis  = {{ role = "sensitive" }}
"""


def run(options: Options) -> dict[str, Any]:
    """A million visits of 200,000 patients, unless the caller says otherwise."""
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        cases = [_measured(conninfo, connection, options, rows) for rows in options.rows]
        return {"benchmark": "linked", "machine": machine.facts(connection), "cases": cases}


def _measured(conninfo: str, connection: Connection, options: Options, rows: int) -> dict[str, Any]:
    patients = max(rows // VISITS_OF_A_PATIENT, 1)
    connection.execute("create schema if not exists bench")
    connection.execute("drop table if exists bench.patients, bench.visits")
    connection.execute(_PATIENTS, (patients,))
    visits = sql.SQL(_VISITS).format(patients=sql.Literal(patients))
    connection.execute(visits, (rows,))
    connection.execute("analyze bench.patients; analyze bench.visits")
    limits = [_limit(connection)]
    runs: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for algorithm in [options.algorithm] if options.algorithm else ["datafly", "optimal"]:
            policy = Path(folder) / f"{algorithm}.toml"
            policy.write_text(_POLICY.format(algorithm=algorithm), encoding="utf-8")
            runs[algorithm] = []
            for _ in range(options.repeat):
                runs[algorithm].append(run_policy(conninfo, policy))
                limits.append(_limit(connection))
                took = runs[algorithm][-1]["whole_seconds"]
                say(f"{algorithm}, {rows:,} visits: {took:.2f} s, limit {limits[-1]['sum']:.2f} s")
            connection.execute("drop table bench.released_patients, bench.released_visits")
    physical = median(found["sum"] for found in limits)
    return {
        "visits": rows,
        "patients": patients,
        "limit_seconds": round(physical, 4),
        "pseudonym_seconds": round(_seconds(connection, _PSEUDONYMS), 4),
        **{
            f"{algorithm}_ratio_of_the_whole": round(median(r["whole_seconds"] for r in found) / physical, 2)
            for algorithm, found in runs.items()
        },
        "client_peak_mb": max(r["client_peak_mb"] for found in runs.values() for r in found),
        "limits": limits,
        "runs": runs,
    }


def _limit(connection: Connection) -> dict[str, float]:
    """One grouping of the joined rows, and one plain table as of each source."""
    found = {}
    for name, statement in _LIMIT.items():
        found[name] = round(_seconds(connection, statement), 4)
        connection.execute("drop table if exists bench.copy")
    return {**found, "sum": round(sum(found.values()), 4)}


def _seconds(connection: Connection, statement: str) -> float:
    started = time.perf_counter()
    connection.execute(statement.encode())
    return time.perf_counter() - started
