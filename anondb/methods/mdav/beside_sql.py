"""Quasi-identifiers beside the set: their values by record, and what of a release is verified of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
    scratch,
    string,
    table,
    union_all,
)
from anondb.sqltree.equality import as_text, counted_value
from anondb.sqltree.render import render
from anondb.sqltree.tables import DATE_TYPES, WHOLE_TYPES, Quasi, Relation, Scratch

BESIDE = "mdav_beside"
TOLD = "mdav_told"


def kind(quasi: Quasi) -> str:
    """How its values are compared, and released."""
    if not quasi.column.is_ranged:
        return "text"
    if quasi.column.base in DATE_TYPES:
        return "date"
    return "integer" if quasi.column.base in WHOLE_TYPES else "number"


def values(names: Scratch, beside: Sequence[Quasi], kept: int) -> exp.Create:
    """The values of each record; these columns lie after the kept ones."""
    return create_scratch(
        BESIDE, union_all([_values(names, quasi, kept + n) for n, quasi in enumerate(beside, 1)])
    )


def _values(names: Scratch, quasi: Quasi, column: int) -> exp.Select:
    value, what = col(f"c{column}", "r"), kind(quasi)
    no_number, no_text = cast(exp.Null(), "float8"), collate_c(cast(exp.Null(), "text"))
    figure = call("date_part", string("epoch"), value) if what == "date" else cast(value, "float8")
    known = cast(figure, "text")
    finite = exp.Not(
        this=exp.In(this=known, expressions=[string(x) for x in ("NaN", "Infinity", "-Infinity")])
    )
    found = no_number if what == "text" else exp.Case().when(finite, figure.copy())
    text = (
        as_text(counted_value(replace(quasi.column, name=f"c{column}"), "r")) if what == "text" else no_text
    )
    return query(
        [
            named(col("rid", "r"), "record"),
            named(number(quasi.number), "place"),
            named(cast(string(what), "text"), "kind"),
            named(found, "number"),
            named(text, "text"),
        ],
        scratch(names.records, "r"),
    )


def rare_values(fresh: Relation, quasi: Quasi, k: int) -> exp.Select:
    """How many released values are those of fewer than k records."""
    release = cast(string(render(table(fresh.name, fresh.schema))), "regclass")
    return exp.select(
        call("anondb.mdav_rare_values", release, string(quasi.name), number(quasi.number), number(k))
    )
