"""The style of sql/, bodies of PL/pgSQL functions included, which the linter (.sqlfluff) takes for strings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
FILES = sorted(TOP.glob("sql/**/*.sql"))
# comments, strings and quoted names; a body in $$ is code like the rest
QUOTED = re.compile(r"--[^\n]*|'(?:[^']|'')*'|\"[^\"]*\"")
GENERATED = "cocoa_domains.sql"  # a table of data, made from TOML
COLUMNS = 100


def name(path: Path) -> str:
    return path.relative_to(TOP / "sql").as_posix()


def code(text: str) -> str:
    """The text with blanks in the place of what is quoted, on the same lines."""
    return QUOTED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def shouted(text: str) -> list[int]:
    """Lines with an upper case letter in their code."""
    return [number for number, line in enumerate(code(text).splitlines(), 1) if re.search("[A-Z]", line)]


@pytest.mark.parametrize("path", [path for path in FILES if path.name != GENERATED], ids=name)
def test_code_is_in_lower_case(path: Path) -> None:
    assert shouted(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_line_ends_in_blanks_or_holds_a_tab(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if line != line.rstrip() or "\t" in line] == []


def too_long(text: str) -> list[int]:
    return [number for number, line in enumerate(text.splitlines(), 1) if len(line) > COLUMNS]


@pytest.mark.parametrize("path", [path for path in FILES if path.name != GENERATED], ids=name)
def test_no_line_is_longer_than_a_hundred_columns(path: Path) -> None:
    assert too_long(path.read_text(encoding="utf-8")) == []


def test_a_line_that_is_too_long_would_be_found() -> None:
    assert too_long(f"{'x' * COLUMNS}\n{'x' * (COLUMNS + 1)}\n") == [2]


def test_what_is_not_in_lower_case_would_be_found() -> None:
    assert shouted("select 'A', \"B\" -- C\nfrom t;\nSELECT x;\n$$ Begin $$") == [3, 4]
