"""The release of a node: its classes at the levels that were chosen, and the records of those that pass."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.methods.full_domain import sql
from anondb.models.sql import Models
from anondb.releases import ledger_sql
from anondb.run import encode_sql as encoding
from anondb.run import publish_sql as publish
from anondb.run.engine import Engine
from anondb.run.plan import Plan
from anondb.run.publish_sql import Chosen
from anondb.run.statement import Runner, Statement, touched
from anondb.run.typed import write_values
from anondb.sqltree.tables import Relation, Scratch


def write(
    db: Runner,
    engine: Engine,
    plan: Plan,
    names: Scratch,
    models: Models,
    chosen: Sequence[Chosen],
    fresh: Relation,
) -> int:
    """Fills the new table; returns the rows written. Reads the source unless it was counted whole."""
    mask = plan.policy.privacy.suppress == "mask"
    db.run(
        Statement(
            "classes",
            publish.classes(names, chosen, models, mask=mask),
            note="at the levels that the search has chosen; the lowest are shown",
        )
    )
    if not mask:
        leave_distant_out(db, names, names.classes, models)
        db.run(Statement("leave out classes", publish.leave_out(names)))
    write_values(db, names, chosen, lambda: publish.values_with_classes(names, chosen))
    db.run(Statement("class statistics", encoding.analyze(names.classes)))
    if plan.whole_rows:
        rows = publish.insert_rows(names, fresh, plan.columns, chosen)
        return engine.insert_counted(names, fresh, rows, chosen)
    repeated = bool(plan.counted) or plan.unit is not None
    db.run(Statement("combinations", publish.combinations(names, chosen, repeated=repeated)))
    # without them the planner would hash the source instead
    db.run(Statement("combination statistics", encoding.analyze(names.combinations)))
    return engine.insert_records(names, fresh, chosen)


def put_down(db: Runner, names: Scratch, models: Models, chosen: Sequence[Chosen], *, first: bool) -> None:
    """The classes of the source, each with the hash that the ledger knows it by; judged for a first release."""
    db.run(
        Statement("classes", publish.classes(names, chosen, models, mask=False, hashed=ledger_sql.class_hash))
    )
    if first:
        leave_distant_out(db, names, names.classes, models)
    db.run(Statement("class statistics", encoding.analyze(names.classes)))


def leave_distant_out(db: Runner, names: Scratch, classes: str, models: Models) -> None:
    """Takes out classes that are too far from the released ones, until those that are left are close.

    What is released is what classes are compared with; without the classes taken out, others may be far.
    """
    if models.relative:
        remove = Statement(
            "leave distant classes out",
            sql.remove_distant(names, classes, models),
            answers=touched(0),
            note="until there are none",
        )
        while db.run(remove):
            pass
