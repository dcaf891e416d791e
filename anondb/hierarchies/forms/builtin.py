"""Hierarchies that come with the package: classifications that people know, by the structure of their codes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anondb.errors import UsageError, did_you_mean
from anondb.hierarchies.forms.base import Computed, Hierarchy, TableVgh
from anondb.policy.check import Spot
from anondb.policy.names import quoted

if TYPE_CHECKING:
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Coded, SourceColumn

PREFIX = "builtin:"
"""What the name of such a hierarchy starts with in a policy."""
FOLDER = Path(__file__).parent.parent / "builtin"
"""Each in a file of its own, with its source and its licence: a table of values, or the structure of a code."""


@dataclass(frozen=True)
class BuiltinTable(TableVgh):
    """A table of all values there are."""

    name: str

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.csv"

    def words(self) -> str:
        return f"built in: {self.name}"


@dataclass(frozen=True)
class Level:
    """The first characters of a code, or the range that they lie in."""

    kept: int
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    otherwise: bool = False  # outside of all ranges, the characters themselves

    @classmethod
    def read(cls, keys: Mapping[str, Any]) -> Level:
        """Ranges are written as `01-03`, with another label as `01-03 A`."""
        ranges = [written.partition(" ") for written in keys.get("ranges", ())]
        ends = [between.split("-") for between, _, _ in ranges]
        return cls(
            keys["kept"],
            tuple(first for first, _ in ends),
            tuple(last for _, last in ends),
            tuple(label or between for between, _, label in ranges),
            keys.get("unknown") == "itself",
        )


@dataclass(frozen=True)
class Scheme:
    """The structure of a code: what it looks like without separators, and its levels from fine to coarse."""

    pattern: str  # what is in its first parentheses is the code
    dot: int  # how many characters stand before the dot; 0: there is none
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class BuiltinCode(Computed):
    """A code by its known structure; case and separators do not matter."""

    name: str

    @classmethod
    def made(cls, spot: Spot, keys: Mapping[str, Any]) -> BuiltinCode:
        raise AssertionError("it is written as a text")

    @property
    def height(self) -> int:
        return len(scheme(self.name).levels) + 1

    def misfit(self, column: SourceColumn) -> str | None:
        if column.is_code:
            return None
        return f"codes of {self.name} are texts, and {quoted(column.name)} is {column.type}"

    def words(self) -> str:
        return f"built in: {self.name}"

    def labels(self, coded: Coded, raw: Node) -> list[Node]:
        from anondb.sqltree.build import call, collate_c, false, number, string, texts, true

        known = scheme(self.name)
        code = call("anondb.bare_code", raw.copy(), string(known.pattern))
        labels: list[Node] = []
        for level in known.levels:
            if not level.labels:
                labels.append(call("anondb.code_part", code.copy(), number(level.kept), number(known.dot)))
                continue
            part = call("left", code.copy(), number(level.kept))
            ranges = [texts(level.starts), texts(level.ends), texts(level.labels)]
            labels.append(call("anondb.code_range", part, *ranges, true() if level.otherwise else false()))
        return [collate_c(label) for label in labels]


@lru_cache
def scheme(name: str) -> Scheme:
    """The structure of the codes of a hierarchy that comes with the package."""
    keys = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return Scheme(keys["pattern"], keys["dot"], tuple(Level.read(level) for level in keys["level"]))


@lru_cache
def names() -> tuple[str, ...]:
    """All there are."""
    return tuple(sorted(file.stem for file in FOLDER.iterdir() if file.suffix in (".toml", ".csv")))


def read_builtin(spot: Spot, written: str) -> Hierarchy:
    name = written.removeprefix(PREFIX)
    if name not in names():
        there = f"there are {', '.join(names())}"
        close = did_you_mean(name, names())
        raise UsageError(
            f"{spot.key}: no hierarchy {quoted(name)} comes with anondb",
            hint=f"{close} {there}" if close else there,
        )
    return builtin_hierarchy(name)


def builtin_hierarchy(name: str) -> BuiltinTable | BuiltinCode:
    """The hierarchy of one of these names."""
    return BuiltinTable(name) if (FOLDER / f"{name}.csv").exists() else BuiltinCode(name)
