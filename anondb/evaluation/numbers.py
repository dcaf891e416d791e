"""What whoever computes with the numbers of a release gets: means, deviations and correlations, before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from anondb.evaluation.metric_value import MetricValue
from anondb.run.statement import Statement, no_rows

MOST = 12
"""Columns that are held against each other."""
FEWEST = 10  # records: a mean of fewer says too much of each

_FIGURES = """
select f.place, f.other, f.n, f.mean, f.deviation, f.correlation
from anondb.number_figures($1::text::regclass, $2::name[], $3::boolean[]) as f
"""
_ANSWERS = no_rows("place", "other", "n", "mean", "deviation", "correlation")


Asked = Callable[[Callable[[str], Statement]], list[tuple[Any, ...]]]
"""Who asks a table what a statement says, given how the table is written."""


@dataclass(frozen=True)
class Compared:
    """A column of numbers, by its names in the original and in the release."""

    original: str
    released: str
    changed: bool  # the others are there to be correlated with


def compared_numbers(
    columns: Sequence[Compared], ask_original: Asked, ask_release: Asked
) -> Iterator[MetricValue]:
    """The figures of the columns that have changed, by their names in the release."""
    some = sorted(columns, key=lambda column: not column.changed)[:MOST]
    changed = [column.changed for column in some]
    before = _figures(ask_original, [column.original for column in some], changed)
    after = _figures(ask_release, [column.released for column in some], changed)
    for place, column in enumerate(some, 1):
        if not column.changed or (place, place) not in after:
            continue
        for name, at in (("value_mean", 0), ("value_deviation", 1)):
            yield MetricValue(name, column.released, after[place, place][at], before=before[place, place][at])
        pairs = [pair for pair in after if place in pair and pair[0] != pair[1]]
        known = [pair for pair in pairs if before[pair][2] is not None and after[pair][2] is not None]
        # a column that is released in two forms is no other one
        known = [pair for pair in known if len({some[at - 1].original for at in pair}) == 2]
        if known:
            pair = max(known, key=lambda pair: abs((after[pair][2] or 0.0) - (before[pair][2] or 0.0)))
            other = some[sum(pair) - place - 1].released
            yield MetricValue(
                "value_correlation", column.released, after[pair][2], f"with {other}", before[pair][2]
            )


def _figures(
    ask: Asked, columns: Sequence[str], changed: Sequence[bool]
) -> dict[tuple[int, int], tuple[float | None, float | None, float | None]]:
    rows = ask(
        lambda table: Statement("numbers", _FIGURES, (table, list(columns), list(changed)), answers=_ANSWERS)
    )
    return {
        (place, other): (mean, deviation, linked) if n >= FEWEST else (None, None, None)
        for place, other, n, mean, deviation, linked in rows
    }
