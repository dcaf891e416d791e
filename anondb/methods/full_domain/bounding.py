"""A figure that no node of a lattice can beat, from groups of its columns: for searches that cannot prove the best.

Records that some columns alone leave in too small classes are suppressed whatever the levels of the others. A
suppressed record costs all, so in each group of columns at least what the best levels of the group cost; costs
that are sums over the columns then add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf

from anondb.methods.full_domain.grid import Node, Partial
from anondb.methods.full_domain.lattice import Demand, Lattice, NodeFigures
from anondb.methods.full_domain.objective import Additive, Objective

_COLUMNS = 6  # of the first groups at most
_SLACK = 2.0**-30
"""What a bound that is computed in another order than a penalty stays below it."""


def lower_bound(lattice: Lattice, demand: Demand, objective: Objective, checks: int) -> float:
    """No node has a penalty below it; with more checks, which larger groups of columns are asked with, it is closer."""
    if not isinstance(objective, Additive):
        return objective.floor(lattice.grid.lowest)
    bound, size, last = 0.0, _COLUMNS, lattice.checks + checks
    while True:
        groups = _groups(lattice, size)
        each = (last - lattice.checks) // len(groups)
        found = [_of_group(lattice, demand, objective, group, each) for group in groups]
        bound = max(bound, sum(found) - _SLACK)
        if len(groups) == 1 or lattice.checks >= last or lattice.is_spent():
            return bound
        size = -(-len(lattice.grid.shape) // (len(groups) - 1))


def _groups(lattice: Lattice, size: int) -> list[list[int]]:
    """Groups of so many columns at most, each with some of many values and some of few."""
    columns = sorted(range(len(lattice.grid.shape)), key=lambda column: -lattice.nodes[column][0])
    number = -(-len(columns) // size)
    return [sorted(columns[first::number]) for first in range(number)]


def _of_group(
    lattice: Lattice, demand: Demand, objective: Additive, group: Sequence[int], checks: int
) -> float:
    """The least that the columns of a group cost, or as much of it as so many checks can tell.

    Levels are looked at by what they cost if nothing is suppressed, cheapest first.
    """
    grid, costs = lattice.grid, objective.costs
    lowest = tuple(grid.lowest[column] for column in group)

    def cost(levels: Node) -> float:
        return sum(costs[column][level] for column, level in zip(group, levels, strict=True))

    taken = [costs[column][grid.lowest[column] : grid.highest[column] + 1] for column in group]
    if any(list(column) != sorted(column) for column in taken):
        # semantic costs can fall with a level: what is cheap may then hide behind what is dear
        return sum(map(min, taken))
    queue, seen, least = [(cost(lowest), lowest)], {lowest}, inf
    while queue and queue[0][0] < least:
        if checks <= 0 or lattice.is_spent():
            return min(least, queue[0][0])
        floor, levels = heappop(queue)
        checks -= 1
        figures = lattice.check(_partial(levels, group, len(grid.shape)))
        if not demand.rejects_below(figures):
            least = min(least, floor + _suppressed(objective, figures, group, levels))
        for place, column in enumerate(group):
            if levels[place] < grid.highest[column]:
                raised = (*levels[:place], levels[place] + 1, *levels[place + 1 :])
                if raised not in seen:
                    seen.add(raised)
                    heappush(queue, (cost(raised), raised))
    return min(least, queue[0][0]) if queue else least


def _suppressed(objective: Additive, figures: NodeFigures, group: Sequence[int], levels: Node) -> float:
    """What the records that are suppressed whatever the other columns do cost more than if they were released."""
    if not figures.hopeless:
        return 0.0
    share = sum(objective.highest[column][-1] for column in group)
    if figures.hopeless == figures.outliers and figures.outlier_cost:
        more = share * figures.outliers - figures.outlier_cost
    else:
        most = sum(objective.highest[column][level] for column, level in zip(group, levels, strict=True))
        more = figures.hopeless * (share - most)
    return max(more, 0.0) / max(objective.records, 1)


def _partial(levels: Node, group: Sequence[int], columns: int) -> Partial:
    node: list[int | None] = [None] * columns
    for column, level in zip(group, levels, strict=True):
        node[column] = level
    return tuple(node)
