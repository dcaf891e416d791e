"""Mondrian (LeFevre, DeWitt, Ramakrishnan 2006): cut the records in halves as long as both halves hold.

All partitions of a round are cut at once. Each tries its columns, the one of widest range first; the first
whose cut at the median is allowable is taken. What no column can cut is a class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

BOUNDS = ("rounded", "exact")
"""Of released ranges: rounded outward; or the least and the greatest value of the class, as published."""


@dataclass(frozen=True)
class Widths:
    """What a round starts with."""

    partitions: int  # that have a column with more than one value, and enough records for two classes
    columns: int  # the most columns that one of them can try


@dataclass(frozen=True)
class Halves:
    """What a round has made."""

    large: int  # halves that may be cut again
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
    columns: set[int] = field(default_factory=set)

    @property
    def iterations(self) -> int:
        """Partitions looked at, by the published count: with n cuts, the n that were cut and n + 1 classes."""
        return 2 * self.number + 1


def search(partitions: Partitions) -> Cuts:
    """Cuts until no partition has an allowable cut."""
    done = Cuts()
    next_number = 2  # the whole table is partition 1
    while (widths := partitions.rank()).partitions:
        pending = widths.partitions
        for rank in range(1, widths.columns + 1):
            made = partitions.cut(rank, next_number)
            next_number += 2 * pending  # cuts that turned out not to be allowable leave gaps
            done.number += made
            pending -= made
            if not pending:
                break
        if pending == widths.partitions:
            break
        halves = partitions.split()
        done.columns |= set(halves.columns)
        if not halves.large:
            break
    partitions.close()
    return done
