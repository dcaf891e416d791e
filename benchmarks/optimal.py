"""The optimal search on the Adult data with all nine columns and ARX's hierarchies: checks, and where time goes.

Checks are the cost that no machine changes. The rest tells how much of a search is spent in the server's
statements and how much in the program that decides which one comes next.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from anondb.db.connection import Door
from benchmarks import adult, machine
from benchmarks.child import run_policy
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

K = 5
FOUND = "levels classes suppressed objective score proven checks rollups lattice".split()


@dataclass(frozen=True)
class Case:
    """What is best, and what may be left out for it."""

    objective: str
    suppression: float

    def __str__(self) -> str:
        return f"{self.objective}, {self.suppression:.0%} may be suppressed"

    def policy(self, data: Path) -> str:
        columns = {column: adult.quasi(adult.in_file(data, column)) for column in adult.ALL_NINE}
        method = {"algorithm": "optimal", "objective": self.objective}
        return adult.policy(columns, method, K, self.suppression)


CASES = [Case(objective, share) for objective in ("loss", "classes") for share in (0.0, 0.05)]


def run(options: Options) -> dict[str, Any]:
    adult.require(options.data)
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        adult.load(connection, options.data)
        adult.original(connection)
        return {
            "benchmark": "optimal",
            "machine": machine.facts(connection),
            "rows": adult.RECORDS,
            "quasi": adult.ALL_NINE,
            "k": K,
            "cases": [_measure(conninfo, options, case) for case in CASES],
        }


def _measure(conninfo: str, options: Options, case: Case) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "adult.toml"
        policy.write_text(case.policy(options.data), encoding="utf-8")
        runs = [run_policy(conninfo, policy) for _ in range(options.repeat)]
    found = {**asdict(case), **{key: runs[0][key] for key in FOUND}, **_figures(runs)}
    say(f"{case}: {found['checks']} checks, {found['whole_seconds']} s, of which {found['search']}")
    return {**found, "runs": runs}


def _figures(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Medians over the runs."""
    searches = [_search(found) for found in runs]
    return {
        "seconds": {
            stage: round(median(found["seconds"][stage] for found in runs), 4) for stage in runs[0]["seconds"]
        },
        "whole_seconds": round(median(found["whole_seconds"] for found in runs), 4),
        "search": {key: round(median(search[key] for search in searches), 4) for key in searches[0]},
        "client_cpu_seconds": round(median(found["client_cpu_seconds"] for found in runs), 4),
        "client_peak_mb": max(found["client_peak_mb"] for found in runs),
    }


def _search(found: dict[str, Any]) -> dict[str, float]:
    """The search of one run: waiting for statements, the program's own part, and milliseconds a check."""
    steps = [step for step in found["steps"] if step["stage"] == "search"]
    server = sum(step["ms"] for step in steps)
    nodes = sum(step["ms"] for step in steps if step["step"].startswith("node "))
    whole = found["seconds"]["search"] * 1000
    return {
        "server_seconds": server / 1000,
        "python_seconds": (whole - server) / 1000,
        "python_share": 1 - server / whole,
        "ms_a_check": whole / found["checks"],
        "server_ms_a_check": nodes / found["checks"],
    }
