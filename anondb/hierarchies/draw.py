"""A hierarchy as a picture: DOT for Graphviz, or SVG drawn here; each node has the colour of its loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width
from xml.etree import ElementTree

from anondb.hierarchies import tree
from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.tree import Node

Losses = Mapping[Node, float | None]
"""Losses by node. An edge goes by the node at its lower end: what the values below that node lose at the node above."""

# All light enough for dark text, and told apart by those who do not tell red from green.
_SCALE = ((159, 211, 238), (214, 238, 226), (255, 243, 176), (255, 192, 120), (245, 138, 122))
_PLAIN = "#e7eaee"
_INK = "#1b1f24"
_RATINGS = ((0.1, "Very Good"), (0.3, "Good"), (0.5, "Moderate"), (0.7, "Poor"), (0.9, "Very Poor"))

_STYLE = """
text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
.page { fill: #ffffff } .caption { fill: #1b1f24 } .edge { fill: none; stroke: #9aa3ad; stroke-width: 1.2 }
@media (prefers-color-scheme: dark) {
  .page { fill: #15191e } .caption { fill: #e6e9ec } .edge { stroke: #66707b }
}
"""
_CHARACTER, _ROW, _BOX, _GAP, _MARGIN = 7.8, 28, 22, 46, 16  # pixels
_FIGURE = 44  # pixels of the loss at an edge
_LONGEST = 40  # columns of text that are drawn of a label


def colour(loss: float | None) -> str:
    """From blue over yellow to red as the loss grows from 0 to 1; grey where it is not known."""
    if loss is None:
        return _PLAIN
    position = min(max(loss, 0.0), 1.0) * (len(_SCALE) - 1)
    low = min(int(position), len(_SCALE) - 2)
    mixed = (round(a + (b - a) * (position - low)) for a, b in zip(_SCALE[low], _SCALE[low + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def dot(
    name: str,
    table: VghTable,
    losses: Losses,
    *,
    edges: Losses | None = None,
    max_leaves: int | None = None,
) -> str:
    """The hierarchy in Graphviz's language, with the losses of its edges."""
    places = _places(table, max_leaves)
    numbers = {place: number for number, place in enumerate(places)}
    lines = [
        f"digraph {_quoted(tree.text(name))} {{",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11, height=0.3];',
        '  edge [color="#9aa3ad", arrowsize=0.6];',
    ]
    for place, number in numbers.items():
        loss = losses.get(place.node)
        label = place.label if loss is None else f"{place.label}\n{loss:.4f}"
        lines.append(f'  n{number} [label={_quoted(label)}, fillcolor="{colour(loss)}"];')
        if place.parent is not None:
            lost = (edges or {}).get(place.node)
            label_of_loss = "" if lost is None else f' [label="{lost:.4f}", fontsize=9]'
            lines.append(f"  n{numbers[place.parent]} -> n{number}{label_of_loss};")
    return "\n".join([*lines, "}\n"])


def svg(
    name: str,
    caption: str,
    table: VghTable,
    losses: Losses,
    *,
    edges: Losses | None = None,
    max_leaves: int | None = None,
    embedded: bool = False,
) -> str:
    """The hierarchy as SVG, the root at the left, readable on light and on dark pages; exhaustive with losses of edges.

    An `embedded` one has no style and no background of its own, because a style inside a page is the whole page's.
    """
    places = _places(table, max_leaves)
    scored = any(losses.get(place.node) is not None for place in places)
    lefts, widths = _columns(places, scored, _GAP if edges is None else _GAP + _FIGURE)
    top = 2 * _MARGIN + 18
    rows = max(place.row for place in places) + 1
    legend = 60 if scored else _MARGIN
    width = max(
        lefts[-1] + widths[-1] + _MARGIN, _MARGIN * 2 + _text_width(f"{name}  {caption}"), 560 * scored
    )
    height = top + rows * _ROW + legend
    page = ElementTree.Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
    )
    _add(page, "title", text=f"{tree.text(name)}: {caption}" if caption else tree.text(name))
    if not embedded:
        _add(page, "style", text=_STYLE)
        _add(page, "rect", {"class": "page", "width": "100%", "height": "100%"})
    heading = _add(page, "text", {"class": "caption", "x": str(_MARGIN), "y": str(_MARGIN + 12)})
    _add(heading, "tspan", {"style": "font-weight: bold"}, tree.text(name))
    _add(heading, "tspan", {"dx": "10"}, caption)
    for place in places:  # edges first: boxes lie on them
        if place.parent is not None:
            _add(page, "path", {"class": "edge", "d": _edge(place.parent, place, lefts, widths, top)})
            lost = (edges or {}).get(place.node)
            if lost is not None:
                # at the end where no two edges are near each other
                at = {"x": f"{lefts[place.column] - 4:.1f}", "y": f"{top + place.row * _ROW + 11:.1f}"}
                look = {"class": "caption", "text-anchor": "end", "style": "font-size: 10px"}
                _add(page, "text", at | look, f"{lost:.4f}")
    for place in places:
        _box(page, place, losses.get(place.node), lefts[place.column], widths[place.column], top)
    if scored:
        _legend(page, top + rows * _ROW + 20)
    ElementTree.indent(page)
    return ElementTree.tostring(page, encoding="unicode") + "\n"


@dataclass(frozen=True)
class _Place:
    """Where a node is drawn; rows are halved where a node stands between its children."""

    node: Node
    label: str
    column: int
    row: float
    parent: _Place | None


def _places(table: VghTable, max_leaves: int | None) -> list[_Place]:
    """Every node that is drawn, parents first."""
    below = tree.children(table)
    rows: dict[Node, float] = {}
    root: Node = (table.height, table.rows[0][-1])
    order = list(_walk(root, below, max_leaves))
    free = 0
    for node, nodes, _, _ in reversed(order):  # children first, and so the last leaf: counted from below
        if nodes:
            rows[node] = (rows[nodes[0]] + rows[nodes[-1]]) / 2
        else:
            rows[node] = free
            free += 1
    made: dict[Node, _Place] = {}
    for node, _, parent, hidden in order:
        more = f" (+{hidden} more)" if hidden else ""
        above = made[parent] if parent is not None else None
        column = 0 if above is None else above.column + 1
        made[node] = _Place(node, tree.text(node[1]) + more, column, free - 1 - rows[node], above)
    return list(made.values())


def _walk(
    root: Node, below: tree.Children, max_leaves: int | None
) -> Iterator[tuple[Node, Sequence[Node], Node | None, int]]:
    """Each node with the children that are drawn, its parent, and how many children are not drawn."""
    pending: list[tuple[Node, Node | None]] = [(root, None)]
    while pending:
        node, parent = pending.pop()
        nodes = tree.shown(node, below)
        drawn = nodes[:max_leaves]
        yield node, drawn, parent, len(nodes) - len(drawn)
        pending.extend((child, node) for child in reversed(drawn))


def _columns(places: Sequence[_Place], scored: bool, gap: int) -> tuple[list[float], list[float]]:
    """Where each column begins, and how wide its boxes are."""
    widths = [0.0] * (max(place.column for place in places) + 1)
    for place in places:
        widths[place.column] = max(widths[place.column], _text_width(_cut(place.label)) + 18 + 50 * scored)
    lefts = [float(_MARGIN)]
    for width in widths[:-1]:
        lefts.append(lefts[-1] + width + gap)
    return lefts, widths


def _edge(parent: _Place, child: _Place, lefts: Sequence[float], widths: Sequence[float], top: int) -> str:
    x1, x2 = lefts[parent.column] + widths[parent.column], lefts[child.column]
    y1, y2 = (top + place.row * _ROW + _ROW / 2 for place in (parent, child))
    middle = (x1 + x2) / 2
    return f"M{x1:.1f},{y1:.1f} C{middle:.1f},{y1:.1f} {middle:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"


def _box(
    page: ElementTree.Element, place: _Place, loss: float | None, x: float, width: float, top: int
) -> None:
    y = top + place.row * _ROW + (_ROW - _BOX) / 2
    group = _add(page, "g")
    _add(group, "title", text=place.label if loss is None else f"{place.label}: loss {loss:.4f}")
    box = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": f"{width:.1f}", "height": str(_BOX), "rx": "5"}
    _add(group, "rect", box | {"fill": colour(loss)})
    at = {"y": f"{y + 15.5:.1f}", "fill": _INK}
    _add(group, "text", at | {"x": f"{x + 9:.1f}"}, _cut(place.label))
    if loss is not None:
        number = {"x": f"{x + width - 8:.1f}", "text-anchor": "end", "style": "font-size: 11px"}
        _add(group, "text", at | number, f"{loss:.4f}")


def _legend(page: ElementTree.Element, y: float) -> None:
    x = float(_MARGIN)
    for middle, rating in _RATINGS:
        box = {"x": f"{x:.1f}", "y": f"{y:.1f}", "width": "14", "height": "14", "rx": "3"}
        _add(page, "rect", box | {"fill": colour(middle)})
        _add(page, "text", {"class": "caption", "x": f"{x + 20:.1f}", "y": f"{y + 12:.1f}"}, rating)
        x += 34 + _text_width(rating)


def _add(
    parent: ElementTree.Element, tag: str, attributes: dict[str, str] | None = None, text: str | None = None
) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, tag, attributes or {})
    element.text = text
    return element


def _cut(label: str) -> str:
    """A label cut to the room that it has; the box shows the whole label as its tooltip."""
    if _cells(label) <= _LONGEST:
        return label
    kept = label
    while _cells(kept) >= _LONGEST:
        kept = kept[:-1]
    return kept + "…"


def _cells(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _text_width(text: str) -> float:
    return _cells(text) * _CHARACTER


def _quoted(text: str) -> str:
    """A string of DOT's, in which a backslash and an ampersand would mean something else."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + plain.replace("\n", "\\n") + '"'
