"""Columns of two tables that are numbers in both: those whose numbers are not as they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from anondb.evaluation.metric_value import MetricValue
from anondb.evaluation.numbers import MOST, Compared, compared_numbers
from anondb.run.statement import Runner, Statement, row

_MOVED = "select anondb.value_loss($1::text::regclass, $2::text::regclass, $3::name, $4::name)"


def both_numbers(
    original: Mapping[str, str], release: Mapping[str, str], quasi: Sequence[str], key: str | None
) -> list[Compared]:
    """By the categories of the columns' types; quasi-identifiers first."""
    named = [*quasi, *(column for column in release if column not in quasi)]
    return [
        Compared(column, column, True)
        for column in named
        if original.get(column) == release.get(column) == "N" and column != key
    ]


def changed_numbers(
    db: Runner, original: str, release: str, columns: Sequence[Compared], key: str | None
) -> Iterable[MetricValue]:
    """What has changed of means, deviations and correlations; by a key also how far values moved."""
    found = list(
        compared_numbers(columns, lambda ask: db.rows(ask(original)), lambda ask: db.rows(ask(release)))
    )
    alone = [figure for figure in found if figure.name != "value_correlation"]
    changed = {figure.column for figure in alone if figure.value != figure.before}
    for column in columns[:MOST] if key is not None else ():
        given = (original, release, key, column.released)
        [share] = db.one(Statement("moved values", _MOVED, given, answers=row(moved=0.0)))
        changed |= {column.released} if share else set()
        found.append(MetricValue("value_loss", column.released, share))
    return [figure for figure in found if figure.column in changed]
