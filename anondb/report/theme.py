"""Figures of matplotlib as SVG that takes its colours and its font from the page, on light and on dark ones."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from anondb.errors import UsageError
from anondb.hierarchies import tree
from anondb.report.words import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 350  # pixels: read at this size, and still when it is fitted to a phone
POINTS = 72  # of an inch; one is a pixel in matplotlib's SVG
LABEL = 12
_LONGEST = 26  # characters of a label

# What matplotlib draws in these colours is drawn in the page's variable of that name.
INK, MUTED, GRID, PAPER = "#000001", "#000002", "#000003", "#000004"
BEFORE, AFTER, GOOD, BAD, REST = "#000005", "#000006", "#000007", "#000008", "#000009"
SERIES = ("#00000a", "#00000b", "#00000c", "#00000d", "#00000e", "#00000f")
_VARIABLES = {
    INK: "ink", MUTED: "muted", GRID: "grid", PAPER: "card",
    BEFORE: "before", AFTER: "after", GOOD: "good", BAD: "bad", REST: "rest",
    **{colour: f"series-{number}" for number, colour in enumerate(SERIES, 1)},
}  # fmt: skip
_COLOUR = re.compile("|".join(_VARIABLES))

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "anondb",  # the same figure gives the same bytes
    "text.parse_math": False,  # a name with two $ is no formula
    "font.size": LABEL,
    "text.color": INK,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": LABEL,
}


@contextmanager
def canvas(height: float, width: float = WIDTH) -> Iterator[tuple[Figure, Axes]]:
    """A figure of so many pixels with one pair of axes; it must be turned into SVG before it is left."""
    try:
        import matplotlib
        from matplotlib.figure import Figure  # and not pyplot, which keeps state and looks for a screen
    except ImportError:
        raise UsageError(
            "the charts of a report need matplotlib, and it is not installed",
            hint="pip install 'anondb[report]'",
        ) from None
    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # letters that its own font does not have are only measured wrongly: the browser draws them
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure = Figure(figsize=(width / POINTS, height / POINTS), layout="constrained", facecolor="none")
        yield figure, figure.add_subplot()


def label(name: str) -> str:
    """A name as it fits beside an axis; the table below the chart has it whole."""
    text = tree.text(name)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def svg(figure: Figure, title: str, description: str) -> str:
    """The figure as an element for a page: named and described, in the page's colours."""
    drawn = io.BytesIO()
    figure.savefig(
        drawn, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    page = ElementTree.fromstring(drawn.getvalue())
    _forget_namespaces(page)
    for metadata in page.findall("metadata"):
        page.remove(metadata)
    _keep_needed_ids(page, title)
    for element in page.iter():
        if "style" in element.attrib:
            style = _COLOUR.sub(lambda match: f"var(--{_VARIABLES[match[0]]})", element.attrib["style"])
            element.set("style", re.sub(r"font: [\d.]+px [^;]*", _font_size, style))
    page.attrib.pop("version", None)
    _, _, width, height = page.attrib["viewBox"].split()
    page.attrib |= {"width": width, "height": height, "role": "img", "class": "plot"}
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        text_element = ElementTree.Element(tag)
        text_element.text = printable(text)
        page.insert(place, text_element)
    page.set("aria-label", printable(f"{title}. {description}"))
    return ElementTree.tostring(page, encoding="unicode")


def _font_size(font: re.Match[str]) -> str:
    size = re.search(r"[\d.]+px", font[0])
    return f"font-size: {size[0]}" if size else ""


def _forget_namespaces(page: ElementTree.Element) -> None:
    """HTML knows its SVG without them."""
    for element in page.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}


def _keep_needed_ids(page: ElementTree.Element, title: str) -> None:
    """Several figures share a page: ids that nothing points to go, the others get the title's number."""
    values = " ".join(value for element in page.iter() for value in element.attrib.values())
    needed = set(re.findall(r"#([\w-]+)\)", values)) | {
        element.attrib["href"][1:] for element in page.iter() if "href" in element.attrib
    }
    own = "".join(character if character.isalnum() and character.isascii() else "-" for character in title)
    for element in page.iter():
        for name, value in list(element.attrib.items()):
            if name == "id" and value not in needed:
                del element.attrib[name]
            elif name == "id":
                element.set(name, f"{own}-{value}")
            elif name == "href":
                element.set(name, f"#{own}-{value[1:]}")
            elif "url(#" in value:
                element.set(name, value.replace("url(#", f"url(#{own}-"))
