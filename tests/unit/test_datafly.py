"""Datafly's decisions: which column is raised next, and where the way up ends. No database."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.methods.full_domain.datafly import choose, search
from anondb.methods.full_domain.grid import Grid, Node, Partial
from anondb.methods.full_domain.lattice import Demand, Lattice, NodeFigures
from anondb.methods.full_domain.objective import Additive, Height

COLUMNS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3)).map(
        lambda column: (column[0], column[1], column[1] + column[2])
    ),
    max_size=5,
)


@pytest.mark.parametrize(
    ("distinct", "levels", "heights", "chosen"),
    [
        pytest.param([72, 2, 5], [0, 0, 0], [4, 1, 1], 0, id="most-distinct-values"),
        pytest.param([4, 4, 3], [0, 0, 0], [2, 2, 2], 0, id="of-equals-the-first-listed"),
        pytest.param([3, 4, 4], [0, 0, 0], [2, 2, 2], 1, id="of-equals-the-first-listed-of-them"),
        pytest.param([9, 2], [4, 0], [4, 1], 1, id="a-column-at-its-root-cannot-be-raised"),
        pytest.param([1, 1], [0, 0], [1, 1], 0, id="a-single-value-can-be-raised"),
        pytest.param([1, 1], [1, 1], [1, 1], None, id="every-column-at-its-root"),
        pytest.param([], [], [], None, id="no-column"),
    ],
)
def test_the_most_varied_column_below_its_root_is_raised(
    distinct: list[int], levels: list[int], heights: list[int], chosen: int | None
) -> None:
    assert choose(distinct, levels, heights) == chosen


@given(COLUMNS)
def test_no_raisable_column_has_more_distinct_values_than_the_chosen_one(
    columns: list[tuple[int, int, int]],
) -> None:
    distinct, levels, heights = (
        (list(part) for part in zip(*columns, strict=True)) if columns else ([], [], [])
    )
    chosen = choose(distinct, levels, heights)
    raisable = [i for i, _ in enumerate(columns) if levels[i] < heights[i]]
    if chosen is None:
        assert raisable == []
        return
    assert chosen in raisable
    assert all((distinct[chosen], -chosen) >= (distinct[i], -i) for i in raisable)


@pytest.mark.parametrize(
    ("mask", "outliers", "masked_passes", "accepted"),
    [
        (False, 0, True, True),
        (False, 7, False, True),
        (False, 8, True, False),
        (True, 0, False, True),  # nothing is masked, so there is no masked class
        (True, 4, False, False),
        (True, 7, True, True),
        (True, 8, True, False),
    ],
)
def test_a_node_is_accepted_within_the_budget_and_masked_only_if_the_masked_class_passes(
    mask: bool, outliers: int, masked_passes: bool, accepted: bool
) -> None:
    figures = NodeFigures(3, outliers, outliers, 0, masked_passes=masked_passes)
    assert Demand(budget=7, mask=mask).accepts(figures) is accepted


HEIGHT = Height([1.0, 1.0])  # what the published heuristic does not look at


def lattice(
    heights: Node, nodes: tuple[Node, ...], outliers: Callable[[Node], int], lowest: Node | None = None
) -> tuple[Lattice, list[Node]]:
    """A lattice whose figures are computed, and the nodes that were asked for."""
    asked: list[Node] = []

    def ask(levels: Partial) -> NodeFigures:
        node = tuple(level for level in levels if level is not None)
        asked.append(node)
        return NodeFigures(1, outliers(node), outliers(node), 0)

    return Lattice(Grid(lowest or (0,) * len(heights), heights), nodes, ask), asked


def test_the_way_goes_up_one_level_at_a_time_and_ends_at_the_first_good_node() -> None:
    way, asked = lattice((2, 1), ((10, 6, 1), (8, 1)), lambda levels: 20 - 6 * sum(levels))
    found = search(way, Demand(budget=5), HEIGHT)
    assert asked == [(0, 0), (1, 0), (1, 1), (2, 1)]
    assert found is not None
    assert (found.levels, found.suppressed) == ((2, 1), 2)
    assert (way.checks, way.size) == (4, 6)


def test_the_semantic_heuristic_raises_the_column_whose_next_level_adds_least() -> None:
    way, asked = lattice((2, 2), ((10, 6, 1), (8, 4, 1)), lambda levels: 4 - sum(levels))
    # by distinct values the first column would be raised first; on equal terms it is
    costs = Additive("semantic", [[0.0, 0.3, 0.4], [0.0, 0.1, 0.4]], [[1.0] * 3, [1.0] * 3], 4)
    assert search(way, Demand(budget=0), costs, "semantic") is not None
    assert asked == [(0, 0), (0, 1), (1, 1), (2, 1), (2, 2)]


def test_a_level_that_costs_less_than_the_one_below_it_is_taken_at_once() -> None:
    way, asked = lattice((1, 2), ((10, 1), (8, 4, 1)), lambda levels: 3 - sum(levels))
    costs = Additive("semantic", [[0.0, 0.2], [0.0, 0.3, 0.1]], [[1.0] * 2, [1.0] * 3], 4)
    search(way, Demand(budget=0), costs, "semantic")
    assert asked == [(0, 0), (1, 0), (1, 1), (1, 2)]


def test_the_way_begins_at_the_lowest_levels_and_ends_at_the_highest() -> None:
    way, asked = lattice((2, 1), ((10, 6, 3, 1), (8, 4, 1)), lambda _: 9, lowest=(1, 1))
    assert search(way, Demand(budget=8), HEIGHT) is None
    assert asked == [(1, 1), (2, 1)]


def test_a_way_that_runs_out_of_time_ends_and_proves_nothing() -> None:
    way, asked = lattice((1, 1), ((3, 1), (3, 1)), lambda _: 9)
    way.deadline = time.monotonic() - 1
    assert search(way, Demand(budget=8), HEIGHT) is None
    assert (asked, way.proven) == ([], False)


def test_there_is_no_way_where_even_the_top_is_not_good_enough() -> None:
    way, asked = lattice((1, 1), ((3, 1), (3, 1)), lambda _: 9)
    assert search(way, Demand(budget=8), HEIGHT) is None
    assert asked[-1] == (1, 1)


def test_a_bottom_that_is_good_enough_is_not_left() -> None:
    way, asked = lattice((3,), ((9, 4, 2, 1),), lambda _: 0)
    found = search(way, Demand(budget=0), HEIGHT)
    assert found is not None
    assert (found.levels, asked) == ((0,), [(0,)])


def test_a_node_is_asked_for_once() -> None:
    way, asked = lattice((1,), ((2, 1),), lambda _: 0)
    assert way.check([1]) is way.check((1,))
    assert asked == [(1,)]


@given(st.data(), st.lists(st.integers(1, 3), min_size=1, max_size=4))
def test_every_step_raises_one_column_by_one_level(data: st.DataObject, heights: list[int]) -> None:
    nodes = tuple(
        tuple(sorted(data.draw(st.lists(st.integers(1, 9), min_size=h + 1, max_size=h + 1)), reverse=True))
        for h in heights
    )
    good = data.draw(st.integers(0, sum(heights)))
    way, asked = lattice(tuple(heights), nodes, lambda levels: 0 if sum(levels) >= good else 100)
    found = search(way, Demand(budget=10), HEIGHT)
    assert found is not None
    assert len(asked) == good + 1
    for below, above in pairwise(asked):
        raised = sorted(b - a for a, b in zip(below, above, strict=True))
        assert raised == [0] * (len(heights) - 1) + [1]
