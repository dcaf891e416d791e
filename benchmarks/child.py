"""One run of a policy in a process that does nothing else, so that its peak memory is the client's own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import anondb
from anondb.db.execute import Step
from anondb.errors import AnondbError
from anondb.run.plan import Options

_STATUS = Path("/proc/self/status")


def run_policy(conninfo: str, policy: Path, evaluate: str = "none") -> dict[str, Any]:
    """The result of a run, its steps, its seconds as a whole and the client's peak memory."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.child", policy, evaluate],
        env=os.environ | {"ANONDB_DSN": conninfo},
        cwd=Path(__file__).resolve().parents[1],
        stdout=subprocess.PIPE,
    )
    if done.returncode:
        raise AnondbError("the run failed; what it said stands above")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def repeated(conninfo: str, text: str, times: int, found: Sequence[str]) -> dict[str, Any]:
    """What runs of a policy found, the median of their seconds, the greatest of their peaks, and the runs."""
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "adult.toml"
        policy.write_text(text, encoding="utf-8")
        runs = [run_policy(conninfo, policy) for _ in range(times)]
    stages = runs[0]["seconds"]
    return {
        **{key: runs[0][key] for key in found},
        "seconds": {stage: round(median(run["seconds"][stage] for run in runs), 4) for stage in stages},
        "whole_seconds": round(median(run["whole_seconds"] for run in runs), 4),
        "client_peak_mb": max(run["client_peak_mb"] for run in runs),
        "runs": runs,
    }


class Steps:
    """Listens to a run, and keeps what each step took."""

    def __init__(self) -> None:
        self.kept: list[dict[str, object]] = []

    def stage(self, name: str) -> None: ...

    def step(self, step: Step) -> None:
        self.kept.append({"stage": step.stage, "step": step.name, "rows": step.rows, "ms": round(step.ms, 2)})


def main(policy: str, evaluate: str) -> None:
    steps = Steps()
    with anondb.connect() as db:
        started, busy = time.perf_counter(), time.process_time()
        result = db.run(policy, options=Options(evaluate=evaluate), listener=steps).result
        whole, busy = time.perf_counter() - started, time.process_time() - busy
    figures = {
        **result.as_json(),
        "whole_seconds": round(whole, 4),
        "client_cpu_seconds": round(busy, 4),
        "client_peak_mb": round(_peak() / 2**20, 1),
        "steps": steps.kept,
    }
    print(json.dumps(figures))


def _peak() -> int:
    """Bytes. On Linux getrusage would also count the process that started this one, from before its exec."""
    if _STATUS.exists():
        [kilobytes] = [
            line.split()[1] for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM")
        ]
        return int(kilobytes) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS counts in bytes


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except AnondbError as error:
        sys.exit(f"error: {error}")
