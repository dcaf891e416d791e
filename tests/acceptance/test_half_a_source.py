"""A load that is under way when a run begins is waited for, and then seen whole: half a source is never published."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from anondb.db.connection import Door, one_snapshot
from anondb.db.execute import Executor
from anondb.db.source_locks import hold_source
from anondb.errors import DatabaseError
from anondb.sqltree.tables import Relation
from tests.acceptance.clinic import Clinic, complaint, ended, eventually

PARTS = """
create table hospital.parts (like hospital.admissions) partition by hash (name);
create table hospital.part_0 partition of hospital.parts for values with (modulus 2, remainder 0);
create table hospital.part_1 partition of hospital.parts for values with (modulus 2, remainder 1);
insert into hospital.parts select * from hospital.admissions;
create table hospital.copy as select * from hospital.part_1;
"""
VIEW = "create view hospital.seen as select * from hospital.admissions;"
STORED = "create materialized view hospital.stored as select * from hospital.admissions;"
ABOVE = """
create materialized view hospital.stored as select * from hospital.admissions;
create view hospital.above as select * from hospital.stored;
"""

AGAIN = """
create temporary table kept as table hospital.admissions; truncate hospital.admissions;
insert into hospital.admissions table kept
"""
PART_AGAIN = "truncate hospital.part_1; insert into hospital.part_1 table hospital.copy"
REFRESH = "refresh materialized view hospital.stored"

WAITING = """
select l.relation::regclass::text from pg_locks as l join pg_database as d on d.oid = l.database
where d.datname = current_database() and l.locktype = 'relation' and not l.granted
"""


@pytest.mark.parametrize(
    ("setting", "source", "load"),
    [
        ("", "hospital.admissions", AGAIN),
        (PARTS, "hospital.parts", PART_AGAIN),
        (VIEW, "hospital.seen", AGAIN),
        (PARTS + "create view hospital.seen as table hospital.parts", "hospital.seen", PART_AGAIN),
        (STORED, "hospital.stored", REFRESH),
        (ABOVE, "hospital.above", REFRESH),
    ],
    ids=["table", "partition", "view", "partition below a view", "stored view", "stored view below a view"],
)
def test_a_load_that_is_under_way_is_seen_whole(clinic: Clinic, setting: str, source: str, load: str) -> None:
    clinic.execute(setting or "select")
    with psycopg.connect(clinic.dsn) as loader:
        loader.execute(load.encode())
        running = clinic.start("run", clinic.policy(source=source), "--json", "--lock-timeout", "60")
        assert eventually(lambda: clinic.execute(WAITING))
        loader.commit()
    done = ended(running)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(clinic.dump().splitlines()) == 24


def test_a_load_that_does_not_end_is_not_waited_for_beyond_the_limit(clinic: Clinic) -> None:
    clinic.execute(STORED)
    with psycopg.connect(clinic.dsn) as loader:
        loader.execute(REFRESH)
        failed = clinic.cli("run", clinic.policy(source="hospital.stored"), "--lock-timeout", "0.5")
    assert "lock timeout (locking the source)" in complaint(failed, 4)
    assert [status for status, _ in clinic.runs()] == ["failed"]


def test_a_role_that_may_read_some_columns_waits_too(clinic: Clinic, new_role: Callable[[], str]) -> None:
    role = new_role()
    clinic.execute(
        "grant usage on schema hospital to {role}; grant select (age, zip) on hospital.admissions to {role}",
        role=role,
    )
    door = Door(clinic.dsn)
    with door.open() as connection, door.open() as beside:
        for one in (connection, beside):
            one.execute(f'set role "{role}"'.encode())
        with one_snapshot(connection, "reading"):
            db = Executor(connection, lambda step: None)
            hold_source(db, beside, [Relation("hospital", "admissions")], 1)
            assert connection.execute("select count(age) from hospital.admissions").fetchone() == (24,)


def test_a_snapshot_that_is_older_than_the_locks_is_refused(clinic: Clinic) -> None:
    door, source = Door(clinic.dsn), [Relation("hospital", "admissions")]
    with door.open() as connection, door.open() as beside:
        db = Executor(connection, lambda step: None)
        with one_snapshot(connection, "reading"):
            connection.execute("select count(*) from pg_class")
            clinic.execute("insert into hospital.admissions select * from hospital.admissions limit 1")
            with pytest.raises(DatabaseError, match="was changed while the run began"):
                hold_source(db, beside, source, 1)
        with one_snapshot(connection, "reading"):
            hold_source(db, beside, source, 1)
