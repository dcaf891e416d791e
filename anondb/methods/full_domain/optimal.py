"""The best node of the lattice, with as few checks as can be.

A node that fails settles everything less general. One that passes may be the best, and its figures bound
those of everything more general (both directions as in Flash, Kohlmayer et al. 2012). So the next check is
one that is likely to settle most of what is open, by what the checks so far have taught; nodes that cannot
beat the best one are never looked at.
"""

from __future__ import annotations

from math import copysign, inf, log1p

import numpy as np

from anondb.methods.full_domain import anytime
from anondb.methods.full_domain.bounds import Bounds, Key
from anondb.methods.full_domain.forecast import Forecast
from anondb.methods.full_domain.grid import Array, Node, counts_above, counts_below, is_large
from anondb.methods.full_domain.lattice import Demand, Lattice, NodeFigures
from anondb.methods.full_domain.objective import Objective
from anondb.methods.outcome import Levels

_HOPELESS, _FLOOR_ABOVE, _PENALTY, _CLASSES = range(4)  # what is forecast
_LEAST_CHANCE = 0.05  # that a node fails, as long as nothing says that it cannot
_COMPARED = 50_000  # nodes at most, among which the next one is chosen
_EVERY_CHECK = 6_000  # classes that take as long to count as a question takes to be asked
_HOPEFUL = 4  # every so many checks, one that is likely to be better than the best


def search(
    lattice: Lattice, demand: Demand, objective: Objective, heuristic: str | None = None
) -> Levels | None:
    """The node of least penalty, ties to fewer levels, then to the lower levels in column order."""
    if is_large(lattice.grid):
        return anytime.search(lattice, demand, objective)
    if lattice.is_limited:
        anytime.improved(lattice, demand, objective)
    return best_of(lattice, demand, objective, np.ones(lattice.grid.shape, "bool"))


def best_of(lattice: Lattice, demand: Demand, objective: Objective, candidates: Array) -> Levels | None:
    """The best of the candidates, also after earlier checks; the array is used up."""
    lattice.demand = demand
    found = _Search(lattice, demand, objective, candidates)
    for node in lattice.checked_nodes():
        found.check(node)
    while found.open.any() and not lattice.is_spent():
        found.step()
    if not lattice.proven:
        lattice.bound = float(found.bounds.least(found.open, found.best_key))
    if found.best is None:
        return None
    return Levels(found.best, lattice.check(found.best).outliers)


class _Search:
    def __init__(self, lattice: Lattice, demand: Demand, objective: Objective, candidates: Array) -> None:
        self.lattice, self.demand, self.objective = lattice, demand, objective
        self.grid = lattice.grid
        self.open = candidates  # not checked, not known to fail, not closed by a bound
        self.failing = np.zeros(self.grid.shape, "bool")
        self.possible = np.zeros(self.grid.shape, "bool")  # above a node that is not hopeless
        self.bounds = Bounds(self.grid, objective)
        self.forecast = Forecast(self.grid, 4)
        # then a node that is known to pass need not be checked
        self.passing_is_enough = demand.implied_above and objective.known_unchecked(demand.budget)
        self.best: Node | None = None
        self.best_key: Key = (inf, self.grid.size)
        self.failed: Node | None = None  # the last node that was not good enough

    def step(self) -> None:
        if self.passing_is_enough:
            self._halve(self._path())
        elif self.best is None:
            self.check(self._halfway_up())
        else:
            self.check(self._most_telling())

    def _path(self) -> list[Node]:
        """From the open node that covers most of the others, up to the top."""
        covered = counts_below(self.open).ravel()
        node = self.grid.node(int(np.where(self.open.ravel(), covered, -1).argmax()))
        path = [node]
        while raised := list(self.grid.raised(node)):
            node = max(raised, key=lambda node: int(covered[self.grid.number(node)]))
            path.append(node)
        return path

    def _halve(self, path: list[Node]) -> None:
        """Finds where on a path nodes begin to pass."""
        low, high = 0, len(path)
        while low < high and not self.lattice.is_spent():
            middle = (low + high) // 2
            place = self.grid.place(path[middle])
            if not self.possible[place] and not self.failing[place]:
                self.check(path[middle])
            if self.possible[place]:
                high = middle
            else:
                low = middle + 1

    def _halfway_up(self) -> Node:
        """The middle of what is open above the last node that was not good enough."""
        inside = self.open if self.failed is None else self._open_above(self.failed)
        if not inside.any():
            inside = self.open
        middle = np.minimum(counts_below(inside), counts_above(inside))
        return self.grid.node(int(np.where(inside, middle, -1).argmax()))

    def _most_telling(self) -> Node:
        """The open node whose check is likely to settle most of them, or to be better than the best."""
        numbers = np.flatnonzero(self.open)
        numbers = numbers[:: -(-len(numbers) // _COMPARED)]
        best = _magnitude(self.best_key[0])
        # whatever is below a node with more outliers fails, or is worse than the best
        harmless = max(self.objective.harmless(self.best_key[0]), 0.0)
        fails = self.forecast.chance_above(_HOPELESS, log1p(min(self.demand.budget, harmless)), numbers)
        fails = fails.clip(min=_LEAST_CHANCE)
        if self.demand.budget <= harmless:
            fails = np.where(self.possible.ravel()[numbers], 0.0, fails)
        if self.lattice.checks % _HOPEFUL == 0:
            gains = 1 - fails
            if self.objective.bounds_above:
                gains *= 1 - self.forecast.chance_above(_PENALTY, best, numbers)
        else:
            gains = fails * counts_below(self.open).ravel()[numbers]
            if self.objective.bounds_above:
                closes = self.forecast.chance_above(_FLOOR_ABOVE, best, numbers)
                gains += closes * counts_above(self.open).ravel()[numbers]
        return self.grid.node(int(numbers[(gains / self._prices(numbers)).argmax()]))

    def _prices(self, numbers: Array) -> Array:
        """What a check of each node costs, as far as it depends on the node: rows are read, classes are made.

        The root of it, so that a check that settles much is made all the same.
        """
        rows = self.lattice.rows
        classes = np.expm1(self.forecast.guesses(_CLASSES, numbers).clip(0, log1p(rows)))
        prices: Array = np.sqrt(_EVERY_CHECK + rows + classes)
        return prices

    def check(self, node: Node) -> None:
        figures = self.lattice.check(node)
        self.bounds.learn(node, figures)
        if not self.passing_is_enough:
            self._teach(node, figures)
        if self.demand.rejects_below(figures):
            self.failing[self.grid.below(node)] = True
            self.open[self.grid.below(node)] = False
        else:
            self.possible[self.grid.above(node)] = True
        if self.demand.accepts(figures):
            self._improve(node, figures)
        else:
            self.failed = node
        self.open[self.grid.place(node)] = False
        self.open &= self.bounds.may_beat(self.best_key)

    def _teach(self, node: Node, figures: NodeFigures) -> None:
        bound = self.objective.floor_above(figures) if self.objective.bounds_above else 0.0
        penalty = self.objective.penalty(node, figures)
        known = [log1p(figures.hopeless), _magnitude(bound), _magnitude(penalty), log1p(figures.groups)]
        self.forecast.learn(node, known)

    def _improve(self, node: Node, figures: NodeFigures) -> None:
        key = self.bounds.key(node, self.objective.penalty(node, figures))
        if self.passing_is_enough:
            # all that is above passes too, and is better where costs do not grow with the levels
            numbers = np.flatnonzero(self._open_above(node))
            if len(numbers):
                number, key = self.bounds.first(numbers)
                node = self.grid.node(number)
        if key < self.best_key:
            self.best, self.best_key = node, key

    def _open_above(self, node: Node) -> Array:
        inside = np.zeros_like(self.open)
        box = self.grid.above(node)
        inside[box] = self.open[box]
        return inside


def _magnitude(figure: float) -> float:
    """In the order of the figures, and close to a sum of effects where a figure is close to a product."""
    return copysign(log1p(abs(figure)), figure)
