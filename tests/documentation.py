"""The documentation as data: its files, code blocks, tables and links."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def blocks(file: str, language: str) -> list[str]:
    """The code blocks of a language, in order."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def rows(file: str, heading: str) -> list[list[str]]:
    """The cells of the tables under a heading, without the lines that rule them off."""
    text = (ROOT / file).read_text(encoding="utf-8")
    section = re.split(r"^#+ ", text.split(f"# {heading}", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    lines = re.findall(r"^\|(.*)\|$", section, re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")] for line in lines if not line.startswith("---")]


def links(file: Path) -> list[str]:
    """Where the links and pictures of a file point to."""
    return re.findall(r"\]\(([^)]+)\)", file.read_text(encoding="utf-8"))
