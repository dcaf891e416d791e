"""Behind a real PgBouncer: sessions that stay serve a run; sessions that are handed on are noticed, and refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from anondb.db.connection import Door, Session, one_snapshot
from anondb.db.locks import mark_session, require_held, target_held
from anondb.errors import DatabaseError
from tests.acceptance.clinic import Clinic, complaint, eventually

PGBOUNCER = shutil.which("pgbouncer", path=os.pathsep.join((os.defpath, "/usr/sbin")))
SETTINGS = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
query_wait_timeout = 10
"""

Pool = Callable[..., str]


@pytest.fixture
def pool(clinic: Clinic, open_folder: Path) -> Iterator[Pool]:
    """Starts a pooler in front of the server; gives the conninfo of the clinic through it."""
    if PGBOUNCER is None:
        pytest.skip("PgBouncer is not installed here")
    to = {"port": "5432", "user": "postgres"} | conninfo_to_dict(clinic.dsn)
    if not str(to.get("host", "")).startswith("/"):
        pytest.skip("the server is not reached by a socket")
    owner = Path(str(to["host"])).stat()  # who may enter there
    with ExitStack() as ending:

        def start(mode: str, size: int = 5) -> str:
            folder = open_folder / mode
            folder.mkdir()
            text = SETTINGS.format(
                host=to["host"], port=to["port"], user=to["user"], folder=folder, mode=mode, size=size
            )
            (folder / "pgbouncer.ini").write_text(text)
            os.chown(folder, owner.st_uid, owner.st_gid)
            is_root = os.getuid() == 0
            process = subprocess.Popen(
                [str(PGBOUNCER), "-q", str(folder / "pgbouncer.ini")],
                stderr=subprocess.DEVNULL,
                user=owner.st_uid if is_root else None,
                group=owner.st_gid if is_root else None,
            )
            ending.callback(process.wait)
            ending.callback(process.kill)
            assert eventually((folder / ".s.PGSQL.6432").exists)
            return make_conninfo(clinic.dsn, host=str(folder), port="6432")

        yield start


@pytest.mark.parametrize("size", [1, 5])
def test_a_pool_that_hands_sessions_on_is_refused(clinic: Clinic, pool: Pool, size: int) -> None:
    with clinic.unchanged(None):
        said = complaint(clinic.cli("run", clinic.policy(), ANONDB_DSN=pool("transaction", size)), 4)
    assert "handed on from transaction to transaction" in said
    assert "pool_mode = session" in said


@pytest.mark.parametrize("size", [1, 5])
def test_no_command_leaves_its_search_path_to_the_next_client(clinic: Clinic, pool: Pool, size: int) -> None:
    dsn = pool("transaction", size)
    for command in (("run", clinic.policy()), ("vgh", "list"), ("status",)):
        said = complaint(clinic.cli(*command, ANONDB_DSN=dsn), 4)
        assert "pool_mode = session" in said
    with psycopg.connect(dsn, autocommit=True) as other:
        shown = other.execute("show search_path").fetchall()
    assert shown == clinic.execute("show search_path")


def test_a_pool_of_one_session_serves_a_command_that_needs_no_more(clinic: Clinic, pool: Pool) -> None:
    assert clinic.cli("vgh", "list", ANONDB_DSN=pool("session", 1)).returncode == 0


def test_a_pool_of_sessions_serves_a_run(clinic: Clinic, pool: Pool) -> None:
    dsn = pool("session")
    for _ in range(2):
        done = clinic.cli("run", clinic.policy(), "--json", ANONDB_DSN=dsn)
        assert (done.returncode, done.stderr) == (0, "")


def test_of_two_clients_on_one_session_at_most_one_has_the_target(clinic: Clinic, pool: Pool) -> None:
    """Where nothing was noticed beforehand, since no other client came in between."""
    dsn = pool("transaction", 1)
    with Session.connect(dsn, autocommit=True) as first, Session.connect(dsn, autocommit=True) as second:
        for one, mark in ((first, "1"), (second, "2")):
            one.execute("select set_config('anondb.session', %s, false)", [mark])
        with target_held(first, "share.admissions"), target_held(second, "share.admissions"):
            with one_snapshot(first, "looking"), pytest.raises(DatabaseError, match="handed on"):
                require_held(first, "share.admissions", "1")
            with one_snapshot(second, "looking"):
                require_held(second, "share.admissions", "2")


def test_sessions_of_ones_own_are_told_as_such(clinic: Clinic) -> None:
    door = Door(clinic.dsn)
    with door.open() as connection, door.open() as beside:
        mark = mark_session(connection, beside)
        with pytest.raises(DatabaseError, match="handed on"):
            require_held(connection, "share.admissions", mark)
        with target_held(connection, "share.admissions"), one_snapshot(connection, "looking"):
            require_held(connection, "share.admissions", mark)


def test_scratch_is_gone_with_the_transaction(clinic: Clinic) -> None:
    with Door(clinic.dsn).open() as connection:
        with one_snapshot(connection, "looking"):
            connection.execute("create temporary table raw as select * from hospital.admissions")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select from pg_temp.raw")
