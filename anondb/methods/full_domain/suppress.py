"""Cell suppression in the database: which cells of records in too small classes become `*`, and the release."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anondb.errors import UsageError
from anondb.methods.full_domain import cells_sql as sql
from anondb.methods.full_domain.cells import MOST_COLUMNS, Cells, sets
from anondb.methods.method import Job
from anondb.methods.mondrian import search as partitioning
from anondb.methods.outcome import Classes
from anondb.models.sql import Models
from anondb.run.encode import Encoded
from anondb.run.encode_sql import analyze
from anondb.run.publish_sql import Chosen
from anondb.run.statement import MANY, Statement, row, touched
from anondb.sqltree.tables import Relation


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
    pending = db.run(Statement("small classes", sql.small(names, keys, counted), answers=touched(MANY)))
    db.run(Statement("statistics of small classes", analyze(names.small)))
    labels = _labels(job, keys) if keys else []
    for tried in sets(labels, [weight(c.quasi.name) for c in below]):
        if pending <= 0:
            break
        bits = sum(1 << place for place in tried)
        starred = ", ".join(below[place].quasi.name for place in tried)
        update = sql.suppress(names, keys, tried, counted)
        note = "until every record has a class, or all sets of columns were tried; one is shown"
        pending -= db.run(Statement(f"suppress {starred}", update, (bits,), note=note, answers=touched(MANY)))
    left_out, records, *cells = db.one(
        Statement(
            "suppressed cells",
            sql.figures(names, keys),
            answers=row(left_out=0, records=0, **dict.fromkeys(keys, 0)),
        )
    )
    db.run(Statement("cell classes", sql.partitioned(names, chosen, keys)))
    found = Cells(records, {c.quasi.name: count for c, count in zip(below, cells, strict=True)})
    levels = tuple(c.level for c in chosen)
    return Classes(names.partitioned, 0, (), suppressed=left_out, levels=levels, starred=records), found


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
