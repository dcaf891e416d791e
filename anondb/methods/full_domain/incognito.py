"""Incognito (LeFevre, DeWitt, Ramakrishnan 2005): all nodes that pass, by subsets of the quasi-identifiers.

A subset of the columns that fails at some levels fails in every larger set at these levels (subset property);
what is more general than a passing node passes (generalization property). Subsets of size 1, 2, … n are
searched breadth first, each only at the nodes whose smaller subsets all pass.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from anondb.methods.full_domain import anytime
from anondb.methods.full_domain.grid import Array, Grid, check_size
from anondb.methods.full_domain.lattice import Demand, Lattice
from anondb.methods.full_domain.objective import Objective
from anondb.methods.full_domain.optimal import best_of
from anondb.methods.outcome import Levels

Subset = tuple[int, ...]


def search(
    lattice: Lattice, demand: Demand, objective: Objective, heuristic: str | None = None
) -> Levels | None:
    """Of all nodes that pass, the one of least penalty, ties to fewer levels, then to the lower ones."""
    check_size(lattice.grid)
    if lattice.is_limited:
        anytime.improved(lattice, demand, objective)
    return best_of(lattice, demand, objective, all_passing(lattice, demand))


def all_passing(lattice: Lattice, demand: Demand) -> Array:
    """The set of all nodes that pass.

    Under models that are not monotone (see Demand) it holds those that are not hopeless: all that pass, and
    others, which a check has to tell apart.
    """
    lattice.demand = demand
    columns = range(len(lattice.grid.shape))
    survivors: dict[Subset, Array] = {(): np.ones((), "bool")}
    for size in range(1, len(columns) + 1):
        found: dict[Subset, Array] = {}
        for subset in combinations(columns, size):
            candidates = _candidates(lattice.grid, subset, survivors)
            found[subset] = _breadth_first(lattice, demand, subset, candidates)
        survivors = found
    return survivors[tuple(columns)]


def _candidates(whole: Grid, subset: Subset, survivors: dict[Subset, Array]) -> Array:
    """The nodes whose projections on all subsets that are one smaller have survived."""
    alive = np.ones([whole.shape[column] for column in subset], "bool")
    for axis in range(len(subset)):
        alive &= np.expand_dims(survivors[subset[:axis] + subset[axis + 1 :]], axis)
    return alive


def _breadth_first(lattice: Lattice, demand: Demand, subset: Subset, candidates: Array) -> Array:
    """Checks candidates from the least general on; whatever is above a passing one passes unchecked.

    When the time or the checks are up, what has not been checked stays a candidate: nothing is ruled out without proof.
    """
    whole = lattice.grid
    grid = Grid([whole.lowest[c] for c in subset], [whole.highest[c] for c in subset])
    open_ = candidates.copy()
    # by layers of equal total levels; in a layer no node is above another
    for number in np.argsort(grid.levels().ravel(), kind="stable"):
        if not open_.flat[number]:
            continue
        if lattice.is_spent():
            break
        node = grid.node(int(number))
        levels: list[int | None] = [None] * len(whole.shape)
        for column, level in zip(subset, node, strict=True):
            levels[column] = level
        if demand.rejects_below(lattice.check(tuple(levels))):
            candidates[grid.below(node)] = False
            open_[grid.below(node)] = False
        else:
            open_[grid.above(node)] = False
    return candidates
