"""What the charts of a report show, against counts by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("matplotlib", reason="the charts come with the extra `report`")

from anondb.hierarchies.forms import VghTable
from anondb.report import lattice, report_charts, trees
from anondb.report.charts import apart
from anondb.report.metrics import reported
from anondb.report.model import (
    ClassSizes,
    ComparedRun,
    Comparison,
    LatticeNode,
    LatticeReport,
    ReportedMetric,
)
from tests import report_samples, toys

SIZES = st.dictionaries(st.integers(1, 10**6), st.integers(1, 1000), min_size=1, max_size=30)


@given(sizes=st.lists(st.integers(1, 10**7), min_size=1), k=st.integers(1, 1000))
def test_every_size_lies_in_one_bin_and_none_holds_sizes_on_both_sides_of_k(sizes: list[int], k: int) -> None:
    bins = report_charts.size_bins(sizes, k)
    assert all(sum(low <= size <= high for low, high in bins) == 1 for size in sizes)
    assert all(before[1] + 1 == after[0] for before, after in pairwise(bins))
    assert not any(low < k <= high for low, high in bins)
    assert len(bins) <= 12


@given(after=SIZES, before=SIZES)
@settings(max_examples=10, deadline=None)
def test_the_table_of_class_sizes_counts_every_class_and_record(
    after: dict[int, int], before: dict[int, int]
) -> None:
    table = report_charts.class_sizes(ClassSizes(after, before), 5).table
    columns = [
        [int(cell.replace(",", "")) for cell in column] for column in list(zip(*table.rows, strict=True))[1:]
    ]
    assert [sum(column) for column in columns] == [
        sum(before.values()),
        sum(size * classes for size, classes in before.items()),
        sum(after.values()),
        sum(size * classes for size, classes in after.items()),
    ]


def test_the_chart_of_class_sizes_tells_the_smallest_class() -> None:
    chart = report_charts.class_sizes(ClassSizes({6: 2, 30: 1}, {1: 3, 2: 2}), 5)
    assert chart.description.endswith("The smallest released class has 6 records; the policy demands 5.")
    assert list(chart.table.rows) == [
        ["1", "3", "3", "0", "0"],
        ["2–4", "2", "4", "0", "0"],
        ["5–9", "0", "0", "2", "12"],
        ["10–19", "0", "0", "0", "0"],
        ["20–30", "0", "0", "1", "30"],
    ]
    assert report_charts.class_sizes(ClassSizes({6: 2}), None).description.endswith("has 6 records.")


def test_a_risk_that_is_not_known_on_both_sides_is_not_drawn() -> None:
    known = [reported("marketer", 0.1, before=0.5), reported("record_linkage_text", 60, before=50)]
    unknown = [reported("prosecutor_mean", 0.1), reported("prosecutor_max", before=1.0)]
    chart = report_charts.risk(known + unknown)
    assert chart is not None
    assert [row[0] for row in chart.table.rows] == ["Marketer risk", "Record linkage by text"]
    assert chart.description == "1 of 2 risks fell. Lower is better."
    assert report_charts.risk(unknown) is None


def test_loss_by_column_names_the_worst_column() -> None:
    cells = [("a", 0.1), ("b", 0.9)]
    metrics = [reported("precision", 1 - loss, column=name) for name, loss in cells]
    metrics += [reported("gen_iloss", loss, column=name) for name, loss in cells]
    chart = report_charts.by_column(metrics, "utility")
    assert chart is not None
    assert chart.description == "Generalization loss is greatest in b: 90%."
    assert chart.table.head == ["Column", "Generalization loss", "Precision"]
    assert list(chart.table.rows) == [["a", "10%", "90%"], ["b", "90%", "10%"]]
    assert "Precision" not in chart.svg  # more of it is better, and it would stand beside losses
    assert report_charts.by_column(metrics, "risk") is None


def test_a_comparison_draws_what_succeeded_and_lists_what_failed() -> None:
    compared = Comparison(
        (
            ComparedRun("datafly", 2, 3, {"classes": 10.0}, "age 1"),
            ComparedRun("datafly", 5, 3, {"classes": 4.0}, "age 2"),
            ComparedRun("datafly", 5, 1, {"classes": 400.0}, "age 0"),
            ComparedRun("mondrian", 2, 3, {"classes": 50.0}),
            ComparedRun("mondrian", 99, 3, failure="no release"),
        )
    )
    [chart] = report_charts.comparison(compared)
    assert chart.table.head == ["Algorithm", "k = 2", "k = 5"]
    assert list(chart.table.rows) == [["datafly", "10", "4"], ["mondrian", "50", "–"]]
    table = report_charts.comparison_table(compared)
    assert table.head == ["Algorithm", "k", "Columns", "Classes", "Generalization"]
    assert table.rows[-1] == ["mondrian", "99", "3", "–", "no release"]


def test_a_comparison_over_columns_has_them_on_its_axis() -> None:
    runs = tuple(ComparedRun("datafly", 2, quasi, {"classes": 1.0 * quasi}) for quasi in (3, 1, 2))
    [chart] = report_charts.comparison(Comparison(runs))
    assert chart.table.head == ["Algorithm", *(f"quasi-identifiers = {quasi}" for quasi in (1, 2, 3))]


def test_a_comparison_where_everything_failed_has_no_chart() -> None:
    failed = Comparison((ComparedRun("datafly", 2, 1, failure="no release"),))
    assert list(report_charts.comparison(failed)) == []


def test_a_small_lattice_shows_every_node() -> None:
    small = report_samples.small_lattice()
    chart = lattice.chart(small)
    assert chart is not None
    assert sorted(row[0] for row in chart.table.rows) == sorted(
        " ".join(map(str, n.levels)) for n in small.nodes
    )
    drawn = {element.text for element in ElementTree.fromstring(chart.svg).iter("text")}
    assert {" ".join(map(str, node.levels)) for node in small.nodes} <= drawn


@given(heights=st.lists(st.integers(1, 7), min_size=3, max_size=4), data=st.data())
@settings(max_examples=10, deadline=None)
def test_a_large_lattice_is_counted_by_height(heights: list[int], data: st.DataObject) -> None:
    levels = list(product(*(range(height + 1) for height in (9, *heights))))
    states = data.draw(st.lists(st.sampled_from([*lattice.LOOKS]), min_size=1, max_size=50))
    nodes = tuple(LatticeNode(node, states[place % len(states)]) for place, node in enumerate(levels))
    chosen = data.draw(st.sampled_from(levels))
    columns = tuple(f"c{place}" for place in range(len(chosen)))
    chart = lattice.chart(LatticeReport(columns, nodes, chosen))
    assert chart is not None
    counts = [sum(int(row[place].replace(",", "")) for row in chart.table.rows) for place in (1, 2, 3)]
    oracle = Counter(node.state for node in nodes)
    assert counts == [oracle[state] for state in lattice.LOOKS]
    assert [row[-1] for row in chart.table.rows].count("chosen") == 1
    assert len(chart.table.rows) <= 14


def test_a_lattice_without_nodes_has_no_chart() -> None:
    assert lattice.chart(LatticeReport(("a",), ())) is None


@st.composite
def hierarchies(draw: st.DrawFn) -> VghTable:
    """Leaves that are repeated upwards now and then, below classes, groups and a root."""
    rows = []
    for leaf in range(draw(st.integers(1, 12))):
        kind = draw(st.integers(0, 3))
        lowest = draw(st.sampled_from([f"leaf {leaf}", f"class {kind}"]))
        repeated = lowest.startswith("leaf") and draw(st.booleans())
        rows.append((f"leaf {leaf}", lowest, f"leaf {leaf}" if repeated else f"group {kind % 2}", "root"))
    return VghTable(tuple(rows))


@given(table=hierarchies(), level=st.none() | st.integers(0, 3))
def test_a_drawn_hierarchy_counts_its_leaves_and_names_none(table: VghTable, level: int | None) -> None:
    drawn = trees.drawing("job", table, level, {})
    assert (drawn is None) == (level == 3)
    if drawn is not None:
        assert "leaf" not in drawn
        found = trees.without_leaves(table, level, {})
        assert found is not None
        lowest = {row[0] for row in found[0].rows}
        assert sum(map(_count, lowest)) == len(table.rows)


def _count(label: str) -> int:
    """Of "class 1 · 3 values" or "3 values of group 0"."""
    return int(label.rpartition("· ")[2].split()[0])


def test_a_hierarchy_is_drawn_from_the_released_level_upwards_with_its_losses() -> None:
    table = toys.vgh("Owl;Bird;Animal;*", "Wren;Bird;Animal;*", "Cat;Cat;Animal;*", "Saw;Tool;Thing;*")
    found = trees.without_leaves(table, 0, {(1, "Bird"): 0.1, (2, "Animal"): 0.5, (3, "*"): 1.0})
    assert found is not None
    assert found[0].rows == (
        ("Bird · 2 values", "Animal", "*"),
        ("1 value of Animal", "Animal", "*"),
        ("Tool · 1 value", "Thing", "*"),
    )
    assert found[1] == {
        (0, "Bird · 2 values"): 0.1, (1, "Animal"): 0.5, (2, "*"): 1.0,
        (0, "Tool · 1 value"): None, (1, "Thing"): None,
    }  # fmt: skip
    higher = trees.without_leaves(table, 2, {})
    assert higher is not None
    assert higher[0].rows == (("Animal · 3 values", "*"), ("Thing · 1 value", "*"))


def test_a_large_hierarchy_stays_readable() -> None:
    rows = tuple((f"v{n}", f"class {n // 4}", f"group {n // 40}", "*") for n in range(4000))
    drawn = trees.drawing("zip", VghTable(rows), 1, {})
    assert drawn is not None
    assert drawn.count("<rect") < 60
    assert "more)" in drawn


@given(heights=st.lists(st.integers(0, 100), max_size=12))
def test_labels_keep_their_order_and_do_not_overlap(heights: list[int]) -> None:
    found = apart(heights, 8, 0, 100)
    placed = sorted(zip(heights, found, strict=True), key=lambda pair: pair[1])
    assert [height for height, _ in placed] == sorted(heights)
    assert all(above - below >= 8 for (_, below), (_, above) in pairwise(placed))
    assert all(0 <= height <= 100 for height in found)
    if all(abs(one - other) >= 8 for place, one in enumerate(heights) for other in heights[:place]):
        assert found == heights


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_zeros_alone_are_no_picture_by_column(value: float) -> None:
    told = ("Risk", "What a column tells.", "risk", "lower", "share")
    metrics = [
        ReportedMetric("gen_iloss", *told, after=zero, column=f"c{n}") for n, zero in enumerate((0.0, value))
    ]
    assert (report_charts.by_column(metrics, "risk") is None) == (value == 0)
