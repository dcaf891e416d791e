"""Every measure of a large release, in seconds: inside a run, and by the functions that join the tables by a key."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from anondb.db.connection import Connection, Door
from benchmarks import adult, machine
from benchmarks.child import run_policy
from benchmarks.database import fresh_database
from benchmarks.mondrian import QUASI, Case
from benchmarks.options import Options
from benchmarks.progress import say

K = 5
AGES = "{ start = 0, widths = [5, 10, 20] }"

# what stands in them comes as parameters, by the names of the functions' own
FUNCTIONS = {
    "utility": "select count(*) from anondb.utility(%(original)s, %(release)s, 'i', %(quasi)s)",
    "record linkage by text": "select anondb.record_linkage(%(original)s, %(release)s, 'i', %(quasi)s)",
    "record linkage by coverage": (
        "select anondb.record_linkage(%(original)s, %(release)s, 'i', %(quasi)s, matching => 'coverage')"
    ),
    "risk before and after": (
        "select count(*) from anondb.risk_before_after(%(original)s, %(release)s, %(quasi)s)"
    ),
    "attribute disclosure": (
        "select count(*) from anondb.attribute_disclosure(%(release)s, %(quasi)s, 'salary_class')"
    ),
    "discernibility": "select anondb.discernibility(%(release)s, %(quasi)s)",
    "average class size": "select anondb.average_class_size(%(release)s, %(quasi)s, 5)",
    "k-anonymity": "select anondb.k_anonymity(%(release)s, %(quasi)s)",
    "l-diversity": "select anondb.l_diversity(%(release)s, %(quasi)s, 'salary_class')",
    "t-closeness": "select anondb.t_closeness(%(release)s, %(quasi)s, 'salary_class')",
}
GIVEN = {"original": "bench.adult", "release": "bench.release", "quasi": list(QUASI)}


def run(options: Options) -> dict[str, Any]:
    adult.require(options.data)
    say("making a database")
    rows = options.rows[0]
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        adult.load(connection, options.data)
        adult.scale(connection, rows, numbered=True)
        cases = [
            _measure(conninfo, connection, options, algorithm, policy)
            for algorithm, policy in _policies(options.data, rows)
        ]
        return {
            "benchmark": "measures",
            "machine": machine.facts(connection),
            "rows": rows,
            "quasi": QUASI,
            "k": K,
            "cases": cases,
        }


def _policies(data: Path, rows: int) -> Iterator[tuple[str, str]]:
    columns = dict.fromkeys(adult.COLUMNS, '{ role = "other" }')
    columns["i"] = '{ role = "other", keep = "identifying" }'
    columns["salary_class"] = '{ role = "sensitive" }'
    for column in QUASI:
        columns[column] = adult.quasi(AGES if column == "age" else adult.in_file(data, column))
    yield "datafly", adult.policy(columns, {"algorithm": "datafly"}, K, 0.05)
    yield "mondrian", Case(rows, strict=True, numbered=True).policy(data)


def _measure(
    conninfo: str, connection: Connection, options: Options, algorithm: str, policy: str
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.toml"
        file.write_text(policy, encoding="utf-8")
        runs = [run_policy(conninfo, file, evaluate="full") for _ in range(options.repeat)]
    inside = {
        step["step"]: round(median(_seconds(each, step["step"]) for each in runs), 4)
        for step in runs[0]["steps"]
        if step["stage"] == "evaluate"
    }
    whole = round(median(each["seconds"]["evaluate"] for each in runs), 4)
    connection.execute("analyze bench.release")
    asked = {name: round(_timed(connection, statement), 4) for name, statement in FUNCTIONS.items()}
    say(f"{algorithm}: {whole} s in the run, {sum(asked.values()):.1f} s by functions on joined tables")
    return {
        "algorithm": algorithm,
        "classes": runs[0]["classes"],
        "released": runs[0]["released"],
        "metrics": runs[0]["metrics"],
        "notes": runs[0]["notes"],
        "evaluate_seconds": whole,
        "evaluate_steps": inside,
        "functions_seconds": round(sum(asked.values()), 4),
        "functions": asked,
    }


def _seconds(found: dict[str, Any], name: str) -> float:
    return sum(float(step["ms"]) for step in found["steps"] if step["step"] == name) / 1000


def _timed(connection: Connection, statement: str) -> float:
    started = time.perf_counter()
    # the values stand in the text, where their types are the functions'
    psycopg.ClientCursor(connection).execute(statement.encode(), GIVEN)
    return time.perf_counter() - started
