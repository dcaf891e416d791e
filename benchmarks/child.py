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
from anondb.plan.model import Options

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
