"""The benchmarks of runs: a tiny table is measured as a large one would be, a search by its checks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from anondb.errors import UsageError
from benchmarks import adult, against, command, le_diversity, lives, nights, optimal, tables, whole
from benchmarks.options import Options

pytestmark = pytest.mark.once  # another server version would say the same

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


@pytest.mark.parametrize("algorithm", ["datafly", "optimal"])
def test_the_benchmark_prints_one_object_with_every_figure(
    server: str, adult_folder: Path, algorithm: str
) -> None:
    small = ("--rows", "2000", "--quasi", "5", "--repeat", "1", "--algorithm", algorithm)
    done = benchmark(*small, "--data", adult_folder, "--dsn", server)
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
        assert run["algorithm"] == case["algorithm"] == algorithm
        assert run["seconds"].keys() >= {"encode", "search", "publish", "verify"}
        assert {"frequencies", "insert release", "count classes"} <= {step["step"] for step in run["steps"]}
        assert case["ratio"] > 0
        assert 10 < case["client_peak_mb"] < 150


def test_a_search_is_measured_by_its_checks_and_by_where_its_time_goes(
    server: str, adult_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimal, "CASES", [optimal.Case("loss", 0.0)])
    found = optimal.run(Options(repeat=1, data=adult_folder, dsn=server))
    assert (found["rows"], found["k"], len(found["quasi"])) == (30_162, 5, 9)
    [case] = found["cases"]
    [run] = case["runs"]
    assert (case["objective"], case["suppressed"], case["proven"], case["lattice"]) == (
        "loss",
        0,
        True,
        12_960,
    )
    assert case["levels"].keys() == set(found["quasi"])
    assert case["checks"] == sum(step["step"].startswith("node ") for step in run["steps"])
    spent = case["search"]
    assert spent["server_seconds"] + spent["python_seconds"] == pytest.approx(
        case["seconds"]["search"], abs=0.01
    )
    assert 0 < spent["python_share"] < 1
    assert 0 < spent["server_ms_a_check"] < spent["ms_a_check"]


def test_a_folder_without_the_data_is_named(tmp_path: Path) -> None:
    done = benchmark("--data", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {tmp_path}: the Adult census data is not there\n  hint: ")


def test_diverse_classes_are_measured_on_adult_and_on_numbered_rows(
    server: str, adult_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(le_diversity, "MODELS", [(3, 1.0)])
    found = le_diversity.run(Options(rows=(2000,), repeat=1, data=adult_folder, dsn=server))
    whole, scaled = found["cases"]
    assert (whole["records"], whole["classes"], whole["suppressed"]) == (30_162, 5_343, 14_133)
    assert (scaled["records"], scaled["numbered"]) == (2000, True)
    assert scaled["seconds"].keys() >= {"encode", "search", "publish", "verify"}


def test_a_night_after_another_is_measured_on_rows_of_which_some_change(server: str) -> None:
    found = nights.run(Options(rows=(3000,), changed=0.02, dsn=server))
    [case] = found["cases"]
    assert (case["rows"], case["left"], case["joined"]) == (3000, 30, 30)
    assert case["members"] == case["first"]["series"]["entered"] > 2000
    assert (case["first"]["series"]["release"], case["refresh"]["series"]["release"]) == (1, 2)
    assert case["refresh"]["series"]["persons"] > 0
    assert case["ledger_mb"] > 0
    ratio = case["refresh_seconds"] / case["honest_limit_seconds"]  # of rounded seconds
    assert case["refresh_ratio"] == pytest.approx(ratio, rel=0.05, abs=0.5)
    with pytest.raises(UsageError, match="--changed"):
        nights.run(Options(rows=(3000,), changed=0.0, dsn=server))


def test_persons_are_followed_night_by_night(server: str) -> None:
    found = lives.run(Options(rows=(1500,), changed=0.02, nights=2, dsn=server))
    assert [(case["models"], case["leavers"]) for case in found["cases"]] == [
        ("k = 5", "delay"), ("k = 5", "drop"), ("k = 5, l = 3", "delay"), ("k = 5, l = 3", "drop"),
    ]  # fmt: skip
    for case in found["cases"]:
        assert (case["nights"], case["each_night"]) == (2, 15)
        assert case["fewest"] >= 5
        assert (case["departed_at_end"] > 0) == (case["leavers"] == "delay")


def test_a_whole_command_is_measured_on_rows_of_which_many_differ(server: str, tmp_path: Path) -> None:
    """Where the Adult data is not there, rows like it are made."""
    found = whole.run(Options(rows=(1500, 3000), quasi=(5,), repeat=1, data=tmp_path, dsn=server))
    assert [(case["rows"], case["numbered"]) for case in found["cases"]] == [
        (1500, False),
        (1500, True),
        (3000, False),
        (3000, True),
    ]
    for case in found["cases"]:
        assert case["command_seconds"] > sum(case["seconds"].values()) > 0
        assert case["honest_limit_seconds"] > 0
        assert case["client_peak_mb"] > 10
        [run] = case["runs"]
        assert run["found"]["classes"] > 0
    assert [growth["numbered"] for growth in found["growth"]] == [False, True]


def test_rows_that_are_varied_are_mostly_different(server: str, tmp_path: Path) -> None:
    with tables.prepared(Options(data=tmp_path, dsn=server)) as (_, db, _):
        adult.vary(db.connection, 20_000, numbered=False)
        [[different]] = db.connection.execute(
            "select count(*) from (select distinct sex, age, race, marital_status, education, native_country,"
            " workclass, occupation from bench.adult) as d"
        ).fetchall()
        assert int(str(different)) > 10_000


def test_wide_tables_have_a_hierarchy_for_each_column(server: str, tmp_path: Path) -> None:
    with tables.prepared(Options(data=tmp_path, dsn=server)) as (conninfo, db, _):
        cases = [*tables.wide(db, tmp_path, [(400, 6)]), tables.zips(db, tmp_path, (400, 3))]
        for case in cases[1:]:
            file = tmp_path / "policy.toml"
            file.write_text(case.policy(), encoding="utf-8")
            _, found = command.policy(conninfo, sys.executable, file)
            assert found["k"] >= 5
        assert [len(case.quasi) for case in cases] == [6, 3]


def test_what_a_run_is_held_against_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="against what"):
        against.run(Options())
    with pytest.raises(UsageError, match=r"is no ARX|no Java compiler"):
        against.run(Options(arx=tmp_path))
