"""Rows of a source that a seed draws: of two sizes with one seed, the smaller is part of the larger."""

from __future__ import annotations

from sqlglot import exp

from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    named,
    number,
    query,
    star,
    subquery,
    table,
)
from anondb.sqltree.tables import Relation, SourceColumn

_WHOLE, _COPY = "anondb whole", "anondb copy"


def drawn_rows(
    name: str, source: Relation, columns: tuple[SourceColumn, ...], rows: int, seed: int
) -> exp.Create:
    """A temporary table of so many rows, all columns as they are; of all rows where there are fewer."""
    # by what is in a row, and not by where it lies: the same data give the same rows on every server
    whole = cast(call("row", star("s")), "text")
    values = query([star("s"), named(whole, _WHOLE)], table(source.name, source.schema, "s"))
    # equal rows are numbered, or they would be drawn together
    copy = exp.Window(this=call("row_number"), partition_by=[collate_c(col(_WHOLE, "v"))])
    numbered = query([star("v"), named(copy, _COPY)], subquery(values, "v"))
    text = exp.DPipe(this=col(_WHOLE, "n"), expression=cast(col(_COPY, "n"), "text"))
    draw = call("hashtextextended", collate_c(text), cast(number(seed), "bigint"))
    order = [draw, collate_c(col(_WHOLE, "n")), col(_COPY, "n")]
    chosen = query([col(column.name, "n") for column in columns], subquery(numbered, "n"))
    return create_scratch(name, chosen.order_by(*order).limit(number(rows)))
