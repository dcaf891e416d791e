"""Hierarchies made worse on purpose (Ayala-Rivera et al.): nodes moved below classes they have nothing to do with.

Leaves, classes, labels and the number of levels stay as they are. What changes is the meaning alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.tree import Node


def perturbed(table: VghTable, share: float, reach: int, seed: int) -> VghTable:
    """The hierarchy with a share of its nodes moved, each with all that lies below it, to a class of the same level.

    The new class meets the old one at most `reach` levels above: with 1 it is a sibling, with the height any.
    No class loses its last child.
    """
    draw = random.Random(seed)
    parents = _parents(table)
    children: dict[Node, list[Node]] = {}
    for node, parent in parents.items():
        children.setdefault(parent, []).append(node)
    classes = [node for node in children if not _repeats_its_leaf(node, children)]
    # the order of the rows is the order of the nodes, so that the same seed moves the same ones
    movable = [node for node, parent in parents.items() if parent[0] < table.height]
    draw.shuffle(movable)
    left = round(share * len(movable))
    for node in movable:
        if left == 0:
            break
        old = parents[node]
        others = [new for new in classes if new != old and new[0] == old[0]]
        near = [new for new in others if _meet(old, new, parents) - old[0] <= reach]
        if near and len(children[old]) > 1:
            new = draw.choice(near)
            children[old].remove(node)
            children[new].append(node)
            parents[node] = new
            left -= 1
    return VghTable(tuple(tuple(label for _, label in _way((0, row[0]), parents)) for row in table.rows))


def worse_and_worse(table: VghTable, number: int, seed: int) -> list[VghTable]:
    """A series of hierarchies that begins with the given one; in each next one, more nodes are moved, and farther."""
    tables = [table]
    for place in range(1, number):
        spoiled = place / (number - 1)
        reach = max(1, round(spoiled * (table.height - 1)))
        # most of the meaning goes with the first moves: slowly at first, so that there are many qualities
        tables.append(perturbed(table, spoiled**2, reach, seed + place))
    return tables


def _parents(table: VghTable) -> dict[Node, Node]:
    """The node above each node but the root; leaves first."""
    return {
        (level, row[level]): (level + 1, row[level + 1])
        for level in range(table.height)
        for row in table.rows
    }


def _repeats_its_leaf(node: Node, children: Mapping[Node, list[Node]]) -> bool:
    """Whether a node only balances the branch of a leaf: nothing else can lie below it."""
    while node[0] > 0:
        below = children[node]
        if len(below) > 1 or below[0][1] != node[1]:
            return False
        node = below[0]
    return True


def _meet(first: Node, second: Node, parents: Mapping[Node, Node]) -> int:
    """The level of the lowest class above two nodes of one level."""
    while first != second:
        first, second = parents[first], parents[second]
    return first[0]


def _way(node: Node, parents: Mapping[Node, Node]) -> Iterator[Node]:
    """A node and all above it."""
    yield node
    while node in parents:
        node = parents[node]
        yield node
