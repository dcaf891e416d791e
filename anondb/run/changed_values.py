"""Evaluate: what is left of numbers that are released changed, or as numbers that stand for their class."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from anondb.evaluation.metric_value import MetricValue
from anondb.evaluation.numbers import Compared, compared_numbers
from anondb.run import linked_sql as linked
from anondb.run.persons_sql import KEYS, key_of
from anondb.run.perturbed_sql import moved
from anondb.run.statement import Statement, row
from anondb.sqltree.build import table
from anondb.sqltree.columns import NUMERIC_TYPES
from anondb.sqltree.released import Noise, Rounded, Shuffled, Typed
from anondb.sqltree.tables import TEMPORARY, Relation, SourceColumn, released_names

if TYPE_CHECKING:
    from anondb.run.evaluate import Evaluating

_WITHIN = "select anondb.spread_within($1::text::regclass, $2::name, $3::name[])"
_AS_NUMBER = ("midpoint", "mean", "lower", "upper")


def has_changed_numbers(run: Evaluating) -> bool:
    return any(column.changed for column in _compared(run))


def changed_values(run: Evaluating) -> Iterator[MetricValue]:
    """Means, deviations and correlations before and after; and how far values moved."""
    engine, release = run.engine, linked.relation_text(run.fresh)
    assert engine is not None
    yield from compared_numbers(
        _compared(run),
        lambda ask: engine.ask_again(lambda source: ask(linked.relation_text(source))),
        lambda ask: run.db.rows(ask(release)),
    )
    for column in run.plan.kept:
        if column.base in NUMERIC_TYPES and isinstance(column.form, Noise | Rounded):
            [[share]] = engine.ask_again(partial(_moved, run, column))
            yield MetricValue("value_loss", column.name, share)
        elif column.base in NUMERIC_TYPES and isinstance(column.form, Shuffled):
            given = (release, column.name, released_names(run.encoded.quasi))
            within = Statement("moved values", _WITHIN, given, answers=row(moved=0.0))
            yield MetricValue("value_loss", column.name, run.db.one(within)[0])


def _compared(run: Evaluating) -> list[Compared]:
    """All columns that the release has as numbers."""
    found = []
    for column in run.plan.kept:
        is_kept = column.form is None or isinstance(column.form, Noise | Rounded | Shuffled)
        if column.base in NUMERIC_TYPES and is_kept:
            found.append(Compared(column.name, column.name, column.form is not None))
    for quasi in run.encoded.quasi:
        form = quasi.column.form
        if isinstance(form, Typed) and quasi.column.base in NUMERIC_TYPES:
            found += [
                Compared(quasi.name, shown.name, True) for shown in form.shown if shown.word in _AS_NUMBER
            ]
    return found


def _moved(run: Evaluating, column: SourceColumn, source: Relation) -> Statement:
    question = moved(source, column, table(run.names.keys, TEMPORARY, KEYS), key_of("noise"), KEYS)
    return Statement("moved values", question, answers=row(moved=0.0))
