"""Tables that anondb makes of files: created and filled in one transaction, and known again by their comment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import UsageError
from anondb.sqltree.tables import Relation

MADE = "Loaded from a file by anondb load."
"""The comment of a table that was loaded: such a one alone may be replaced."""

_THERE = """
select c.relkind = 'r' and pg_catalog.obj_description(c.oid, 'pg_class') is not distinct from %s
from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = %s and c.relname = %s
"""
_DROP = sql.SQL("drop table {}")
_CREATE = sql.SQL("create table {} ({})")
_TEMPORARY = sql.SQL("create temporary table {} ({}) on commit drop")
_COLUMN = sql.SQL("{} {}")
_FILL = sql.SQL("copy {} from stdin")
_COMMENT = sql.SQL("comment on table {} is {}")
_ANALYZE = sql.SQL("analyze {}")

Columns = Sequence[tuple[str, str]]
"""Names, and types as PostgreSQL writes them; the types are ours, never a user's text."""


def create_and_fill(
    connection: Connection,
    table: Relation,
    columns: Columns,
    rows: Iterable[Sequence[str | None]],
    *,
    replace: bool = False,
) -> int:
    """A table with these rows, or none at all; what is there is replaced only if it was made here."""
    name = sql.Identifier(table.schema, table.name)
    with translated(f"loading {table.schema}.{table.name}"), connection.transaction():
        if require_room(connection, table, replace=replace):
            connection.execute(_DROP.format(name))
        connection.execute(_CREATE.format(name, _columns(columns)))
        connection.execute(_COMMENT.format(name, sql.Literal(MADE)))
        loaded = _fill(connection, name, rows)
        connection.execute(_ANALYZE.format(name))
    return loaded


def create_temporary(
    connection: Connection, table: str, columns: Columns, rows: Iterable[Sequence[object]]
) -> None:
    """The same in the caller's transaction, and gone at its end."""
    name = sql.Identifier("pg_temp", table)
    with translated("loading"):
        connection.execute(_TEMPORARY.format(name, _columns(columns)))
        _fill(connection, name, rows)
        connection.execute(_ANALYZE.format(name))


def is_loaded(connection: Connection, table: Relation) -> bool | None:
    """Whether a table was made of a file; None if there is none."""
    with translated("looking up the table"):
        row = connection.execute(_THERE, (MADE, table.schema, table.name)).fetchone()
    return None if row is None else bool(row[0])


def require_room(connection: Connection, table: Relation, *, replace: bool) -> bool:
    """Whether a table has to go first; one that must not is an error."""
    is_ours = is_loaded(connection, table)
    if is_ours is None:
        return False
    shown = f"{table.schema}.{table.name}"
    if not is_ours:
        raise UsageError(
            f"{shown} is there already, and was not made by anondb load",
            hint="give the new table another name",
        )
    if not replace:
        raise UsageError(
            f"{shown} is there already", hint="--replace makes it anew, or give the table another name"
        )
    return True


def _columns(columns: Columns) -> sql.Composed:
    # the types come from a list of ours, or from the catalogue's format_type()
    return sql.SQL(", ").join(_COLUMN.format(sql.Identifier(name), sql.SQL(type_)) for name, type_ in columns)


def _fill(connection: Connection, name: sql.Identifier, rows: Iterable[Sequence[object]]) -> int:
    with connection.cursor() as cursor:
        with cursor.copy(_FILL.format(name)) as copy:
            for row in rows:
                copy.write_row(row)
        return cursor.rowcount
