"""Which database: --dsn, ANONDB_DSN, libpq's own variables, or the embedded PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from anondb.db.embedded import server as embedded
from anondb.db.errors import TWO_CONNECTIONS, translated
from anondb.db.pooler import PATIENCE, refuse_shared_session
from anondb.db.session import Connection, Session
from anondb.errors import DatabaseError, EndedError, UsageError

__all__ = ["Connection", "Door", "Session", "find", "one_snapshot"]

# Any of these names a server or a database to libpq; PGUSER or PGPASSWORD alone do not.
_LIBPQ = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE")
_PASSWORDS = ("password", "sslpassword")

MINIMUM_VERSION = 140000
_IS_SUPERUSER = "select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user"
_IS_READ_ONLY = """
select pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('default_transaction_read_only') = 'on'
"""
APPLICATION = "anondb"  # as which sessions of ours are known to the server


@dataclass
class Door:
    """A database that connections can be opened to; holds the embedded server while it is in use."""

    conninfo: str
    server: embedded.EmbeddedServer | None = None
    owner: str | None = None  # whom the user trusts with what is installed

    @property
    def is_embedded(self) -> bool:
        return self.server is not None

    def open(self) -> Session:
        """A new connection in autocommit mode, for our own statements: nobody's operators are found by them."""
        with translated("connecting"):
            connection = Session.connect(self._conninfo(), autocommit=True, prepare_threshold=None)
            try:
                connection.pin(partial(refuse_shared_session, connection, self._briefly))
            except BaseException:
                connection.close()
                raise
        connection.owner = self.owner
        if connection.info.server_version < MINIMUM_VERSION:
            version = connection.info.server_version // 10000
            connection.close()
            raise DatabaseError(
                f"the server is PostgreSQL {version}", hint="anondb needs PostgreSQL 14 or newer"
            )
        return connection

    def open_second(self) -> Connection:
        """A connection beside one that is open already: that there can be no second is told as such."""
        try:
            return self.open()
        except EndedError as error:
            raise DatabaseError(error.message, hint=TWO_CONNECTIONS) from None

    def lend(self) -> Connection:
        """A new connection in autocommit mode, for the user's own statements, with the user's own search path."""
        with translated("connecting"):
            return psycopg.connect(self._conninfo(), autocommit=True)

    def _briefly(self) -> Connection:
        return psycopg.connect(self._conninfo(), autocommit=True, connect_timeout=PATIENCE)

    def _conninfo(self) -> str:
        return make_conninfo(self.conninfo, application_name=APPLICATION, client_encoding="UTF8")

    def close(self) -> None:
        if self.server is not None:
            self.server.close()


def is_free(connection: Connection) -> bool:
    """Whether a connection still works, and no transaction is under way on it."""
    if not connection.autocommit or connection.info.transaction_status is not TransactionStatus.IDLE:
        return False
    try:
        connection.execute("select")
    except psycopg.Error:
        return False
    return True


def is_superuser(connection: Connection) -> bool:
    """Whether nothing is forbidden to the current role."""
    with translated("looking up the role"):
        [(is_super,)] = connection.execute(_IS_SUPERUSER).fetchall()
    return bool(is_super)


def require_writable(connection: Connection) -> None:
    """Raises where nothing can be written: on a standby, or where transactions are read-only unless they say more."""
    with translated("looking up the server"):
        [(is_standby, is_read_only)] = connection.execute(_IS_READ_ONLY).fetchall()
    if is_standby:
        raise DatabaseError(
            "the server is a standby, which is read-only, and a run writes",
            hint="connect to the primary; of several hosts, target_session_attrs=read-write in --dsn finds it",
        )
    if is_read_only:
        raise DatabaseError(
            "default_transaction_read_only is on, so that sessions are read-only, and a run writes",
            hint="alter role session_user set default_transaction_read_only = off; if the database, the server or"
            " the connection sets it, there",
        )


@contextmanager
def one_snapshot(connection: Connection, doing: str, *, undo: bool = False) -> Iterator[None]:
    """A transaction that sees the database as it was at its first statement, and its own changes.

    With `undo` they are rolled back at the end: it was for looking only.
    """
    with translated(doing):
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with connection.transaction(force_rollback=undo):
            yield
            if not undo:
                # no raw value outlives the transaction: behind a pooler, the session may be another's next
                connection.execute("discard temp")


def without_password(dsn: str) -> str:
    """A connection string as it can be shown; itself, if it has no password or is none."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        return dsn
    shown: dict[str, Any] = {
        name: value for name, value in parts.items() if name not in _PASSWORDS or not value
    }
    return dsn if shown == parts else make_conninfo("", **shown)


def is_named(dsn: str | None = None) -> bool:
    """Whether the user has said which database is meant; else it would be the embedded one."""
    return bool(dsn or os.environ.get("ANONDB_DSN") or any(os.environ.get(name) for name in _LIBPQ))


def find(dsn: str | None = None, owner: str | None = None) -> Door:
    """The database to work on; starts the embedded one if nothing else is named."""
    owner = owner or os.environ.get("ANONDB_OWNER") or None
    named = dsn or os.environ.get("ANONDB_DSN")
    if named:
        try:
            conninfo_to_dict(named)
        except psycopg.ProgrammingError:  # its text quotes the string, in which there may be a password
            raise UsageError(
                "what --dsn or ANONDB_DSN gives is not a connection string",
                hint="for example postgresql://user@host/database, or 'host=… dbname=…'",
            ) from None
        return Door(named, owner=owner)
    if any(os.environ.get(variable) for variable in _LIBPQ):
        return Door("", owner=owner)
    server = embedded.start()
    return Door(server.dsn, server)
