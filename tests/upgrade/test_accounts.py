"""What earlier versions have kept of their runs is still reported and evaluated; each file is what a run kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anondb.db.run_record import RunRecord
from anondb.errors import UsageError
from anondb.evaluation.evaluation import of_run
from anondb.report import html
from anondb.report.release import report_data
from anondb.run.account_reader import read
from anondb.run.run_account import VERSION, KeptRun

FILES = sorted((Path(__file__).parent / "accounts").glob("*.json"))
UNEVALUATED = "89b5027"  # a version without an evaluation, and without a report
EMPTY: dict[str, Any] = {"notes": {}, "report": {"columns": [], "models": [], "lattice": None}}
JUNK: list[Any] = ["junk", 7, [], True]


def kept_of(file: Path) -> KeptRun:
    parts = json.loads(file.read_text(encoding="utf-8"))
    metrics = {(name, ""): value for name, value in parts["metrics"].items()}
    return KeptRun(7, parts["source"], parts["target"], parts["algorithm"], None, read(parts), metrics)


def test_there_are_accounts_to_read() -> None:
    assert FILES


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_account_of_an_earlier_version_is_reported_and_evaluated(file: Path) -> None:
    kept = kept_of(file)
    assert "<html" in html.render(report_data(kept, RunRecord("", "0.1.0", ())))
    assert kept.account.records > 0
    if file.stem.startswith(UNEVALUATED):
        with pytest.raises(UsageError, match="was not evaluated"):
            of_run(kept)
    else:
        assert of_run(kept).records == kept.account.records


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_nothing_is_lost_between_reading_and_keeping(file: Path) -> None:
    parts = json.loads(file.read_text(encoding="utf-8")) | {"version": VERSION}
    assert read(parts).to_json() == EMPTY | parts


@pytest.mark.parametrize("key", ["records", "notes", "report", "version", "seconds"])
def test_a_wrong_type_is_a_clear_error_and_shows_no_value(key: str) -> None:
    with pytest.raises(UsageError, match=key) as refused:
        read({key: "Secretitis"}, of="run 7")
    assert "Secretitis" not in str(refused.value)


@pytest.mark.parametrize("junk", JUNK)
def test_junk_instead_of_an_account_is_a_clear_error(junk: Any) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read(junk)


def test_a_newer_version_is_read_as_far_as_it_is_understood() -> None:
    account = read({"version": VERSION + 1, "records": 9, "notes": ["now a list"], "news": 1})
    assert (account.records, account.notes) == (9, {})
