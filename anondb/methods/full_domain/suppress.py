"""Cell suppression in the database: which cells of records in too small classes become `*`, and the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anondb.errors import UsageError
from anondb.methods.full_domain import cells_sql as sql
from anondb.methods.full_domain import stars_sql as stars
from anondb.methods.full_domain.cells import MOST_COLUMNS, Cells, sets
from anondb.methods.method import Job
from anondb.methods.mondrian import search as partitioning
from anondb.methods.outcome import Classes
from anondb.models.sql import Models
from anondb.run.encode import Encoded
from anondb.run.encode_sql import analyze
from anondb.run.publish_sql import Chosen
from anondb.run.statement import MANY, Statement, row, touched
from anondb.sqltree.build import Node
from anondb.sqltree.tables import Relation

MOST_COMPARED = 50_000_000
"""Classes times sets of columns, for which matches are counted; a minute or so."""


def search(
    job: Job, counted: Models, chosen: Sequence[Chosen], weight: Callable[[str], float]
) -> tuple[Classes, Cells]:
    """Suppresses cells of the records whose class at these levels does not satisfy the policy."""
    db, names = job.db, job.plan.scratch(job.run)
    below = [c for c in chosen if not c.at_root]
    keys = [c.key for c in below]
    if len(keys) > MOST_COLUMNS:
        raise UsageError(
            f"cells are suppressed in at most {MOST_COLUMNS} columns, and {len(keys)} are not at their root",
            hint='leave whole records out: suppress = "remove"',
        )
    weights = [weight(c.quasi.name) for c in below]
    if job.plan.policy.privacy.stars_match:
        _match(job, counted, below, weights)
    else:
        _make_classes(job, counted, below, weights)
    left_out, records, *cells = db.one(
        Statement(
            "suppressed cells",
            sql.figures(names, keys),
            answers=row(left_out=0, records=0, **dict.fromkeys(keys, 0)),
        )
    )
    db.run(Statement("cell classes", sql.partitioned(names, chosen, keys)))
    by_column = {c.quasi.name: count for c, count in zip(below, cells, strict=True)}
    found = Cells(records, by_column, match=job.plan.policy.privacy.stars_match)
    levels = tuple(c.level for c in chosen)
    return Classes(names.partitioned, 0, (), suppressed=left_out, levels=levels, starred=records), found


def _make_classes(job: Job, counted: Models, below: Sequence[Chosen], weights: Sequence[float]) -> None:
    """A star is a value of its own: of each set of columns, records that agree in all others are a class."""
    db, names, keys = job.db, job.plan.scratch(job.run), [c.key for c in below]
    pending = db.run(Statement("small classes", sql.small(names, keys, counted), answers=touched(MANY)))
    db.run(Statement("statistics of small classes", analyze(names.small)))
    labels = _labels(job, keys) if keys else []
    for tried in sets(labels, weights):
        if pending <= 0:
            break
        update = sql.suppress(names, keys, tried, counted)
        pending -= db.run(_suppressing(below, tried, update, "until every record has a class"))


def _match(job: Job, counted: Models, below: Sequence[Chosen], weights: Sequence[float]) -> None:
    """A star matches anything: of each set of columns, the records that match k with stars there."""
    db, names, keys = job.db, job.plan.scratch(job.run), [c.key for c in below]
    db.run(Statement("classes before stars", stars.classes(names, keys, counted), answers=touched(MANY)))
    db.run(Statement("statistics of classes", analyze(names.small)))
    question = Statement("small classes", stars.pending(names), answers=row(classes=MANY, pending=1))
    classes, pending = db.one(question)
    tried_sets = list(sets(_labels(job, keys) if keys and pending else [], weights))
    if pending and classes * len(tried_sets) > MOST_COMPARED:
        raise UsageError(
            f"matches of stars would be counted in {classes:,} classes for {len(tried_sets):,} sets of columns, "
            f"and {MOST_COMPARED:,} of both together are the most",
            hint="leave stars out: a star is a value of its own then, which takes far less; or raise min_level",
        )
    for tried in tried_sets:
        for columns in (tried, ()):  # who matches enough by now, with the stars of others, needs none
            if pending <= 0:
                return
            update = stars.suppress(names, keys, columns, counted.k)
            pending -= db.run(_suppressing(below, columns, update, "until every record matches k"))


def _suppressing(below: Sequence[Chosen], tried: Sequence[int], update: Node, until: str) -> Statement:
    bits = sum(1 << place for place in tried)
    starred = ", ".join(below[place].quasi.name for place in tried) or "nothing"
    note = f"{until}, or all sets of columns were tried; one is shown"
    return Statement(f"suppress {starred}", update, (bits,), note=note, answers=touched(MANY))


def write(job: Job, counted: Models, encoded: Encoded, chosen: Sequence[Chosen], fresh: Relation) -> int:
    """Fills the new table; returns the rows written."""
    names = job.plan.scratch(job.run)
    parts = partitioning.of(job.plan, names, Models(counted.counted, counted.k), encoded.null_code)
    return partitioning.write(job, parts, encoded.has_null, fresh, sql.classes(names, chosen))


def _labels(job: Job, keys: Sequence[str]) -> list[int]:
    """How many labels each column has among the records of small classes."""
    names = job.plan.scratch(job.run)
    question = sql.different(names, keys)
    return list(
        job.db.one(Statement("labels of small classes", question, answers=row(**dict.fromkeys(keys, 1))))
    )
