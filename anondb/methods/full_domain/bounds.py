"""A bound for the penalty of every node, raised by what the checks say."""

from __future__ import annotations

from math import inf

import numpy as np

from anondb.methods.full_domain.grid import Array, Grid, Node
from anondb.methods.full_domain.lattice import NodeFigures
from anondb.methods.full_domain.objective import Objective, raised

Key = tuple[float, int]
"""A penalty or a bound of it, then the tie-break: fewer levels first, then the lower ones in column order."""


class Bounds:
    def __init__(self, grid: Grid, objective: Objective) -> None:
        self._grid, self._objective = grid, objective
        self._unchecked = objective.floors(grid)
        self._rises = objective.rises(grid)
        self.floors = self._unchecked if self._rises is None else self._unchecked.copy()
        order = np.argsort(grid.levels().ravel(), kind="stable")
        self._ties = np.empty(grid.size, "int32")
        self._ties[order] = np.arange(grid.size, dtype="int32")
        self._ties = self._ties.reshape(grid.shape)

    def learn(self, node: Node, figures: NodeFigures) -> None:
        """No node below has fewer outliers than are hopeless here, and those above are not much better."""
        below = self.floors[self._grid.below(node)]
        given = self._objective.floor_given(figures.hopeless)
        if given > -inf:
            np.maximum(below, given, out=below)
        if self._rises is not None and figures.hopeless:
            box = self._grid.below(node)
            np.maximum(below, raised(self._unchecked[box], self._rises[box], figures.hopeless), out=below)
        floor = self._objective.floor_above(figures)
        if floor > -inf:
            above = self.floors[self._grid.above(node)]
            np.maximum(above, floor, out=above)

    def key(self, node: Node, penalty: float) -> Key:
        return penalty, int(self._ties.item(self._grid.number(node)))

    def may_beat(self, key: Key) -> Array:
        """The nodes whose bound comes before a key."""
        penalty, tie = key
        found: Array = (self.floors < penalty) | ((self.floors == penalty) & (self._ties < tie))
        return found

    def first(self, numbers: Array) -> tuple[int, Key]:
        """Of some nodes, the one whose bound comes first."""
        floors, ties = self.floors.ravel()[numbers], self._ties.ravel()[numbers]
        place = int(np.lexsort((ties, floors))[0])
        return int(numbers[place]), (float(floors[place]), int(ties[place]))
