"""The picture of a grid of synthetic tables: where each lies on the two principal components, in one HTML file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from anondb.report import theme

_MARKERS = "osD^vP*Xh<>p"
_STYLE = Path(__file__).parent / "templates" / "report.css"

Point = tuple[str, int, float, float]
"""Distribution, rows, and the two coordinates."""


def page(domain: str, points: Sequence[Point], explained: tuple[float, float]) -> str:
    """The report: the picture, and its values as a table."""
    title = f"Synthetic tables of {domain}"
    description = (
        f"{len(points)} tables. Each is described by the mean and the deviation of the frequencies of every "
        f"attribute; the two principal components show {explained[0]:.0%} and {explained[1]:.0%} of how they differ. "
        "A larger mark is a larger table."
    )
    rows = "\n".join(
        f"<tr><td>{escape(name)}</td>{_number(f'{rows:,}')}{_number(f'{x:.3f}')}{_number(f'{y:.3f}')}</tr>"
        for name, rows, x, y in points
    )
    heads = "".join(f'<th class="number">{head}</th>' for head in ("rows", "component 1", "component 2"))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE.read_text(encoding='utf-8')}\n"
        # one column: there are no sections to go to
        ".page { display: block; max-width: 52rem; }\n</style>\n</head>\n"
        f'<body>\n<main class="page">\n<h1>{escape(title)}</h1>\n<p>{escape(description)}</p>\n'
        f'<figure class="card wide scroll">\n{_picture(title, description, points)}\n</figure>\n'
        f'<div class="card scroll">\n<table>\n<thead><tr><th>distribution</th>{heads}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>\n</main>\n</body>\n</html>\n"
    )


def _number(text: str) -> str:
    return f'<td class="number">{text}</td>'


def _picture(title: str, description: str, points: Sequence[Point]) -> str:
    least = min(rows for _, rows, _, _ in points)
    with theme.canvas(440, 640) as (figure, axes):
        for place, name in enumerate(dict.fromkeys(point[0] for point in points)):
            mine = [point for point in points if point[0] == name]
            axes.scatter(
                [point[2] for point in mine],
                [point[3] for point in mine],
                color=theme.SERIES[place % len(theme.SERIES)],
                marker=_MARKERS[place % len(_MARKERS)],
                s=[
                    30 * (1 + math.log2(point[1] / least) / 2) for point in mine
                ],  # larger tables, larger marks
                label=name,
            )
        axes.set_xlabel("component 1")
        axes.set_ylabel("component 2")
        figure.legend(loc="outside right upper")
        return theme.svg(figure, title, description)
