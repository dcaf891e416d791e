"""Mondrian (LeFevre, DeWitt, Ramakrishnan 2006): cut the records in halves as long as both halves hold.

All partitions of a round are cut at once. Each tries its columns, the one of widest range first; the first
whose cut at the median is allowable is taken. What no column can cut is a class. Or the column is tried
first whose best cut saves most of the loss; such a cut may have more than two parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

BOUNDS = ("rounded", "exact")
"""Of released ranges: rounded outward; or the least and the greatest value of the class, as published."""
SPLITS = ("width", "loss")
"""How cuts are chosen: at the median of the widest column, as published; or by what they save of the loss."""


@dataclass(frozen=True)
class Widths:
    """What a round starts with."""

    partitions: int  # that have a column with more than one value, and enough records for two classes
    columns: int  # the most columns that one of them can try
    parts: int  # the most parts that one of their cuts makes


@dataclass(frozen=True)
class Halves:
    """What a round has made."""

    large: int  # halves that may be cut again
    more: int  # by how many partitions there are more than before
    columns: tuple[int, ...]  # the numbers of the columns that were cut


class Partitions(Protocol):
    """The open partitions of a run; each method is a few statements on all of them."""

    def rank(self) -> Widths:
        """Ranks the columns of every partition, the widest range first, ties to the first listed."""

    def cut(self, rank: int, numbered_from: int) -> int:
        """Cuts the partitions that have no cut yet by their column of this rank; returns how many could be.

        The halves are numbered in pairs from `numbered_from`.
        """

    def split(self) -> Halves:
        """Makes the halves; what is too small for another cut, or has none, leaves the open partitions."""

    def close(self) -> None:
        """Makes classes of all partitions that are still open."""


@dataclass
class Cuts:
    """What a search has done."""

    number: int = 0
    partitions: int = 1  # that there are now
    columns: set[int] = field(default_factory=set)

    @property
    def iterations(self) -> int:
        """Partitions looked at, by the published count: those that were cut, and those that are left."""
        return self.number + self.partitions


def search(partitions: Partitions) -> Cuts:
    """Cuts until no partition has an allowable cut."""
    done = Cuts()
    next_number = 2  # the whole table is partition 1
    while (widths := partitions.rank()).partitions:
        pending = widths.partitions
        for rank in range(1, widths.columns + 1):
            made = partitions.cut(rank, next_number)
            next_number += widths.parts * pending  # cuts that turned out not to be allowable leave gaps
            done.number += made
            pending -= made
            if not pending:
                break
        if pending == widths.partitions:
            break
        halves = partitions.split()
        done.partitions += halves.more
        done.columns |= set(halves.columns)
        if not halves.large:
            break
    partitions.close()
    return done
