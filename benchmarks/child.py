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

_KIB = 1024 if sys.platform == "linux" else 1  # getrusage counts kilobytes, and bytes elsewhere


def run_policy(conninfo: str, policy: Path) -> dict[str, Any]:
    """The result of a run, its steps, its seconds as a whole and the client's peak memory."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.child", str(policy)],
        env=os.environ | {"ANONDB_DSN": conninfo},
        cwd=Path(__file__).resolve().parents[1],
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(policy: str) -> None:
    import anondb
    from anondb.db.execute import Step

    steps: list[dict[str, object]] = []

    class Observer:
        def stage(self, name: str) -> None: ...

        def step(self, step: Step) -> None:
            steps.append({"stage": step.stage, "step": step.name, "rows": step.rows, "ms": round(step.ms, 1)})

    with anondb.connect() as db:
        started = time.perf_counter()
        result = db.run(policy, listener=Observer()).result
        whole = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
    print(
        json.dumps(
            {
                **result.as_json(),
                "whole_seconds": round(whole, 4),
                "steps": steps,
                "client_peak_mb": round(peak / 2**20, 1),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
