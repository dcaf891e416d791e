"""A hierarchy drawn as a text tree, from the root down to the leaves."""

from __future__ import annotations

from collections.abc import Iterator

from anondb.hierarchy.model import VghTable

_Node = tuple[int, str]  # level, label
_Children = dict[_Node, dict[_Node, None]]  # a dict for a set that keeps the order of the leaves


def lines(table: VghTable, *, max_leaves: int | None = None) -> Iterator[str]:
    """One line a node, at most `max_leaves` below each; a leaf that balances its branch is drawn once."""
    children = _children(table)
    pending = [("", "", _text(table.rows[0][-1]), list(children[table.height, table.rows[0][-1]]))]
    while pending:
        branch, indent, text, below = pending.pop()
        yield branch + text
        shown = below if max_leaves is None else below[:max_leaves]
        entries = [(_text(node[1]), _below(node, children)) for node in shown]
        if len(shown) < len(below):
            entries.append((f"… {len(below) - len(shown)} more", []))
        for position, (label, nodes) in reversed(list(enumerate(entries, start=1))):
            last = position == len(entries)
            pending.append(
                (indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "), label, nodes)
            )


def _children(table: VghTable) -> _Children:
    children: _Children = {}
    for row in table.rows:
        for level in range(table.height, 0, -1):
            children.setdefault((level, row[level]), {})[level - 1, row[level - 1]] = None
    return children


def _below(node: _Node, children: _Children) -> list[_Node]:
    """The children of a node; none if all that lies below is the node itself, repeated down to the leaf."""
    below = list(children.get(node, ()))
    while len(below) == 1 and below[0][1] == node[1]:
        below = list(children.get(below[0], ()))
    return below


def _text(label: str) -> str:
    """The label on one line, whatever characters it holds."""
    return label if label.isprintable() else label.encode("unicode_escape").decode()
