"""Rows of a table for people: the first of them as texts, or all of them as CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.sqltree.tables import Relation

_FIRST = sql.SQL("select pg_catalog.row_to_json(t)::text, {} from {} as t limit {}")
_AS_TEXT = sql.SQL("t.{}::text")
_CSV = sql.SQL("copy (select {} from {} as t) to stdout with (format csv, header)")
_PLAIN = sql.SQL("t.{}")
# a column that the role may not read is left to the server's own error
_COLUMNS = """
select a.attname from pg_catalog.pg_attribute as a
join pg_catalog.pg_class as c on c.oid = a.attrelid
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = %s and c.relname = %s and a.attnum > 0 and not a.attisdropped
order by a.attnum
"""


def columns(connection: Connection, table: Relation) -> list[str]:
    with translated("reading the catalogue"):
        rows = connection.execute(_COLUMNS, (table.schema, table.name)).fetchall()
    return [cast(str, name) for (name,) in rows]


def first_rows(
    connection: Connection, table: Relation, names: Sequence[str], limit: int
) -> tuple[list[list[str | None]], list[str]]:
    """The first rows as the table lies: each value as PostgreSQL writes it, and each row as an object of JSON."""
    listed = sql.SQL(", ").join(_AS_TEXT.format(sql.Identifier(name)) for name in names)
    with translated("reading the rows"):
        rows = connection.execute(_FIRST.format(listed, _name(table), sql.Literal(limit))).fetchall()
    return [cast(list[str | None], list(row[1:])) for row in rows], [cast(str, row[0]) for row in rows]


def to_csv(
    connection: Connection, table: Relation, names: Sequence[str], write: Callable[[bytes], object]
) -> int:
    """All rows, piece by piece, with the names of the columns before them."""
    listed = sql.SQL(", ").join(_PLAIN.format(sql.Identifier(name)) for name in names)
    with translated("exporting"), connection.cursor() as cursor:
        with cursor.copy(_CSV.format(listed, _name(table))) as copy:
            for piece in copy:
                write(bytes(piece))
        return cursor.rowcount


def _name(table: Relation) -> sql.Identifier:
    return sql.Identifier(table.schema, table.name)
