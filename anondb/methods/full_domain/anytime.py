"""The best node that so many checks find, in a lattice whose nodes are too many to keep track of each.

From Datafly's node and from the top, one step at a time, whichever is best; then away from the best node by
raising some columns, and down again another way (iterated local search, Lourenço et al. 2003). What is known to
fail is kept as its most general nodes alone. Whatever was found, more checks never make it worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
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
_FRUITLESS = 50  # attempts in a row that have nothing new to check: all around is known


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
        _Search(lattice, demand, objective).wander()
        lattice.proven = False
    return _best(lattice, demand, objective)


def improved(lattice: Lattice, demand: Demand, objective: Objective) -> Levels | None:
    """Datafly's node and what single steps make of it: the start of every search that may be cut short."""
    lattice.demand = demand
    datafly.search(lattice, demand, objective)
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

    def wander(self) -> None:
        """From the best node one column up, or some, and down again; until the checks are spent."""
        try:
            while self._swapped():
                pass
            fruitless = 0
            while fruitless < _FRUITLESS and self.best is not None:
                checks, before = self.lattice.checks, self.best_rank
                start = self._kicked(self.best)
                if self.rank(start)[0] < inf:
                    self._down(start, None)
                while self.best_rank < before and self._swapped():
                    pass
                fruitless = 0 if self.lattice.checks > checks else fruitless + 1
        except _SpentError:
            pass

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
            kept = self.failing[~(self.failing <= here).all(axis=1)]
            self.failing = np.vstack([kept, here])
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

    def _down(self, node: Node, back: tuple[int, int] | None) -> Rank:
        """The first step that is better, again and again; in the order of what they could be, or by lot."""
        rank = self.rank(node)
        while True:
            steps = [other for column, by, other in self._steps(node) if (column, by) != back]
            if back is None:
                self.dice.shuffle(steps)
            else:
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

    def _kicked(self, node: Node) -> Node:
        columns = len(node)
        raised = list(node)
        for column in self.dice.sample(range(columns), min(columns, self.dice.randint(2, 4))):
            raised[column] = min(self.grid.highest[column], raised[column] + self.dice.randint(1, 2))
        return tuple(raised)


def _moved(node: Node, column: int, by: int) -> Node:
    return (*node[:column], node[column] + by, *node[column + 1 :])
