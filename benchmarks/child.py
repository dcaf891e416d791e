"""One run of a policy in a process that does nothing else, so that its peak memory is the client's own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anondb
from anondb.db.execute import Step
from anondb.errors import AnondbError

_UNIT = 1024 if sys.platform == "linux" else 1  # getrusage counts in kilobytes, on macOS in bytes


def run_policy(conninfo: str, policy: Path) -> dict[str, Any]:
    """The result of a run, its steps, its seconds as a whole and the client's peak memory."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.child", policy],
        env=os.environ | {"ANONDB_DSN": conninfo},
        cwd=Path(__file__).resolve().parents[1],
        stdout=subprocess.PIPE,
    )
    if done.returncode:
        raise AnondbError("the run failed; what it said stands above")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class Steps:
    """Listens to a run, and keeps what each step took."""

    def __init__(self) -> None:
        self.kept: list[dict[str, object]] = []

    def stage(self, name: str) -> None: ...

    def step(self, step: Step) -> None:
        self.kept.append({"stage": step.stage, "step": step.name, "rows": step.rows, "ms": round(step.ms, 1)})


def main(policy: str) -> None:
    steps = Steps()
    with anondb.connect() as db:
        started = time.perf_counter()
        result = db.run(policy, listener=steps).result
        whole = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT
    figures = {
        **result.as_json(),
        "whole_seconds": round(whole, 4),
        "client_peak_mb": round(peak / 2**20, 1),
        "steps": steps.kept,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except AnondbError as error:
        sys.exit(f"error: {error}")
