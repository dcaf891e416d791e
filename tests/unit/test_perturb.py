"""Hierarchies made worse on purpose are still hierarchies, of the same leaves, classes and levels."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from anondb.db.vgh import node_numbers, node_parents
from anondb.hierarchies.forms import VghTable
from anondb.study.perturb import perturbed, worse_and_worse
from tests.properties.examples import laws

PETS = VghTable(
    (
        ("dog", "mammal", "animal", "thing"),
        ("cat", "mammal", "animal", "thing"),
        ("carp", "carp", "animal", "thing"),
        ("rose", "flower", "plant", "thing"),
        ("fern", "fern", "plant", "thing"),
    )
)


@st.composite
def hierarchies(draw: st.DrawFn) -> VghTable:
    """Trees of any shape; short branches repeat their leaf."""
    height = draw(st.integers(1, 4))
    rows = []
    for leaf in range(draw(st.integers(1, 12))):
        way = draw(st.lists(st.integers(0, 2), max_size=height - 1))
        classes = ["/".join(map(str, way[:depth])) for depth in range(len(way), -1, -1)]
        rows.append((*[f"leaf {leaf}"] * (height + 1 - len(classes)), *classes))
    return VghTable(tuple(rows))


def nodes(table: VghTable) -> set[tuple[int, str]]:
    return {step for row in table.rows for step in enumerate(row)}


def repeats(table: VghTable) -> set[tuple[int, str]]:
    """The nodes above a leaf that have its label and nothing else below."""
    below: dict[tuple[int, str], set[str]] = {}
    for row in table.rows:
        for step in enumerate(row):
            below.setdefault(step, set()).add(row[0])
    return {(level, label) for (level, label), found in below.items() if level and found == {label}}


@laws
@given(hierarchies(), st.floats(0, 1), st.integers(0, 4), st.integers(0, 99))
def test_a_perturbed_hierarchy_is_one_of_the_same_nodes(
    table: VghTable, share: float, reach: int, seed: int
) -> None:
    worse = perturbed(table, share, reach, seed)
    node_parents(worse, node_numbers(worse))  # one root, each leaf once, each class below one other
    assert [row[0] for row in worse.rows] == [row[0] for row in table.rows]
    assert nodes(worse) == nodes(table)
    assert repeats(table) <= repeats(worse)  # nothing comes to lie below what only balances a branch
    assert perturbed(table, share, reach, seed) == worse
    assert perturbed(table, 0, reach, seed) == table


@laws
@given(hierarchies(), st.integers(0, 4), st.integers(0, 99))
def test_a_node_is_moved_no_farther_than_it_may_reach(table: VghTable, reach: int, seed: int) -> None:
    """A single move: where it has changed, the old and the new way of a leaf meet again within reach."""
    movable = len({step for row in table.rows for step in list(enumerate(row))[: table.height - 1]})
    if not movable:
        return
    worse = perturbed(table, 1 / movable, reach, seed)
    for old, new in zip(table.rows, worse.rows, strict=True):
        other = [level for level in range(table.height + 1) if old[level] != new[level]]
        assert len(other) <= reach
        assert all(high - low == 1 for low, high in pairwise(other))


def test_a_share_of_the_nodes_is_moved() -> None:
    """Nine nodes of PETS lie below the kingdoms; six of them can be moved without emptying a class."""
    assert perturbed(PETS, 1 / 9, 0, seed=1) == PETS
    found = {perturbed(PETS, 1 / 9, 2, seed).rows for seed in range(40)}
    assert PETS.rows not in found
    # dog or cat below flower; mammal, carp, flower or fern below the other kingdom
    assert len(found) == 6


def test_one_after_the_other_they_get_worse() -> None:
    found = worse_and_worse(PETS, 5, seed=7)
    assert len(found) == 5
    assert found[0] == PETS
    assert all(one != PETS for one in found[1:])
    assert found == worse_and_worse(PETS, 5, seed=7)
    assert found != worse_and_worse(PETS, 5, seed=8)
