"""What a run keeps for its report is small, and draws the same pictures as if all had been kept."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.hierarchies.forms import CsvVgh, Dates, Hierarchy, Intervals, Mask, StoredVgh, VghTable
from anondb.methods.full_domain.grid import Grid
from anondb.methods.full_domain.lattice import Demand, Lattice, NodeFigures
from anondb.report import report_charts, trees
from anondb.report.release import _tree
from anondb.run.account import MOST_BRANCHES, binned, branches, in_words
from anondb.run.run_account import BranchAccount

SIZES = st.dictionaries(st.integers(1, 2_000_000), st.integers(1, 10_000), min_size=1, max_size=200)


@given(SIZES, st.integers(1, 100))
def test_sizes_in_bins_are_few_and_lose_no_class_and_no_record(sizes: dict[int, int], k: int) -> None:
    kept = binned(sizes.items(), k)
    by_size = dict(kept)
    assert len(kept) == len(by_size) <= 50
    assert by_size.keys() <= set(range(min(sizes), max(sizes) + 1))
    assert (min(by_size), max(by_size)) == (min(sizes), max(sizes))
    assert sum(by_size.values()) == sum(sizes.values())
    assert sum(size * n for size, n in by_size.items()) == sum(size * n for size, n in sizes.items())


@given(SIZES, st.integers(1, 100))
def test_a_report_counts_the_same_in_its_bins_as_of_all_sizes(sizes: dict[int, int], k: int) -> None:
    bins = report_charts.size_bins(list(sizes), k)
    kept = dict(binned(sizes.items(), k))

    def counted(of: dict[int, int]) -> list[tuple[int, int]]:
        inside = [[(s, n) for s, n in of.items() if low <= s <= high] for low, high in bins]
        return [(sum(n for _, n in found), sum(s * n for s, n in found)) for found in inside]

    assert counted(kept) == counted(sizes)


def test_bins_by_hand() -> None:
    assert binned([], 5) == []
    # 7 and 9 share a bin: 2 classes with 16 records; 3 is the smallest, 83 the largest
    assert binned([(3, 2), (7, 1), (9, 1), (83, 1)], 5) == [(3, 2), (8, 2), (83, 1)]


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[VghTable, int]:
    """Small balanced trees, some branches of which repeat their leaf upwards; and a level."""
    height = draw(st.integers(1, 4))
    rows = []
    for number in range(draw(st.integers(1, 12))):
        repeated = draw(st.integers(0, height - 1))
        path = [f"{level}-{number >> level}" for level in range(repeated + 1, height)]
        rows.append((f"leaf {number}", *[f"leaf {number}"] * repeated, *path, "*"))
    return VghTable(tuple(rows)), draw(st.integers(0, height))


@given(hierarchies())
def test_a_hierarchy_without_leaves_draws_the_same_tree(found: tuple[VghTable, int]) -> None:
    table, level = found
    kept = branches(table.rows, max(1, level))
    drawn = trees.without_leaves(table, level, {})
    if kept is None:
        assert drawn is None
        return
    assert "leaf" not in json.dumps(kept)
    assert drawn is not None
    redrawn = trees.without_leaves(
        _tree([BranchAccount(leaves, tuple(path)) for leaves, *path in kept], table.height), level, {}
    )
    assert redrawn is not None
    assert Counter(redrawn[0].rows) == Counter(drawn[0].rows)


def test_of_a_large_hierarchy_the_upper_levels_are_kept() -> None:
    rows = [(f"leaf {n}", f"a{n // 2}", f"b{n // 100}", "*") for n in range(1000)]
    assert branches(rows, 1) == [[100, f"b{n}", "*"] for n in range(10)]
    assert branches([(f"leaf {n}", f"a{n}", "*") for n in range(MOST_BRANCHES + 1)], 1) is None


@given(st.data())
def test_states_by_height_are_those_of_the_nodes(data: st.DataObject) -> None:
    highest = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    lowest = [data.draw(st.integers(0, level)) for level in highest]
    grid = Grid(lowest, highest)
    nodes = list(grid.nodes())
    outliers = {node: data.draw(st.integers(0, 2)) for node in nodes}
    lattice = Lattice(
        grid,
        (),
        lambda node: NodeFigures(1, outliers[node], outliers[node], 1),  # type: ignore[index]
        demand=Demand(data.draw(st.integers(0, 1))),
    )
    for node in data.draw(st.lists(st.sampled_from(nodes), max_size=5)):
        lattice.check(node)
    assert lattice.states_by_height() == Counter((sum(node), lattice.state(node)) for node in nodes)


@pytest.mark.parametrize(
    ("hierarchy", "words"),
    [
        (StoredVgh("occupation"), "stored: occupation"),
        (CsvVgh(Path("some/where/job.csv")), "from the file job.csv"),
        (Intervals(Decimal(17), (Decimal(5), Decimal("12.5"))), "ranges of 5 and 12.5, counted from 17"),
        (Dates(("month", "quarter", "year")), "calendar: month, quarter and year"),
        (Mask("left"), "masked from the left"),
        (Mask("all"), "masked as a whole"),
        (None, "no hierarchy: ranges or sets of values"),
    ],
)
def test_a_hierarchy_in_words(hierarchy: Hierarchy | None, words: str) -> None:
    assert in_words(hierarchy) == words
