"""Columns whose values are exchanged within each class: every class keeps its values, and no record its own.

Two orders of a class, each drawn by a keyed hash of the records: a record takes the value of the one that stands at its
place in the other order. Records that are equal in all columns are numbered, so that they too are spread; which of them
has which number makes no difference to what is released.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.run.keyed_sql import Key, keyed, row_order, with_keys
from anondb.run.persons_sql import key_of
from anondb.run.perturbed_sql import record_hash
from anondb.sqltree.build import call, col, equal, every, ident, named, number, star, subquery, table
from anondb.sqltree.tables import TEMPORARY, Scratch

_RECORD, _COPY, _PLACE = "record", "copy", "place"


def exchanged(
    rows: exp.Select,
    names: Scratch,
    shown: Sequence[str],
    kept: int,
    shuffled: Sequence[int],
    schema: str = TEMPORARY,
) -> exp.Select:
    """Rows that `released_rows` has made of the source `s`, with the values of these positions exchanged.

    `rows` has no keys yet; the answer has no use for any.
    """
    rows = rows.copy()
    # what they were ordered by would tell of the values that a record had
    rows.set("expressions", [part for part in rows.expressions if part.alias_or_name != "order"])
    record = record_hash(_RECORD, "s", key_of(Key.SHUFFLE.name.lower()))
    rows = with_keys(rows.select(named(record, _RECORD)), names, schema)
    copies = exp.Window(this=call("row_number"), partition_by=[col(_RECORD, "a")])
    numbered = exp.select(star("a"), named(copies, _COPY)).from_(subquery(rows, "a"))
    places = [named(_place("b", turn), f"{_PLACE}{turn}") for turn in (0, *shuffled)]
    placed = with_keys(exp.select(star("b"), *places).from_(subquery(numbered, "b")), names, schema)
    values = [col(f"c{i}", f"x{i}" if i in shuffled else "m") for i in range(1, kept + 1)]
    query = exp.select(col("class", "m"), named(row_order(values), "order"))
    query = query.select(*[col(name, "m") for name in dict.fromkeys(shown)])
    query = query.select(*[named(value.copy(), f"c{i}") for i, value in enumerate(values, 1)])
    query = query.from_(table("placed", alias="m"))
    for turn in shuffled:
        same = [
            equal(col("class", f"x{turn}"), col("class", "m")),
            equal(col(f"{_PLACE}{turn}", f"x{turn}"), col(f"{_PLACE}0", "m")),
        ]
        query = query.join(table("placed", alias=f"x{turn}"), on=every(same))
    return with_keys(query, names, schema).with_(ident("placed"), as_=placed, materialized=True)


def _place(of: str, turn: int) -> exp.Expr:
    """The place of a record in an order of its class."""
    drawn = keyed(Key.SHUFFLE, [col(_RECORD, of), col(_COPY, of), number(turn)])
    order = exp.Order(expressions=[exp.Ordered(this=drawn)])
    return exp.Window(this=call("row_number"), partition_by=[col("class", of)], order=order)
