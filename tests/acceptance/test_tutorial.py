"""docs/tutorial.md, from its first command to its last: files as the page has them, answers as it shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.documented import calls_of, obey
from tests.conftest import Cli
from tests.documentation import ROOT

pytestmark = pytest.mark.once  # another server version would say the same

TEXT = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^\[privacy\]\n.*?(?=^\[)", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[str, str]]:
    """Every block of the page, in order: its language and what it holds."""
    yield from re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_who_types_every_command_sees_what_the_page_shows(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANONDB_CHANGES")  # as for whoever types
    policy = tmp_path / "adult.toml"
    done = []
    for language, text in blocks():
        match language:
            case "csv":
                (tmp_path / "education.csv").write_text(text, encoding="utf-8")
            case "toml":
                policy.write_text(text, encoding="utf-8")
            case "text":  # what [privacy] is to be
                policy.write_text(
                    SECTION.sub(f"{text}\n", policy.read_text(encoding="utf-8")), encoding="utf-8"
                )
            case "console":
                for call in calls_of(text):
                    obey(cli, call)
                    done.append(call.words[0])
            case other:
                pytest.fail(f"a block of {other}, and nobody knows what to do with it")
    assert done.count("run") == 5
    assert {"load", "show", "evaluate", "draft", "vgh", "compare", "export"} <= set(done)


def test_the_table_of_section_6_has_the_figures_of_the_runs_before_it() -> None:
    before, table = TEXT.split("## 6. ")
    shown = re.findall(r"^\| k = 5.*\| ([\d.]+%) \| ([\d.]+%) \| ([\d.]+%) \|$", table, re.MULTILINE)
    assert re.findall(r"^Surest guess: ([\d.]+%)", before, re.MULTILINE) == [guess for _, guess, _ in shown]
    assert re.findall(r"^utility: ([\d.]+%)", before, re.MULTILINE) == [loss for _, _, loss in shown]
