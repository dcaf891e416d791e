"""The generalization lattice as a grid: a box of an array with one axis for each quasi-identifier.

What is less general than a node is a corner of the box, and so is what is more general: both are slices, so
that a search says something about thousands of nodes in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

from anondb.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]
else:  # numpy is loaded by those who search, not by every command
    Array = Any

Node = tuple[int, ...]
Partial = tuple[int | None, ...]
"""Levels of a subset of the columns: None leaves a column out."""
Box = tuple[slice, ...]

MOST_NODES = 1_500_000
"""A search knows some dozens of bytes of every node."""
MOST_COLUMNS = 32
"""An array has no more axes in any release of numpy."""


class Grid:
    """All nodes between the lowest and the highest levels that each column may take."""

    def __init__(self, lowest: Sequence[int], highest: Sequence[int]) -> None:
        self.lowest, self.highest = tuple(lowest), tuple(highest)
        self.shape = tuple(high - low + 1 for low, high in zip(lowest, highest, strict=True))
        self.size = prod(self.shape)
        self._strides = [prod(self.shape[c + 1 :]) for c in range(len(self.shape))]

    def number(self, node: Sequence[int]) -> int:
        """Nodes are numbered in the order of their levels, the last column fastest."""
        return sum(
            (level - low) * stride
            for level, low, stride in zip(node, self.lowest, self._strides, strict=True)
        )

    def node(self, number: int) -> Node:
        return tuple(
            low + number // stride % size
            for low, stride, size in zip(self.lowest, self._strides, self.shape, strict=True)
        )

    def place(self, node: Node) -> Node:
        """The index of a node in an array."""
        return tuple(level - low for level, low in zip(node, self.lowest, strict=True))

    def raised(self, node: Node) -> Iterator[Node]:
        """The nodes one step more general, in the order of the columns."""
        for column, level in enumerate(node):
            if level < self.highest[column]:
                yield (*node[:column], level + 1, *node[column + 1 :])

    def nodes(self) -> Iterator[Node]:
        return map(self.node, range(self.size))

    def below(self, node: Partial) -> Box:
        """The node and everything less general; a column that is left out is more general than its root."""
        return tuple(
            slice(None if level is None else level - low + 1)
            for level, low in zip(node, self.lowest, strict=True)
        )

    def above(self, node: Node) -> Box:
        """The node and everything more general."""
        return tuple(slice(level - low, None) for level, low in zip(node, self.lowest, strict=True))

    def filled(self, value: float, dtype: str) -> Array:
        """An array with one value for every node."""
        import numpy as np

        return np.full(self.shape, value, dtype)

    def levels(self) -> Array:
        """The total of the levels of every node."""
        return self.total([range(high + 1) for high in self.highest]).astype("int32")

    def total(self, columns: Sequence[Sequence[float]]) -> Array:
        """For every node the sum of what its columns have at their levels."""
        import numpy as np

        return self.spread(np.add, self._within(columns))

    def product(self, columns: Sequence[Sequence[float]]) -> Array:
        """For every node the product of what its columns have at their levels."""
        import numpy as np

        return self.spread(np.multiply, self._within(columns))

    def spread(self, combine: np.ufunc, columns: Sequence[Sequence[float] | Array]) -> Array:
        """What the columns have at the levels of the grid, combined for every node."""
        import numpy as np

        taken = [
            np.asarray(column, "float64").reshape(-1, *[1] * (len(columns) - c - 1))
            for c, column in enumerate(columns)
        ]
        # from the last column to the first: all arrays but the result are small
        return reduce(combine, reversed(taken), np.array(float(combine.identity)))

    def _within(self, columns: Sequence[Sequence[float]]) -> list[Sequence[float]]:
        return [
            column[low : high + 1]
            for column, low, high in zip(columns, self.lowest, self.highest, strict=True)
        ]


def is_large(grid: Grid) -> bool:
    """Its nodes cannot all be kept track of."""
    return grid.size > MOST_NODES or len(grid.shape) > MOST_COLUMNS


def check_size(grid: Grid) -> None:
    """Refuses a lattice whose nodes cannot all be kept track of."""
    if not is_large(grid):
        return
    raise UsageError(
        f"the lattice of {len(grid.shape)} quasi-identifiers has {grid.size:,} nodes, "
        f"more than the {MOST_NODES:,} that can be looked through one by one",
        hint="use optimal or datafly, which have no limit; or lower max_level or raise min_level of some columns",
    )


def counts_below(members: Array) -> Array:
    """For every node, how many members of a set are at most as general."""
    counts = members.astype("int32")
    for plane in _axes(counts):
        for level in range(1, plane.shape[1]):
            plane[:, level] += plane[:, level - 1]
    return counts


def counts_above(members: Array) -> Array:
    """For every node, how many members of a set are at least as general."""
    counts = members.astype("int32")
    for plane in _axes(counts):
        for level in reversed(range(plane.shape[1] - 1)):
            plane[:, level] += plane[:, level + 1]
    return counts


def _axes(array: Array) -> Iterator[Array]:
    """For each axis a view of the array as (what comes before it, the axis, what comes after)."""
    after = array.size
    for size in array.shape:
        after //= size
        yield array.reshape(-1, size, after)
