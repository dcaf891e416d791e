"""A small domain, and the rows that a recipe gives."""

from __future__ import annotations

import json
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from anondb.db.connection import Connection

TOY = """
[attributes.size]
type = "integer"
[attributes.size.frequencies]
"1..3" = 3
"4" = 1
"5" = 0
[attributes.colour]
given = ["size", "shape"]
[attributes.colour.table.4]
round = { red = 1 }
"*" = { blue = 2, green = 2 }
[attributes.colour.table."*"]
"*" = { blue = 9, white = 1 }
[attributes.shape]
frequencies = { round = 1, "it's \\"odd\\" \\\\ %" = 3 }
[attributes.double]
type = "integer"
expression = "case when size in (1, 2) then -size * 2 else abs(0 - size) * 2 end"
"""


def rows_of(connection: Connection, made: dict[str, Any], rows: int, seed: int = 7) -> list[tuple[Any, ...]]:
    """The rows that a recipe gives, in the order of their numbers."""
    [text] = (
        connection.execute("select anondb.cocoa_query(%s::jsonb, %s)", (json.dumps(made), seed)).fetchone()
        or ()
    )
    with psycopg.RawCursor(connection) as cursor:
        return cursor.execute(str(text).encode(), (Jsonb(made), 1, rows)).fetchall()
