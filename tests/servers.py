"""The server of a test run, and databases on it: all processes of the run share both."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.db.connection import Connection
from anondb.db.embedded.files import try_lock

_PREFIX = "anondb-run-"
_MEMORY = Path("/dev/shm")
_ROOM = 4 << 30  # of memory; a run takes a tenth of it
_SESSIONS = "select from pg_stat_activity as a where a.datname = %s"
_EXISTS = "select from pg_database as d where d.datname = %s"
_CREATE = sql.SQL("create database {} template {}")
_DROP = sql.SQL("drop database {} with (force)")


def place() -> Path:
    """Where servers of tests keep their data: in memory, if there is plenty, as databases are made and dropped
    there ten times as fast as on a disk."""
    if sys.platform == "linux" and os.access(_MEMORY, os.W_OK):
        room = min(shutil.disk_usage(_MEMORY).free, psutil.virtual_memory().available)
        if room > _ROOM:
            return _MEMORY
    return Path(tempfile.gettempdir())


@contextmanager
def run_folder() -> Iterator[Path]:
    """A folder for one run, on a short path since the server's socket lies in it; its name names the run."""
    parent = place()
    for left in parent.glob(f"{_PREFIX}*"):
        with _locked(left) as is_abandoned:
            if is_abandoned:  # by a run that was killed; its server ends when its files are gone
                shutil.rmtree(left, ignore_errors=True)
    unlocked = Path(tempfile.mkdtemp(prefix="anondb-new-", dir=parent))
    unlocked.chmod(0o755)  # as root the server runs as another user, who has to get to its folder in here
    with _locked(unlocked):
        folder = unlocked.rename(parent / unlocked.name.replace("anondb-new-", _PREFIX))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Whether a folder of ours could be locked; the lock dies with its process."""
    try:
        lock = os.open(folder, os.O_RDONLY)
    except OSError:
        yield False
        return
    try:
        yield os.fstat(lock).st_uid == os.geteuid() and try_lock(lock)
    finally:
        os.close(lock)


@contextmanager
def new_database(server: str, template: str = "template0", name: str = "anondb_test_{}") -> Iterator[str]:
    """The conninfo of a database that is gone afterwards."""
    name = name.format(uuid.uuid4().hex[:12])
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(_CREATE.format(sql.Identifier(name), sql.Identifier(template)))
    try:
        yield make_conninfo(server, dbname=name)
    finally:
        with psycopg.connect(server, autocommit=True) as admin:
            drop(admin, name)


def drop(admin: Connection, name: str) -> None:
    """Drop a database; sessions that are just ending are given their time, as PostgreSQL would wait 0.1 s."""
    deadline = time.monotonic() + 0.05
    while admin.execute(_SESSIONS, (name,)).rowcount and time.monotonic() < deadline:
        time.sleep(0.001)
    admin.execute(_DROP.format(sql.Identifier(name)))


def made_once(server: str, name: str, template: str, fill: Callable[[Connection], object]) -> str:
    """The name of a database that one process of the run makes and fills, for all to clone."""
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute("select pg_advisory_lock(hashtext(%s))", (name,))  # until the session ends
        if not admin.execute(_EXISTS, (name,)).rowcount:
            admin.execute(_CREATE.format(sql.Identifier(name), sql.Identifier(template)))
            try:
                with psycopg.connect(make_conninfo(server, dbname=name), autocommit=True) as connection:
                    fill(connection)
            except BaseException:
                drop(admin, name)
                raise
    return name


def drop_made(server: str, prefix: str) -> None:
    """Drop what the run has made once."""
    query = "select d.datname from pg_database as d where starts_with(d.datname, %s)"
    with suppress(psycopg.OperationalError), psycopg.connect(server, autocommit=True) as admin:
        for (name,) in admin.execute(query, (prefix,)).fetchall():
            drop(admin, name)
