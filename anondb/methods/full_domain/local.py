"""Local recoding by rounds: where classes are large enough they are released, and the search goes on with the rest.

A round releases every class of what is left that satisfies the policy, each record at the levels of its own round
(iterated full-domain generalization). A way is a row of nodes, from less to more general; its rounds stand along it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from anondb.methods.full_domain.datafly import choose
from anondb.methods.full_domain.grid import Grid, Node

_WORTH = 0.01  # of the records that are left: fewer are no round of their own, but part of a later one


@dataclass(frozen=True)
class Round:
    """What a round has released, at these levels or lower ones."""

    levels: Node
    records: int
    loss: float = 0.0  # mean of a record, in [0, 1]


@dataclass(frozen=True)
class Recoded:
    """What a way has come to."""

    rounds: tuple[Round, ...]
    records: int  # to be released
    looked: int = 0  # nodes on the way

    @property
    def suppressed(self) -> int:
        return self.records - sum(one.records for one in self.rounds)

    @property
    def score(self) -> float:
        """The mean loss of a record; a suppressed one has lost all."""
        lost = self.suppressed + sum(one.records * one.loss for one in self.rounds)
        return lost / max(self.records, 1)


class Rest(Protocol):
    """The records that no round has released yet."""

    @property
    def records(self) -> int: ...

    def look(self, levels: Node) -> int:
        """How many of them would be released at these levels."""
        ...

    def release(self, levels: Node) -> None:
        """Releases those that were looked at last."""


def rounds(rest: Rest, way: Sequence[Node]) -> None:
    """Releases along a way, until nobody is left who could be."""
    for place, levels in enumerate(way):
        if rest.records == 0:
            return
        found = rest.look(levels)
        if found and (found >= _WORTH * rest.records or place in (0, len(way) - 1)):
            rest.release(levels)


def way_of_labels(grid: Grid, nodes: Sequence[Sequence[int]], start: Node) -> Iterator[Node]:
    """Datafly's way from a node to the top: it raises the column that still has most different labels."""
    node = start
    yield node
    while (
        raised := choose([nodes[c][level] for c, level in enumerate(node)], node, grid.highest)
    ) is not None:
        node = _raised(node, raised)
        yield node


def way_of_costs(grid: Grid, costs: Sequence[Sequence[float]], start: Node) -> Iterator[Node]:
    """The way to the top that raises the column whose next level costs least more."""
    node = start
    yield node
    while node != grid.highest:
        open_ = [c for c, level in enumerate(node) if level < grid.highest[c]]
        node = _raised(node, min(open_, key=lambda c: (costs[c][node[c] + 1] - costs[c][node[c]], c)))
        yield node


def _raised(node: Node, column: int) -> Node:
    return (*node[:column], node[column] + 1, *node[column + 1 :])
