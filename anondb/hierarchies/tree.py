"""A hierarchy drawn as a text tree, from the root down to the leaves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from anondb.hierarchies.forms import VghTable

Node = tuple[int, str]  # level, label
Children = dict[Node, dict[Node, None]]  # a dict for a set that keeps the order of the leaves


class Line(NamedTuple):
    """A node as it stands in the tree: the branches that lead to it, and its label on one line."""

    branch: str
    text: str
    node: Node | None  # none where nodes are only counted


def lines(table: VghTable, *, max_leaves: int | None = None) -> Iterator[str]:
    """The tree as text."""
    return (line.branch + line.text for line in drawn(table, max_leaves=max_leaves))


def drawn(table: VghTable, *, max_leaves: int | None = None) -> Iterator[Line]:
    """One line a node, at most `max_leaves` below each; a leaf that balances its branch is drawn once."""
    below = children(table)
    root = (table.height, table.rows[0][-1])
    pending: list[tuple[str, str, str, Node | None]] = [("", "", text(root[1]), root)]
    while pending:
        branch, indent, label, node = pending.pop()
        yield Line(branch, label, node)
        nodes = shown(node, below) if node is not None else ()
        entries: list[tuple[str, Node | None]] = [(text(child[1]), child) for child in nodes[:max_leaves]]
        if len(entries) < len(nodes):
            entries.append((f"… {len(nodes) - len(entries)} more", None))
        for position, (entry, child) in reversed(list(enumerate(entries, start=1))):
            last = position == len(entries)
            pending.append(
                (indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "), entry, child)
            )


def children(table: VghTable) -> Children:
    """The nodes below each node that has any, in the order of the leaves."""
    below: Children = {}
    for row in table.rows:
        for level in range(table.height, 0, -1):
            below.setdefault((level, row[level]), {})[level - 1, row[level - 1]] = None
    return below


def shown(node: Node, below: Children) -> Sequence[Node]:
    """The children of a node; none if all that lies below is the node itself, repeated down to the leaf."""
    nodes = list(below.get(node, ()))
    while len(nodes) == 1 and nodes[0][1] == node[1]:
        nodes = list(below.get(nodes[0], ()))
    return nodes


def edge_losses(table: VghTable, leaves: Mapping[Node, float], aggregate: str) -> dict[Node, float]:
    """Of each edge, by the node at its lower end: what the leaves below it lose at the node above (avg or max).

    `leaves` has the loss of a leaf's label at a level; an edge below which nothing is known has none.
    """
    below: dict[Node, list[float]] = {}
    for row in table.rows:
        for level in range(table.height):
            loss = leaves.get((level + 1, row[0]))
            if loss is not None:
                below.setdefault((level, row[level]), []).append(loss)
    return {
        node: max(losses) if aggregate == "max" else sum(losses) / len(losses)
        for node, losses in below.items()
    }


def text(label: str) -> str:
    """The label on one line, whatever characters it holds."""
    return label if label.isprintable() else label.encode("unicode_escape").decode()
