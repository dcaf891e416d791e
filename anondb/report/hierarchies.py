"""A ranking of hierarchies as one HTML file: scores, ranks and structure in tables, and the trees as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from anondb import files
from anondb.hierarchies import draw as picture
from anondb.hierarchies.build.ranking import ASPECTS, Ranked, Ranking, Spread
from anondb.hierarchies.draw import Losses
from anondb.hierarchies.forms import VghTable
from anondb.report import html, trees
from anondb.report.report_charts import Table

DRAWN = 12  # hierarchies that are drawn, the best ones
_MOST_LEAVES = 300  # of a tree that is drawn with all its edges

_STRUCTURE = ("depth", "branching", "breadth")


class Drawn(NamedTuple):
    """A hierarchy that is drawn: with the losses of its classes, and of its edges where every one is shown."""

    name: str
    table: VghTable
    losses: Losses
    edges: Losses | None = None


def write(ranking: Ranking, drawn: Sequence[Drawn], made_by: Mapping[str, str], file: Path | str) -> None:
    """Writes the page to a file."""
    files.write(file, render(ranking, drawn, made_by))


def render(ranking: Ranking, drawn: Sequence[Drawn], made_by: Mapping[str, str]) -> str:
    """The page as the text of an HTML file."""
    simplified = [(one.name, trees.drawing(one.name, one.table, None, one.losses)) for one in drawn]
    return html.page(
        "hierarchies.html",
        ranking=ranking,
        scores=_scores(ranking, made_by),
        structure=_structure(ranking),
        simplified=[(name, svg) for name, svg in simplified if svg is not None],
        exhaustive=next((_exhaustive(one) for one in drawn if _can_be_read(one)), None),
    )


def _can_be_read(one: Drawn) -> bool:
    return one.edges is not None and len(one.table.rows) <= _MOST_LEAVES


def _exhaustive(one: Drawn) -> str:
    caption = "with every loss on its edge"
    return picture.svg(one.name, caption, one.table, one.losses, edges=one.edges, embedded=True)


def _scores(ranking: Ranking, made_by: Mapping[str, str]) -> Table:
    """Raw scores with their ranks, and the weighted sum."""
    weights = ranking.method.weights
    aspects = [f"{name} ({weights[name]:g})" for name in ASPECTS]
    rows = [
        [one.vgh, str(one.rank), f"{one.score:g}", *_ranked(one), made_by.get(one.vgh, "")]
        for one in ranking.ranked
    ]
    return Table(["Hierarchy", "Rank", "Score", *aspects, "Made by"], rows, (0, 3 + len(ASPECTS)))


def _ranked(one: Ranked) -> list[str]:
    found = [one.aspects[name] for name in ASPECTS]
    return ["–" if aspect.score is None else f"{aspect.score:.4f} (#{aspect.rank})" for aspect in found]


def _structure(ranking: Ranking) -> Table:
    head = ["Hierarchy", "Leaves", "Classes", *_STRUCTURE]
    rows = [
        [
            one.vgh,
            f"{one.leaves:,}",
            f"{one.ancestors:,}",
            *(_spread(one.structure[name]) for name in _STRUCTURE),
        ]
        for one in ranking.ranked
    ]
    return Table([part[:1].upper() + part[1:] for part in head], rows)


def _spread(spread: Spread) -> str:
    return f"{spread.mean:.2f} ± {spread.deviation:.2f}, {spread.minimum}–{spread.maximum}"
