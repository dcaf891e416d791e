"""Full-domain generalization (Datafly) of the Adult data, against the physical limit of the same database."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from anondb.db.connection import Connection, Door
from benchmarks import adult, limit, machine
from benchmarks.child import run_policy
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

SUPPRESSION = (0.05, 0.0)
COUNTED = ("encode", "search", "publish", "verify")


def run(options: Options) -> dict[str, Any]:
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).open() as connection:
        adult.load(connection, options.data)
        cases = [case for rows in options.rows for case in _cases(conninfo, connection, options, rows)]
        return {"benchmark": "full-domain", "machine": machine.facts(connection), "cases": cases}


def _cases(conninfo: str, connection: Connection, options: Options, rows: int) -> list[dict[str, Any]]:
    say(f"scaling Adult to {rows:,} rows")
    adult.scale(connection, rows)
    return [
        _case(conninfo, connection, options, rows, adult.QUASI[:width], suppression)
        for width in options.quasi
        for suppression in SUPPRESSION
    ]


def _case(
    conninfo: str,
    connection: Connection,
    options: Options,
    rows: int,
    quasi: Sequence[str],
    suppression: float,
) -> dict[str, Any]:
    """Limits and runs in turn, so that the noise of a shared machine hits both alike."""
    title = f"{rows:,} rows × {len(quasi)} quasi-identifiers, {suppression:.0%} suppression"
    limits = [limit.measure(connection, adult.SOURCE, quasi)]
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "adult.toml"
        policy.write_text(adult.policy(options.data, quasi, suppression), encoding="utf-8")
        for turn in range(1, options.repeat + 1):
            runs.append(run_policy(conninfo, policy))
            connection.execute("drop table adult_release")
            limits.append(limit.measure(connection, adult.SOURCE, quasi))
            counted = _counted(runs[-1])
            say(f"{title}, {turn} of {options.repeat}: {counted:.2f} s, limit {limits[-1]['sum']:.2f} s")
    return {
        "rows": rows,
        "quasi": list(quasi),
        "suppression": suppression,
        **_ratios(runs, [found["sum"] for found in limits]),
        "client_peak_mb": max(found["client_peak_mb"] for found in runs),
        "limits": limits,
        "runs": runs,
    }


def _ratios(runs: Sequence[dict[str, Any]], limits: Sequence[float]) -> dict[str, float]:
    """Medians, and the ratio of the runs to the limit: encode to verify, and the whole with its commit."""
    physical = median(limits)
    counted = median(map(_counted, runs))
    whole = median(found["whole_seconds"] for found in runs)
    return {
        "limit_seconds": round(physical, 4),
        "encode_to_verify_seconds": round(counted, 4),
        "ratio": round(counted / physical, 2),
        "ratio_with_commit": round(whole / physical, 2),
    }


def _counted(found: dict[str, Any]) -> float:
    return sum(found["seconds"][stage] for stage in COUNTED)
