"""What a role may not exceed is named, with how to raise it; and a run that cannot write does not begin."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.db.connection import Connection, Door, one_snapshot
from anondb.errors import EndedError
from tests.acceptance.clinic import Clinic, complaint

# More than fits into the smallest memory, so that sorting it takes temporary files and a while.
MANY = """
insert into hospital.admissions select 'Person', 20 + i % 40, 'Z907' || i % 4, repeat('long ', 10) || i % 7
from generate_series(1, 20000) as i
"""
SLOW = """
create view hospital.slow as
select a.* from hospital.admissions as a where a.name <> pg_catalog.pg_sleep(0.5)::text
"""


@pytest.fixture
def limited(clinic: Clinic, new_role: Callable[[], str]) -> Callable[[str, str], str]:
    """The conninfo of a role that may run policies, and has a setting."""
    role = new_role()
    clinic.execute(SLOW)
    clinic.execute(
        "alter role {role} login; grant usage on schema hospital, anondb to {role};"
        "grant usage, create on schema share to {role};"
        "grant select on all tables in schema hospital to {role};"
        "grant all on all tables in schema anondb to {role}",
        role=role,
    )

    def conninfo(setting: str, value: str) -> str:
        statement = sql.SQL("alter role {} set {} = {}")
        name = sql.Identifier(role)
        clinic.connection.execute(statement.format(name, sql.Identifier(setting), sql.Literal(value)))
        return make_conninfo(clinic.dsn, user=role)

    return conninfo


def test_statement_timeout(clinic: Clinic, limited: Callable[[str, str], str]) -> None:
    policy = clinic.policy(source="hospital.slow")
    with clinic.unchanged():
        said = complaint(clinic.cli("run", policy, ANONDB_DSN=limited("statement_timeout", "2s")), 4)
    assert "alter role session_user set statement_timeout = " in said


def test_idle_in_transaction_session_timeout(clinic: Clinic, limited: Callable[[str, str], str]) -> None:
    setting = "idle_in_transaction_session_timeout"
    with Door(limited(setting, "20ms")).open() as session, pytest.raises(EndedError) as caught:
        idle(session)
    assert f"alter role session_user set {setting} = " in str(caught.value)


def idle(session: Connection) -> None:
    """As a run does that computes between two statements."""
    with one_snapshot(session, "looking"):
        session.execute("select")
        time.sleep(0.5)
        session.execute("select")


def test_temp_file_limit(clinic: Clinic, limited: Callable[[str, str], str]) -> None:
    clinic.execute(MANY)
    policy = clinic.policy(), "--work-mem", "64kB"
    with clinic.unchanged():
        said = complaint(clinic.cli("run", *policy, ANONDB_DSN=limited("temp_file_limit", "64kB")), 4)
    assert "set temp_file_limit = " in said


def test_lock_timeout_of_the_role_where_no_option_holds(
    clinic: Clinic, limited: Callable[[str, str], str]
) -> None:
    dsn = limited("lock_timeout", "50ms")
    with clinic.connection.transaction():
        clinic.execute("lock table anondb.policy in access exclusive mode")
        said = complaint(clinic.cli("run", clinic.policy(), ANONDB_DSN=dsn), 4)
    assert "alter role session_user set lock_timeout = " in said


def test_a_read_only_default_is_told_before_the_run_begins(
    clinic: Clinic, limited: Callable[[str, str], str]
) -> None:
    dsn = limited("default_transaction_read_only", "on")
    with clinic.unchanged(None):
        said = complaint(clinic.cli("run", clinic.policy(), ANONDB_DSN=dsn), 4)
    assert "read-only" in said
    assert "set default_transaction_read_only = off" in said


def test_a_role_without_a_connection_left_is_told_so(
    clinic: Clinic, limited: Callable[[str, str], str]
) -> None:
    dsn = limited("search_path", "public")
    clinic.execute("alter role {role} connection limit 0", role=dsn.split("user=")[1].split()[0])
    with clinic.unchanged(None):
        said = complaint(clinic.cli("run", clinic.policy(), ANONDB_DSN=dsn), 4)
    assert "a run needs two connections" in said
