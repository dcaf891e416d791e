"""The runs that the history knows of, whatever became of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.sqltree.tables import Relation

_RUNS = """
select r.id, r.source, r.target, r.algorithm, r.status, r.error, r.started_at, r.finished_at
from anondb.run as r where %(target)s::text is null or r.target = %(target)s
order by r.id desc limit %(limit)s
"""
# As anondb.release_at(): a run says that it has published this very table, and its role has power over it.
_RELEASED = """
select max(r.id)
from anondb.run as r
join pg_catalog.pg_roles as s on s.rolname = r.started_by
join pg_catalog.pg_class as c on c.oid = any (r.release_oid || r.release_oids)
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where r.status = 'done' and n.nspname = %s and c.relname = %s and pg_catalog.pg_has_role(s.oid, c.relowner, 'MEMBER')
"""


@dataclass(frozen=True)
class RunInfo:
    """A run in the history: running, done, failed, interrupted, or lost."""

    run: int
    source: str
    target: str
    algorithm: str
    status: str
    error: str | None  # why it failed
    started_at: datetime
    finished_at: datetime | None


def runs(connection: Connection, target: str | None = None, limit: int | None = None) -> list[RunInfo]:
    """Runs, newest first; those of one target alone, where it is given as the history spells it."""
    with translated("reading the history"):
        rows: list[tuple[Any, ...]] = connection.execute(_RUNS, {"target": target, "limit": limit}).fetchall()
    return [RunInfo(*row) for row in rows]


def run_that_released(connection: Connection, table: Relation) -> int | None:
    """The last run that has published a table; None where it is no release, as far as this role can see."""
    with translated("reading the history"):
        [(run,)] = connection.execute(_RELEASED, (table.schema, table.name)).fetchall()
    return cast(int | None, run)
