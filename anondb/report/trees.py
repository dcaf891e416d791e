"""Hierarchies as a report may show them: generalized labels only, never a leaf, which could be a person's value."""

from __future__ import annotations

from collections import Counter

from anondb.hierarchies import draw as picture
from anondb.hierarchies import tree
from anondb.hierarchies.draw import Losses
from anondb.hierarchies.forms import VghTable
from anondb.report.words import counted

_LINES = 40  # of a drawn tree
_CHILDREN = (40, 20, 12, 8, 5, 3, 2)  # of a node that are drawn: the most that fits


def without_leaves(table: VghTable, level: int | None, losses: Losses) -> tuple[VghTable, Losses] | None:
    """The tree from the released level upwards, its lowest nodes with the number of their values.

    A leaf that is repeated upwards to balance the tree is a leaf wherever it stands: those below one node
    are counted together. None if only the root would be left.
    """
    cut = max(1, level or 0)
    if cut >= table.height:
        return None
    leaves = {row[0] for row in table.rows}
    paths = Counter(row[_lowest(row, cut, leaves) :] for row in table.rows)
    rows: list[tuple[str, ...]] = []
    shown: dict[tree.Node, float | None] = {}
    for path, count in paths.items():
        missing = table.height + 1 - cut - len(path)  # levels where this branch has nothing but its leaf
        values = counted(count, "value")
        lowest = f"{values} of {path[0]}" if missing else f"{path[0]} · {values}"
        rows.append((lowest,) * missing + path if missing else (lowest, *path[1:]))
        for place, label in enumerate(path):
            drawn = rows[-1][missing + place]
            shown[missing + place, drawn] = losses.get((cut + missing + place, label))
    return VghTable(tuple(rows)), shown


def _lowest(row: tuple[str, ...], cut: int, leaves: set[str]) -> int:
    return next((level for level in range(cut, len(row)) if row[level] not in leaves), len(row) - 1)


def drawing(name: str, table: VghTable, level: int | None, losses: Losses) -> str | None:
    """The tree as SVG for a page that has the style, or None where there is nothing to draw."""
    drawn = without_leaves(table, level, losses)
    if drawn is None:
        return None
    reduced, shown = drawn
    caption = f"from level {max(1, level or 0)} to the root"
    return picture.svg(name, caption, reduced, shown, max_leaves=_most_children(reduced), embedded=True)


def _most_children(table: VghTable) -> int:
    """So many that the tree stays readable."""
    fits = (most for most in _CHILDREN if sum(1 for _ in tree.drawn(table, max_leaves=most)) <= _LINES)
    return next(fits, _CHILDREN[-1])
