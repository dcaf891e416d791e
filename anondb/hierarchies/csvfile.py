"""Hierarchies in CSV files, one row a leaf: `leaf;level1;…;root`; also the form that ARX writes.

Cells are separated by `;`, or by tabs or commas in a file without one. White space around a cell is
dropped unless the cell is quoted. There is no header line; empty lines mean nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from anondb.errors import UsageError
from anondb.hierarchies.forms import ROOT, VghTable

_LISTED = 10  # problems shown of one file
_SHOWN = 60  # characters shown of one label

_SENSE = re.compile(r"(.*\S)#([0-9]{1,9})", re.DOTALL)

# The csv module is not used because it does not tell a quoted cell from a plain one. A quote inside
# a plain cell is a character as any other, so that 5" is a label.
_CELLS = {
    separator: re.compile(rf' *(?:"([^"]*(?:""[^"]*)*)" *|([^{separator}\r\n]*))({separator}|\r\n|\r|\n|\Z)')
    for separator in (";", "\t", ",")
}
_NEEDS_QUOTES = re.compile(r'[;"\r\n\ufeff]|\A\s|\s\Z|\A\Z')

_HINTS = {
    "quote": 'a cell that starts with a quote ends with one; a quote in it is doubled: "the ""old"" one"',
    "empty": "give every cell between the leaf and the root a label; only the end of a row may be left empty",
    "root": f"every row ends in the same root, usually {ROOT}; a header line has to go",
    "leaf": "one row a leaf; a sense as in term#2 does not make it another leaf",
    "class": "rename one of the two, so that each label of a level has one parent",
}


@dataclass(frozen=True)
class _Row:
    line: int
    cells: tuple[str, ...]  # the leaf first; no empty cells at the end


@dataclass(frozen=True)
class _Problem:
    line: int
    message: str
    kind: str  # a key of _HINTS


def read(path: Path, *, comments: bool = False) -> VghTable:
    """The hierarchy in a file (UTF-8, with or without a byte order mark); `comments` are lines that start with #."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}", hint="check the file's name") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 (byte {error.start})", hint="save the file as UTF-8") from None
    if comments:
        text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    return parse(text, place=str(path))


def parse(text: str, *, place: str) -> VghTable:
    """The hierarchy that a file's text describes; shorter rows are balanced by repeating the leaf upwards."""
    if "\0" in text:
        raise UsageError(f"{place}: holds a NUL character", hint="save the file as text in UTF-8")
    problems: list[_Problem] = []
    rows = list(_rows(text.removeprefix("\ufeff"), problems))
    if not rows and not problems:
        raise UsageError(f"{place}: holds no rows", hint=f"one row a leaf: leaf;level1;…;{ROOT}")
    if rows and all(len(row.cells) == 1 for row in rows):
        raise UsageError(
            f"{place}: every row is one cell, so there is no root",
            hint=f"one row a leaf, its generalizations and the root after it: leaf;level1;…;{ROOT}",
        )
    rows = _complete(rows, problems)
    height = max((len(row.cells) for row in rows), default=1) - 1
    balanced = [_Row(row.line, _balanced(row.cells, height)) for row in rows]
    problems += _leaves_twice(balanced)
    problems += _second_parents(_with_one_root(balanced, problems), height)
    if problems:
        raise _error(place, problems)
    return VghTable(tuple(row.cells for row in balanced))


def write(table: VghTable) -> str:
    """The text of a file from which `parse` reads the same table."""
    return "".join(";".join(map(_written, row)) + "\n" for row in table.rows)


def split_sense(label: str) -> tuple[str, int | None]:
    """The label that data is matched to, and the sense that it names: `salmon#2` is ("salmon", 2)."""
    match = _SENSE.fullmatch(label)
    if match is None or int(match[2]) == 0:
        return label, None
    return match[1], int(match[2])


def _separator(text: str) -> str:
    """`;` if it occurs, else a tab, else a comma; first looked for outside of quotes."""
    for part in (re.sub(r'"[^"]*"', "", text), text):
        for separator in _CELLS:
            if separator in part:
                return separator
    return ";"


def _rows(text: str, problems: list[_Problem]) -> Iterator[_Row]:
    """The rows that hold anything, without the empty cells at their ends."""
    line = start = 1
    cells: list[str] = []
    for match in _CELLS[_separator(text)].finditer(text):
        quoted, plain, end = match.groups()
        if quoted is None and plain.startswith('"'):
            problems.append(_Problem(line, f"the quote of {_shown(plain)} is not closed", "quote"))
        cells.append(plain.strip() if quoted is None else quoted.replace('""', '"'))
        line += len(re.findall(r"\r\n|\r|\n", match[0]))
        if end in ("\r\n", "\r", "\n", ""):
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                yield _Row(start, tuple(cells))
            cells, start = [], line


def _complete(rows: Iterable[_Row], problems: list[_Problem]) -> list[_Row]:
    """The rows with a leaf, a root, and every cell between them; the others are problems."""
    complete = []
    for row in rows:
        if not row.cells[0]:
            problems.append(_Problem(row.line, "the leaf is empty", "empty"))
        elif "" in row.cells:
            below = row.cells[row.cells.index("") - 1]
            problems.append(_Problem(row.line, f"the cell after {_shown(below)} is empty", "empty"))
        elif len(row.cells) == 1:
            problems.append(_Problem(row.line, f"{_shown(row.cells[0])} stands without a root", "root"))
        else:
            complete.append(row)
    return complete


def _balanced(cells: Sequence[str], height: int) -> tuple[str, ...]:
    return (cells[0],) * (height + 1 - len(cells)) + tuple(cells)


def _with_one_root(rows: Sequence[_Row], problems: list[_Problem]) -> list[_Row]:
    """The rows under the root that most rows have; each other root is a problem."""
    first: dict[str, int] = {}
    for row in rows:
        first.setdefault(row.cells[-1], row.line)
    common = Counter(row.cells[-1] for row in rows).most_common(1)[0][0] if rows else ROOT
    for root, line in first.items():
        if root != common:
            message = f"two roots: {_shown(root)} here, and {_shown(common)} in line {first[common]}"
            problems.append(_Problem(line, message, "root"))
    return [row for row in rows if row.cells[-1] == common]


def _leaves_twice(rows: Iterable[_Row]) -> Iterator[_Problem]:
    first: dict[str, _Row] = {}
    for row in rows:
        leaf = row.cells[0]
        seen = first.setdefault(split_sense(leaf)[0], row)
        if seen is not row:
            other = f" as {_shown(seen.cells[0])}" if seen.cells[0] != leaf else ""
            message = f"the leaf {_shown(leaf)} is in line {seen.line} already{other}"
            yield _Problem(row.line, message, "leaf")


def _second_parents(rows: Iterable[_Row], height: int) -> Iterator[_Problem]:
    """Labels that lie under two parents at one level, each reported once: a class would be ambiguous.

    Senses do not tell labels apart, as they are not released.
    """
    first: dict[tuple[int, str], _Row] = {}
    reported: set[tuple[int, str]] = set()
    for row in rows:
        for level in range(1, height):
            label, parent = split_sense(row.cells[level])[0], row.cells[level + 1]
            seen = first.setdefault((level, label), row)
            if split_sense(seen.cells[level + 1]) != split_sense(parent) and (level, label) not in reported:
                reported.add((level, label))
                yield _Problem(
                    row.line,
                    f"{_shown(label)} at level {level} lies under {_shown(parent)}, "
                    f"and in line {seen.line} under {_shown(seen.cells[level + 1])}",
                    "class",
                )


def _error(place: str, problems: Sequence[_Problem]) -> UsageError:
    ordered = sorted(problems, key=lambda problem: (problem.line, problem.message))
    lines = [f"{place} line {problem.line}: {problem.message}" for problem in ordered[:_LISTED]]
    if len(ordered) > _LISTED:
        lines.append(f"and {len(ordered) - _LISTED} more")
    kinds = dict.fromkeys(problem.kind for problem in ordered)
    return UsageError("\n".join(lines), hint="\n        ".join(_HINTS[kind] for kind in kinds))


def _shown(label: str) -> str:
    return json.dumps(label if len(label) <= _SHOWN else label[:_SHOWN] + "…", ensure_ascii=False)


def _written(label: str) -> str:
    return '"' + label.replace('"', '""') + '"' if _NEEDS_QUOTES.search(label) else label
