"""Full-domain generalization of the Adult data, against the physical limit of the same database."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from psycopg import sql

from anondb.db.connection import Connection, Door
from benchmarks import adult, limit, machine
from benchmarks.child import run_policy
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

SOURCE = sql.Identifier("bench", "adult")
AGES = "{ start = 0, widths = [5, 10, 20] }"
COUNTED = ("encode", "search", "publish", "verify")


@dataclass(frozen=True)
class Case:
    """A source and a policy."""

    algorithm: str
    rows: int
    quasi: tuple[str, ...]
    k: int
    suppression: float
    numbered: bool  # every row has a number that is released too, so that no two rows are alike

    def __str__(self) -> str:
        kind = "numbered rows" if self.numbered else "rows"
        size = f"{self.rows:,} {kind} × {len(self.quasi)}"
        return f"{self.algorithm}, {size}, k = {self.k}, {self.suppression:.0%} may be suppressed"

    def policy(self, data: Path) -> str:
        """The salary is sensitive, what is neither that nor a quasi-identifier is released as it is."""
        columns = dict.fromkeys(adult.COLUMNS, '{ role = "other" }')
        columns["salary_class"] = '{ role = "sensitive" }'
        if self.numbered:
            columns["i"] = '{ role = "other", keep = "identifying" }'
        for column in self.quasi:
            columns[column] = adult.quasi(AGES if column == "age" else adult.in_file(data, column))
        return adult.policy(columns, {"algorithm": self.algorithm}, self.k, self.suppression)


def run(options: Options) -> dict[str, Any]:
    adult.require(options.data)
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        adult.load(connection, options.data)
        cases = []
        source: tuple[int, bool] | None = None
        for case in _cases(options):
            if source != (case.rows, case.numbered):
                say(f"scaling Adult to {case.rows:,} rows")
                adult.scale(connection, case.rows, numbered=case.numbered)
                source = (case.rows, case.numbered)
            cases.append(_measure(conninfo, connection, options, case))
        return {"benchmark": "full-domain", "machine": machine.facts(connection), "cases": cases}


def _cases(options: Options) -> Iterator[Case]:
    """Adult's own k of 5, with and without suppression; as many records to a class as 5 are in the
    original, so that the search has to generalize; and rows of which no two are alike."""
    algorithm = options.algorithm or "datafly"
    for rows in options.rows:
        widths = [tuple(adult.QUASI[:width]) for width in options.quasi]
        scaled = max(5, 5 * rows // adult.RECORDS)
        for quasi in widths:
            yield Case(algorithm, rows, quasi, 5, 0.05, numbered=False)
            yield Case(algorithm, rows, quasi, 5, 0.0, numbered=False)
            yield Case(algorithm, rows, quasi, scaled, 0.05, numbered=False)
        for quasi in widths:
            yield Case(algorithm, rows, quasi, 5, 0.05, numbered=True)


def _measure(conninfo: str, connection: Connection, options: Options, case: Case) -> dict[str, Any]:
    """Limits and runs in turn, so that the noise of a shared machine hits both alike."""
    limits = [limit.measure(connection, SOURCE, case.quasi)]
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "adult.toml"
        policy.write_text(case.policy(options.data), encoding="utf-8")
        for _ in range(options.repeat):
            runs.append(run_policy(conninfo, policy))
            connection.execute("drop table bench.release")
            limits.append(limit.measure(connection, SOURCE, case.quasi))
            say(f"{case}: {_counted(runs[-1]):.2f} s, limit {limits[-1]['sum']:.2f} s")
    figures = _figures(runs, [found["sum"] for found in limits])
    say(f"{case}: {figures['ratio']} × the limit")
    return {**asdict(case), **figures, "limits": limits, "runs": runs}


def _figures(runs: Sequence[dict[str, Any]], limits: Sequence[float]) -> dict[str, float]:
    """Medians, and the ratio of the runs to the limit: encode to verify, and the whole with its commit."""
    physical = median(limits)
    counted = median(map(_counted, runs))
    whole = median(found["whole_seconds"] for found in runs)
    return {
        "limit_seconds": round(physical, 4),
        "encode_to_verify_seconds": round(counted, 4),
        "whole_seconds": round(whole, 4),
        "ratio": round(counted / physical, 2),
        "ratio_of_the_whole": round(whole / physical, 2),
        "client_peak_mb": max(found["client_peak_mb"] for found in runs),
    }


def _counted(found: dict[str, Any]) -> float:
    seconds: float = sum(found["seconds"][stage] for stage in COUNTED)
    return seconds
