"""Which values are one: those that their type takes for equal, in whatever spelling.

GROUP BY takes the equality of the type itself, whatever the search path is. An `=` would not: under a pinned
path, that of an extension's type is the one of text. So spellings are grouped once, by the type, and all
else is joined by their texts.
"""

from __future__ import annotations

from sqlglot import exp

from anondb.hierarchies.forms import Computed
from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    left_join,
    named_type,
    null,
    scratch,
    string,
)
from anondb.sqltree.tables import Coded, Quasi, Scratch, SourceColumn


def grouping_value(column: SourceColumn, of: str) -> exp.Expr:
    """What the frequency set groups a quasi-identifier by: values of most types are one if their texts are."""
    value: exp.Expr = col(column.name, of)
    if column.is_text:
        return collate_c(value)
    if column.equal_as_text:
        return value
    canonical = _canonical(column, value)
    return as_text(value) if canonical is value else canonical


def own_form(quasi: Quasi, of: str) -> exp.Expr:
    """What the run's first pass groups a quasi-identifier by: its value, or what stands for all with the same label."""
    if not quasi.is_coarse:
        return grouping_value(quasi.column, of)
    coarsened = coarser(quasi, col(quasi.name, of), quasi.base)
    assert coarsened is not None
    return coarsened


def coarser(quasi: Quasi, value: exp.Expr, level: int) -> exp.Expr | None:
    """What stands for all values of a column that have the same label at a level; None where nothing does."""
    form = quasi.hierarchy
    return form.coarsened(quasi, value, level) if isinstance(form, Computed) else None


def counted_value(column: SourceColumn, of: str) -> exp.Expr:
    """What a kept column is counted by: the value, or where equal ones may differ in their form, its text."""
    return grouping_value(column, of) if column.equals_are_copies else as_text(col(column.name, of))


def own_value(column: SourceColumn, of: str) -> exp.Expr:
    """What persons are counted by: GROUP BY takes the equality of the type, wherever its operators are."""
    value = col(column.name, of)
    return collate_c(value) if column.is_text and column.indistinct is None else value


def as_text(value: exp.Expr) -> exp.Expr:
    """A text that compares by its bytes; the explicit collation wins over any that the other side has."""
    return collate_c(cast(value, "text"))


def spellings(names: Scratch, coded: Coded) -> exp.Create:
    """The texts that occur, each with the one that stands for all texts of the same value.

    It is the last one in byte order: which was met first must not be seen.
    """
    column = coded.column
    text = col("text", "x")
    value: exp.Expr = cast(text.copy(), column.compared_as or "text")
    if column.indistinct is not None:
        value = exp.Collate(this=value, expression=named_type(column.indistinct))
    texts = exp.select(exp.alias_(as_text(col(coded.raw, "r")), "text", quoted=True))
    texts = texts.distinct().from_(scratch(names.raw, "r"))
    groups = (
        exp.select(exp.alias_(call("array_agg", text.copy()), "texts", quoted=True))
        .select(exp.alias_(exp.Max(this=as_text(_canonical(column, value.copy()))), "raw", quoted=True))
        .from_(texts.subquery("x"))
        .where(exp.Not(this=exp.Is(this=text.copy(), expression=null())))
        .group_by(value)
    )
    each = exp.select(exp.alias_(collate_c(call("unnest", col("texts", "g"))), "text", quoted=True))
    return create_scratch(names.spellings(coded), each.select(col("raw", "g")).from_(groups.subquery("g")))


def with_entry(
    query: exp.Select, names: Scratch, coded: Coded, text: exp.Expr, entries: exp.Expr | None = None
) -> exp.Select:
    """Joins the dictionary's entry, by the column's code or as `entries`, of a text that was counted."""
    query, text = standing_for(query, names, coded, text)
    entries = scratch(names.dictionary(coded), coded.code) if entries is None else entries
    return left_join(query, entries, exp.EQ(this=col("raw", entries.alias), expression=text))


def standing_for(
    query: exp.Select, names: Scratch, coded: Coded, text: exp.Expr
) -> tuple[exp.Select, exp.Expr]:
    """The query, with what it takes to know the text that stands for another, and that text."""
    if not coded.has_spellings:
        return query, text
    alias = f"{coded.code}_text"
    same = exp.EQ(this=col("text", alias), expression=text)
    return left_join(query, scratch(names.spellings(coded), alias), same), collate_c(col("raw", alias))


def _canonical(column: SourceColumn, value: exp.Expr) -> exp.Expr:
    """A value in the one form of all that equal it, where its type has a function for that."""
    if column.base == "numeric":
        return call("trim_scale", cast(value, "numeric"))
    if column.base == "inet":  # its cast to text has a /32 after a single host, its own text has not
        return collate_c(call("abbrev", cast(value, "inet")))
    if column.base in ("float4", "float8"):  # -0 becomes 0
        return exp.Add(this=cast(value, column.base), expression=cast(string("0"), column.base))
    return value
