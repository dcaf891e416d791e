"""Several processes for linked tables: where they pay, the tables that all of them read are made where all can read."""

from __future__ import annotations

from anondb.run.linked import places_sql as sql
from anondb.run.linked.plan import LinkedScratch
from anondb.run.statement import Runner, Statement, row

_NOTE = "where several processes pay, what they read lies in anondb_work until the run has ended"


def share(db: Runner, names: LinkedScratch, rows: int) -> None:
    """Decides whether several processes pay for so many rows of a source."""
    [gains] = db.one(Statement("processes", sql.gains(rows), answers=row(gains=False), note=_NOTE))
    if gains:
        names.several_processes.append(True)
        db.run(Statement("share keys", sql.keys(names)))
        db.run(Statement("key statistics", sql.analyze(names, names.keys.keys)))


def forget(db: Runner, names: LinkedScratch) -> None:
    """What all processes could read is gone before the run ends."""
    if names.shared:
        db.run(Statement("forget what was shared", sql.drop(names, sorted(names.shared))))
    names.shared.clear()
    names.several_processes.clear()
