"""What a hierarchy of a quasi-identifier can be: stored, from a CSV file, built, intervals, dates, or a mask."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

ROOT = "*"
"""The label of the root of every generated hierarchy."""


@dataclass(frozen=True)
class StoredVgh:
    """A hierarchy in the catalogue, by its name."""

    name: str


@dataclass(frozen=True)
class TableVgh:
    """A hierarchy that a run holds in memory, and writes to its scratch tables."""


@dataclass(frozen=True)
class CsvVgh(TableVgh):
    """A hierarchy in a CSV file: one row a leaf, `leaf;level1;…;root`."""

    path: Path


@dataclass(frozen=True)
class BuiltVgh(TableVgh):
    """A hierarchy that the run builds from the values of the column: the best of its candidates."""

    ontology: str


@dataclass(frozen=True)
class Intervals:
    """Ranges of growing width counted from `start`; each width divides the next, so that ranges nest."""

    start: Decimal
    widths: tuple[Decimal, ...]


@dataclass(frozen=True)
class Dates:
    """Calendar units, finest first; a subset of UNITS."""

    units: tuple[str, ...]


DATE_UNITS = ("day", "month", "quarter", "year", "decade")


@dataclass(frozen=True)
class Mask:
    """Characters replaced one by one from the `right` or the `left`, or `all` at once."""

    side: str


MASK_SIDES = ("right", "left", "all")

Hierarchy = StoredVgh | CsvVgh | BuiltVgh | Intervals | Dates | Mask


@dataclass(frozen=True)
class Values:
    """No hierarchy: the values themselves in their order, numbers and dates by size, all others by their bytes."""


@dataclass(frozen=True)
class Meaning(Values):
    """No hierarchy either: the values mean concepts, and are compared by them."""

    ontologies: tuple[str, ...]  # a value is looked up in the first that knows it


@dataclass(frozen=True)
class VghTable:
    """A whole hierarchy as rows of labels: `rows[i][0]` is a leaf, `rows[i][height]` the root, all of one length."""

    rows: tuple[tuple[str, ...], ...]

    @property
    def height(self) -> int:
        return len(self.rows[0]) - 1
