"""Generated SQL: whatever a name or a value holds, it stays one quoted name or one quoted value."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anondb.run import publish_sql as publish
from anondb.sqltree import build
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation
from tests.generated import HOSTILE, statements

QUOTED = re.compile(r'"((?:[^"]|"")*)"|\'((?:[^\']|\'\')*)\'')
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


def names_in(text: str) -> set[str]:
    """The quoted names of a statement, as a server reads them."""
    return {match[1].replace('""', '"') for match in QUOTED.finditer(text) if match[1] is not None}


def values_in(text: str) -> set[str]:
    return {match[2].replace("''", "'") for match in QUOTED.finditer(text) if match[2] is not None}


def outside_of_quotes(text: str) -> str:
    return QUOTED.sub("?", text)


def skeleton(name: str) -> list[str]:
    """All that a name can have no part in."""
    return [outside_of_quotes(render(statement)) for statement in statements(name)]


HARMLESS = skeleton("harmless")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_changes_nothing_outside_of_quotes(name: str) -> None:
    assert skeleton(name) == HARMLESS


@settings(max_examples=12)
@given(TEXTS)
def test_no_name_at_all_changes_anything_outside_of_quotes(name: str) -> None:
    assert skeleton(name) == HARMLESS


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("pretty", [False, True])
def test_a_name_is_rendered_as_itself(name: str, pretty: bool) -> None:
    query = build.table(name, name + "!", name + "?")
    assert names_in(render(query, pretty=pretty)) == {name, name + "!", name + "?"}
    assert names_in(render(build.col(name, "t"), pretty=pretty)) == {name, "t"}


@given(TEXTS, st.booleans())
def test_a_value_is_rendered_as_itself(value: str, pretty: bool) -> None:
    text = render(build.call("f", build.string(value)), pretty=pretty)
    assert values_in(text) == {value}
    assert outside_of_quotes(text) == "f(?)"


@pytest.mark.parametrize(
    ("number", "text"),
    [(5, "5"), (-1, "(-1)"), (Decimal("-0.50"), "(-0.50)"), (Decimal("1E+2"), "1E+2"), (0, "0")],
)
def test_a_negative_number_cannot_start_a_comment(number: object, text: str) -> None:
    assert render(build.number(number)) == text


def test_functions_keep_the_names_that_they_were_called_by() -> None:
    assert render(build.call("anondb.range_label", build.number(1))) == "anondb.range_label(1)"
    assert render(build.call("lpad", build.string("a"))) == "lpad('a')"


def test_rendering_leaves_the_tree_as_it_was() -> None:
    node = publish.class_figures(publish.class_sizes(Relation("a", "b"), ["c"]))
    assert render(node) == render(node)
    assert render(node, pretty=True) != render(node)
