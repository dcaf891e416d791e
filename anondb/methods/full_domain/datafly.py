"""Datafly (Sweeney 1998): raise the most varied quasi-identifier until the policy holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anondb.methods.full_domain.grid import Node
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
    """The first node on Datafly's way up that satisfies the demand; None if even the top does not."""
    lattice.demand = demand
    for levels in way(lattice, objective, heuristic):
        if lattice.out_of_time():
            return None
        figures = lattice.check(levels)
        if demand.accepts(figures):
            return Levels(levels, figures.outliers)
    return None


def halved(lattice: Lattice, demand: Demand, objective: Objective) -> Levels | None:
    """The same node with few checks, where all above one that is accepted are; one further up if time runs out."""
    if not demand.implied_above:
        return search(lattice, demand, objective)
    lattice.demand = demand
    nodes = list(way(lattice, objective))
    found, low, high = None, 0, len(nodes)
    while low < high and not lattice.out_of_time():
        middle = (low + high) // 2
        figures = lattice.check(nodes[middle])
        if demand.accepts(figures):
            found, high = Levels(nodes[middle], figures.outliers), middle
        else:
            low = middle + 1
    return found


def way(lattice: Lattice, objective: Objective, heuristic: str | None = None) -> Iterator[Node]:
    """From the lowest levels to the top, which no check changes.

    The heuristic "distinct" raises the column with most distinct values, as published; "semantic" the one
    whose next level adds least to the objective's floor, the semantic loss of what is released.
    """
    levels, highest = list(lattice.begins or lattice.grid.lowest), lattice.grid.highest
    while True:
        # levels that no release can have are on the way, and nobody needs to look at them
        if all(level >= low for level, low in zip(levels, lattice.grid.lowest, strict=True)):
            yield tuple(levels)
        wanted: list[float]
        if heuristic == "semantic":
            wanted = [-_floor_raised(objective, levels, highest, column) for column in range(len(levels))]
        else:
            wanted = [lattice.nodes[column][level] for column, level in enumerate(levels)]
        column = choose(wanted, levels, highest)
        if column is None:
            return
        levels[column] += 1


def _floor_raised(objective: Objective, levels: list[int], highest: Sequence[int], column: int) -> float:
    """The objective's floor with one column a level higher; where it cannot be raised, as it is."""
    higher = min(levels[column] + 1, highest[column])
    return objective.floor((*levels[:column], higher, *levels[column + 1 :]))
