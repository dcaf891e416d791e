"""Cell suppression: of records whose class is too small, as few quasi-identifiers as are needed become `*`.

Sets of columns are tried by what they weigh, the lightest first. Of each, the records that are left and agree in all
other columns are a class if they satisfy the policy: `*` is a value of its own, so that who knows the rows of a
class knows no more than of any other. What no set makes a class of is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

TRIED_WHOLLY = 8
"""Of so many columns, those with most labels, all sets are tried; 255 questions."""
MOST_COLUMNS = 62
"""A set of columns is kept as the bits of a number."""


@dataclass(frozen=True)
class Cells:
    """What became of the records of classes that were too small."""

    records: int  # that have a cell suppressed
    cells: dict[str, int]  # of each column, how many of its cells are suppressed
    match: bool = False  # a star counts as any value

    @property
    def total(self) -> int:
        return sum(self.cells.values())

    @property
    def sentence(self) -> str:
        by_column = ", ".join(f"{name} {count:,}" for name, count in self.cells.items() if count)
        which = f": {by_column}" if by_column else ""
        return f"{self.total:,} cells of {self.records:,} records are suppressed{which}"

    def as_json(self) -> dict[str, Any]:
        stars = {"stars": "match"} if self.match else {}
        return {"records": self.records, "cells": self.total, "by_column": dict(self.cells), **stars}


def sets(labels: Sequence[int], weights: Sequence[float]) -> Iterator[tuple[int, ...]]:
    """The sets of columns to try, in their order: by weight, then by number, then by the first columns.

    `labels` says how many labels each column has: of many columns, those with most tell most records apart. All sets
    of a few of these are tried, each other column alone, and then more and more columns until all are in.
    """
    columns = range(len(labels))
    by_use = sorted(columns, key=lambda column: (weights[column], -labels[column], column))
    few = sorted(by_use[:TRIED_WHOLLY])
    tried = {chosen for size in range(1, len(few) + 1) for chosen in combinations(few, size)}
    tried |= {(column,) for column in columns}
    tried |= {tuple(sorted(by_use[:size])) for size in range(1, len(labels) + 1)}
    yield from sorted(tried, key=lambda chosen: (sum(weights[c] for c in chosen), len(chosen), chosen))
