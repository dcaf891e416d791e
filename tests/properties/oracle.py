"""Datafly on rows in memory: plain and slow, as the paper tells it, and without a line of anondb's code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Protocol

Value = str | int | float | Decimal | date | None
Label = str | None
Row = tuple[Value, ...]


class Hierarchy(Protocol):
    """Says what a value that is not NULL becomes at each level from 1 to below the root."""

    @property
    def root(self) -> str: ...

    @property
    def height(self) -> int: ...

    @property
    def lowest(self) -> int:
        """The lowest level that is released."""

    def label(self, value: Value, level: int) -> str: ...

    def covers(self, label: str, value: Value) -> bool:
        """Whether the released label could stand for this value, by nothing but reading it."""


@dataclass(frozen=True)
class Tree:
    """Paths from leaf to root; shorter ones repeat their leaf."""

    paths: Mapping[str, Sequence[str]]  # by the leaf; without the leaf itself
    lowest: int = 0

    @property
    def root(self) -> str:
        return next(iter(self.paths.values()))[-1]

    @property
    def height(self) -> int:
        return max(map(len, self.paths.values()))

    def label(self, value: Value, level: int) -> str:
        above = self.paths[str(value)]
        padding = self.height - len(above)
        return str(value) if level <= padding else above[level - padding - 1]

    def covers(self, label: str, value: Value) -> bool:
        return label == text(value) or label in self.paths[str(value)]


@dataclass(frozen=True)
class Ranges:
    start: Decimal
    widths: Sequence[Decimal]
    root: str = "*"
    lowest: int = 0

    @property
    def height(self) -> int:
        return len(self.widths) + 1

    def label(self, value: Value, level: int) -> str:
        start, width = Fraction(self.start), Fraction(self.widths[level - 1])
        lower = start + floor((Fraction(text(value)) - start) / width) * width
        return f"[{written_out(lower)}, {written_out(lower + width)})"

    def covers(self, label: str, value: Value) -> bool:
        if label[0] != "[":
            return label in (text(value), "*")
        lower, upper = label[1:-1].split(", ")
        return Fraction(lower) <= Fraction(text(value)) < Fraction(upper)


@dataclass(frozen=True)
class Calendar:
    units: Sequence[str]
    root: str = "*"
    lowest: int = 0

    @property
    def height(self) -> int:
        return len(self.units) + 1

    def label(self, value: Value, level: int) -> str:
        assert isinstance(value, date)
        match self.units[level - 1]:
            case "day":
                return value.isoformat()[:10]
            case "month":
                return value.isoformat()[:7]
            case "quarter":
                return f"{value.year:04}-Q{(value.month + 2) // 3}"
            case "year":
                return f"{value.year:04}"
        return f"{value.year:04}"[:3] + "0s"

    def covers(self, label: str, value: Value) -> bool:
        assert isinstance(value, date)
        if "Q" in label:
            months = range(3 * int(label[-1]) - 2, 3 * int(label[-1]) + 1)
            return value.year == int(label[:4]) and value.month in months
        return text(value).startswith(label.removesuffix("0s").removesuffix("*"))


@dataclass(frozen=True)
class Stars:
    """A mask; `length` is the longest value's, which it takes to hide them all."""

    side: str
    length: int
    root: str = "*"
    lowest: int = 0

    @property
    def height(self) -> int:
        return 1 if self.side == "all" else max(self.length, 1)

    def label(self, value: Value, level: int) -> str:
        kept = self.length - level
        if self.side == "right":
            return text(value)[:kept] + "*" * level
        return "*" * level + text(value)[max(len(text(value)) - kept, 0) :]

    def covers(self, label: str, value: Value) -> bool:
        shown = text(value)
        if label in (shown, "*"):
            return True
        if self.side == "right":
            return shown.startswith(label.rstrip("*")) and len(label) <= self.length
        return shown.endswith(label.lstrip("*")) and len(label) <= self.length


Class = tuple[Label, ...]


@dataclass(frozen=True)
class Outcome:
    levels: tuple[int, ...]
    suppressed: int  # records in classes below k
    classes: Sequence[Class | None]  # what each record's quasi-identifiers become; None if it is left out


def datafly(
    rows: Sequence[Row],
    hierarchies: Sequence[Hierarchy],
    k: int,
    suppression: Fraction,
    *,
    mask: bool = False,
) -> Outcome | None:
    """Raises the column with most distinct values until few enough records lie in classes below k.

    A row is its quasi-identifiers. Sweeney 1998, 2002.
    """
    levels = [hierarchy.lowest for hierarchy in hierarchies]
    while True:
        table = generalized(rows, hierarchies, levels)
        sizes = Counter(table)
        small = sum(size for size in sizes.values() if size < k)
        if small <= suppression * len(rows) and not (mask and 0 < small < k):
            break
        raisable = [i for i, hierarchy in enumerate(hierarchies) if levels[i] < hierarchy.height]
        if not raisable:
            return None
        # max takes the first of several: ties go to the column that is listed first
        levels[max(raisable, key=lambda i: len({labels[i] for labels in table}))] += 1
    instead = tuple(hierarchy.root for hierarchy in hierarchies) if mask else None
    return Outcome(tuple(levels), small, [labels if sizes[labels] >= k else instead for labels in table])


def generalized(rows: Sequence[Row], hierarchies: Sequence[Hierarchy], levels: Sequence[int]) -> list[Class]:
    """Every row with each value at its column's level; a value that occurs often is looked up once."""
    columns = []
    for position, (hierarchy, level) in enumerate(zip(hierarchies, levels, strict=True)):
        values = [row[position] for row in rows]
        labels = {value: label_of(value, hierarchy, level) for value in set(values)}
        columns.append([labels[value] for value in values])
    return list(zip(*columns, strict=True))


def label_of(value: Value, hierarchy: Hierarchy, level: int) -> Label:
    """NULL stays NULL below the root, and is with the others there."""
    if level == hierarchy.height:
        return hierarchy.root
    if value is None:
        return None
    return text(value) if level == 0 else hierarchy.label(value, level)


def text(value: Value) -> str:
    """A value as PostgreSQL writes it, numbers without idle zeros."""
    match value:
        case datetime():
            return value.isoformat(" ").rstrip("0") if value.microsecond else value.isoformat(" ")
        case date():
            return value.isoformat()
        case Decimal():
            return written_out(Fraction(value))
        case float():
            return repr(value).removesuffix(".0")
    return str(value)


def written_out(number: Fraction) -> str:
    """A finite decimal, without idle zeros."""
    places = 0
    while number.denominator != 1 and (number * 10**places).denominator != 1:
        places += 1
    digits = f"{abs(int(number * 10**places)):0{places + 1}}"
    whole, part = (digits[:-places], digits[-places:]) if places else (digits, "")
    return ("-" if number < 0 else "") + whole + ("." + part if part else "")
