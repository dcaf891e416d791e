"""What an installation promises: complete, idempotent, alone, and without a superuser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import psycopg
import pytest
from psycopg import sql
from psycopg.pq import TransactionStatus

from anondb.db.connection import Connection
from anondb.db.install.removal import exclusively
from anondb.db.install.upgrade import remove, status, upgrade
from anondb.errors import BusyError, DatabaseError, UsageError
from tests.upgrade.conftest import Connect

# A row that an upgrade rewrites gets a new xmin, and a routine that it makes again a new oid.
FOOTPRINT = """
select 'install', i.xmin::text, i::text from anondb.install as i
union all
select p.proname, p.oid::text, p.xmin::text from pg_proc as p where p.pronamespace = 'anondb'::regnamespace
union all
select c.relname, c.oid::text, c.xmin::text from pg_class as c where c.relnamespace = 'anondb'::regnamespace
order by 1, 2, 3
"""


def footprint(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute(FOOTPRINT).fetchall()


def test_the_package_installs_on_an_empty_database(connection: Connection) -> None:
    assert status(connection).state == "missing"
    installed = upgrade(connection)
    assert installed.state == "current"
    assert status(connection) == installed
    assert installed.installed_sha256 == installed.functions_sha256
    tables = connection.execute(
        "select c.relname from pg_class as c where c.relnamespace = 'anondb'::regnamespace and relkind = 'r'"
    )
    assert {name for (name,) in tables} >= {"install", "policy", "run", "run_metric", "run_step", "vgh"}


def test_the_callers_connection_is_given_back_as_it_was(connection: Connection, sql_dir: Path) -> None:
    settings = (
        "select current_setting('search_path'), current_setting('lock_timeout'), current_setting('role')"
    )
    before = connection.execute(settings).fetchone()
    upgrade(connection, sql_dir=sql_dir)
    assert not connection.closed
    assert connection.autocommit
    assert connection.info.transaction_status == TransactionStatus.IDLE
    assert connection.execute(settings).fetchone() == before
    locks = connection.execute(
        "select from pg_locks as l where l.pid = pg_backend_pid() and locktype = 'advisory'"
    )
    assert locks.fetchall() == []


def test_a_second_upgrade_changes_nothing(connection: Connection) -> None:
    first = upgrade(connection)
    before = footprint(connection)
    assert upgrade(connection) == first
    assert footprint(connection) == before


def test_eight_upgrades_at_once_all_succeed_and_one_installs(connect: Connect, sql_dir: Path) -> None:
    # a session whose snapshots last a transaction must see what another installed while it waited
    levels = ["read\\ committed", "repeatable\\ read", "serializable", "read\\ committed"] * 2
    connections = [connect(default_transaction_isolation=level) for level in levels]
    together = Barrier(len(connections))

    def install(one: Connection) -> str:
        together.wait()
        return upgrade(one, sql_dir=sql_dir).state

    with ThreadPoolExecutor(len(connections)) as threads:
        assert list(threads.map(install, connections)) == ["current"] * 8
    made_by = (
        "select count(distinct p.xmin::text) from pg_proc as p where p.pronamespace = 'anondb'::regnamespace"
    )
    assert connections[0].execute(made_by).fetchone() == (1,)
    assert connections[0].execute("select count(*) from anondb.install").fetchone() == (1,)


def test_an_upgrade_that_cannot_have_the_lock_says_so(connect: Connect, sql_dir: Path) -> None:
    with exclusively(connect(), "holding it"), pytest.raises(BusyError, match="another session"):
        upgrade(connect(lock_timeout="100ms"), sql_dir=sql_dir)


def test_create_on_the_database_is_all_a_role_needs(
    connect: Connect, connection: Connection, new_role: Callable[[], str]
) -> None:
    role = new_role()
    grant_create(connection, role)
    as_role = connect(role=role)
    assert upgrade(as_role).state == "current"
    assert status(as_role).state == "current"
    assert "schema anondb" in remove(as_role)
    assert status(as_role).state == "missing"


def test_a_role_without_create_is_told_the_grant(
    connect: Connect, connection: Connection, new_role: Callable[[], str], sql_dir: Path
) -> None:
    role = new_role()
    with pytest.raises(DatabaseError, match="permission denied for database") as refused:
        upgrade(connect(role=role), sql_dir=sql_dir)
    assert refused.value.hint is not None
    _, grant = refused.value.hint.split(": ")
    connection.execute(grant.encode())
    assert upgrade(connect(role=role), sql_dir=sql_dir).state == "current"


def test_another_role_is_told_the_grants_for_status_and_the_owner_for_upgrade(
    connect: Connect, connection: Connection, new_role: Callable[[], str], sql_dir: Path
) -> None:
    owner, other = new_role(), new_role()
    grant_create(connection, owner)
    upgrade(connect(role=owner), sql_dir=sql_dir)
    as_other = connect(role=other)
    with pytest.raises(DatabaseError, match="permission denied for schema anondb") as refused:
        status(as_other, sql_dir=sql_dir, owner=owner)
    assert refused.value.hint is not None
    _, grants = refused.value.hint.split(": ")
    connection.execute(grants.encode())
    assert status(as_other, sql_dir=sql_dir, owner=owner).state == "current"

    (sql_dir / "core" / "first.sql").write_text("create function anondb.g() returns int return 1;")
    (sql_dir / "core" / "second.sql").write_text("")
    for action in (
        lambda: upgrade(as_other, sql_dir=sql_dir, owner=owner),
        lambda: remove(as_other, owner=owner),
    ):
        with pytest.raises(DatabaseError) as refused:
            action()
        assert refused.value.hint is not None
        assert owner in refused.value.hint


def test_schemas_that_an_administrator_made_need_no_create_on_the_database(
    connect: Connect, connection: Connection, new_role: Callable[[], str], sql_dir: Path
) -> None:
    role = new_role()
    for schema in ("anondb", "anondb_work"):
        connection.execute(
            sql.SQL("create schema {0} authorization {1}").format(
                sql.Identifier(schema), sql.Identifier(role)
            )
        )
    as_role = connect(role=role)
    assert upgrade(as_role, sql_dir=sql_dir, owner=role).state == "current"
    # what the administrator made is not ours to take away
    assert not any(name.startswith("schema") for name in remove(as_role))
    assert connection.execute("select 'anondb'::regnamespace").fetchone() == ("anondb",)


def test_nobody_but_the_owner_may_look_into_the_schemas(connection: Connection) -> None:
    upgrade(connection)
    granted = connection.execute(
        "select n.nspname from pg_namespace as n, aclexplode(n.nspacl) as a "
        "where n.nspname like 'anondb%' and a.grantee <> n.nspowner "
        "union all "
        "select c.relname from pg_class as c, aclexplode(c.relacl) as a "
        "where c.relnamespace = 'anondb'::regnamespace and a.grantee <> c.relowner"
    )
    assert granted.fetchall() == []


def test_a_strangers_table_of_our_name_stops_the_installation(connection: Connection, sql_dir: Path) -> None:
    connection.execute("create schema anondb; create table anondb.run (mine int)")
    with pytest.raises(UsageError, match='"run" already exists'):
        upgrade(connection, sql_dir=sql_dir, owner=connection.info.user)
    assert connection.execute("select r.mine from anondb.run as r").fetchall() == []
    assert status(connection, sql_dir=sql_dir).state == "missing"


def test_every_table_and_every_public_function_has_a_comment(connection: Connection) -> None:
    upgrade(connection)
    silent = connection.execute(
        "select c.oid::regclass::text from pg_class as c where c.relnamespace = 'anondb'::regnamespace "
        "and c.relkind in ('r', 'v', 'm') and obj_description(c.oid, 'pg_class') is null "
        "union all "
        "select p.oid::regprocedure::text from pg_proc as p where p.pronamespace = 'anondb'::regnamespace "
        "and obj_description(p.oid, 'pg_proc') is null"
    )
    assert silent.fetchall() == []


def test_the_install_table_holds_one_row(connection: Connection, sql_dir: Path) -> None:
    upgrade(connection, sql_dir=sql_dir)
    for singleton in (True, False):
        with pytest.raises(psycopg.errors.IntegrityError):
            connection.execute(
                "insert into anondb.install "
                "(singleton, package, revision, functions_sha256, objects, tables) "
                "values (%s, '', '', '', '{}', '{}')",
                [singleton],
            )


def test_a_status_does_not_wait_for_alembic_to_load() -> None:
    program = "import sys, anondb.db.install.upgrade; sys.exit('alembic' in sys.modules or 'sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def grant_create(connection: Connection, role: str) -> None:
    connection.execute(
        sql.SQL("grant create on database {} to {}").format(
            sql.Identifier(connection.info.dbname), sql.Identifier(role)
        )
    )
