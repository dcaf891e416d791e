"""A release of rows that a caller holds: made as any other, handed out, and undone with all that was needed for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from anondb.db.connection import Connection, Door, one_snapshot
from anondb.db.install.upgrade import require_current
from anondb.db.loading import create_temporary
from anondb.errors import UsageError
from anondb.methods.registry import method_of
from anondb.policy.model import Name, Policy
from anondb.run.kept_columns import refuse
from anondb.run.pipeline import Pipeline, Silence
from anondb.run.plan import Options
from anondb.run.prepare import prepare_trial
from anondb.run.result import Result
from anondb.sqltree.tables import Relation

_SOURCE = Name("pg_temp", "anondb_rows")
_RELEASE = Relation("pg_temp", "anondb_release")

Unkept = tuple[Connection, Relation, Result]


@contextmanager
def unkept(
    door: Door,
    policy: Policy,
    columns: Sequence[tuple[str, str]],
    rows: Iterable[Sequence[object]],
    options: Options,
) -> Iterator[Unkept]:
    """The release of these rows, verified, for as long as the transaction lasts in which alone it exists.

    Source, release and history of it are rolled back: nothing is left, also after a crash.
    """
    if policy.tables:
        raise UsageError(
            "the policy is of several tables, and a frame is one",
            hint="load the rows into tables (db.tables.load), and run the policy (db.run)",
        )
    policy = replace(policy, source=_SOURCE)
    method = method_of(policy)
    if method.suffixes():
        raise UsageError(
            f"{method.name} makes several tables, and a frame is one",
            hint="load the rows into a table (db.tables.load), and run the policy (db.run)",
        )
    method.load_ahead()
    with door.open() as connection:
        require_current(connection)
        with one_snapshot(connection, "anonymizing", undo=True):
            create_temporary(connection, _SOURCE.table, columns, rows)
            pipeline = Pipeline(connection, options, 0, Silence())
            with pipeline.stage("prepare"):
                plan = prepare_trial(pipeline.db, connection, policy, options, _RELEASE)
            result = pipeline.release(plan, _RELEASE)
            refuse([(policy, result.kept)])  # as a run does before it publishes
            yield connection, _RELEASE, result
