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
    simplified = [
        (hierarchy.name, trees.drawing(hierarchy.name, hierarchy.table, None, hierarchy.losses))
        for hierarchy in drawn
    ]
    return html.page(
        "hierarchies.html",
        ranking=ranking,
        scores=_scores(ranking, made_by),
        structure=_structure(ranking),
        simplified=[(name, svg) for name, svg in simplified if svg is not None],
        exhaustive=next((_exhaustive(hierarchy) for hierarchy in drawn if _can_be_read(hierarchy)), None),
    )


def _can_be_read(hierarchy: Drawn) -> bool:
    return hierarchy.edges is not None and len(hierarchy.table.rows) <= _MOST_LEAVES


def _exhaustive(hierarchy: Drawn) -> str:
    caption = "with every loss on its edge"
    return picture.svg(
        hierarchy.name, caption, hierarchy.table, hierarchy.losses, edges=hierarchy.edges, embedded=True
    )


def _scores(ranking: Ranking, made_by: Mapping[str, str]) -> Table:
    """Raw scores with their ranks, and the weighted sum."""
    weights = ranking.method.weights
    aspects = [f"{name} ({weights[name]:g})" for name in ASPECTS]
    rows = [
        [ranked.vgh, str(ranked.rank), f"{ranked.score:g}", *_ranked(ranked), made_by.get(ranked.vgh, "")]
        for ranked in ranking.ranked
    ]
    return Table(["Hierarchy", "Rank", "Score", *aspects, "Made by"], rows, (0, 3 + len(ASPECTS)))


def _ranked(ranked: Ranked) -> list[str]:
    aspects = [ranked.aspects[name] for name in ASPECTS]
    return ["–" if aspect.score is None else f"{aspect.score:.4f} (#{aspect.rank})" for aspect in aspects]


def _structure(ranking: Ranking) -> Table:
    head = ["Hierarchy", "Leaves", "Classes", *_STRUCTURE]
    rows = [
        [
            ranked.vgh,
            f"{ranked.leaves:,}",
            f"{ranked.ancestors:,}",
            *(_spread(ranked.structure[name]) for name in _STRUCTURE),
        ]
        for ranked in ranking.ranked
    ]
    return Table([part[:1].upper() + part[1:] for part in head], rows)


def _spread(spread: Spread) -> str:
    return f"{spread.mean:.2f} ± {spread.deviation:.2f}, {spread.minimum}–{spread.maximum}"
