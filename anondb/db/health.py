"""How the releases of a database are, and how much of their history is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from psycopg.rows import class_row

from anondb.db.connection import Connection
from anondb.db.errors import translated

_HEALTH = """
select h.target, h.last_success, h.age, h.last_run, h.last_outcome, h.failures_in_a_row, h.running, h.released,
       h.waiting
from anondb.health(%s) as h
"""
# What tells a release of ours from a stranger of its name stays: the newest run of each target that published,
# and all that published a table which is still there. A run that is under way is not touched.
_TRIM = """
with gone as (
    delete from anondb.run as r
    where coalesce(r.finished_at, r.started_at) < pg_catalog.now() - %s and not anondb.is_running(r.id)
      and not exists (
          select from pg_catalog.pg_class as c where c.oid = any (r.release_oid || r.release_oids))
      and r.id <> all (
          select max(n.id) from anondb.run as n where n.status = 'done' group by n.target)
    returning r.policy, r.started_by
)
select count(*) from gone
"""
_TRIM_POLICIES = """
delete from anondb.policy as p
where not exists (select from anondb.run as r where r.policy = p.sha256 and r.started_by = p.added_by)
"""


@dataclass(frozen=True)
class ReleaseHealth:
    """How a target is: when it was last published, and what became of the runs since."""

    target: str
    last_success: datetime | None
    age: timedelta | None  # since then
    last_run: int | None  # that has ended
    last_outcome: str | None  # done, failed, interrupted or lost
    failures_in_a_row: int
    running: int
    released: int | None  # records
    waiting: int | None  # records that wait until enough come with them


def health(connection: Connection, target: str | None = None) -> list[ReleaseHealth]:
    """Every target that this role sees in the history, or one as the history spells it."""
    with translated("reading the history"), connection.cursor(row_factory=class_row(ReleaseHealth)) as cursor:
        return cursor.execute(_HEALTH, (target,)).fetchall()


def trim(connection: Connection, keep: timedelta) -> int:
    """Forgets runs that ended longer ago, with their steps, metrics and policies; returns how many."""
    with translated("trimming the history"), connection.transaction():
        [(gone,)] = connection.execute(_TRIM, (keep,)).fetchall()
        connection.execute(_TRIM_POLICIES)
    return cast(int, gone)
