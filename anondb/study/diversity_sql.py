"""Samples of the data of a study: so many records, drawn by a seed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.sqltree.build import call, cast, col, create_scratch, ident, named, number, query, subquery, table
from anondb.sqltree.tables import Relation


def sample(name: str, source: Relation, columns: Sequence[str], records: int, seed: int) -> exp.Create:
    """A temporary table of these columns of so many records, or of all where there are fewer."""
    # equal records are numbered, or they would be drawn together
    values = [col(column, "s") for column in columns]
    copy = exp.Window(this=call("row_number"), partition_by=[value.copy() for value in values])
    numbered = query([*values, named(copy, "copy")], table(source.name, source.schema, "s"))
    # as jsonb, NULL is not the empty text, and it can be told where a value ends
    parts = [*[col(column, "n") for column in columns], col("copy", "n")]
    whole = cast(call("jsonb_build_array", *parts), "text")
    drawn = call("hashtextextended", whole, cast(number(seed), "bigint"))
    last = exp.Collate(this=whole.copy(), expression=ident("C"))
    rows = query([col(column, "n") for column in columns], subquery(numbered, "n"))
    return create_scratch(name, rows.order_by(drawn, last).limit(number(records)))


def count(source: Relation) -> exp.Select:
    return query([exp.Count(this=exp.Star())], table(source.name, source.schema, "s"))
