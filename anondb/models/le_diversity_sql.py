"""What (l, e)-diversity asks of the database: which values are relatives, and what a release reaches of it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    left_join,
    named,
    number,
    query,
    scratch,
    string,
    table,
)
from anondb.sqltree.equality import as_text, counted_value
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation, Scratch, Sensitive


def paths(names: Scratch, sensitive: Sensitive, null_code: int) -> exp.Create:
    """The values that occur, by code, with their labels from the leaf to the root; NULL hangs from the root."""
    is_null = equal(col("leaf", "d"), number(0))
    value = exp.Case().when(is_null, number(null_code)).else_(col("leaf", "d"))
    found = [named(value, "value"), named(path_of(sensitive), "path")]
    return create_scratch(names.paths_of(sensitive), query(found, scratch(names.dictionary(sensitive), "d")))


def path_of(sensitive: Sensitive) -> exp.Expr:
    """The labels of a dictionary's entry d from the leaf to the root."""
    return exp.Array(expressions=[col(f"g{level}", "d") for level in range(sensitive.height + 1)])


def near(names: Scratch, sensitive: Sensitive, e: float) -> exp.Expr:
    """The relatives of each value, by code."""
    lies = cast(string(render(scratch(names.paths_of(sensitive)))), "regclass")
    return call("anondb.le_near", lies, cast(number(e), "float8"))


def measured(
    names: Scratch,
    release: Relation,
    quasi: Sequence[str],
    sensitive: Sensitive,
    *further: exp.Expr,
) -> exp.Expr:
    """The figures of a release, from its own rows, by the labels that the run knows; further: e, and so on."""
    text = col("text", "t") if sensitive.has_spellings else col("raw", "d")
    known = query(
        [named(text, "label"), named(path_of(sensitive), "path")], scratch(names.dictionary(sensitive), "d")
    )
    if sensitive.has_spellings:
        same = equal(col("raw", "t"), col("raw", "d"))
        known = left_join(known, scratch(names.spellings(sensitive), "t"), same)
    return call(
        "anondb.le_measured",
        cast(string(render(table(release.name, release.schema))), "regclass"),
        cast(exp.Array(expressions=[string(name) for name in quasi]), "name[]"),
        string(render(as_text(counted_value(sensitive.column, "t")))),
        string(render(known)),
        *further,
    )


def reached(
    names: Scratch, release: Relation, quasi: Sequence[str], sensitive: Sensitive, e: float, kind: str
) -> exp.Select:
    """The l that a release reaches, as anondb.le_diversity has it."""
    further = [cast(number(e), "float8"), number(0), string(kind)]
    found = measured(names, release, quasi, sensitive, *further)
    return query(
        [col("l", "f")], exp.Table(this=found, alias=exp.TableAlias(this=exp.to_identifier("f", quoted=True)))
    )
