"""A policy on fewer rows of its source: how cost and loss go as a table grows."""

from __future__ import annotations

from dataclasses import replace

from anondb.compare.sample_sql import drawn_rows
from anondb.db.connection import Connection
from anondb.db.execute import Executor
from anondb.db.introspect import columns_of, resolve_source
from anondb.errors import UsageError
from anondb.policy.model import Name, Policy
from anondb.run.plan import Options
from anondb.run.prepare import settings
from anondb.run.statement import Statement

_ROWS = Name("pg_temp", "anondb_drawn")
_ANALYZE = "analyze pg_temp.anondb_drawn"


def refused(policy: Policy) -> UsageError | None:
    """Why a policy cannot be tried on fewer rows, if it cannot."""
    if policy.tables or any(column.items for column in policy.columns):
        return UsageError(
            "rows are drawn from one table, and the policy reads several",
            hint="leave --sizes out: it is compared on all rows",
        )
    return None


def on_rows(connection: Connection, policy: Policy, rows: int, seed: int, options: Options) -> Policy:
    """The policy on so many rows, copied into a temporary table: the caller's transaction undoes it."""
    source = resolve_source(connection, policy.source)
    columns = columns_of(connection, source)
    db = Executor(connection, lambda step: None)
    for statement in settings(options):  # an error instead of hidden rows; the same text everywhere
        db.run(statement)
    found = db.run(Statement("drawn rows", drawn_rows(_ROWS.table, source, columns, rows, seed)))
    if found < rows:
        raise UsageError(
            f"{policy.source} has {found:,} rows, and {rows:,} are to be drawn",
            hint=f"give --sizes up to {found}; nothing is made up",
        )
    db.run(Statement("statistics of drawn rows", _ANALYZE))
    unit = policy.privacy.unit
    if any(column.name == unit and column.unique for column in columns):
        # the copy has no index that says so; a run counts records then, too
        policy = replace(policy, privacy=replace(policy.privacy, unit=None))
    return replace(policy, source=_ROWS)
