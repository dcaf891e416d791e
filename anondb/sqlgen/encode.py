"""Encode: one pass over the source, then dictionaries of its distinct values and the frequency set.

The raw values are grouped first and decoded afterwards: joining the dictionaries to the source first
costs two to four times as much for the same counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchy.model import CsvVgh, Dates, Intervals, Mask, StoredVgh, Values
from anondb.sqlgen.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    fill_scratch,
    left_join,
    null,
    number,
    scratch,
    string,
    table,
)
from anondb.sqlgen.shape import NUMERIC_TYPES, Quasi, Relation, Scratch, SourceColumn


def grouping_value(column: SourceColumn, of: str) -> exp.Expr:
    """What the frequency set groups a column by: two values are one exactly if their texts are."""
    value: exp.Expr = col(column.name, of)
    if column.base == "numeric":
        return call("trim_scale", cast(value, "numeric"))
    if column.base == "inet":  # its cast to text has a /32 after a single host, its own text has not
        return collate_c(call("abbrev", cast(value, "inet")))
    if column.is_text:
        return collate_c(value)
    return value if column.equal_as_text else as_text(value)


def counted_value(column: SourceColumn, of: str) -> exp.Expr:
    """What whole rows are counted by: the value, or where equal ones may differ in their form, its text."""
    return grouping_value(column, of) if column.equals_are_copies else as_text(col(column.name, of))


def as_text(value: exp.Expr) -> exp.Expr:
    """A text that compares by its bytes; the explicit collation wins over any that the other side has."""
    return collate_c(cast(value, "text"))


def raw_frequencies(
    names: Scratch, source: Relation, quasi: Sequence[Quasi], kept: Sequence[SourceColumn] = ()
) -> exp.Create:
    """The first pass over the source: every combination of values, and how often it occurs.

    With the `kept` columns it is the only pass: whole rows with their counts are all that is to be known.
    """
    values = [exp.alias_(grouping_value(q.column, "s"), f"v{q.number}", quoted=True) for q in quasi]
    values += [
        exp.alias_(counted_value(column, "s"), f"c{position}", quoted=True)
        for position, column in enumerate(kept, 1)
    ]
    query = (
        exp.select(*values)
        .select(exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True))
        .from_(table(source.name, source.schema, "s"))
        .group_by(*[number(position) for position in range(1, len(values) + 1)])
    )
    return create_scratch(names.raw, query)


def records(names: Scratch, quasi: Sequence[Quasi]) -> exp.Select:
    """Records in all, and those with a NULL in a quasi-identifier."""
    with_null = exp.Filter(this=exp.Sum(this=col("n", "r")), expression=exp.Where(this=_any_null(quasi, "r")))
    total = exp.Sum(this=col("n", "r"))
    return exp.select(
        *[cast(exp.func("coalesce", s, number(0)), "bigint") for s in (total, with_null)]
    ).from_(scratch(names.raw, "r"))


def leave_out_nulls(names: Scratch, quasi: Sequence[Quasi]) -> exp.Delete:
    """Records with a NULL are no part of the search: neither of its counts, nor of its distinct values."""
    return exp.Delete(this=scratch(names.raw, "r"), where=exp.Where(this=_any_null(quasi, "r")))


def longest_value(names: Scratch, quasi: Quasi) -> exp.Select:
    """How many characters a mask has to hide."""
    length = call("length", cast(col(f"v{quasi.number}", "r"), "text"))
    return exp.select(exp.func("coalesce", exp.Max(this=length), number(0))).from_(scratch(names.raw, "r"))


def file_leaves(names: Scratch, quasi: Quasi) -> exp.Create:
    """An empty table for the rows of a hierarchy file, filled by COPY."""
    columns = [exp.alias_(cast(null(), "int"), "position", quoted=True)] + [
        exp.alias_(as_text(null()), f"g{level}", quoted=True) for level in range(quasi.height + 1)
    ]
    return create_scratch(names.leaves(quasi), exp.select(*columns).limit(number(0)))


def fill_leaves(names: Scratch, quasi: Quasi) -> exp.Copy:
    return fill_scratch(names.leaves(quasi))


def stored_leaves(names: Scratch, quasi: Quasi) -> exp.Create:
    """The leaves of a stored hierarchy with their labels at every level, one row a leaf."""
    of_level = [
        exp.Filter(
            this=exp.Max(this=as_text(call("anondb.label_without_sense", col("label", "n")))),
            expression=exp.Where(this=exp.EQ(this=col("level", "p"), expression=number(level))),
        )
        for level in range(quasi.height + 1)
    ]
    query = (
        exp.select(exp.alias_(col("leaf", "p"), "position", quoted=True))
        .select(*[exp.alias_(label, f"g{level}", quoted=True) for level, label in enumerate(of_level)])
        .from_(table("vgh_path", "anondb", "p"))
        .join(
            table("vgh_node", "anondb", "n"),
            on=exp.and_(
                exp.EQ(this=col("vgh", "n"), expression=col("vgh", "p")),
                exp.EQ(this=col("node", "n"), expression=col("node", "p")),
            ),
        )
        .where(exp.EQ(this=col("vgh", "p"), expression=number(quasi.vgh)))
        .group_by(col("leaf", "p"))
    )
    return create_scratch(names.leaves(quasi), query)


def dictionary(names: Scratch, quasi: Quasi) -> exp.Create:
    """Codes and labels of every value that occurs, at every level of its hierarchy.

    NULL has leaf 0, no label below the root, and the root's label there.
    """
    levels = range(quasi.height + 1)
    is_null = exp.Is(this=col("raw", "x"), expression=null())
    position = exp.Window(
        this=call("row_number"),
        order=exp.Order(
            expressions=[exp.Ordered(this=col(part, "x")) for part in ("is_null", "position", "raw_c")]
        ),
    )
    codes = [
        exp.alias_(cast(dense_rank([collate_c(col(f"g{level}", "x"))]), "int"), f"l{level}", quoted=True)
        for level in levels
    ]
    leaf = cast(exp.Case().when(is_null, number(0)).else_(position), "int")
    columns = [
        col("raw", "x"),
        exp.alias_(leaf, "leaf", quoted=True),
        *[col(f"g{level}", "x") for level in levels],
        *codes,
    ]
    query = exp.select(*columns).from_(_labelled(names, quasi).subquery("x"))
    return create_scratch(names.dictionary(quasi), query)


def outside(names: Scratch, quasi: Quasi) -> exp.Select:
    """Distinct values, and records, that the hierarchy does not know."""
    return (
        exp.select(exp.Count(this=exp.Distinct(expressions=[col("raw", "d")])))
        .select(cast(exp.func("coalesce", exp.Sum(this=col("n", "r")), number(0)), "bigint"))
        .from_(scratch(names.dictionary(quasi), "d"))
        .join(
            scratch(names.raw, "r"),
            on=exp.EQ(this=as_text(col(f"v{quasi.number}", "r")), expression=col("raw", "d")),
        )
        .where(_is_outside(quasi))
    )


def outside_values(names: Scratch, quasi: Quasi, limit: int) -> exp.Select:
    """The values themselves; shown only when the user asks for them."""
    return (
        exp.select(col("raw", "d"))
        .from_(scratch(names.dictionary(quasi), "d"))
        .where(_is_outside(quasi))
        .order_by(exp.Ordered(this=collate_c(col("raw", "d"))))
        .limit(number(limit))
    )


def node_counts(names: Scratch, quasi: Quasi) -> exp.Select:
    """At each level, how many of the hierarchy's nodes occur; whether NULL does; how many values lie outside."""
    is_null = exp.EQ(this=col("leaf", "d"), expression=number(0))
    return (
        exp.select(*[exp.Max(this=col(f"l{level}", "d")) for level in range(quasi.height + 1)])
        .select(call("bool_or", is_null))
        .select(exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=_is_outside(quasi))))
        .from_(scratch(names.dictionary(quasi), "d"))
    )


def frequency_set(names: Scratch, quasi: Sequence[Quasi], *, whole_rows: bool) -> exp.Create:
    """The frequency set in codes. A value without an entry is NULL, as all others have one."""
    leaves = [exp.func("coalesce", col("leaf", f"d{q.number}"), number(0)) for q in quasi]
    query = exp.select(
        *[exp.alias_(leaf, f"q{q.number}", quoted=True) for q, leaf in zip(quasi, leaves, strict=True)]
    )
    if whole_rows:  # those that differ in kept columns only are one combination
        total = cast(exp.Sum(this=col("n", "r")), "bigint")
        query = query.select(exp.alias_(total, "n", quoted=True)).group_by(*[leaf.copy() for leaf in leaves])
    else:
        query = query.select(col("n", "r"))
    return create_scratch(names.freq, with_dictionaries(query.from_(scratch(names.raw, "r")), names, quasi))


def with_dictionaries(query: exp.Select, names: Scratch, quasi: Sequence[Quasi]) -> exp.Select:
    """Joins to the raw values, `r`, their entries d1 …; NULL finds none."""
    for q in quasi:
        entry = f"d{q.number}"
        same = exp.EQ(this=col("raw", entry), expression=as_text(col(f"v{q.number}", "r")))
        query = left_join(query, scratch(names.dictionary(q), entry), same)
    return query


def analyze(name: str) -> exp.Analyze:
    """Temporary tables have no statistics until they are told to."""
    return exp.Analyze(tables=[scratch(name)])


def dense_rank(keys: Sequence[exp.Expr]) -> exp.Window:
    """Numbers from 1 in the order of the keys, equal keys alike, NULL first."""
    ordered = [exp.Ordered(this=key, nulls_first=True) for key in keys]
    return exp.Window(this=call("dense_rank"), order=exp.Order(expressions=ordered))


def _any_null(quasi: Sequence[Quasi], of: str) -> exp.Expr:
    return exp.or_(*[exp.Is(this=col(f"v{q.number}", of), expression=null()) for q in quasi])


def _is_outside(quasi: Quasi) -> exp.Expr:
    """A value (not NULL) that the hierarchy has no leaf for, or no range."""
    known = exp.Not(this=exp.Is(this=col("raw", "d"), expression=null()))
    level = 1 if isinstance(quasi.hierarchy, Intervals | Dates) else 0
    return exp.and_(known, exp.Is(this=col(f"g{level}", "d"), expression=null()))


def _values(names: Scratch, quasi: Quasi) -> exp.Select:
    text = as_text(col(f"v{quasi.number}", "r"))
    return exp.select(exp.alias_(text, "raw", quoted=True)).distinct().from_(scratch(names.raw, "r"))


def _labelled(names: Scratch, quasi: Quasi) -> exp.Select:
    """Each distinct value with `position` (the hierarchy's own order) and its labels g0 … gh."""
    raw = col("raw", "v")
    position, labels = _labels(quasi, raw)
    columns = {
        "raw": raw,
        "raw_c": collate_c(raw.copy()),
        "is_null": exp.Is(this=raw.copy(), expression=null()),
        "position": position,
        **{f"g{level}": label for level, label in enumerate([*labels, string(quasi.root)])},
    }
    query = exp.select(*[exp.alias_(value, name, quoted=True) for name, value in columns.items()])
    query = query.from_(_values(names, quasi).subquery("v"))
    if isinstance(quasi.hierarchy, StoredVgh | CsvVgh):
        same = exp.EQ(this=col("g0", "h"), expression=raw.copy())
        left_join(query, scratch(names.leaves(quasi), "h"), same)
    return query


def _labels(quasi: Quasi, raw: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """The order of the values, and their labels below the root: looked up in `h`, or computed."""
    match quasi.hierarchy:
        case StoredVgh() | CsvVgh():
            return col("position", "h"), [col(f"g{level}", "h") for level in range(quasi.height)]
        case Intervals(start, widths):
            value = cast(raw.copy(), "numeric")
            return value, [raw.copy()] + [
                call("anondb.range_label", value.copy(), number(start), number(width)) for width in widths
            ]
        case Dates(units):
            moment = cast(raw.copy(), "timestamp")
            return moment, [raw.copy()] + [
                call("anondb.date_label", moment.copy(), string(unit)) for unit in units
            ]
        case Values():
            return _in_order(quasi, raw)
        case Mask("all"):
            return null(), [raw.copy()]
        case Mask(side):
            return null(), [raw.copy()] + [
                call("anondb.mask_label", raw.copy(), string(side), number(quasi.length), number(stars))
                for stars in range(1, quasi.height)
            ]
    raise AssertionError(quasi.hierarchy)


def _in_order(quasi: Quasi, raw: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """The order of values without a hierarchy, and their label; what is not finite has none."""
    if not quasi.is_ranged:
        return null(), [raw.copy()]
    point = measured(quasi, raw)
    finite = (
        exp.LT(this=exp.Abs(this=point.copy()), expression=cast(string("infinity"), "numeric"))
        if quasi.column.base in NUMERIC_TYPES
        else call("isfinite", point.copy())
    )
    return point, [exp.Case().when(finite, raw.copy())]


def measured(quasi: Quasi, raw: exp.Expr) -> exp.Expr:
    """The text of a number or a date as what it measures."""
    return cast(raw.copy(), "numeric" if quasi.column.base in NUMERIC_TYPES else "timestamp")
