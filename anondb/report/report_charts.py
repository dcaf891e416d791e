"""Which charts a report has: what each shows, in words and in the table behind it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from anondb.evaluation.metrics import describe
from anondb.report import charts, theme
from anondb.report.charts import Bars
from anondb.report.model import ClassSizes, ComparedRun, Comparison, ReportData, ReportedMetric
from anondb.report.words import NONE, counted, formatted, listed, percent, setting, with_deviation

_BINS = 10
_DRAWN = 3  # metrics of one column
_COMPARED = (
    "gen_iloss", "sem_iloss", "semantic_sse", "prosecutor_mean", "record_linkage_coverage", "classes", "seconds",
)  # fmt: skip


class Table(NamedTuple):
    """Texts in rows; columns that hold numbers stand to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[int] = (0,)  # columns that do not hold numbers


class Chart(NamedTuple):
    title: str
    description: str
    svg: str
    table: Table
    wide: bool = False  # keeps its size where there is no room for it


def class_sizes(sizes: ClassSizes, k: int | None) -> Chart:
    """The records in classes of each size, before and after."""
    bins = size_bins([*sizes.before, *sizes.after], k or 1)
    names = [f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high in bins]
    both = [("after", theme.AFTER, sizes.after)]
    if sizes.before:
        both.insert(0, ("before", theme.BEFORE, sizes.before))
    shares: list[Bars] = []
    columns: list[list[str]] = []
    for name, colour, counts in both:
        classes = _in_bins(bins, counts)
        records = _in_bins(bins, {size: size * classes for size, classes in counts.items()})
        total = sum(records) or 1
        shares.append(Bars(name, colour, [count / total for count in records]))
        columns += [[f"{count:,}" for count in classes], [f"{count:,}" for count in records]]
    smallest = min(sizes.after, default=0)
    title = "Records by the size of their class"
    demanded = "" if k is None else f"; the policy demands {k:,}"
    description = (
        "The share of the records in classes of each size. "
        f"The smallest released class has {counted(smallest, 'record')}{demanded}."
    )
    head = ["Class size", *(f"{what} {name}" for name, *_ in both for what in ("Classes", "Records"))]
    table = Table(head, [[name, *cells] for name, *cells in zip(names, *columns, strict=True)])
    return Chart(title, description, charts.bars(title, description, names, shares, "share"), table)


def size_bins(sizes: Sequence[int], k: int) -> list[tuple[int, int]]:
    """Ranges of sizes that grow as 1, 2, 5, 10, 20 …, or as 1, 10, 100 … where these are too many; one begins at k."""
    most = max(sizes, default=1)
    for steps in ((1, 2, 5), (1,)):
        edges = {step * 10**power for power in range(len(str(most)) + 1) for step in steps}
        starts = sorted(edge for edge in edges | {1, 2, max(k, 1)} if edge <= most)
        bins = [(low, high - 1) for low, high in zip(starts, [*starts[1:], most + 1], strict=True)]
        used = [place for place, (low, high) in enumerate(bins) if any(low <= size <= high for size in sizes)]
        bins = bins[used[0] : used[-1] + 1] if used else bins
        if len(bins) <= _BINS:
            break
    return bins


def _in_bins(bins: Sequence[tuple[int, int]], values: Mapping[int, int]) -> list[int]:
    starts = [low for low, _ in bins]
    totals = [0] * len(bins)
    for size, value in values.items():
        totals[bisect_right(starts, size) - 1] += value
    return totals


def risk(metrics: Sequence[ReportedMetric]) -> Chart | None:
    """The risks that are known before and after, on one scale."""
    shown = [
        m for m in metrics
        if m.unit in ("share", "percent") and m.before is not None and m.after is not None and not m.column
    ]  # fmt: skip
    if len(shown) < 2:
        return None
    before, after = ([_share(value, m.unit) for m, value in pairs] for pairs in (
        [(m, m.before) for m in shown], [(m, m.after) for m in shown],
    ))  # fmt: skip
    fallen = sum(a < b for a, b in zip(after, before, strict=True))
    title = "Risk before and after"
    description = f"{fallen} of {counted(len(shown), 'risk')} fell. Lower is better."
    names = [m.label for m in shown]
    rows = [[m.label, formatted(m.before, m.unit), formatted(m.after, m.unit)] for m in shown]
    drawn = charts.before_after(title, description, names, before, after, "share")
    return Chart(title, description, drawn, Table(["Metric", "Before", "After"], rows))


def _share(value: float | None, unit: str) -> float:
    return (value or 0.0) / (100 if unit == "percent" else 1)


def by_column(metrics: Sequence[ReportedMetric], section: str) -> Chart | None:
    """Measures that are known column by column, on one scale."""
    shown = [
        m for m in metrics if m.column and m.section == section and m.unit == "share" and m.after is not None
    ]
    if not shown:
        return None
    columns = list(dict.fromkeys(m.column or "" for m in shown))
    names = list(dict.fromkeys(m.name for m in sorted(shown, key=lambda m: m.better != "lower")))
    drawn_names = [name for name in names if describe(name).better == "lower"][:_DRAWN] or names[:1]
    labels = {m.name: m.label for m in shown}
    values = {(m.column, m.name): m.after for m in shown}
    colours = theme.SERIES if section == "utility" else (theme.BEFORE, *theme.SERIES[1:])
    series = [
        Bars(labels[name], colours[place % len(colours)], [values.get((column, name)) for column in columns])
        for place, name in enumerate(drawn_names)
    ]
    if not any(value for bars in series for value in bars.values):
        return None  # nothing but zeros is no picture; the tables have them
    first = {column: values.get((column, names[0])) or 0.0 for column in columns}
    worst = max(columns, key=lambda column: first[column])
    title = "Loss by column" if section == "utility" else "Risk by column"
    description = f"{labels[names[0]]} is greatest in {worst}: {percent(first[worst])}."
    head = ["Column", *(labels[name] for name in names)]
    rows = [
        [column, *(formatted(values.get((column, name)), "share") for name in names)] for column in columns
    ]
    drawn = charts.bars(title, description, columns, series, "share")
    return Chart(title, description, drawn, Table(head, rows))


def seconds(data: ReportData) -> Chart | None:
    """How long each stage took."""
    if data.run is None or not data.run.seconds:
        return None
    stages = data.run.seconds
    total = sum(stages.values())
    title = "Seconds by stage"
    slowest = max(stages, key=lambda stage: stages[stage])
    description = f"{formatted(round(total, 3))} seconds in all, most of them in {slowest}."
    series = [Bars("seconds", theme.AFTER, [round(spent, 3) for spent in stages.values()])]
    drawn = charts.bars(title, description, list(stages), series, "number")
    rows = [
        [stage, formatted(round(spent, 3)), percent(spent / total if total else 0.0)]
        for stage, spent in stages.items()
    ]
    return Chart(title, description, drawn, Table(["Stage", "Seconds", "Share"], rows))


def tradeoff(compared: Comparison) -> Chart | None:
    """Risk against loss of all runs, with the front of those that none beats in both."""
    shown = [
        (run, loss, risk)
        for run in compared.runs
        if not run.failure
        and (loss := run.metrics.get("gen_iloss")) is not None
        and (risk := run.metrics.get("prosecutor_mean")) is not None
    ]
    if len(shown) < 2:
        return None
    several = len({(run.k, run.quasi, run.size) for run, _, _ in shown}) > 1
    names = [f"{run.algorithm}, {setting(run)}" if several else run.algorithm for run, _, _ in shown]
    title = "Risk against loss"
    on_front = f"{len(compared.front)} of {counted(len(shown), 'release')}"
    description = f"On the Pareto front: {on_front}. No other has less of one and no more of the other."
    points = [
        charts.Point(name, loss, risk, run in compared.front, run is compared.recommended)
        for name, (run, loss, risk) in zip(names, shown, strict=True)
    ]
    rows = [
        [
            name,
            formatted(loss, "share"),
            formatted(risk, "share"),
            formatted(run.metrics.get("suppressed"), "count"),
            formatted(run.metrics.get("seconds"), "number"),
            "recommended" if run is compared.recommended else "front" if run in compared.front else NONE,
        ]
        for name, (run, loss, risk) in zip(names, shown, strict=True)
    ]
    table = Table(["Algorithm", "Loss", "Mean risk", "Suppressed", "Seconds", "Front"], rows, (0, 5))
    axes = (describe("gen_iloss").label, describe("prosecutor_mean").label)
    return Chart(title, description, charts.plane(title, description, axes, points), table)


def comparison(comparison_of_runs: Comparison) -> Iterator[Chart]:
    """One chart a metric over rows, or k, or the number of quasi-identifiers: the first of which there are several."""
    runs = [run for run in comparison_of_runs.runs if not run.failure]
    axis = next((axis for axis in _AXES if len({_at(run, axis) for run in runs}) > 1), "k")
    for other in _AXES:  # one line an algorithm: of the runs with most columns, and the largest k
        if other != axis:
            most = max((_at(run, other) for run in runs), default=0)
            runs = [run for run in runs if _at(run, other) == most]
    steps = sorted({_at(run, axis) for run in runs})
    algorithms = list(dict.fromkeys(run.algorithm for run in runs))
    known = {name for run in runs for name, value in run.metrics.items() if value is not None}
    for name in (name for name in _COMPARED if name in known):
        meant = describe(name)
        values = {(run.algorithm, _at(run, axis)): run.metrics.get(name) for run in runs}
        series = {algorithm: [values.get((algorithm, step)) for step in steps] for algorithm in algorithms}
        title = f"{meant.label} by {axis}"
        good = f" {meant.better.capitalize()} is better." if meant.better else ""
        description = f"{meant.label} of {listed(algorithms)}.{good}"
        texts = [str(step) for step in steps]
        drawn = charts.lines(title, description, texts, axis, series, meant.format)
        rows = [
            [algorithm, *(formatted(value, meant.format) for value in series[algorithm])]
            for algorithm in algorithms
        ]
        yield Chart(
            title, description, drawn, Table(["Algorithm", *(f"{axis} = {step}" for step in texts)], rows)
        )


_AXES = ("rows", "k", "quasi-identifiers")


def _at(run: ComparedRun, axis: str) -> int:
    return {"rows": run.size or 0, "k": run.k, "quasi-identifiers": run.quasi}[axis]


def comparison_table(comparison_of_runs: Comparison) -> Table:
    """Every metric of every run."""
    names = list(dict.fromkeys(name for run in comparison_of_runs.runs for name in run.metrics))
    several = len({run.quasi for run in comparison_of_runs.runs}) > 1
    selected = any(run.selected or run.failure for run in comparison_of_runs.runs)
    sized = any(run.size is not None for run in comparison_of_runs.runs)
    head = [
        "Algorithm",
        "k",
        *["Columns"] * several,
        *["Rows"] * sized,
        *(describe(name).label for name in names),
    ]
    rows = []
    for run in comparison_of_runs.runs:
        row = [run.algorithm, f"{run.k:,}", *[str(run.quasi)] * several, *[f"{run.size or 0:,}"] * sized]
        row += [with_deviation(run, name) for name in names]
        rows.append([*row, *[run.failure or run.selected or NONE] * selected])
    words = (0, len(head)) if selected else (0,)
    return Table([*head, *["Generalization"] * selected], rows, words)
