"""The charts of a report, drawn by matplotlib; what they show is decided in `report_charts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from anondb.report import theme
from anondb.report.words import formatted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import Locator

_ROW = 30  # pixels of a row of a horizontal chart
NODE = 46  # pixels of a node of a diagram, each way
_MARKERS = "osD^vP"
_DASHES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1)), (0, (1, 1)))


class Bars(NamedTuple):
    """One bar a row."""

    name: str
    colour: str
    values: Sequence[float | None]


def bars(title: str, description: str, rows: Sequence[str], series: Sequence[Bars], unit: str) -> str:
    """Horizontal bars with their values; a legend where there are several a row."""
    several = len(series) > 1
    with theme.canvas(_ROW * (0.75 * len(series) + 0.35) * len(rows) + 34 * several + 12) as (figure, axes):
        thick = 0.8 / len(series)
        for place, bars_ in enumerate(series):
            at = [row + (place - (len(series) - 1) / 2) * thick for row in range(len(rows))]
            lengths = [value or 0.0 for value in bars_.values]
            drawn = axes.barh(at, lengths, thick * 0.88, color=bars_.colour, label=bars_.name)
            texts = [formatted(value, unit) for value in bars_.values]
            axes.bar_label(drawn, texts, padding=4, fontsize=theme.LABEL - 1, color=theme.INK)
        most = max((value or 0.0 for bars_ in series for value in bars_.values), default=0.0)
        axes.set_xlim(0, most * 1.18 or 1)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        _name_rows(axes, rows)
        if several:
            figure.legend(loc="outside upper left", ncols=len(series), handlelength=1.0)
        return theme.svg(figure, title, description)


def before_after(
    title: str,
    description: str,
    rows: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    unit: str,
) -> str:
    """A line from what was to what is, row by row."""
    with theme.canvas(_ROW * len(rows) + 58) as (figure, axes):
        places = range(len(rows))
        axes.hlines(places, before, after, color=theme.REST, linewidth=3, zorder=1)
        axes.scatter(
            before, places, s=64, facecolor=theme.PAPER, edgecolor=theme.BEFORE, linewidth=2, label="before"
        )
        axes.scatter(after, places, s=70, color=theme.AFTER, label="after", zorder=3)
        most = max((*before, *after), default=0.0) or 1.0
        axes.set_xlim(-0.03 * most, 1.05 * most)
        axes.xaxis.set_major_locator(_few_ticks())
        axes.xaxis.set_major_formatter(lambda value, _: formatted(round(value, 10), unit))
        axes.grid(axis="x")
        axes.spines["bottom"].set_visible(False)
        _name_rows(axes, rows)
        figure.legend(loc="outside upper left", ncols=2, handletextpad=0.2)
        return theme.svg(figure, title, description)


def stacks(
    title: str, description: str, rows: Sequence[str], parts: Sequence[Bars], marked: int | None, mark: str
) -> str:
    """Horizontal bars of several parts; one row can be marked."""
    with theme.canvas(_ROW * 0.9 * len(rows) + 58) as (figure, axes):
        left = [0.0] * len(rows)
        for part in parts:
            lengths = [value or 0.0 for value in part.values]
            axes.barh(range(len(rows)), lengths, 0.72, left, color=part.colour, label=part.name)
            left = [start + length for start, length in zip(left, lengths, strict=True)]
        if marked is not None:
            place = (left[marked], marked)
            axes.annotate(
                mark, place, (8, 0), textcoords="offset points", va="center", color=theme.INK, weight="bold"
            )
        axes.set_xlim(0, max(left, default=0.0) * 1.25 or 1)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        _name_rows(axes, rows)
        figure.legend(loc="outside upper left", ncols=len(parts), handlelength=1.0, columnspacing=1.2)
        return theme.svg(figure, title, description)


class Dot(NamedTuple):
    """A node of a diagram."""

    x: float
    y: float
    text: str
    state: str


class State(NamedTuple):
    """How the nodes of a state look; shapes differ too, for those who do not tell the colours apart."""

    name: str
    colour: str
    marker: str
    filled: bool


def diagram(
    title: str,
    description: str,
    dots: Sequence[Dot],
    edges: Sequence[tuple[Dot, Dot]],
    states: Mapping[str, State],
    chosen: Dot | None,
) -> str:
    """Nodes in rows with the edges between them, and a ring around the chosen one."""
    rows = max(dot.y for dot in dots) + 1
    widest = max(dot.x for dot in dots) - min(dot.x for dot in dots) + 1
    with theme.canvas(NODE * rows + 60, max(theme.WIDTH, NODE * widest)) as (figure, axes):
        for low, high in edges:
            axes.plot((low.x, high.x), (low.y, high.y), color=theme.GRID, linewidth=1, zorder=1)
        for key, state in states.items():
            at = [dot for dot in dots if dot.state == key]
            if at:
                axes.scatter(
                    [dot.x for dot in at], [dot.y for dot in at], s=130, marker=state.marker, zorder=3,
                    facecolor=state.colour if state.filled else theme.PAPER, edgecolor=state.colour,
                    linewidth=1.6, label=state.name,
                )  # fmt: skip
        for dot in dots:
            if dot.text and dot is not chosen:
                axes.annotate(
                    dot.text, (dot.x, dot.y), (0, -18), textcoords="offset points", ha="center",
                    fontsize=theme.LABEL - 1, color=theme.MUTED,
                )  # fmt: skip
        if chosen is not None:
            axes.scatter(
                [chosen.x], [chosen.y], s=420, facecolor="none", edgecolor=theme.INK, linewidth=2.2, zorder=4
            )
            axes.annotate(
                chosen.text, (chosen.x, chosen.y), (15, 0), textcoords="offset points", va="center",
                color=theme.INK, weight="bold", zorder=5,
            )  # fmt: skip
        axes.margins(0.1, 0.12)
        axes.set_axis_off()
        figure.legend(loc="outside upper left", ncols=len(states), handletextpad=0.1, columnspacing=1.0)
        return theme.svg(figure, title, description)


def lines(
    title: str,
    description: str,
    steps: Sequence[str],
    axis: str,
    series: Mapping[str, Sequence[float | None]],
    unit: str,
) -> str:
    """One line a name over the same steps; colour, dash and marker all tell them apart."""
    with theme.canvas(260) as (figure, axes):
        for place, (name, values) in enumerate(series.items()):
            known = [(step, value) for step, value in enumerate(values) if value is not None]
            axes.plot(
                [step for step, _ in known], [value for _, value in known], label=theme.label(name),
                color=theme.SERIES[place % len(theme.SERIES)], marker=_MARKERS[place % len(_MARKERS)],
                linestyle=_DASHES[place % len(_DASHES)], linewidth=2, markersize=6,
            )  # fmt: skip
        axes.set_xticks(range(len(steps)), steps)
        axes.set_xlabel(axis)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(_few_ticks())
        axes.yaxis.set_major_formatter(lambda value, _: formatted(round(value, 10), unit))
        axes.tick_params(axis="y", labelcolor=theme.MUTED)
        axes.margins(x=0.08)
        axes.grid(axis="y")
        axes.spines["left"].set_visible(False)
        room = 3 if sum(len(theme.label(name)) for name in series) <= 28 else 2
        figure.legend(loc="outside upper left", ncols=room, columnspacing=1.2, handlelength=2.4)
        return theme.svg(figure, title, description)


class Point(NamedTuple):
    """Something that is compared by two figures."""

    name: str
    x: float
    y: float
    front: bool
    chosen: bool


def plane(title: str, description: str, axes_of: tuple[str, str], points: Sequence[Point]) -> str:
    """Points by two figures of which less is better: those of the front are filled and joined, one may be ringed."""
    with theme.canvas(330) as (figure, axes):
        edge = sorted((point for point in points if point.front), key=lambda point: (point.x, -point.y))
        axes.plot([p.x for p in edge], [p.y for p in edge], color=theme.GOOD, linewidth=1.6, zorder=1)
        for on_front, name in ((True, "on the front"), (False, "beaten in both")):
            some = [point for point in points if point.front == on_front]
            if some:
                axes.scatter(
                    [p.x for p in some], [p.y for p in some], s=64, zorder=3, label=name, linewidth=1.6,
                    marker="o" if on_front else "s", facecolor=theme.GOOD if on_front else theme.PAPER,
                    edgecolor=theme.GOOD if on_front else theme.MUTED,
                )  # fmt: skip
        for point in points:
            if point.chosen:
                axes.scatter(
                    [point.x], [point.y], s=260, facecolor="none", edgecolor=theme.INK, linewidth=2, zorder=4,
                    label="recommended",
                )  # fmt: skip
        for axis, label in ((axes.xaxis, axes_of[0]), (axes.yaxis, axes_of[1])):
            axis.set_label_text(label)
            axis.set_major_locator(_few_ticks())
            axis.set_major_formatter(lambda value, _: formatted(round(value, 10), "share"))
        axes.margins(0.14, 0.14)
        axes.grid()
        figure.legend(loc="outside upper left", ncols=2, handletextpad=0.2, columnspacing=1.0)
        middle = (min(p.x for p in points) + max(p.x for p in points)) / 2
        figure.draw_without_rendering()  # or where the axes are is not known
        box, inch = axes.get_window_extent(), figure.dpi / 72
        heights = [axes.transData.transform((p.x, p.y))[1] / inch for p in points]
        line = 1.35 * (theme.LABEL - 1)
        for point, height, at in zip(
            points, heights, apart(heights, line, box.y0 / inch, box.y1 / inch), strict=True
        ):
            right = point.x > middle
            axes.annotate(
                theme.label(point.name), (point.x, point.y), (-10 if right else 10, at - height),
                textcoords="offset points", ha="right" if right else "left", va="center",
                fontsize=theme.LABEL - 1, color=theme.INK,
            )  # fmt: skip
        return theme.svg(figure, title, description)


def apart(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights in the same order, none nearer to another than the gap; within bounds if there is room."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    found = [0.0] * len(heights)
    free = low
    for place in order:
        found[place] = max(heights[place], free)
        free = found[place] + gap
    free = high
    for place in reversed(order):
        found[place] = min(found[place], free)
        free = found[place] - gap
    return found


def _name_rows(axes: Axes, rows: Sequence[str]) -> None:
    axes.set_yticks(range(len(rows)), [theme.label(row) for row in rows])
    axes.set_ylim(len(rows) - 0.45, -0.55)  # the first row on top
    axes.spines["left"].set_visible(False)


def _few_ticks() -> Locator:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4, steps=[1, 2, 2.5, 5, 10])
