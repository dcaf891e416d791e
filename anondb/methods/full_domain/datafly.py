"""Datafly (Sweeney 1998): raise the most varied quasi-identifier until the policy holds."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.methods.full_domain.lattice import Demand, Lattice
from anondb.methods.full_domain.objective import Objective
from anondb.methods.outcome import Levels


def choose(distinct: Sequence[float], levels: Sequence[int], heights: Sequence[int]) -> int | None:
    """Index of the column to generalize next, the first of equals; None once every column is at its root."""
    raisable = [i for i, level in enumerate(levels) if level < heights[i]]
    return max(raisable, key=lambda i: (distinct[i], -i), default=None)


def search(
    lattice: Lattice, demand: Demand, objective: Objective, heuristic: str | None = None
) -> Levels | None:
    """The first node on Datafly's way up that satisfies the demand; None if even the top does not.

    The heuristic "distinct" raises the column with most distinct values, as published; "semantic" the one
    whose next level adds least to the objective's floor, the semantic loss of what is released.
    """
    lattice.demand = demand
    levels = list(lattice.grid.lowest)
    highest = lattice.grid.highest
    while not lattice.out_of_time():
        figures = lattice.check(levels)
        if demand.accepts(figures):
            return Levels(tuple(levels), figures.outliers)
        wanted: list[float]
        if heuristic == "semantic":
            wanted = [-_floor_raised(objective, levels, highest, column) for column in range(len(levels))]
        else:
            wanted = [lattice.nodes[column][level] for column, level in enumerate(levels)]
        column = choose(wanted, levels, highest)
        if column is None:
            return None
        levels[column] += 1
    return None


def _floor_raised(objective: Objective, levels: list[int], highest: Sequence[int], column: int) -> float:
    """The objective's floor with one column a level higher; where it cannot be raised, as it is."""
    higher = min(levels[column] + 1, highest[column])
    return objective.floor((*levels[:column], higher, *levels[column + 1 :]))
