"""An upgrade over an older installation: whole, or not at all; never at the cost of a user's object."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.install.upgrade import remove, require_current, status, upgrade
from anondb.errors import AnondbError, DatabaseError, UsageError
from tests.upgrade.conftest import FIRST_FILE, Connect, add_migration
from tests.upgrade.test_install import footprint, grant_create


def change_a_function(sql_dir: Path) -> None:
    first = sql_dir / "core" / "first.sql"
    first.write_text(first.read_text().replace("a * 2", "a * 20"))


def value(connection: Connection, query: str) -> object:
    row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def test_a_changed_file_makes_the_database_outdated_and_an_upgrade_replaces_the_function(
    connection: Connection, sql_dir: Path
) -> None:
    upgrade(connection, sql_dir=sql_dir)
    assert value(connection, "select anondb.five()") == 5
    change_a_function(sql_dir)
    assert status(connection, sql_dir=sql_dir).state == "outdated"
    with pytest.raises(DatabaseError, match="not those of this package") as refused:
        require_current(connection, sql_dir=sql_dir)
    assert refused.value.hint == "run: anondb db upgrade"
    assert upgrade(connection, sql_dir=sql_dir).state == "current"
    assert value(connection, "select anondb.five()") == 41
    require_current(connection, sql_dir=sql_dir)


def test_a_function_that_the_files_no_longer_make_is_gone(connection: Connection, sql_dir: Path) -> None:
    upgrade(connection, sql_dir=sql_dir)
    (sql_dir / "MANIFEST").write_text("core/first.sql\n")
    upgrade(connection, sql_dir=sql_dir)
    routines = connection.execute(
        "select proname from pg_proc"
        " where pronamespace = 'anondb'::regnamespace and prorettype <> 'trigger'::regtype"
    )
    assert routines.fetchall() == [("twice",)]
    assert value(connection, "select i.objects from anondb.install as i") == [
        "function anondb.twice(integer)"
    ]


def test_line_ends_do_not_change_the_fingerprint_and_order_does(
    connection: Connection, sql_dir: Path
) -> None:
    before = status(connection, sql_dir=sql_dir).functions_sha256
    for name in ("first", "second"):
        path = sql_dir / "core" / f"{name}.sql"
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert status(connection, sql_dir=sql_dir).functions_sha256 == before
    (sql_dir / "MANIFEST").write_text("core/second.sql\ncore/first.sql\n")
    assert status(connection, sql_dir=sql_dir).functions_sha256 != before


def break_a_file(sql_dir: Path, migrations_dir: Path) -> str:
    (sql_dir / "core" / "second.sql").write_text(
        "create function anondb.six() returns int return anondb.no();"
    )
    return r"anondb\.no\(\) does not exist \(installing sql/core/second\.sql\)"


def break_a_migration(sql_dir: Path, migrations_dir: Path) -> str:
    add_migration(migrations_dir, "create table anondb.half (); create table anondb.half ()")
    return '"half" already exists'


def break_the_migrations_code(sql_dir: Path, migrations_dir: Path) -> str:
    path = add_migration(migrations_dir, "create table anondb.half ()")
    path.write_text(path.read_text() + "    raise RuntimeError('half way')\n")
    return "half way"


def lose_a_file(sql_dir: Path, migrations_dir: Path) -> str:
    (sql_dir / "core" / "second.sql").unlink()
    return "the package is incomplete"


def lose_the_migrations(sql_dir: Path, migrations_dir: Path) -> str:
    shutil.rmtree(migrations_dir)
    return "the package is incomplete"


FAULTS = [break_a_file, break_a_migration, break_the_migrations_code, lose_a_file, lose_the_migrations]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_in_the_middle_leaves_the_old_version_usable(
    connection: Connection,
    sql_dir: Path,
    migrations_dir: Path,
    tmp_path: Path,
    fault: Callable[[Path, Path], str],
) -> None:
    old = shutil.copytree(sql_dir, tmp_path / "old")
    upgrade(connection, sql_dir=old)
    before = footprint(connection)
    change_a_function(sql_dir)
    message = fault(sql_dir, migrations_dir)
    with pytest.raises((AnondbError, RuntimeError), match=message):
        upgrade(connection, sql_dir=sql_dir, migrations_dir=migrations_dir)
    assert footprint(connection) == before
    assert value(connection, "select anondb.five()") == 5
    require_current(connection, sql_dir=old)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_first_installation_that_fails_leaves_nothing(
    connection: Connection, sql_dir: Path, migrations_dir: Path, fault: Callable[[Path, Path], str]
) -> None:
    fault(sql_dir, migrations_dir)
    with pytest.raises((AnondbError, RuntimeError)):
        upgrade(connection, sql_dir=sql_dir, migrations_dir=migrations_dir)
    assert connection.execute("select from pg_namespace where nspname like 'anondb%'").fetchall() == []


def test_a_new_migration_keeps_the_rows_and_belongs_to_us(
    connection: Connection, sql_dir: Path, migrations_dir: Path
) -> None:
    upgrade(connection, sql_dir=sql_dir)
    connection.execute("insert into anondb.policy (sha256, body) values ('a', 'b')")
    add_migration(migrations_dir, "create table anondb.later (percent text default '100 %')")
    assert status(connection, sql_dir=sql_dir, migrations_dir=migrations_dir).state == "outdated"
    installed = upgrade(connection, sql_dir=sql_dir, migrations_dir=migrations_dir)
    assert (installed.state, installed.installed_revision) == ("current", "9999")
    assert value(connection, "select v.version_num from anondb.alembic_version as v") == "9999"
    assert value(connection, "select count(*) from anondb.policy") == 1
    assert "table anondb.later" in remove(connection)


def test_a_database_with_later_tables_is_refused(
    connection: Connection, sql_dir: Path, migrations_dir: Path
) -> None:
    add_migration(migrations_dir, "create table anondb.later ()")
    upgrade(connection, sql_dir=sql_dir, migrations_dir=migrations_dir)
    assert_newer_is_refused(connection, sql_dir)


def test_a_database_with_later_functions_is_refused(connection: Connection, sql_dir: Path) -> None:
    upgrade(connection, sql_dir=sql_dir)
    connection.execute("update anondb.install set package = '1000.2.0rc1', functions_sha256 = 'later'")
    assert_newer_is_refused(connection, sql_dir)


def assert_newer_is_refused(connection: Connection, sql_dir: Path) -> None:
    before = footprint(connection)
    assert status(connection, sql_dir=sql_dir).state == "newer"
    for action in (upgrade, require_current):
        with pytest.raises(DatabaseError, match="newer than this package") as refused:
            action(connection, sql_dir=sql_dir)
        assert refused.value.hint is not None
        assert "upgrade the package" in refused.value.hint
    assert footprint(connection) == before


def test_a_missing_installation_is_told_the_command(connection: Connection) -> None:
    with pytest.raises(DatabaseError, match="not installed") as refused:
        require_current(connection)
    assert refused.value.hint == "run: anondb db upgrade"


USERS_OBJECTS = {
    'view public."A b"': 'create view public."A b" as select anondb.twice(1) as n',
    "materialized view public.m": "create materialized view public.m as select f.n from anondb.four as f",
    "function public.f()": "create function public.f() returns int return anondb.five()",
    "default value for public.t.n": "create table public.t (n int default anondb.twice(1))",
    "table constraint positive on public.c": (
        "create table public.c (n int, constraint positive check (anondb.twice(n) > 0))"
    ),
    "index public.i": "create table public.x (n int); create index i on public.x (anondb.twice(n))",
    "table column public.r.f": "create table public.r (f anondb.four)",
    "policy p on public.s": (
        "create table public.s (n int); create policy p on public.s using (anondb.twice(n) > 0)"
    ),
}


def test_users_objects_on_ours_are_named_and_nothing_is_dropped(
    connection: Connection, sql_dir: Path
) -> None:
    upgrade(connection, sql_dir=sql_dir)
    for statement in USERS_OBJECTS.values():
        connection.execute(statement.encode())
    before = footprint(connection)
    change_a_function(sql_dir)
    with pytest.raises(UsageError) as refused:
        upgrade(connection, sql_dir=sql_dir)
    named = refused.value.message.splitlines()
    assert sorted(line.split(" uses ")[0] for line in named) == sorted(USERS_OBJECTS)
    assert 'view public."A b" uses function anondb.twice(integer)' in named
    assert refused.value.hint == "nothing was changed; drop these, upgrade, and make them again"
    assert footprint(connection) == before
    assert value(connection, 'select v.n from public."A b" as v') == 2


def test_a_users_view_does_not_disturb_a_database_that_is_current(
    connection: Connection, sql_dir: Path
) -> None:
    upgrade(connection, sql_dir=sql_dir)
    connection.execute("create view public.v as select anondb.twice(1) as n")
    assert upgrade(connection, sql_dir=sql_dir).state == "current"


def test_a_users_function_in_our_schema_stays_theirs(connection: Connection, sql_dir: Path) -> None:
    upgrade(connection, sql_dir=sql_dir)
    connection.execute("create function anondb.mine() returns int return 7")
    change_a_function(sql_dir)
    upgrade(connection, sql_dir=sql_dir)
    assert value(connection, "select anondb.mine()") == 7
    assert (
        value(
            connection, "select 'function anondb.mine()' = any(i.objects || i.tables) from anondb.install i"
        )
        is False
    )


def test_a_users_function_of_our_name_is_not_replaced(connection: Connection, sql_dir: Path) -> None:
    (sql_dir / "core" / "second.sql").write_text("")
    upgrade(connection, sql_dir=sql_dir)
    connection.execute("create function anondb.thrice() returns int return 7")
    (sql_dir / "core" / "second.sql").write_text(
        FIRST_FILE.replace("twice(a int)", "thrice()").replace("a * 2", "3")
    )
    with pytest.raises(UsageError, match='"thrice" already exists'):
        upgrade(connection, sql_dir=sql_dir)
    assert value(connection, "select anondb.thrice()") == 7


def test_grants_on_our_functions_and_views_survive(
    connection: Connection, sql_dir: Path, new_role: Callable[[], str]
) -> None:
    upgrade(connection, sql_dir=sql_dir)
    role = sql.Identifier(new_role())
    for statement in (
        "revoke execute on function anondb.twice(int) from public",
        "grant execute on function anondb.twice(int) to {} with grant option",
        "grant execute on procedure anondb.nothing() to {}",
        "grant select on anondb.four to {}, public",
    ):
        connection.execute(sql.SQL(statement).format(role))
    lists = (
        "select p.proname, (select array_agg(a::text order by a::text) from unnest(p.proacl) as a) "
        "from pg_proc as p where p.pronamespace = 'anondb'::regnamespace "
        "union all "
        "select c.relname, (select array_agg(a::text order by a::text) from unnest(c.relacl) as a) "
        "from pg_class as c where c.relnamespace = 'anondb'::regnamespace order by 1"
    )
    before = connection.execute(lists).fetchall()
    change_a_function(sql_dir)
    upgrade(connection, sql_dir=sql_dir)
    assert connection.execute(lists).fetchall() == before


def test_what_an_administrator_upgrades_stays_its_owners(
    connect: Connect, connection: Connection, sql_dir: Path, new_role: Callable[[], str]
) -> None:
    role = new_role()
    grant_create(connection, role)
    upgrade(connect(role=role), sql_dir=sql_dir)
    change_a_function(sql_dir)
    upgrade(connection, sql_dir=sql_dir, owner=role)
    owners = (
        "select distinct pg_get_userbyid(p.proowner) from pg_proc as p "
        "where p.pronamespace = 'anondb'::regnamespace"
    )
    assert connection.execute(owners).fetchall() == [(role,)]
    change_a_function(sql_dir)
    assert upgrade(connect(role=role), sql_dir=sql_dir).state == "current"
