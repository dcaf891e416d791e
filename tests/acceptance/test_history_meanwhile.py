"""The history tells what became of a run, whatever others do meanwhile and whenever its client dies."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.db.connection import Door
from anondb.db.history import History
from anondb.db.locks import hold_run, target_held
from anondb.errors import DatabaseError, UsageError
from anondb.policy.load import load
from tests.acceptance.clinic import Clinic, complaint, ended, eventually

WAITS_FOR_STEPS = """
select l.pid from pg_locks as l where l.relation = 'anondb.run_step'::regclass and not l.granted
"""
WAITS_FOR_ROW = """
select a.pid from pg_stat_activity as a
where a.datname = current_database() and a.wait_event_type = 'Lock' and a.wait_event in ('transactionid', 'tuple')
"""
SESSIONS = """
select pg_terminate_backend(a.pid, 20000) from pg_stat_activity as a
where a.datname = current_database() and a.application_name = 'anondb'
"""


def test_a_run_that_another_sweeps_past_is_not_lost(clinic: Clinic) -> None:
    """However soon the other one comes: the row of a run is never seen without its sign of life."""
    policy, door = load(clinic.policy()), Door(clinic.dsn)
    with door.open() as first, door.open() as writing, door.open() as other:

        def hold(run: int) -> None:
            assert clinic.runs() == []
            hold_run(first, run)

        with target_held(first, "share.admissions"):
            History(door, writing).begin(policy, "s", "share.admissions", "0", hold)
            with target_held(other, "share.another"):
                History(door, other).begin(
                    policy, "s", "share.another", "0", lambda run: hold_run(other, run)
                )
            assert [status for status, _ in clinic.runs()] == ["running", "running"]


def test_a_run_that_cannot_show_that_it_lives_is_not_entered(clinic: Clinic) -> None:
    policy, door = load(clinic.policy()), Door(clinic.dsn)

    def fail(run: int) -> None:
        raise DatabaseError("the connection is gone")

    with door.open() as writing, pytest.raises(DatabaseError, match="gone"):
        History(door, writing).begin(policy, "s", "share.admissions", "0", fail)
    assert clinic.runs() == []


def test_whoever_touches_the_record_of_a_run_waits_for_its_end(clinic: Clinic) -> None:
    clinic.has_released()
    with psycopg.connect(clinic.dsn) as other, clinic.gate_shut() as wait_for_backend:
        running = clinic.start("run", clinic.policy(source="hospital.gated"))
        wait_for_backend()
        touch = "update anondb.run set package = package where status = 'running'"
        touching = threading.Thread(target=other.execute, args=(touch,))
        touching.start()
        eventually(lambda: clinic.execute(WAITS_FOR_ROW) or not touching.is_alive())
        if not touching.is_alive():
            other.commit()
    done = ended(running)
    assert (done.returncode, done.stderr) == (0, "")
    assert [status for status, _ in clinic.runs()] == ["done", "done"]


def test_a_client_that_dies_at_the_end_leaves_a_release_with_its_figures_or_none(clinic: Clinic) -> None:
    """What it writes last are the steps of its run."""
    with psycopg.connect(clinic.dsn) as holder:
        with clinic.gate_shut() as wait_for_backend:
            running = clinic.start("run", clinic.policy(source="hospital.gated"))
            wait_for_backend()
            holder.execute("lock table anondb.run_step in share mode")
        assert eventually(lambda: clinic.execute(WAITS_FOR_STEPS))
        os.kill(running.pid, signal.SIGKILL)
        ended(running)
        clinic.execute(SESSIONS)
    [(published,)] = clinic.execute("select to_regclass('share.admissions') is not null")
    assert clinic.execute("select r.status = 'done', r.result is not null from anondb.run as r") == [
        (published, published)
    ]


def test_a_run_whose_figures_were_lost_is_not_reported_as_empty(clinic: Clinic) -> None:
    """Earlier versions wrote them after the commit."""
    run = clinic.has_released()["run"]
    clinic.execute(
        "alter table anondb.run disable trigger user; update anondb.run set result = null;"
        "alter table anondb.run enable trigger user"
    )
    with Database(Door(clinic.dsn)) as db:
        for look in (db.evaluate, db.report):
            with pytest.raises(
                UsageError, match=f"run {run} published its release, but its figures were lost"
            ):
                look(run)


@pytest.fixture
def limited(clinic: Clinic, new_role: Callable[[], str]) -> Callable[[int], str]:
    """The conninfo of a role that may have so many connections."""
    role = new_role()
    clinic.execute(
        "alter role {role} login; grant usage on schema hospital, anondb to {role};"
        "grant usage, create on schema share to {role}; grant select on hospital.admissions to {role};"
        "grant all on all tables in schema anondb to {role}",
        role=role,
    )

    def conninfo(connections: int) -> str:
        statement = sql.SQL("alter role {} connection limit {}")
        clinic.connection.execute(statement.format(sql.Identifier(role), sql.Literal(connections)))
        return make_conninfo(clinic.dsn, user=role)

    return conninfo


def test_a_run_needs_two_connections(clinic: Clinic, limited: Callable[[int], str]) -> None:
    done = clinic.cli("run", clinic.policy(), "--report", "report.html", ANONDB_DSN=limited(2))
    assert (done.returncode, done.stderr) == (0, "")
    with clinic.unchanged(None):
        said = complaint(clinic.cli("run", clinic.policy(), ANONDB_DSN=limited(1)), 4)
    assert "too many connections for role" in said
    assert "a run needs two connections" in said
