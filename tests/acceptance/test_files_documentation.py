"""docs/files.md: each command on it prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from anondb.exchange.csv_types import KINDS
from tests.acceptance import arx_projects
from tests.acceptance.documented import calls, obey
from tests.conftest import Cli
from tests.documentation import blocks, rows

pytestmark = pytest.mark.once
PAGE = "docs/files.md"


def test_every_command_prints_what_the_page_shows(cli: Cli, tmp_path: Path) -> None:
    [people] = blocks(PAGE, "csv")
    (tmp_path / "people.csv").write_text(people, encoding="utf-8")
    arx_projects.project(tmp_path)
    shown = list(calls(PAGE))
    for call in shown:
        obey(cli, call)
    assert len(shown) >= 3


def test_the_frame_becomes_what_the_page_says(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ANONDB_DSN", dsn)
    [code] = [block for block in blocks(PAGE, "python") if "anonymize" in block]
    exec(compile(code, PAGE, "exec"), {})
    ages, k = capsys.readouterr().out.splitlines()
    assert f"# {ages}\n" in code
    assert f"# {k}: " in code


def test_every_type_is_in_the_table_with_cells_that_it_takes() -> None:
    told: dict[str, list[str]] = {}
    for cells in rows(PAGE, "Load a CSV file"):
        if len(cells) == 3 and cells[0] != "Cells":
            values = [value for value in cells[0].split("`")[1::2] if value not in ("Z", "+02:00")]
            told |= {name.strip("`"): values for name in cells[1].split(", ")}
    assert told.keys() == KINDS.keys()
    for kind, values in told.items():
        assert all(KINDS[kind].fits(value) for value in values), kind
