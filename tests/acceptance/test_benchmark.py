"""The benchmark command measures a tiny table as it would a large one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ADULT

TOP = Path(__file__).resolve().parents[2]


def benchmark(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "full-domain", *map(str, arguments)],
        cwd=TOP,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.skipif(not ADULT.is_dir(), reason="the Adult data is not beside the project")
def test_the_benchmark_prints_one_object_with_every_figure(server: str) -> None:
    done = benchmark("--rows", "2000", "--quasi", "5", "--repeat", "1", "--data", ADULT, "--dsn", server)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["machine"]["settings"].keys() >= {"shared_buffers", "wal_level", "work_mem"}
    assert {(case["suppression"], case["numbered"]) for case in found["cases"]} == {
        (0.05, False),
        (0.0, False),
        (0.05, True),
    }
    for case in found["cases"]:
        assert (case["rows"], len(case["quasi"]), len(case["limits"]), len(case["runs"])) == (2000, 5, 2, 1)
        [run] = case["runs"]
        assert run["k"] >= case["k"]
        assert run["seconds"].keys() >= {"encode", "search", "publish", "verify"}
        assert {"frequencies", "insert release", "count classes"} <= {step["step"] for step in run["steps"]}
        assert case["ratio"] > 0
        assert 10 < case["client_peak_mb"] < 150


def test_a_folder_without_the_data_is_named(tmp_path: Path) -> None:
    done = benchmark("--data", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {tmp_path}: the Adult census data is not there\n  hint: ")
