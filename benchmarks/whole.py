"""The whole command as a user waits for it, evaluation included, against what the same database needs at the least."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from anondb.api import Database
from benchmarks import command, kept, limit, machine, tables
from benchmarks.options import Options
from benchmarks.progress import say
from benchmarks.tables import Case


def run(options: Options) -> dict[str, Any]:
    """Rows of which many are different, at every size."""
    with tables.prepared(options) as (conninfo, db, data):
        cases = [measure(conninfo, db, options, case) for case in tables.varied(db, options, data)]
        return {
            "benchmark": "whole",
            "machine": machine.facts(db.connection),
            "growth": list(_growth(cases)),
            "cases": cases,
        }


def run_wide(options: Options) -> dict[str, Any]:
    """What is kept of many columns; then many columns, and many leaves, against the limit."""
    with TemporaryDirectory() as folder, tables.prepared(options) as (conninfo, db, data):
        return {
            "benchmark": "wide",
            "machine": machine.facts(db.connection),
            "kept": list(kept.cases(conninfo, db, data)),
            "cases": [measure(conninfo, db, options, case) for case in _wide(db, Path(folder))],
        }


def _wide(db: Database, folder: Path) -> Iterator[Case]:
    yield from tables.wide(db, folder)
    yield tables.zips(db, folder)


def measure(conninfo: str, db: Database, options: Options, case: Case) -> dict[str, Any]:
    """Limits and commands in turn, so that the noise of a shared machine hits both alike."""
    limits: list[dict[str, float]] = []
    runs: list[dict[str, Any]] = []
    with TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.toml"
        policy.write_text(case.policy(), encoding="utf-8")
        for _ in range(options.repeat):
            limits.append(limit.honest(db.connection, case.source, case.quasi))
            figures, found = command.policy(conninfo, sys.executable, policy)
            db.connection.execute("drop table bench.release")
            runs.append({**figures, "seconds": found["seconds"], "found": _kept(found)})
    figures = _figures(limits, runs)
    say(
        f"{case}: {figures['command_seconds']} s, {figures['ratio']} × the honest limit; {figures['seconds']}"
    )
    return {
        "case": str(case),
        "algorithm": case.algorithm,
        "rows": case.rows,
        "quasi": case.quasi,
        "numbered": "i" in case.kept,
        **figures,
        "limits": limits,
        "runs": runs,
    }


def _kept(found: dict[str, Any]) -> dict[str, Any]:
    """What no machine changes."""
    return {key: found.get(key) for key in ("levels", "classes", "suppressed", "checks", "score", "notes")}


def _figures(limits: Sequence[dict[str, float]], runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Medians, and the greatest peaks."""

    def middle(values: Iterable[float]) -> float:
        return round(median(values), 3)

    whole = middle(found["command_seconds"] for found in runs)
    honest = middle(found["honest"] for found in limits)
    return {
        "limit_seconds": middle(found["sum"] for found in limits),
        "honest_limit_seconds": honest,
        "command_seconds": whole,
        "ratio": round(whole / honest, 2),
        "ratio_without_start": round((whole - 0.5) / honest, 2),
        "seconds": {stage: middle(found["seconds"][stage] for found in runs) for stage in runs[0]["seconds"]},
        **{
            name: max(found[name] or 0 for found in runs)
            for name in ("client_peak_mb", "backend_peak_mb", "temporary_mb")
        },
    }


def _growth(cases: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The exponent of seconds ~ rows^x, fitted to the logarithms; 1 is linear."""
    kinds = dict.fromkeys((case["quasi"], case["numbered"]) for case in cases)
    for quasi, numbered in kinds:
        same = [c for c in cases if (c["quasi"], c["numbered"]) == (quasi, numbered)]
        if len(same) > 1:
            points = [(math.log(c["rows"]), math.log(c["command_seconds"])) for c in same]
            yield {"quasi": len(quasi), "numbered": numbered, "exponent": round(_slope(points), 3)}


def _slope(points: Sequence[tuple[float, float]]) -> float:
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    slope: float = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return slope
