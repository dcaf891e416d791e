"""Removal takes everything that is ours and only that, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from anondb.db.connection import Connection
from anondb.db.install.upgrade import remove, status, upgrade
from anondb.errors import UsageError
from tests.upgrade.conftest import Connect, add_migration
from tests.upgrade.test_install import footprint

CATALOGUE = """
select d.classid::regclass::text, d.objid, d.objsubid
from (select classid, objid, objsubid from pg_depend
      union select tableoid, oid, 0 from pg_namespace where nspname !~ '^pg_(temp|toast)_'
      union select tableoid, oid, 0 from pg_class
      union select tableoid, oid, 0 from pg_proc
      union select tableoid, oid, 0 from pg_type
      union select classoid, objoid, objsubid from pg_description) as d
order by 1, 2, 3
"""


def catalogue(connection: Connection) -> list[tuple[object, ...]]:
    return connection.execute(CATALOGUE).fetchall()


def test_removal_leaves_the_database_as_it_was_before_the_installation(connection: Connection) -> None:
    connection.execute(
        "create schema share; create table share.release (n int); create view v as select 1 as n"
    )
    before = catalogue(connection)
    upgrade(connection)
    dropped = remove(connection)
    assert catalogue(connection) == before
    assert {"schema anondb", "schema anondb_work", "table anondb.run"} <= set(dropped)
    assert any(name.startswith("function anondb.") for name in dropped)
    assert status(connection).state == "missing"


def test_removal_takes_all_that_several_upgrades_made(
    connect: Connect, connection: Connection, sql_dir: Path, migrations_dir: Path
) -> None:
    # a search path that hides the system's catalogue from a statement that does not pin its own
    connection.execute(
        "create schema decoy; create table decoy.pg_namespace (); create table decoy.pg_depend ()"
    )
    before = catalogue(connection)
    misled = connect(search_path="decoy,pg_catalog")
    upgrade(misled, sql_dir=sql_dir)
    add_migration(migrations_dir, "create table anondb.later ()")
    upgrade(misled, sql_dir=sql_dir, migrations_dir=migrations_dir)
    (sql_dir / "core" / "second.sql").write_text("create domain anondb.small as int check (value < 9)")
    upgrade(misled, sql_dir=sql_dir, migrations_dir=migrations_dir)
    remove(misled)
    assert catalogue(connection) == before


def test_after_a_removal_it_installs_again(connection: Connection, sql_dir: Path) -> None:
    upgrade(connection, sql_dir=sql_dir)
    remove(connection)
    assert upgrade(connection, sql_dir=sql_dir).state == "current"


def test_removing_what_is_not_there_drops_nothing(connection: Connection) -> None:
    connection.execute("create schema anondb; create table anondb.mine ()")
    before = catalogue(connection)
    assert remove(connection) == []
    assert catalogue(connection) == before


def test_what_a_user_keeps_with_us_is_named_and_nothing_is_dropped(connection: Connection) -> None:
    upgrade(connection)
    for statement in (
        "create function anondb.mine() returns int return 7",
        "create table anondb_work.notes (n int)",
        'create table public."my runs" (run bigint constraint mine references anondb.run)',
        "create view public.history as select r.id from anondb.run as r",
        "create function public.shown(r anondb.run) returns text language sql return 'x'",
        "create table public.own (id bigint default nextval('anondb.run_id_seq'))",
    ):
        connection.execute(statement.encode())
    before = footprint(connection)
    with pytest.raises(UsageError) as refused:
        remove(connection)
    assert refused.value.message.splitlines() == [
        "default value for public.own.id uses table anondb.run",
        "function anondb.mine() lies in schema anondb",
        "function public.shown(anondb.run) uses table anondb.run",
        "table anondb_work.notes lies in schema anondb_work",
        'table constraint mine on public."my runs" uses table anondb.run',
        "view public.history uses table anondb.run",
    ]
    assert refused.value.hint == "nothing was removed; drop or move these first"
    assert footprint(connection) == before


def test_scratch_that_a_run_left_behind_goes_too(connection: Connection, sql_dir: Path) -> None:
    upgrade(connection, sql_dir=sql_dir)
    connection.execute(
        "create table anondb_work.r42_rec (rid int); create table anondb_work.r42_q1 (leaf int)"
    )
    assert {"table anondb_work.r42_rec", "table anondb_work.r42_q1"} <= set(remove(connection))


def test_two_removals_in_turn_are_one(connection: Connection, sql_dir: Path) -> None:
    upgrade(connection, sql_dir=sql_dir)
    assert remove(connection)
    assert remove(connection) == []
