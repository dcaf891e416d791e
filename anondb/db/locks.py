"""Advisory locks: one run at a time on a target, and the sign of life of a run.

They belong to a session, and a pooler that hands sessions on from transaction to transaction would hand them on too.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC
from typing import Any, cast

import psycopg

from anondb.db.connection import APPLICATION, Connection
from anondb.db.errors import translated
from anondb.db.pooler import handed_on
from anondb.errors import BusyError

# First keys of our two-key advisory locks; any numbers that others are unlikely to use.
TARGETS = 0x616E6F6E
RUNS = 0x616E6F72

_TRY = "select pg_catalog.pg_try_advisory_lock(%s, pg_catalog.hashtext(%s))"
# Who has it: as much of that session as this role may see.
_HOLDER = """
select l.pid, a.usename, a.application_name, a.backend_start, exists (
    select from pg_catalog.pg_locks as s
    where s.locktype = 'advisory' and s.pid = l.pid and s.classid::bigint = %(runs)s)
from pg_catalog.pg_locks as l
left join pg_catalog.pg_stat_activity as a on a.pid = l.pid
where l.locktype = 'advisory' and l.granted and l.classid::bigint = %(targets)s
  and l.objid::bigint = pg_catalog.hashtext(%(target)s)::bigint & 4294967295
  and l.database = (
      select d.oid from pg_catalog.pg_database as d where d.datname = pg_catalog.current_database())
order by l.pid limit 1
"""
_IS_HELD = """
select exists (
    select from pg_catalog.pg_locks as l
    where l.locktype = 'advisory' and l.granted and l.classid::bigint = %(targets)s
      and l.objid::bigint = pg_catalog.hashtext(%(target)s)::bigint & 4294967295
      and l.pid = pg_catalog.pg_backend_pid())
   and pg_catalog.current_setting('anondb.session', true) = %(mark)s
"""
_MARK = "select pg_catalog.set_config('anondb.session', %s, false)"
_MARKED = "select pg_catalog.current_setting('anondb.session', true) = %s"
_PID = "select pg_catalog.pg_backend_pid()"
_RELEASE = "select pg_catalog.pg_advisory_unlock_all()"
_HOLD = "select pg_catalog.pg_try_advisory_lock(%s, (%s::bigint %% 2147483647)::int)"


@contextmanager
def target_held(connection: Connection, *targets: str) -> Iterator[None]:
    """Holds the targets, in an order that all runs take. Taken before the transaction begins, so that its snapshot
    shows what the run before has left; given back in the end, as the server sees late that a connection closed."""
    try:
        with translated("locking the target"):
            for target in sorted(targets):
                row = cast(tuple[bool], connection.execute(_TRY, (TARGETS, target)).fetchone())
                if not row[0]:
                    raise _busy(connection, target)
        yield
    finally:
        with suppress(psycopg.Error):  # a broken connection holds nothing
            connection.execute(_RELEASE)


def hold_run(connection: Connection, run: int) -> None:
    """Shows that the run lives, until its target is given back."""
    with translated("locking the run"):
        connection.execute(_HOLD, (RUNS, run))


def mark_session(connection: Connection, beside: Connection) -> str:
    """Makes sure that two connections are two sessions, which stay; returns the mark of the first one.

    Behind a pooler that hands sessions on, the mark of the one is soon found, or missed, on the other.
    """
    marks = uuid.uuid4().hex, uuid.uuid4().hex
    with translated("marking the session"):
        for session, mark in zip((connection, beside), marks, strict=True):
            session.execute(_MARK, (mark,))
        marked = [
            _is_marked(session, mark) for session, mark in zip((connection, beside), marks, strict=True)
        ]
        if all(marked):
            with beside.transaction():
                beside.execute(_PID)  # has a session to itself while the transaction lasts
                marked.append(_is_marked(connection, marks[0]))
    if not all(marked):
        raise handed_on()
    return marks[0]


def require_held(connection: Connection, target: str, mark: str) -> None:
    """Raises unless this transaction is on the session that holds the target, and no other client has it too."""
    with translated("looking for the lock of the target"):
        values = {"targets": TARGETS, "target": target, "mark": mark}
        [(is_held,)] = connection.execute(_IS_HELD, values).fetchall()
    if not is_held:
        raise handed_on()


def _is_marked(connection: Connection, mark: str) -> bool:
    [(is_marked,)] = connection.execute(_MARKED, (mark,)).fetchall()
    return bool(is_marked)


def _busy(connection: Connection, target: str) -> BusyError:
    values = {"runs": RUNS, "targets": TARGETS, "target": target}
    holders = cast(list[tuple[Any, ...]], connection.execute(_HOLDER, values).fetchall())
    if not holders:  # it has just ended
        return BusyError(f"another run is publishing {target}", hint="try again in a moment")
    [(pid, role, application, since, is_run)] = holders
    session = f"session {pid} of role {role}, {application or 'a program without a name'}"
    if since is not None:
        session += f", connected since {since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    if is_run or application == APPLICATION:
        return BusyError(
            f"another run is publishing {target}: {session}",
            hint="wait for it to end, or look: select * from anondb.run",
        )
    return BusyError(
        f"the lock of {target} is held by a stranger, no run of anondb: {session}",
        hint=f"ask that role to end it, or an administrator: select pg_terminate_backend({pid})",
    )
