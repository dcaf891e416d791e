"""The best node that so many checks find, in a lattice whose nodes are too many to keep track of each.

From Datafly's node and from the top, one step at a time, whichever is best; swaps of columns; then steps by lot, also
to what is a little worse or suppresses a few too many, less and less of it (simulated annealing, Kirkpatrick et al.
1983), and again from the best node. What is known to fail is kept as its most general nodes alone. Whatever was found,
more checks never make it worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log
from operator import le
from random import Random

import numpy as np

from anondb.methods.full_domain import datafly
from anondb.methods.full_domain.bounding import lower_bound
from anondb.methods.full_domain.grid import Array, Node
from anondb.methods.full_domain.lattice import Demand, Lattice
from anondb.methods.full_domain.objective import Objective
from anondb.methods.outcome import Levels

Rank = tuple[float, int, Node]
"""A penalty, then the tie-break: fewer levels first, then the lower ones in column order."""

_FOR_THE_BOUND = 10  # of so many checks, one is for the bound
_ROUND = 500  # checks, at the first; it does not depend on those that are left, so that more of them go the same way
_LONGER = 1.5  # is each round than the one before
_HOT, _COLD = 0.02, 0.001  # how much worse a step may be, as a share of what the best node is worth
_TRIES = 20  # steps by lot at one warmth, while none has to be checked
_IDLE = 30  # warmths in a row at which none had to be: a round then ends
_LEAST_WORTH = 1e-9
_TOO_MANY = 3.0
"""Times what the whole table is worth, if it were suppressed above the budget; a record costs its share of that."""


class _SpentError(Exception):
    """The checks or the time that a search was given are used up."""


def search(lattice: Lattice, demand: Demand, objective: Objective) -> Levels | None:
    """The best node found, never with more penalty than Datafly's; None where none is accepted."""
    found = improved(lattice, demand, objective)
    if found is None or lattice.is_spent():
        return found
    penalty = objective.penalty(found.levels, lattice.check(found.levels))
    lattice.bound = lower_bound(lattice, demand, objective, (lattice.most_checks or 0) // _FOR_THE_BOUND)
    if lattice.bound < penalty:
        _Search(lattice, demand, objective).look_around()
        lattice.proven = False
    return _best(lattice, demand, objective)


def improved(lattice: Lattice, demand: Demand, objective: Objective) -> Levels | None:
    """Datafly's node and what single steps make of it: the start of every search that may be cut short."""
    lattice.demand = demand
    datafly.halved(lattice, demand, objective)
    _Search(lattice, demand, objective).climb()
    return _best(lattice, demand, objective)


def _best(lattice: Lattice, demand: Demand, objective: Objective) -> Levels | None:
    best = _Search(lattice, demand, objective, told=False).best
    return None if best is None else Levels(best, lattice.checked[best].outliers)


class _Search:
    """Also goes on after earlier checks."""

    def __init__(self, lattice: Lattice, demand: Demand, objective: Objective, *, told: bool = True) -> None:
        self.lattice, self.demand, self.objective = lattice, demand, objective
        self.grid, self.told = lattice.grid, told
        self.dice = Random(lattice.seed)
        self.failing: Array = np.empty((0, len(self.grid.shape)), "int32")
        self.hopeless: Array = np.empty(0, "int64")  # records, at each of these
        self.for_excess = 0.0
        self.floors: dict[Node, float] = {}
        self.best: Node | None = None
        self.best_rank: Rank = (inf, 0, ())
        for node in lattice.checked_nodes():
            self._learn(node)

    def climb(self) -> None:
        """To where no single step is better, from the best node so far and from the top."""
        try:
            for start in (self.best, self.grid.highest):
                if start is not None and self.rank(start)[0] < inf:
                    self._steepest(start)
        except _SpentError:
            pass

    def look_around(self) -> None:
        """Swaps as long as they find something, and rounds of annealing; until the checks are spent."""
        try:
            while self._swapped():
                pass
            length, before = float(_ROUND), -1
            while self.lattice.checks > before:  # else all around is known
                before = self.lattice.checks
                self._anneal(int(length))
                while self._swapped():
                    pass
                length *= _LONGER
        except _SpentError:
            pass

    def _anneal(self, length: int) -> None:
        """From the best node by lot, for so many checks; colder and colder."""
        if self.best is None:
            return
        node, known = self.best, self.best_rank[0]
        self._weigh_excess()
        idle = 0
        worth = max(abs(known), _LEAST_WORTH)
        for check in range(length):
            warmth = worth * _HOT * (_COLD / _HOT) ** (check / length)
            before = self.lattice.checks
            for _ in range(_TRIES):
                limit = known - warmth * log(1.0 - self.dice.random())
                other = self._moved_by_lot(node)
                if (found := self._energy(other, limit)) <= limit:
                    node, known = other, found
                if self.lattice.checks > before:
                    break
            idle = 0 if self.lattice.checks > before else idle + 1
            if idle == _IDLE:
                return

    def _moved_by_lot(self, node: Node) -> Node:
        """One column a level up or down; as often as not, another one the other way besides."""
        while True:
            column, by = self.dice.randrange(len(node)), self.dice.choice((-1, 1))
            other = _moved(node, column, by)
            if self.dice.random() < 0.5 and (second := self.dice.randrange(len(node))) != column:
                other = _moved(other, second, -by)
            if all(map(le, self.grid.lowest, other)) and all(map(le, other, self.grid.highest)):
                return other

    def _energy(self, node: Node, limit: float) -> float:
        """What a node is worth, also if it suppresses too many; more than the limit where that is known unchecked."""
        if node not in self.lattice.checked:
            least = self._floor(node)
            above = (self.failing >= np.array(node)).all(axis=1)
            if above.any():
                least += self._excess(int(self.hopeless[above].max()))
            if least > limit:
                return inf
            if self.lattice.is_spent():
                raise _SpentError
            self.lattice.check(node)
            self._learn(node)
        figures = self.lattice.checked[node]
        if figures.outliers <= self.demand.budget and not self.demand.accepts(figures):
            return inf
        return self.objective.penalty(node, figures) + self._excess(figures.outliers)

    def _weigh_excess(self) -> None:
        """What it costs to suppress one record too many, in the unit of the objective."""
        top = self.lattice.checked.get(self.grid.highest)
        whole = 0.0 if top is None else self.objective.penalty(self.grid.highest, top)
        records = max(figures.outliers for figures in self.lattice.checked.values())
        self.for_excess = _TOO_MANY * max(abs(whole), abs(self.best_rank[0])) / max(records, 1)

    def _excess(self, outliers: int) -> float:
        return self.for_excess * max(0, outliers - self.demand.budget)

    def rank(self, node: Node, limit: Rank | None = None) -> Rank:
        """What a node is worth; nothing where it fails, or where it cannot come before the limit."""
        nothing = (inf, sum(node), node)
        if node not in self.lattice.checked:
            if limit is not None and (self._floor(node), sum(node), node) >= limit:
                return nothing
            if (self.failing >= np.array(node)).all(axis=1).any():
                return nothing
            if self.lattice.is_spent():
                raise _SpentError
            self.lattice.check(node)
            self._learn(node)
        figures = self.lattice.checked[node]
        if not self.demand.accepts(figures):
            return nothing
        return (self.objective.penalty(node, figures), sum(node), node)

    def _learn(self, node: Node) -> None:
        figures = self.lattice.checked[node]
        if self.demand.rejects_below(figures):
            here = np.array(node, "int32")
            kept = ~(self.failing <= here).all(axis=1)
            self.failing = np.vstack([self.failing[kept], here])
            self.hopeless = np.append(self.hopeless[kept], figures.hopeless)
        elif self.demand.accepts(figures):
            rank = (self.objective.penalty(node, figures), sum(node), node)
            if rank < self.best_rank:
                self.best, self.best_rank = node, rank
                score = self.objective.score(node, figures)
                if self.told and score is not None:
                    self.lattice.tell(f"{self.objective.name} {score:.6g}")

    def _floor(self, node: Node) -> float:
        if node not in self.floors:
            self.floors[node] = self.objective.floor(node)
        return self.floors[node]

    def _steps(self, node: Node) -> Iterator[tuple[int, int, Node]]:
        """The nodes one level lower or higher in one column."""
        for by in (-1, 1):
            for column, level in enumerate(node):
                if self.grid.lowest[column] <= level + by <= self.grid.highest[column]:
                    yield column, by, _moved(node, column, by)

    def _steepest(self, node: Node) -> None:
        rank = self.rank(node)
        while True:
            best = min((self.rank(other, rank) for _, _, other in self._steps(node)), default=rank)
            if best >= rank:
                return
            rank, node = best, best[2]

    def _down(self, node: Node, back: tuple[int, int]) -> Rank:
        """The first step that is better, again and again; in the order of what they could be."""
        rank = self.rank(node)
        while True:
            steps = [other for column, by, other in self._steps(node) if (column, by) != back]
            steps.sort(key=lambda other: (self._floor(other), other))
            for other in steps:
                if (better := self.rank(other, rank)) < rank:
                    rank, node = better, other
                    break
            else:
                return rank

    def _swapped(self) -> bool:
        """Raises each column of the best node in turn, and sees what can be lowered for it."""
        best, before = self.best, self.best_rank
        if best is None:
            return False
        for column in self.dice.sample(range(len(best)), len(best)):
            for by in (1, 2):
                start = _moved(best, column, by)
                if start[column] <= self.grid.highest[column] and self.rank(start)[0] < inf:
                    self._down(start, (column, -1))
                    if self.best_rank < before:
                        return True
        return False


def _moved(node: Node, column: int, by: int) -> Node:
    return (*node[:column], node[column] + by, *node[column + 1 :])
