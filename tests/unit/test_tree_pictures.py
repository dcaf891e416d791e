"""Hierarchies as pictures: valid DOT and SVG whatever the labels are, colours that follow the loss."""

from __future__ import annotations

import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.hierarchies import draw as picture
from anondb.hierarchies import tree
from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.tree import Node
from tests import toys

ANIMALS = toys.vgh("Owl;Bird;Animal;*", "Wren;Bird;Animal;*", "Cat;Cat;Animal;*", "Saw;Tool;Thing;*")
LOSSES: dict[Node, float | None] = {(1, "Bird"): 0.05, (2, "Animal"): 0.5, (3, "*"): 0.95, (1, "Tool"): None}
SVG = {"svg": "http://www.w3.org/2000/svg"}

LABELS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=50)


@st.composite
def tables(draw: st.DrawFn) -> VghTable:
    leaves = draw(st.lists(LABELS, min_size=1, max_size=8, unique=True))
    classes = draw(st.lists(LABELS, min_size=1, max_size=3, unique=True))
    root = draw(LABELS)
    return VghTable(tuple((leaf, draw(st.sampled_from(classes)), root) for leaf in leaves))


def boxes(svg: str) -> dict[str, ElementTree.Element]:
    """The box of each node by its whole label."""
    found = ElementTree.fromstring(svg).findall("svg:g", SVG)
    return {(group.findtext("svg:title", "", SVG)).partition(": loss")[0]: group for group in found}


@given(table=tables(), loss=st.none() | st.floats(0, 1))
def test_any_labels_give_a_well_formed_svg_with_every_node(table: VghTable, loss: float | None) -> None:
    losses = {(1, row[1]): loss for row in table.rows}
    svg = picture.svg(table.rows[0][-1], "a caption", table, losses)
    assert len(ElementTree.fromstring(svg).findall("svg:g", SVG)) == len(list(tree.lines(table)))


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize(
    "odd", ['say "hi"', "back\\slash\\N", "a&amp;b <b>", "two\nlines", "ß 雨 🐸", "a;b}", "\x01", "//c"]
)
def test_graphviz_reads_any_label(odd: str) -> None:
    text = picture.dot(
        odd, toys.vgh(f"{odd};class;*".replace(";b", ",b"), "Owl;class;*"), {(1, "class"): 0.5}
    )
    drawn = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True)
    assert drawn.stderr == ""
    texts = [
        element.text
        for element in ElementTree.fromstring(drawn.stdout).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert tree.text(odd).replace(";b", ",b") in [str(text).replace("\xa0", " ") for text in texts]


def test_dot_has_every_node_and_edge_once() -> None:
    text = picture.dot("animals", ANIMALS, LOSSES)
    labels = re.findall(r'\[label="(.*?)", fillcolor="(#[0-9a-f]{6})"\]', text)
    assert [label.split("\\n")[0] for label, _ in labels] == [
        "*", "Animal", "Bird", "Owl", "Wren", "Cat", "Thing", "Tool", "Saw"
    ]  # fmt: skip
    assert text.count("->") == len(labels) - 1
    assert 'label="Bird\\n0.0500"' in text


def test_a_repeated_leaf_is_drawn_once() -> None:
    assert list(boxes(picture.svg("animals", "", ANIMALS, {}))).count("Cat") == 1


def test_every_loss_has_its_colour_from_blue_over_yellow_to_red() -> None:
    assert (picture.colour(0), picture.colour(0.5), picture.colour(1)) == ("#9fd3ee", "#fff3b0", "#f58a7a")
    assert picture.colour(-0.5) == picture.colour(0)
    assert picture.colour(1.5) == picture.colour(1)
    assert len({picture.colour(step / 20) for step in range(21)} | {picture.colour(None)}) == 22


@pytest.mark.parametrize("loss", [None, 0, 0.25, 0.5, 0.75, 1])
def test_the_ink_of_a_box_can_be_read_on_every_colour(loss: float | None) -> None:
    assert contrast(picture.colour(loss), "#1b1f24") >= 4.5  # WCAG AA


def contrast(a: str, b: str) -> float:
    light, dark = sorted(map(luminance, (a, b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_box_has_the_colour_and_the_number_of_its_loss() -> None:
    found = boxes(picture.svg("animals", "", ANIMALS, LOSSES))
    for label, loss in {"Bird": 0.05, "*": 0.95}.items():
        assert found[label].find("svg:rect", SVG).get("fill") == picture.colour(loss)  # type: ignore[union-attr]
        assert f"{loss:.4f}" in [text.text for text in found[label].findall("svg:text", SVG)]
    assert found["Tool"].find("svg:rect", SVG).get("fill") == picture.colour(None)  # type: ignore[union-attr]


def test_boxes_lie_within_the_page_and_not_on_each_other() -> None:
    rows = tuple(
        (f"leaf {n}", f"class {n // 7}", f"group {n // 21}", "a root of a longer name") for n in range(60)
    )
    page = ElementTree.fromstring(picture.svg("many", "", VghTable(rows), {(1, "class 1"): 0.3}))
    width, height = float(page.get("width", 0)), float(page.get("height", 0))
    rects = [group.find("svg:rect", SVG).attrib for group in page.findall("svg:g", SVG)]  # type: ignore[union-attr]
    spans = [tuple(float(rect[side]) for side in ("x", "y", "width", "height")) for rect in rects]
    assert all(x >= 0 and x + w <= width and y >= 0 and y + h <= height for x, y, w, h in spans)
    for one, (x, y, w, h) in enumerate(spans):
        for x2, y2, w2, h2 in spans[one + 1 :]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_only_a_picture_with_losses_has_a_legend() -> None:
    assert "Very Poor" in picture.svg("animals", "", ANIMALS, LOSSES)
    assert "Very Poor" not in picture.svg("animals", "", ANIMALS, {})


def test_children_beyond_the_limit_are_counted() -> None:
    table = VghTable(tuple((f"leaf {n}", "class", "*") for n in range(5)))
    assert "class (+3 more)" in boxes(picture.svg("many", "", table, {}, max_leaves=2))
    assert 'label="class (+3 more)"' in picture.dot("many", table, {}, max_leaves=2)


def test_long_labels_are_cut_and_told_whole_when_pointed_at() -> None:
    group = boxes(picture.svg("long", "", VghTable((("x" * 100, "*"),)), {}))["x" * 100]
    assert group.findtext("svg:text", "", SVG) == "x" * 39 + "…"
