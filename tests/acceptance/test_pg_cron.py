"""Twenty nights by pg_cron leave the releases that twenty runs leave; on a server that the test restarts."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.db.install.upgrade import upgrade
from anondb.run.plan import Options
from tests.acceptance.clinic import eventually
from tests.properties.nights import Clinic, policy

BIN = Path("/usr/lib/postgresql/15/bin")
CRON = Path("/usr/lib/postgresql/15/lib/pg_cron.so")
NAME = "share.refresh_patients"
NIGHTS = 20
BY_THE_SCHEDULER = 2  # each takes a restart, as pg_cron 1.4 knows no interval below a minute
RULES = policy(changes="hold", l_diversity={"column": "value", "l": 2})
RELEASES = """
select r.release, r.levels, r.records, r.classes, r.entered, r.left_it, r.moved, r.waiting, r.departed, r.withheld
from anondb.series_release as r order by r.release
"""


class Server:
    """PostgreSQL 15, with pg_cron once it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user = "postgres" if os.getuid() == 0 else None
        if self.user is not None:
            subprocess.run(["chown", self.user, str(folder)], check=True)
        self._do(
            "initdb",
            f"--pgdata={folder}/data",
            "--username=postgres",
            "--auth=trust",
            "--no-sync",
            "-E",
            "UTF8",
        )

    def start(self, *settings: str) -> None:
        options = ["listen_addresses=", f"unix_socket_directories={self.folder}", "fsync=off", *settings]
        given = " ".join(f"-c {setting}" for setting in options)
        log = f"--log={self.folder}/log"
        self._do(
            "pg_ctl", "start", "--wait", "--silent", f"--pgdata={self.folder}/data", log, f"--options={given}"
        )

    def stop(self) -> None:
        self._do("pg_ctl", "stop", "--silent", "--mode=fast", f"--pgdata={self.folder}/data")

    def dsn(self, name: str) -> str:
        return f"host={self.folder} user=postgres dbname={name}"

    def _do(self, command: str, *arguments: str) -> None:
        subprocess.run(
            [str(BIN / command), *arguments],
            check=True,
            user=self.user,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )


@pytest.fixture
def server_of_its_own(open_folder: Path) -> Iterator[Server]:
    if not CRON.exists():
        pytest.skip("pg_cron for PostgreSQL 15 is not installed here: apt-get install postgresql-15-cron")
    server = Server(open_folder)
    server.start()
    yield server
    with suppress(subprocess.CalledProcessError):
        server.stop()


def released(connection: Connection) -> tuple[bytes, object]:
    """The rows as they lie, and what the ledger says of all releases."""
    with connection.cursor() as cursor, cursor.copy("copy share.patients to stdout") as copy:
        rows = b"".join(map(bytes, copy))
    return rows, connection.execute(RELEASES).fetchall()


@pytest.mark.once
def test_nights_by_pg_cron_are_nights_of_runs(
    server_of_its_own: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = server_of_its_own
    monkeypatch.delenv("ANONDB_CHANGES")
    monkeypatch.setenv("ANONDB_SUPERUSER", "accept")
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as connection:
        connection.execute("create database runs")
        with psycopg.connect(server.dsn("runs"), autocommit=True) as runs:
            upgrade(runs)
            Clinic(runs, random.Random(21)).make(90)
        with Database(Door(server.dsn("runs"))) as database:
            database.run(RULES)
        connection.execute("create database calls template runs")  # with the same secret and the same series
    server.stop()
    with_cron = ("shared_preload_libraries=pg_cron", "cron.database_name=calls", f"cron.host={server.folder}")
    server.start(*with_cron)
    clinics = []
    for name in ("runs", "calls"):
        clinics.append(Clinic(psycopg.connect(server.dsn(name), autocommit=True), random.Random(22)))
        query = "select p.tag, p.id, p.age, p.zip, p.value from clinic.patients as p"
        rows: list[tuple[Any, ...]] = clinics[-1].connection.execute(query).fetchall()
        clinics[-1].records = {int(tag): list(record) for tag, *record in rows}
        clinics[-1].tags = 90
    clinics[1].connection.execute("create extension pg_cron")
    with Database(Door(server.dsn("calls"))) as database:
        procedure = database.procedures.write(RULES, NAME)
        database.procedures.create(procedure)
        assert database.procedures.schedule(procedure, "@reboot") == 1
    for night in range(NIGHTS):
        for clinic in clinics:
            clinic.night()
        if night < BY_THE_SCHEDULER:
            server.stop()
            server.start(*with_cron)
            for name, clinic in zip(("runs", "calls"), clinics, strict=True):
                clinic.connection = psycopg.connect(server.dsn(name), autocommit=True)
            done = "select count(*) from cron.job_run_details as d where d.status = 'succeeded'"
            assert eventually(lambda: clinics[1].connection.execute(done).fetchall() == [(night + 1,)])  # noqa: B023
        else:  # as pg_cron sends it: a simple query on a connection of its own
            with psycopg.connect(server.dsn("calls"), autocommit=True) as worker:
                assert worker.pgconn.exec_(procedure.call.encode()).error_message == b""
        with Database(Door(server.dsn("runs"))) as database:
            database.run(RULES, options=Options(evaluate="none"))
        of_runs, of_calls = (released(clinic.connection) for clinic in clinics)
        assert of_calls == of_runs
    statuses = (
        clinics[1].connection.execute("select r.status, count(*) from anondb.run as r group by 1").fetchall()
    )
    assert statuses == [("done", NIGHTS + 1)]
    for clinic in clinics:
        clinic.connection.close()
