"""Datafly (Sweeney 1998): raise the most varied quasi-identifier until k holds."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.algorithms.lattice import Demand, Lattice, Levels


def choose(distinct: Sequence[int], levels: Sequence[int], heights: Sequence[int]) -> int | None:
    """Index of the column to generalize next; None once every column is at its root."""
    raisable = [i for i, level in enumerate(levels) if level < heights[i]]
    return max(raisable, key=lambda i: (distinct[i], -i), default=None)


def search(lattice: Lattice, demand: Demand) -> Levels | None:
    """The first node on Datafly's way up that satisfies the demand; None if even the top does not."""
    levels = list(lattice.bottom)
    while True:
        figures = lattice.check(levels)
        if demand.accepts(figures):
            return Levels(tuple(levels), figures.outliers)
        distinct = [lattice.nodes[i][level] for i, level in enumerate(levels)]
        column = choose(distinct, levels, lattice.heights)
        if column is None:
            return None
        levels[column] += 1
