"""Encode: one pass over the source, then dictionaries of its distinct values and the frequency set.

The raw values are grouped first and decoded afterwards: joining the dictionaries to the source first
costs two to four times as much for the same counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import Computed, StoredVgh, TableVgh, Values
from anondb.run.persons_sql import kept_value, with_keys_of_forms
from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    fill_scratch,
    ident,
    left_join,
    named,
    null,
    number,
    scratch,
    star,
    string,
    table,
)
from anondb.sqltree.equality import (
    as_text,
    counted_value,
    own_form,
    own_value,
    standing_for,
    with_entry,
)
from anondb.sqltree.tables import DATE_TYPES, NUMERIC_TYPES, Coded, Quasi, Relation, Scratch, SourceColumn


def raw_frequencies(
    names: Scratch,
    source: Relation,
    quasi: Sequence[Quasi],
    counted: Sequence[SourceColumn] = (),
    unit: SourceColumn | None = None,
) -> exp.Create:
    """The first pass over the source: every combination of values, and how often it occurs.

    Of whole rows all kept columns are counted too, and it is the only pass: rows with their counts are
    all that is to be known. With a `unit`, the combinations of each person are counted apart.
    """
    values = {q.raw: own_form(q, "s") for q in quasi}
    values |= {f"c{position}": _counted(column) for position, column in enumerate(counted, 1)}
    values |= {"u": own_value(unit, "s")} if unit else {}
    query = (
        exp.select(*[exp.alias_(value, name, quoted=True) for name, value in values.items()])
        .select(exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True))
        .from_(table(source.name, source.schema, "s"))
        .group_by(*[number(position) for position in range(1, len(values) + 1)])
    )
    return create_scratch(names.raw, with_keys_of_forms(query, names, counted))


def _counted(column: SourceColumn) -> exp.Expr:
    return counted_value(column, "s") if column.form is None else kept_value(column, "s")


def records(names: Scratch, quasi: Sequence[Quasi]) -> exp.Select:
    """Records in all, and those with a NULL in a quasi-identifier."""
    with_null = exp.Filter(this=exp.Sum(this=col("n", "r")), expression=exp.Where(this=_any_null(quasi, "r")))
    total = exp.Sum(this=col("n", "r"))
    return exp.select(*[cast(call("coalesce", s, number(0)), "bigint") for s in (total, with_null)]).from_(
        scratch(names.raw, "r")
    )


def set_nulls_aside(names: Scratch, quasi: Sequence[Quasi]) -> exp.Create:
    """Records with a NULL, for the measures alone: nothing of them is released, so that all of it is lost."""
    found = exp.select(exp.Star()).from_(scratch(names.raw, "r")).where(_any_null(quasi, "r"))
    return create_scratch(names.aside, found)


def leave_out_nulls(names: Scratch, quasi: Sequence[Quasi]) -> exp.Delete:
    """Records with a NULL are no part of the search: neither of its counts, nor of its distinct values."""
    return exp.Delete(this=scratch(names.raw, "r"), where=exp.Where(this=_any_null(quasi, "r")))


def longest_value(names: Scratch, coded: Coded) -> exp.Select:
    """How many characters a mask has to hide."""
    length = call("length", cast(col(coded.raw, "r"), "text"))
    return exp.select(call("coalesce", exp.Max(this=length), number(0))).from_(scratch(names.raw, "r"))


def file_leaves(names: Scratch, coded: Coded) -> exp.Create:
    """An empty table for the rows of a hierarchy file, filled by COPY."""
    columns = [exp.alias_(cast(null(), "int"), "position", quoted=True)] + [
        exp.alias_(as_text(null()), f"g{level}", quoted=True) for level in range(coded.height + 1)
    ]
    return create_scratch(names.leaves(coded), exp.select(*columns).limit(number(0)))


def fill_leaves(names: Scratch, coded: Coded) -> exp.Copy:
    return fill_scratch(names.leaves(coded))


def stored_leaves(names: Scratch, coded: Coded) -> exp.Create:
    """The leaves of a stored hierarchy with their labels at every level, one row a leaf."""
    of_level = [
        exp.Filter(
            this=exp.Max(this=as_text(call("anondb.label_without_sense", col("label", "n")))),
            expression=exp.Where(this=exp.EQ(this=col("level", "p"), expression=number(level))),
        )
        for level in range(coded.height + 1)
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
        .where(exp.EQ(this=col("vgh", "p"), expression=number(coded.vgh)))
        .group_by(col("leaf", "p"))
    )
    return create_scratch(names.leaves(coded), query)


def dictionary(names: Scratch, coded: Coded) -> exp.Create:
    """Codes and labels of every value that occurs, at every level of its hierarchy.

    NULL has leaf 0, no label below the root, and the root's label there. The values are sorted once; the labels of
    a level are numbered among themselves and joined, because they are few where the values are many.
    """
    levels = range(coded.height + 1)
    is_null = exp.Is(this=col("raw", "x"), expression=null())
    columns: list[exp.Expr] = [
        col("raw", "x"),
        named(cast(exp.Case().when(is_null, number(0)).else_(col("place", "x")), "int"), "leaf"),
        *[col(f"g{level}", "x") for level in levels],
        named(cast(col("place", "x"), "int"), "l0"),
    ]
    query = exp.select().from_(table("x", alias="x"))
    for level in levels[1:]:
        if level == coded.height:
            columns.append(named(number(1), f"l{level}"))  # all have the root in common
            continue
        alias = f"k{level}"
        same = exp.EQ(this=col("label", alias), expression=collate_c(col(f"g{level}", "x")))
        query = left_join(query, _numbered_labels(level).subquery(alias), same)
        columns.append(named(call("coalesce", col("code", alias), number(1)), f"l{level}"))
    values = _numbered(_labelled(names, coded))
    query = query.select(*columns).with_(ident("x"), as_=values, materialized=True)
    return create_scratch(names.dictionary(coded), query)


def _numbered(labelled: exp.Select) -> exp.Select:
    """The values with their `place` in the hierarchy's own order, NULL last."""
    order = [exp.Ordered(this=col(part, "y")) for part in ("is_null", "position", "raw_c")]
    place = exp.Window(this=call("row_number"), order=exp.Order(expressions=order))
    return exp.select(star("y"), named(place, "place")).from_(labelled.subquery("y"))


def _numbered_labels(level: int) -> exp.Select:
    """The labels that occur at a level by their codes; no label comes first."""
    label = named(collate_c(col(f"g{level}", "x")), "label")
    labels = exp.select(label).from_(table("x", alias="x")).group_by(number(1))
    code = named(cast(dense_rank([col("label", "z")]), "int"), "code")
    return exp.select(col("label", "z"), code).from_(labels.subquery("z"))


def outside(names: Scratch, coded: Coded) -> exp.Select:
    """Distinct values, and records, that the hierarchy does not know."""
    query = exp.select(exp.Count(this=exp.Distinct(expressions=[col("raw", "d")])))
    query = query.select(cast(call("coalesce", exp.Sum(this=col("n", "r")), number(0)), "bigint"))
    query = query.from_(scratch(names.raw, "r")).where(_is_outside(coded))
    return with_entry(
        query, names, coded, as_text(col(coded.raw, "r")), scratch(names.dictionary(coded), "d")
    )


def outside_values(names: Scratch, coded: Coded, limit: int) -> exp.Select:
    """The values themselves; shown only when the user asks for them."""
    return (
        exp.select(col("raw", "d"))
        .from_(scratch(names.dictionary(coded), "d"))
        .where(_is_outside(coded))
        .order_by(exp.Ordered(this=collate_c(col("raw", "d"))))
        .limit(number(limit))
    )


def node_counts(names: Scratch, coded: Coded) -> exp.Select:
    """At each level, how many of the hierarchy's nodes occur; whether NULL does; how many values lie outside."""
    is_null = exp.EQ(this=col("leaf", "d"), expression=number(0))
    return (
        exp.select(*[exp.Max(this=col(f"l{level}", "d")) for level in range(coded.height + 1)])
        .select(call("bool_or", is_null))
        .select(exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=_is_outside(coded))))
        .from_(scratch(names.dictionary(coded), "d"))
    )


def with_dictionaries(query: exp.Select, names: Scratch, coded: Sequence[Coded]) -> exp.Select:
    """Joins to the raw values, `r`, their entries by the columns' codes; NULL finds none."""
    for c in coded:
        query = with_entry(query, names, c, as_text(col(c.raw, "r")))
    return query


def analyze(name: str) -> exp.Analyze:
    """Temporary tables have no statistics until they are told to."""
    return exp.Analyze(tables=[scratch(name)])


def dense_rank(keys: Sequence[exp.Expr]) -> exp.Window:
    """Numbers from 1 in the order of the keys, equal keys alike, NULL first."""
    ordered = [exp.Ordered(this=key, nulls_first=True) for key in keys]
    return exp.Window(this=call("dense_rank"), order=exp.Order(expressions=ordered))


def _any_null(quasi: Sequence[Quasi], of: str) -> exp.Expr:
    return exp.or_(*[exp.Is(this=col(q.raw, of), expression=null()) for q in quasi])


def _is_outside(coded: Coded) -> exp.Expr:
    """A value (not NULL) that the hierarchy has no leaf for, or no range."""
    known = exp.Not(this=exp.Is(this=col("raw", "d"), expression=null()))
    levels = [0]
    if isinstance(coded.hierarchy, Computed):  # what is one of a range may be none of another
        levels = sorted({1, max(1, coded.height - 1)})
    missing = [exp.Is(this=col(f"g{level}", "d"), expression=null()) for level in levels]
    return exp.and_(known, exp.or_(*missing))


def _values(names: Scratch, coded: Coded) -> exp.Select:
    text: exp.Expr = as_text(col(coded.raw, "r"))
    query = exp.select().distinct().from_(scratch(names.raw, "r"))
    query, text = standing_for(query, names, coded, text)
    return query.select(exp.alias_(text, "raw", quoted=True))


def _labelled(names: Scratch, coded: Coded) -> exp.Select:
    """Each distinct value with `position` (the hierarchy's own order) and its labels g0 … gh."""
    raw = col("raw", "v")
    position, labels = _labels(coded, raw)
    columns = {
        "raw": raw,
        "raw_c": collate_c(raw.copy()),
        "is_null": exp.Is(this=raw.copy(), expression=null()),
        "position": position,
        **{f"g{level}": label for level, label in enumerate([*labels, string(coded.root)])},
    }
    query = exp.select(*[exp.alias_(value, name, quoted=True) for name, value in columns.items()])
    query = query.from_(_values(names, coded).subquery("v"))
    if isinstance(coded.hierarchy, StoredVgh | TableVgh):
        same = exp.EQ(this=col("g0", "h"), expression=raw.copy())
        left_join(query, scratch(names.leaves(coded), "h"), same)
    return query


def _labels(coded: Coded, raw: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """The order of the values, and their labels below the root: looked up in `h`, or computed."""
    match coded.hierarchy:
        case None:
            typed = NUMERIC_TYPES | DATE_TYPES
            order = cast(raw.copy(), coded.column.base) if coded.column.base in typed else null()
            return order, [raw.copy()]
        case StoredVgh() | TableVgh():
            return col("position", "h"), [col(f"g{level}", "h") for level in range(coded.height)]
        case Computed():
            return coded.hierarchy.order(coded, raw), [raw.copy(), *coded.hierarchy.labels(coded, raw)]
        case Values():
            return _in_order(coded, raw)
    raise AssertionError(coded.hierarchy)


def _in_order(coded: Coded, raw: exp.Expr) -> tuple[exp.Expr, list[exp.Expr]]:
    """The order of values without a hierarchy, and their label; what is not finite has none."""
    if not coded.is_ranged:
        return null(), [raw.copy()]
    point = measured(coded, raw)
    finite = (
        exp.LT(this=exp.Abs(this=point.copy()), expression=cast(string("infinity"), "numeric"))
        if coded.column.base in NUMERIC_TYPES
        else call("isfinite", point.copy())
    )
    return point, [exp.Case().when(finite, raw.copy())]


def measured(coded: Coded, raw: exp.Expr) -> exp.Expr:
    """The text of a number or a date as what it measures."""
    return cast(raw.copy(), "numeric" if coded.column.base in NUMERIC_TYPES else "timestamp")
