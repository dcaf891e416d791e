"""A name without a schema is found where its user's search path finds it, on a connection that has another path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.db.connection import Connection, Door, Session
from anondb.db.introspect import resolve_source, resolve_target
from anondb.errors import UsageError
from anondb.policy.model import Name

TABLES = """
create schema "A b"; create schema other;
create table public.t (); create table "A b".t (); create table other.t (); create table other."T" ();
create table public.pg_class ();
"""


@pytest.fixture
def places(connection: Connection) -> Connection:
    connection.execute(TABLES)
    return connection


@contextmanager
def session(dsn: str, path: str) -> Iterator[Session]:
    escaped = path.replace("\\", "\\\\").replace(" ", "\\ ")
    with Door(make_conninfo(dsn, options=f"-c search_path={escaped}")).open() as opened:
        yield opened


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize(
    ("path", "table", "schema"),
    [
        ('"A b",public', "t", "A b"),
        ("missing,other,public", "t", "other"),
        ("public,other", "T", "other"),
        ("public", "pg_class", "pg_catalog"),
        ("public,pg_catalog", "pg_class", "public"),
    ],
)
def test_the_first_schema_of_the_path_that_has_the_table(
    dsn: str, path: str, table: str, schema: str
) -> None:
    with session(dsn, path) as opened:
        assert resolve_source(opened, Name(None, table)).schema == schema
        [as_postgresql] = opened.execute("select current_schemas(false)").fetchone() or ()
        assert as_postgresql == ["pg_catalog"]


def test_the_schema_of_the_users_own_name(dsn: str, places: Connection) -> None:
    user = sql.Identifier(places.info.user)
    if not places.info.user.startswith("anondb"):  # that one is ours
        places.execute(sql.SQL("create schema {0}; create table {0}.t ()").format(user))
    with session(dsn, '"$user",public') as opened:
        found = resolve_source(opened, Name(None, "t")).schema
        assert found == ("public" if places.info.user.startswith("anondb") else places.info.user)


@pytest.mark.usefixtures("places")
@pytest.mark.parametrize(("path", "is_temporary"), [("public", True), ("public,pg_temp", False)])
def test_temporary_tables_come_first_unless_the_path_says_otherwise(
    dsn: str, path: str, is_temporary: bool
) -> None:
    with session(dsn, path) as opened:
        opened.execute("create temporary table t ()")
        assert resolve_source(opened, Name(None, "t")).schema.startswith("pg_temp") is is_temporary
        assert resolve_source(opened, Name("public", "t")).schema == "public"


@pytest.mark.usefixtures("places")
def test_a_new_table_goes_to_the_first_schema_that_there_is(dsn: str) -> None:
    with session(dsn, "missing,other,public") as opened:
        assert resolve_target(opened, Name(None, "new")).schema == "other"
    with session(dsn, "missing") as opened, pytest.raises(UsageError, match="the search path has none"):
        resolve_target(opened, Name(None, "new"))


@pytest.mark.usefixtures("places")
def test_a_table_outside_the_path_is_not_found(dsn: str) -> None:
    with session(dsn, "public") as opened, pytest.raises(UsageError, match="does not exist"):
        resolve_source(opened, Name(None, "T"))
