"""A pooler that hands sessions on from transaction to transaction: noticed before anything of ours is set on one.

What we set there, the search path above all, would be lost to us and left to the next client of that session.
"""

from __future__ import annotations

import select
import uuid
from collections.abc import Callable
from contextlib import closing

import psycopg
from psycopg.pq import ExecStatus

from anondb.db.session import Connection
from anondb.errors import DatabaseError

_MARK = "select pg_catalog.set_config('anondb.session', %s, false)"
_FOUND = "select pg_catalog.current_setting('anondb.session', true)"
PATIENCE = 2  # seconds; a full pool of sessions gives no second one


def refuse_shared_session(connection: Connection, another: Callable[[], Connection]) -> None:
    """Raises if a mark that is set on a session is found by another client, or is not found again.

    No path is pinned yet, on neither: these statements have no operator, and qualify their function.
    """
    mark = uuid.uuid4().hex
    connection.execute(_MARK, (mark,))
    if _found_by_another(another) == mark or connection.execute(_FOUND).fetchall() != [(mark,)]:
        raise handed_on()


def handed_on() -> DatabaseError:
    return DatabaseError(
        "the sessions of the server are handed on from transaction to transaction, and anondb needs its own",
        hint="connect to the server itself, or through a pool in session mode (PgBouncer: pool_mode = session)",
    )


def _found_by_another(another: Callable[[], Connection]) -> str | None:
    try:
        with closing(another()) as beside:
            beside.pgconn.send_query(_FOUND.encode())
            beside.pgconn.flush()
            if not select.select([beside.fileno()], [], [], PATIENCE)[0]:
                return None
            result = beside.pgconn.get_result()
            if result is None or result.status != ExecStatus.TUPLES_OK:
                return None
            value = result.get_value(0, 0)
    except psycopg.Error:  # there is no other session to be had
        return None
    return None if value is None else value.decode()
