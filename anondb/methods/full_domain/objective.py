"""What the best node is: objectives, each with a score that users know, a penalty to minimize, and bounds.

A search may skip a node whose bound is no better than what it has. Bounds are never above a penalty that they
bound, under every model: all that they assume of a released class is that it has k records or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf, prod
from operator import add
from typing import Protocol

from anondb.methods.full_domain.grid import Array, Grid, Node
from anondb.methods.full_domain.lattice import NodeFigures

OBJECTIVES = ("loss", "classes", "discernibility", "average_class_size", "semantic", "height")

_GRAIN = 2.0**36
"""Sums are rounded to multiples of 1/GRAIN, so that what is equal on paper is equal, and ties are ties."""
_SLACK = 2.0**-30
"""What a bound that is computed in another order than the penalty stays below it."""


class Objective(Protocol):
    bounds_above: bool
    """The figures of a node bound all its generalizations."""

    @property
    def name(self) -> str: ...

    def score(self, node: Node, figures: NodeFigures) -> float | None:
        """The figure to show, in its usual unit; None where there is none."""

    def penalty(self, node: Node, figures: NodeFigures) -> float:
        """The figure to minimize."""

    def shown(self, penalty: float) -> float | None:
        """The score of a penalty, or of a bound for penalties."""

    def known_unchecked(self, budget: int) -> bool:
        """The floor of a node that is accepted within this budget is its penalty."""

    def floor(self, node: Node) -> float:
        """A bound for a node before anything is checked, from its columns alone."""

    def floors(self, grid: Grid) -> Array:
        """The floor of every node."""

    def rises(self, grid: Grid) -> Array | None:
        """By how much at least each outlier raises a node's penalty above its floor."""

    def floor_given(self, outliers: int) -> float:
        """A bound for any node that has so many outliers or more."""

    def floor_above(self, figures: NodeFigures) -> float:
        """A bound for all generalizations of a node with these figures, if there is one."""

    def floor_between(self, above: Array, outliers: Array) -> Array:
        """Bounds of nodes that have a floor_above, and so many outliers or more that are hopeless."""

    def harmless(self, penalty: float) -> float:
        """So many outliers do not by themselves make a node worse than this penalty; with more it is no better."""


def make(
    name: str,
    *,
    costs: Sequence[Sequence[float]],
    highest: Sequence[Sequence[float]],
    nodes: Sequence[Sequence[int]],
    records: int,
    k: int,
    weights: Sequence[float] | None = None,
) -> Objective:
    """The objective that a policy names.

    `costs` and `highest` (for loss and semantic alone): of each column at each level the mean cost over all
    records, and the cost of the record that costs most, both in [0, 1] and without the weights.
    """
    match name:
        case "loss" | "semantic":
            shares = normalized(weights or [1.0] * len(costs))
            return Additive(name, weighted(costs, shares), weighted(highest, shares), records)
        case "height":
            return Height(weights or [1.0] * len(nodes))
        case "classes":
            return Classes(nodes, records, k)
        case "average_class_size":
            return AverageClassSize(nodes, records, k)
        case "discernibility":
            return Discernibility(nodes, records, k)
    raise ValueError(f"{name} is no objective")


def normalized(weights: Sequence[float]) -> list[float]:
    """Weights that sum to 1; the outlier_cost of a node's figures is a mean with these."""
    total = sum(weights)
    return [weight / total if total else 0.0 for weight in weights]


def weighted(columns: Sequence[Sequence[float]], weights: Sequence[float]) -> list[list[float]]:
    return [[weight * cost for cost in column] for column, weight in zip(columns, weights, strict=True)]


@dataclass(frozen=True)
class Additive:
    """A mean cost over records and columns, in [0, 1]; a suppressed record costs 1 (loss, semantic).

    Costs need not grow with the level: semantic distances do not always.
    """

    name: str
    costs: Sequence[Sequence[float]]  # of each column at each level: its mean cost, times its weight
    highest: Sequence[Sequence[float]]  # the same for the record that costs most
    records: int
    bounds_above = False

    def score(self, node: Node, figures: NodeFigures) -> float:
        return self.penalty(node, figures)

    def penalty(self, node: Node, figures: NodeFigures) -> float:
        lost = (figures.outliers - figures.outlier_cost) / max(self.records, 1)
        return round((self._released(node) + lost) * _GRAIN) / _GRAIN  # once: two roundings can part equals

    def shown(self, penalty: float) -> float:
        return penalty

    def known_unchecked(self, budget: int) -> bool:
        return budget == 0

    def floor(self, node: Node) -> float:
        return round(self._released(node) * _GRAIN) / _GRAIN

    def _released(self, node: Node) -> float:
        """The mean cost if all records were released."""
        return _total(column[level] for column, level in zip(self.costs, node, strict=True))

    def floors(self, grid: Grid) -> Array:
        return (grid.total(self.costs) * _GRAIN).round() / _GRAIN

    def rises(self, grid: Grid) -> Array:
        return (1 - grid.total(self.highest)).clip(min=0.0) / max(self.records, 1)

    def floor_given(self, outliers: int) -> float:
        return -inf

    def floor_above(self, figures: NodeFigures) -> float:
        return -inf

    def floor_between(self, above: Array, outliers: Array) -> Array:
        return above

    def harmless(self, penalty: float) -> float:
        return inf


@dataclass(frozen=True)
class Height:
    """The sum of the levels, each times its column's weight."""

    weights: Sequence[float]
    name = "height"
    bounds_above = False

    def score(self, node: Node, figures: NodeFigures) -> float:
        return self.floor(node)

    def penalty(self, node: Node, figures: NodeFigures) -> float:
        return self.floor(node)

    def shown(self, penalty: float) -> float:
        return penalty

    def known_unchecked(self, budget: int) -> bool:
        return True

    def floor(self, node: Node) -> float:
        total = _total(weight * level for weight, level in zip(self.weights, node, strict=True))
        return round(total * _GRAIN) / _GRAIN

    def floors(self, grid: Grid) -> Array:
        columns = [
            [weight * level for level in range(high + 1)]
            for weight, high in zip(self.weights, grid.highest, strict=True)
        ]
        return (grid.total(columns) * _GRAIN).round() / _GRAIN

    def rises(self, grid: Grid) -> None:
        return None

    def floor_given(self, outliers: int) -> float:
        return -inf

    def floor_above(self, figures: NodeFigures) -> float:
        return -inf

    def floor_between(self, above: Array, outliers: Array) -> Array:
        return above

    def harmless(self, penalty: float) -> float:
        return inf


@dataclass(frozen=True)
class Classes:
    """Most equivalence classes."""

    nodes: Sequence[Sequence[int]]  # of each column at each level: how many labels occur
    records: int
    k: int
    name = "classes"
    bounds_above = True

    def score(self, node: Node, figures: NodeFigures) -> float | None:
        return figures.classes

    def penalty(self, node: Node, figures: NodeFigures) -> float:
        return -figures.classes

    def shown(self, penalty: float) -> float | None:
        return -penalty

    def known_unchecked(self, budget: int) -> bool:
        return False

    def floor(self, node: Node) -> float:
        return -min(_combinations(self.nodes, node), self.records // self.k)

    def floors(self, grid: Grid) -> Array:
        return -grid.product(self.nodes).clip(max=self.records // self.k)

    def rises(self, grid: Grid) -> None:
        return None

    def floor_given(self, outliers: int) -> float:
        return -((self.records - outliers) // self.k)

    def floor_above(self, figures: NodeFigures) -> float:
        # a class further up holds a released one, or k records that are suppressed here
        most = figures.classes + figures.outliers // self.k
        return -min(most, figures.groups) if figures.groups else -most

    def floor_between(self, above: Array, outliers: Array) -> Array:
        return above

    def harmless(self, penalty: float) -> float:
        return self.records + penalty * self.k


class AverageClassSize(Classes):
    """|T| / (classes · k) (LeFevre et al. 2006): least where there are most classes."""

    name = "average_class_size"

    def score(self, node: Node, figures: NodeFigures) -> float | None:
        return self.records / (figures.classes * self.k) if figures.classes else None

    def shown(self, penalty: float) -> float | None:
        return self.records / (-penalty * self.k) if penalty else None


@dataclass(frozen=True)
class Discernibility:
    """DM (Bayardo and Agrawal 2005): squared class sizes, and |T| for each suppressed record."""

    nodes: Sequence[Sequence[int]]
    records: int
    k: int
    name = "discernibility"
    bounds_above = True

    def score(self, node: Node, figures: NodeFigures) -> float:
        return self.penalty(node, figures)

    def penalty(self, node: Node, figures: NodeFigures) -> float:
        return figures.squares + self.records * figures.outliers

    def shown(self, penalty: float) -> float:
        return penalty

    def known_unchecked(self, budget: int) -> bool:
        return False

    def floor(self, node: Node) -> float:
        # squares are least where all classes are of one size
        return max(self.records * self._least, self.records**2 / max(_combinations(self.nodes, node), 1))

    def floors(self, grid: Grid) -> Array:
        even = self.records**2 / grid.product(self.nodes).clip(min=1)
        return even.clip(min=self.records * self._least)

    def rises(self, grid: Grid) -> None:
        return None

    def floor_given(self, outliers: int) -> float:
        return (self.records - outliers) * self._least + self.records * outliers

    def floor_above(self, figures: NodeFigures) -> float:
        # classes only grow together, and whoever is suppressed here stands among k or more there
        return figures.squares + self._least * figures.outliers

    def floor_between(self, above: Array, outliers: Array) -> Array:
        # who is hopeless is suppressed at each node below, and counts there as one of a smallest class
        bounds: Array = above + (self.records - self._least) * outliers
        return bounds

    def harmless(self, penalty: float) -> float:
        return (penalty - self.records * self._least) / max(self.records - self._least, 1)

    @property
    def _least(self) -> int:
        """What a record costs at least: it stands among k, or costs as much as the whole table."""
        return min(self.k, self.records)


def raised(floors: Array, rises: Array, outliers: int) -> Array:
    """Bounds of nodes that have so many outliers or more, from their floors and rises."""
    return floors + (outliers * rises - _SLACK)


def _total(parts: Iterable[float]) -> float:
    """In the order in which a grid adds, so that the sums are the same to the last bit."""
    return reduce(add, reversed(list(parts)), 0.0)


def _combinations(columns: Sequence[Sequence[int]], node: Node) -> int:
    return prod(column[level] for column, level in zip(columns, node, strict=True))
