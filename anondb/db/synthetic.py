"""Synthetic tables: the statements that draw them in the database, and what is asked of them afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.sqltree.tables import Relation

CHUNK = 250_000
"""Rows of one statement: enough for its speed, few enough to tell how far it is."""

_GENERATE = """
select anondb.generate_recipe(%s::jsonb, %s, %s::bigint, seed => %s::bigint, first_row => %s::bigint, append => %s)
"""
_PRINTED = sql.SQL("select anondb.generate_recipe({recipe}::jsonb, {target}, {rows}, seed => {seed});\n")

Progress = Callable[[int, int], None]


def generate(
    connection: Connection,
    recipe: Mapping[str, Any],
    target: Relation,
    rows: int,
    seed: int,
    *,
    chunk: int = CHUNK,
    progress: Progress | None = None,
) -> int:
    """Makes a table as a whole or not at all; the size of the chunks changes no row."""
    name, text, done = _name(connection, target), json.dumps(recipe), 0
    with translated("generating"), connection.transaction():
        while done < max(rows, 1):
            part = min(chunk, rows - done)
            [made] = cast(
                tuple[int],
                connection.execute(_GENERATE, (text, name, part, seed, done + 1, done > 0)).fetchone(),
            )
            done += made
            if progress is not None:
                progress(done, rows)
    return done


def printed(connection: Connection, recipe: Mapping[str, Any], target: Relation, rows: int, seed: int) -> str:
    """The statement that makes the table, for any client."""
    return _PRINTED.format(
        recipe=sql.Literal(json.dumps(recipe, ensure_ascii=False)),
        target=sql.Literal(_name(connection, target)),
        rows=sql.Literal(rows),
        seed=sql.Literal(seed),
    ).as_string(connection)


def _name(connection: Connection, target: Relation) -> str:
    return sql.Identifier(target.schema, target.name).as_string(connection)
