"""Utility and linkage straight from their definitions, record by record, without a thought for speed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Value = str | None
Tree = Sequence[tuple[str, ...]]  # rows of a hierarchy: leaf, …, root
Distance = Callable[[Value, Value], float]


@dataclass(frozen=True)
class Column:
    """A column as it was, and as it was released to those records that were."""

    originals: Sequence[Value]
    released: Sequence[Value]
    is_released: Sequence[bool]
    tree: Tree = field(default=())

    @property
    def cells(self) -> list[tuple[Value, Value, bool]]:
        return list(zip(self.originals, self.released, self.is_released, strict=True))

    @property
    def points(self) -> list[Fraction] | None:
        """The values as numbers, if all of them are."""
        values = [value for value in self.originals if value is not None]
        return [Fraction(value) for value in values] if values and all(map(_is_number, values)) else None

    def covers(self, label: Value, value: Value) -> bool:
        """By what can be read, else by what became of it; a NULL for a value can be anything."""
        hidden = any(kept and r is None and o is not None for o, r, kept in self.cells)
        if label is None and hidden:
            return True
        known = any(label in row for row in self.tree)
        if known or any(reads(label, other, self.tree, self.points is not None) for other in self.originals):
            return reads(label, value, self.tree, self.points is not None)
        return any(kept and (o, r) == (value, label) for o, r, kept in self.cells)


def _is_number(value: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", value) is not None


def reads(label: Value, value: Value, tree: Tree = (), numbers: bool = False) -> bool:
    """Whether a released value says that it contains an original one."""
    if label == value or label == "*":
        return True
    if label is None:
        return False
    if value is None:
        return bool(tree) and all(label in row for row in tree)
    if any(row[0] == value and label in row for row in tree):
        return True
    if numbers and (low_high := _range(label)):
        low, high, first, last = low_high
        point = Fraction(value)
        return (low < point or (first and low == point)) and (point < high or (last and point == high))
    if label.startswith("{") and label.endswith("}"):
        return f", {value}, " in f", {label[1:-1]}, "
    if re.fullmatch(r"[^*]+\*+|\*\*+", label):
        return value.startswith(label.rstrip("*")) and len(value) <= len(label)
    if re.fullmatch(r"\*+[^*]+", label):
        return value.endswith(label.lstrip("*")) and len(value) <= len(label)
    return False


def _range(label: str) -> tuple[Fraction, Fraction, bool, bool] | None:
    if not (parts := re.fullmatch(r"([\[(])(-?[\d.]+), (-?[\d.]+)([\])])", label)):
        return None
    low, high = Fraction(parts[2]), Fraction(parts[3])
    return (low, high, parts[1] == "[", parts[4] == "]") if low <= high else None


def generalization(column: Column, o: Value, r: Value, kept: bool) -> float:
    """GenILoss of a cell."""
    if kept and o is None and r is None:
        return 0
    if not kept or r is None or r == "*":
        return 1
    leaves = {row[0] for row in column.tree}
    if below := [row for row in column.tree if r in row]:
        return (len(below) - 1) / (len(leaves) - 1) if len(leaves) > 1 else 0
    if column.points is not None:
        spread = max(column.points) - min(column.points)
        if parts := _range(r):
            width = parts[1] - parts[0]
            return 0 if width == 0 else min(1.0, float(width / spread)) if spread else 1
        if _is_number(r):
            return 0
    values = {value for value in column.originals if value is not None}
    among = len(leaves) or len(values)
    covered = sum(column.covers(r, value) for value in values)
    return max(covered - 1, 0) / (among - 1) if among > 1 else 0


def entropy(column: Column, o: Value, r: Value, kept: bool) -> tuple[float, float]:
    """The bits that are missing to tell the original, and those if nothing were released."""
    alike = column.originals.count(o)
    most = -math.log2(alike / len(column.originals))
    if not kept or r == "*" or not column.covers(r, o):
        return most, most
    return -math.log2(alike / sum(column.covers(r, other) for other in column.originals)), most


def height_share(column: Column, o: Value, r: Value, kept: bool) -> float | None:
    if not column.tree:
        return None
    if kept and o is None and r is None:
        return 0
    if not kept or r is None or r == "*" or (o is None and all(r in row for row in column.tree)):
        return 1
    for row in column.tree:
        if row[0] == o and r in row:
            return row.index(r) / (len(row) - 1)
    return None


def ladder_distance(column: Column) -> Distance:
    """By the smallest class that holds both, else by what is contained, else by how far outside numbers lie."""

    def distance(o: Value, r: Value) -> float:
        height = len(column.tree[0]) if column.tree else 0
        of_label = [(row, row.index(r)) for row in column.tree if r in row]
        for row in column.tree:
            if of_label and row[0] == o:
                other, first = min(of_label, key=lambda found: (found[1], found[0]))
                level = next(i for i in range(first, height) if row[i] == other[i])
                return _loss(column.tree, level, row[level])
        if column.covers(r, o):
            row, level = min(of_label, key=lambda found: found[1]) if of_label else ((), 0)
            return _loss(column.tree, level, row[level]) if row else 0
        if column.points is None or o is None or r is None:
            return 1
        low, high = (_range(r) or (None, None))[:2] if not _is_number(r) else (Fraction(r), Fraction(r))
        spread = max(column.points) - min(column.points)
        if low is None or high is None or not spread:
            return 1
        return max(1e-9, min(1.0, float(max(low - Fraction(o), Fraction(o) - high) / spread)))

    return distance


def _loss(tree: Tree, level: int, label: str) -> float:
    return (sum(row[level] == label for row in tree) - 1) / (len(tree) - 1) if len(tree) > 1 else 0


def linkage(columns: Sequence[Column], distances: Sequence[Distance] | None, *, text: bool = False) -> float:
    """Percent of the released records whose own originals are found; without distances by coverage or text."""
    found, released = 0.0, 0
    originals = list(zip(*(column.originals for column in columns), strict=True))
    labels = list(zip(*(column.released for column in columns), strict=True))
    for i, label in enumerate(labels):
        if not columns[0].is_released[i]:
            continue
        released += 1
        if distances:
            apart = [
                sum(round(d(o, r) * 1e9) for d, o, r in zip(distances, original, label, strict=True))
                for original in originals
            ]
            matching = [apart[j] == min(apart) for j in range(len(originals))]
        elif text:
            matching = [original == label for original in originals]
        else:
            matching = [
                all(column.covers(r, o) for column, o, r in zip(columns, original, label, strict=True))
                for original in originals
            ]
        found += matching[i] / max(1, sum(matching))
    return 100 * found / released if released else 0
