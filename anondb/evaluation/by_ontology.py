"""The figures of meaning of tables whose columns have no hierarchy, but an ontology that knows their texts."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.evaluation.metric_value import MetricValue
from anondb.run.statement import Runner, Statement, no_rows

MEASURE = "wup"
_KEEP = "select anondb.keep_meant($1::text::regclass, $2::text::regclass, $3::name[], $4::text[])"
_LOST = """
select m.name, m.of_column, m.value, m.cells
from anondb.linked_meant($1::text, $2::int, $3::text::regclass, $4::text) as m
"""


def keep_meant(
    db: Runner, original: str, release: str, quasi: Sequence[str], ontologies: Sequence[str | None]
) -> str | None:
    """Puts down what the texts of both tables mean; returns where, or None if no column has an ontology."""
    if not any(ontologies):
        return None
    parameters = (original, release, list(quasi), list(ontologies))
    [table] = db.one(Statement("meanings", _KEEP, parameters))
    return str(table)


def with_meaning(
    db: Runner, linked: str, quasi: Sequence[str], meant: str | None, found: Sequence[MetricValue]
) -> list[MetricValue]:
    """The figures with those of the columns that have an ontology; two ways to measure have no common mean."""
    if meant is None:
        return list(found)
    asked = (linked, len(quasi), meant, MEASURE)
    rows = db.rows(
        Statement("meaning left", _LOST, asked, answers=no_rows("name", "of_column", "value", "cells"))
    )
    by_hierarchy = any(v.name == "sem_iloss" and v.column is None and v.value is not None for v in found)
    own = {
        (name, None if column is None else quasi[column - 1]): MetricValue(
            name,
            None if column is None else quasi[column - 1],
            value,
            None if cells else "no value is known to its ontology",
        )
        for name, column, value, cells in rows
        if not (by_hierarchy and column is None)
    }
    kept = [own.pop((value.name, value.column), value) for value in found]
    return [*kept, *own.values()]
