"""Whoever may create in the database cannot make anondb read, call or trust what is not its owner's."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.db.install.upgrade import status, upgrade
from anondb.errors import AnondbError, DatabaseError
from tests.servers import new_database

Actions = dict[str, Callable[[Database], object]]
ACTIONS: Actions = {
    "status": Database.status,
    "upgrade": Database.upgrade,
    "remove": Database.remove,
    "use": lambda database: database.hierarchies.list(),
}

# a sequence keeps what was counted in transactions that are rolled back
TRAP = """
create schema trap;
grant usage on schema trap to public;
create sequence trap.sprung;
grant all on trap.sprung to public;
create function trap.spring() returns boolean language plpgsql volatile as $$
begin
    perform pg_catalog.nextval('trap.sprung');
    return true;
end $$;
create function trap.spring_at_a_row() returns trigger language plpgsql as $$
begin
    perform pg_catalog.nextval('trap.sprung');
    return new;
end $$;
"""
FORGED = """
create schema anondb;
create table anondb.install (
    singleton boolean, package text, revision text, functions_sha256 text, catalogue_sha256 text, server_major int,
    objects text[], tables text[], installed_at timestamptz default now());
"""


class Squat:
    """A database, its victim (a superuser) and a role that may create in it."""

    def __init__(self, conninfo: str, admin: Connection) -> None:
        self.conninfo, self.admin = conninfo, admin
        self.roles: list[str] = []
        self.mallory = self.role()
        self.grant("create on database {} to", admin.info.dbname)

    def role(self) -> str:
        self.roles.append(f"anondb_test_{uuid.uuid4().hex[:12]}")
        self.admin.execute(sql.SQL("create role {}").format(sql.Identifier(self.roles[-1])))
        return self.roles[-1]

    def grant(self, right: str, *names: str, role: str | None = None) -> None:
        statement = sql.SQL("grant " + right + " {}")
        self.admin.execute(statement.format(*map(sql.Identifier, (*names, role or self.mallory))))

    def dsn(self, role: str) -> str:
        return make_conninfo(self.conninfo, options=f"-c role={role}")

    def as_mallory(self, statement: str) -> None:
        with psycopg.connect(self.dsn(self.mallory), autocommit=True) as connection:
            connection.execute(statement.encode())

    def refuses(self, action: str, *, role: str | None = None, owner: str | None = None) -> str:
        """What is said by an action of the victim, which must be refused and spring no trap."""
        door = Door(self.conninfo if role is None else self.dsn(role), owner=owner)
        with Database(door) as database, pytest.raises(AnondbError) as refused:
            ACTIONS[action](database)
        assert self.sprung() is False
        assert refused.value.exit_code == 4
        assert refused.value.hint
        return str(refused.value)

    def sprung(self) -> object:
        if self.admin.execute("select to_regclass('trap.sprung') is null").fetchone() == (True,):
            return False
        row = self.admin.execute("select s.is_called from trap.sprung as s").fetchone()
        return None if row is None else row[0]


@pytest.fixture
def squat(server: str) -> Iterator[Squat]:
    with new_database(server) as conninfo, psycopg.connect(conninfo, autocommit=True) as admin:
        admin.execute("create schema if not exists public")
        made = Squat(conninfo, admin)
        yield made
        for name in made.roles:
            role = sql.Identifier(name)
            admin.execute(sql.SQL("drop owned by {} cascade").format(role))
        for name in made.roles:
            admin.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@pytest.fixture
def installed(squat: Squat) -> Squat:
    """anondb, installed by a role of its own."""
    with psycopg.connect(squat.conninfo, autocommit=True) as connection:
        upgrade(connection)
    return squat


@pytest.mark.parametrize("action", ACTIONS)
def test_a_view_in_the_place_of_our_table_is_not_read(squat: Squat, action: str) -> None:
    squat.as_mallory(TRAP)
    squat.as_mallory(
        "create schema anondb; create view anondb.install as select 'x'::text as package, '0001'::text as revision, "
        "''::text as functions_sha256, '{}'::text[] as objects, '{}'::text[] as tables where trap.spring();"
        "grant usage on schema anondb to public; grant select on anondb.install to public"
    )
    said = squat.refuses(action)
    assert squat.mallory in said
    assert "--owner" in said


@pytest.mark.parametrize("action", ACTIONS)
def test_a_forged_row_of_an_installation_is_not_believed(squat: Squat, action: str) -> None:
    with psycopg.connect(squat.conninfo) as connection:
        carried = status(connection)
    squat.as_mallory(FORGED)
    squat.admin.execute(
        "insert into anondb.install values (true, %s, %s, %s, null, null, '{}', '{}')",
        (carried.package, carried.revision, carried.functions_sha256),
    )
    assert squat.mallory in squat.refuses(action)


@pytest.mark.parametrize("schema", ["anondb", "anondb_work"])
@pytest.mark.parametrize("action", ["upgrade", "status"])
def test_an_empty_schema_of_another_role_is_not_installed_into(
    squat: Squat, schema: str, action: str
) -> None:
    squat.as_mallory(f"create schema {schema}; grant all on schema {schema} to public")
    assert f"schema {schema} belongs to role {squat.mallory}" in squat.refuses(action)


def test_not_even_an_own_empty_schema_is_installed_into_without_a_word(squat: Squat) -> None:
    squat.admin.execute("create schema anondb")
    me = squat.admin.info.user
    assert f"anondb --owner {me} db upgrade" in squat.refuses("upgrade")
    with Database(Door(squat.conninfo, owner=me)) as database:
        assert database.upgrade().state == "current"


def test_memberships_that_a_role_gives_away_itself_count_for_nothing(squat: Squat) -> None:
    """Who may grant a role can make anybody its member, and so seem to be trusted."""
    group = squat.role()
    squat.admin.execute(
        sql.SQL("grant {} to {} with admin option").format(
            sql.Identifier(group), sql.Identifier(squat.mallory)
        )
    )
    squat.grant("create on database {} to", squat.admin.info.dbname, role=group)
    victim = squat.role()
    squat.as_mallory(f"grant {group} to {victim}; create schema anondb authorization {group}")
    assert group in squat.refuses("status", role=victim)


def test_a_superuser_is_no_member_of_every_role(squat: Squat) -> None:
    """PostgreSQL says that it is; but it trusts none of them for that."""
    upgrade_as(squat, squat.mallory)
    squat.refuses("status")
    with Database(Door(squat.conninfo, owner=squat.mallory)) as database:
        assert database.status().state == "current"
        assert database.hierarchies.list() == []


def test_a_member_of_the_owner_trusts_it(squat: Squat) -> None:
    upgrade_as(squat, squat.mallory)
    member = squat.role()
    squat.admin.execute(
        sql.SQL("grant {} to {}").format(sql.Identifier(squat.mallory), sql.Identifier(member))
    )
    with Database(Door(squat.dsn(member))) as database:
        assert database.status().state == "current"


def test_a_role_with_grants_names_the_owner(squat: Squat) -> None:
    upgrade_as(squat, squat.mallory)
    nightly = squat.role()
    squat.as_mallory(
        f"grant usage on schema anondb to {nightly}; grant select on anondb.install to {nightly}"
    )
    assert f"ANONDB_OWNER={squat.mallory}" in squat.refuses("status", role=nightly)
    with Database(Door(squat.dsn(nightly), owner=squat.mallory)) as database:
        assert database.status().state == "current"


CHANGES = {
    "a function that its owner replaced": (
        "create or replace function anondb.range_label(value numeric, start numeric, width numeric) returns text "
        "language sql immutable parallel safe as $$ select 'replaced' $$"
    ),
    "a function that is found before ours": (
        "create function anondb.gsl_rating(score int) returns text language sql as $$ select '' $$"
    ),
    "a setting of a function": "alter function anondb.k_anonymity(regclass, name[], name) set search_path = public",
    "a function with its owner's rights": (
        "alter function anondb.k_anonymity(regclass, name[], name) security definer"
    ),
    "a table that became a view": (
        "drop table anondb.term_mapping cascade; create view anondb.term_mapping as "
        "select 1 as ontology, ''::text as term, 1 as concept where trap.spring()"
    ),
    "a default": "alter table anondb.run alter column package set default trap.spring()::text",
    "an index": "create index on anondb.run (lower(source))",
    "a table of the same rows": "create table trap.more () inherits (anondb.vgh)",
    "a policy": (
        "alter table anondb.vgh enable row level security; create policy p on anondb.vgh using (trap.spring())"
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_changed_since_the_installation_is_not_used(installed: Squat, change: str) -> None:
    installed.admin.execute(TRAP.encode())
    installed.admin.execute(change.encode())
    said = installed.refuses("use")
    assert "not those that were installed" in said
    with Database(Door(installed.conninfo)) as database:
        assert database.status().state == "changed"


def test_an_upgrade_makes_a_changed_function_anew(installed: Squat) -> None:
    installed.admin.execute(CHANGES["a function that its owner replaced"].encode())
    with Database(Door(installed.conninfo)) as database:
        assert database.upgrade().state == "current"
        assert database.hierarchies.list() == []
    label = installed.admin.execute("select anondb.range_label(7, 0, 5)").fetchone()
    assert label == ("[5, 10)",)


def test_after_an_upgrade_of_the_server_the_command_that_mends_it_is_told(installed: Squat) -> None:
    installed.admin.execute(
        "update anondb.install set server_major = 13, catalogue_sha256 = 'of that version'"
    )
    said = installed.refuses("use")
    assert "installed on PostgreSQL 13" in said
    assert "anondb db upgrade" in said
    with Database(Door(installed.conninfo)) as database:
        assert database.upgrade().state == "current"
        assert database.hierarchies.list() == []


ODD = {
    "may create in schema anondb": "grant create on schema anondb to {}",
    "may create in schema anondb_work": "grant create on schema anondb_work to {}",
    "relation anondb.run_metric belongs to": "alter table anondb.run_metric owner to {}",
    "routine anondb.stem belongs to": "alter function anondb.stem(text) owner to {}",
    "the schemas of anondb belong to different roles": "alter schema anondb_work owner to {}",
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(("told", "change"), ODD.items(), ids=ODD)
def test_a_part_that_another_role_may_change_is_refused(
    installed: Squat, told: str, change: str, action: str
) -> None:
    installed.admin.execute(sql.SQL(change).format(sql.Identifier(installed.mallory)))
    said = installed.refuses(action, owner=installed.mallory)
    assert told in said
    assert installed.mallory in said


def test_public_may_not_create_in_our_schemas_either(installed: Squat) -> None:
    installed.admin.execute("grant create on schema anondb to public")
    assert "revoke create on schema anondb from public;" in installed.refuses("use")


@pytest.mark.parametrize("action", ACTIONS)
def test_a_trigger_of_another_role_on_our_tables_is_refused(installed: Squat, action: str) -> None:
    """The right to make one is a grant, and what it calls runs with the rights of whoever writes."""
    installed.as_mallory(TRAP)
    installed.grant("usage on schema anondb to")
    installed.grant("trigger on anondb.install, anondb.vgh, anondb.alembic_version to")
    installed.as_mallory(
        "create trigger t before insert or update on anondb.install for each row "
        "execute function trap.spring_at_a_row()"
    )
    assert "trigger t of table anondb.install" in installed.refuses(action)


def test_a_schema_that_appears_while_an_upgrade_looks_is_not_installed_into(squat: Squat) -> None:
    from anondb.db.install import trust
    from anondb.db.install.upgrade import Code, _install

    places = trust.require_ours(squat.admin)
    squat.as_mallory("create schema anondb_work")
    with pytest.raises(psycopg.errors.DuplicateSchema), squat.admin.transaction():
        _install(squat.admin, Code.read(), places)


def test_the_same_routines_have_the_same_digest_whatever_a_role_has_set(installed: Squat) -> None:
    odd = "-c quote_all_identifiers=on -c search_path=anondb -c datestyle=german -c extra_float_digits=-3 "
    odd += (
        "-c intervalstyle=iso_8601 -c bytea_output=escape -c lc_messages=C -c standard_conforming_strings=off"
    )
    with Database(Door(make_conninfo(installed.conninfo, options=odd))) as database:
        assert database.status().state == "current"


def upgrade_as(squat: Squat, role: str) -> None:
    with psycopg.connect(squat.dsn(role), autocommit=True) as connection:
        upgrade(connection)


def test_a_refusal_tells_an_unknown_owner_apart(squat: Squat) -> None:
    squat.as_mallory("create schema anondb")
    with Database(Door(squat.conninfo, owner="somebody else")) as database, pytest.raises(DatabaseError):
        database.status()
