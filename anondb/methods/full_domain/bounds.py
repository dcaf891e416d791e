"""A bound for the penalty of every node, raised by what the checks say."""

from __future__ import annotations

from math import inf

import numpy as np

from anondb.methods.full_domain.grid import Array, Box, Grid, Node
from anondb.methods.full_domain.lattice import NodeFigures
from anondb.methods.full_domain.objective import Objective, raised

Key = tuple[float, int]
"""A penalty or a bound of it, then the tie-break: fewer levels first, then the lower ones in column order."""


class Bounds:
    def __init__(self, grid: Grid, objective: Objective) -> None:
        self._grid, self._objective = grid, objective
        self._unchecked = objective.floors(grid)
        self._rises = objective.rises(grid)
        self.floors = self._unchecked.copy()
        # what is known of each node: so many outliers it has at least, by the nodes above it; so much its
        # penalty is at least, by those below it
        self._hopeless = grid.filled(0, "float64")
        self._above = grid.filled(-inf, "float64") if objective.bounds_above else None
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
        if self._above is not None:
            self._learn_both_ways(node, figures, self._above)

    def _learn_both_ways(self, node: Node, figures: NodeFigures, known: Array) -> None:
        """What is known from below and what is known from above add up: they are of different records."""
        box = self._grid.above(node)
        np.maximum(known[box], self._objective.floor_above(figures), out=known[box])
        self._combine(box, known)
        if figures.hopeless:
            box = self._grid.below(node)
            np.maximum(self._hopeless[box], figures.hopeless, out=self._hopeless[box])
            self._combine(box, known)

    def _combine(self, box: Box, known: Array) -> None:
        both = self._objective.floor_between(known[box], self._hopeless[box])
        np.maximum(self.floors[box], both, out=self.floors[box])

    def key(self, node: Node, penalty: float) -> Key:
        return penalty, int(self._ties.item(self._grid.number(node)))

    def may_beat(self, key: Key) -> Array:
        """The nodes whose bound comes before a key."""
        penalty, tie = key
        found: Array = (self.floors < penalty) | ((self.floors == penalty) & (self._ties < tie))
        return found

    def least(self, members: Array, key: Key) -> float:
        """A bound for the penalties of all nodes, of which only these members may be better than the key says."""
        return min(float(self.floors[members].min(initial=inf)), key[0])

    def first(self, numbers: Array) -> tuple[int, Key]:
        """Of some nodes, the one whose bound comes first."""
        floors, ties = self.floors.ravel()[numbers], self._ties.ravel()[numbers]
        place = int(np.lexsort((ties, floors))[0])
        return int(numbers[place]), (float(floors[place]), int(ties[place]))
