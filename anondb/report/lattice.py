"""The lattice of levels as a chart: every node where there are few, else counted by height."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

from anondb.report import charts, theme
from anondb.report.charts import Bars, Dot, State
from anondb.report.model import LatticeNode, LatticeReport
from anondb.report.report_charts import Chart, Table
from anondb.report.words import NONE, counted, formatted, listed

_DRAWN = 60  # nodes that are drawn one by one
_WIDEST = 12  # of a height
_NAMED = 30  # nodes that are drawn with their levels
_ROWS = 14  # bars of heights

LOOKS = {
    "anonymous": State("meets the policy", theme.GOOD, "o", True),
    "not anonymous": State("does not", theme.BAD, "X", True),
    "pruned": State("not needed", theme.REST, "o", False),
}

_IN_WORDS = {
    "anonymous": "meet the policy",
    "not anonymous": "do not",
    "pruned": "did not have to be looked at",
}

TITLE = "The lattice of generalizations"


def chart(lattice: LatticeReport) -> Chart | None:
    if not lattice.counts():
        return None
    widths = Counter(sum(node.levels) for node in lattice.nodes)
    if lattice.nodes and len(lattice.nodes) <= _DRAWN and max(widths.values()) <= _WIDEST:
        return _one_by_one(lattice)
    return _by_height(lattice)


def _description(lattice: LatticeReport) -> str:
    states: Counter[str] = Counter()
    for (_, state), nodes in lattice.counts().items():
        states[state] += nodes
    counts = listed([f"{states[state]:,} {words}" for state, words in _IN_WORDS.items() if states[state]])
    text = f"{counted(states.total(), 'combination')} of levels: {counts}."
    if lattice.chosen is not None:
        named = zip(lattice.columns, lattice.chosen, strict=True)
        text += f" Chosen: {listed([f'{column} {level}' for column, level in named])}."
    return text


def _one_by_one(lattice: LatticeReport) -> Chart:
    rows: defaultdict[int, list[LatticeNode]] = defaultdict(list)
    for node in sorted(lattice.nodes, key=lambda node: node.levels, reverse=True):
        rows[sum(node.levels)].append(node)
    dots: dict[tuple[int, ...], Dot] = {}
    for height, nodes in rows.items():
        for place, node in enumerate(nodes):
            text = " ".join(map(str, node.levels))
            named = len(lattice.nodes) <= _NAMED or node.levels == lattice.chosen
            dots[node.levels] = Dot(place - (len(nodes) - 1) / 2, height, text if named else "", node.state)
    edges = [(dots[low], dots[high]) for low in dots for high in _above(low) if high in dots]
    states = {
        state: look for state, look in LOOKS.items() if any(dot.state == state for dot in dots.values())
    }
    chosen = None if lattice.chosen is None else dots.get(lattice.chosen)
    description = _description(lattice)
    drawn = charts.diagram(TITLE, description, list(dots.values()), edges, states, chosen)
    scored = any(node.score is not None for node in lattice.nodes)
    table = Table(
        ["Levels", "State", *[lattice.score.capitalize() or "Score"] * scored],
        [
            [" ".join(map(str, node.levels)), _state(node.state), *[formatted(node.score)] * scored]
            for height in sorted(rows)
            for node in rows[height]
        ],
        words=(0, 1),
    )
    wide = max(map(len, rows.values())) * charts.NODE > theme.WIDTH
    return Chart(TITLE, description, drawn, table, wide)


def _above(levels: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(*levels[:at], level + 1, *levels[at + 1 :]) for at, level in enumerate(levels)]


def _state(state: str) -> str:
    return LOOKS[state].name if state in LOOKS else state


def _by_height(lattice: LatticeReport) -> Chart:
    """Bars of the sum of the levels; neighbouring heights are put together where there are many."""
    highest = max(height for height, _ in lattice.counts())
    step = -(-(highest + 1) // _ROWS)
    starts = list(range(0, highest + 1, step))
    counts: Counter[tuple[int, str]] = Counter()
    for (height, state), nodes in lattice.counts().items():
        counts[height // step, state] += nodes
    names = [
        f"height {low}" if step == 1 else f"heights {low}–{min(high - 1, highest)}"
        for low, high in pairwise([*starts, starts[-1] + step])
    ]
    parts = [
        Bars(look.name, look.colour, [counts[place, state] for place in range(len(starts))])
        for state, look in LOOKS.items()
    ]
    marked = None if lattice.chosen is None else sum(lattice.chosen) // step
    description = _description(lattice) + " A height is the sum of the levels."
    drawn = charts.stacks(TITLE, description, names, parts, marked, "chosen")
    rows = [
        [name, *(f"{counts[place, state]:,}" for state in LOOKS), "chosen" if place == marked else NONE]
        for place, name in enumerate(names)
    ]
    table = Table(["Height", *(look.name.capitalize() for look in LOOKS.values()), ""], rows)
    return Chart(TITLE, description, drawn, table)
