"""Columns of many values that are coded by their labels: what has to be known of the values themselves, in one count.

A range, a calendar unit or a mask is a function of the value. Where no release can have a column at its finest level,
what stands for a label takes the place of the values: in the first pass, in the dictionary, and where rows are written.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import Computed
from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    every,
    named,
    null,
    number,
    query,
    scratch,
    subquery,
    table,
    true,
    union_all,
)
from anondb.sqltree.equality import as_text, coarser, grouping_value
from anondb.sqltree.tables import Quasi, Relation, Scratch


def longest(source: Relation, quasi: Quasi) -> exp.Select:
    """How many characters a mask has to hide."""
    length = call("length", as_text(col(quasi.name, "s")))
    return query([call("coalesce", exp.Max(this=length), number(0))], table(source.name, source.schema, "s"))


def looks_varied(source: Relation, quasi: Sequence[Quasi], rows: int) -> exp.Select:
    """Of columns that the server has no statistics of: how many values each has in so many rows."""
    some = query(
        [named(grouping_value(q.column, "s"), q.raw) for q in quasi], table(source.name, source.schema, "s")
    )
    different = [exp.Count(this=exp.Distinct(expressions=[col(q.raw, "x")])) for q in quasi]
    return query(
        [named(count, q.raw) for count, q in zip(different, quasi, strict=True)],
        subquery(some.limit(number(rows)), "x"),
    )


def values(names: Scratch, source: Relation, quasi: Quasi, level: int) -> exp.Create:
    """How many values there are of each label at a level that occur so many times; their ends; how they are read."""
    counted = query(
        [named(grouping_value(quasi.column, "s"), "v"), named(exp.Count(this=exp.Star()), "n")],
        table(source.name, source.schema, "s"),
        group=[number(1)],
    )
    value = col("v", "x")
    one, form = coarser(quasi, value, level), quasi.hierarchy
    assert one is not None
    assert isinstance(form, Computed)
    read = value.copy() if quasi.column.is_date else as_text(value.copy())
    conditions = list(dict.fromkeys(_read_back(quasi, read)))  # most levels ask the same
    columns = [
        named(one, "raw"),
        col("n", "x"),
        named(exp.Count(this=exp.Star()), "values"),
        *_ends(quasi, value.copy(), value.copy()),
        named(call("coalesce", call("bool_and", every(conditions)), true()), "read"),
    ]
    return create_scratch(
        names.finest(quasi), query(columns, subquery(counted, "x"), group=[number(1), number(2)])
    )


def can_be_read(quasi: Quasi) -> bool:
    """Its labels say at every level what they cover, if the values are such."""
    form = quasi.hierarchy
    return isinstance(form, Computed) and all(
        form.read_back(quasi, level, null()) is not None for level in range(1, quasi.height)
    )


def _read_back(quasi: Quasi, value: exp.Expr) -> list[exp.Expr]:
    form = quasi.hierarchy
    assert isinstance(form, Computed)
    found = (form.read_back(quasi, level, value.copy()) for level in range(1, quasi.height))
    return [condition for condition in found if condition is not None]


def _ends(quasi: Quasi, least: exp.Expr, greatest: exp.Expr) -> list[exp.Expr]:
    """The least and the greatest value, where ranges have a share of what lies between."""
    form = quasi.hierarchy
    assert isinstance(form, Computed)
    if form.width(quasi, null(), 1) is None:
        return []
    return [named(exp.Min(this=least), "least"), named(exp.Max(this=greatest), "most")]


def coarse_values(names: Scratch, quasi: Quasi) -> exp.Create:
    """The same at the level that the run codes."""
    one = coarser(quasi, col("raw", "x"), quasi.base)
    assert one is not None
    columns = [
        named(one, "raw"),
        col("n", "x"),
        named(cast(exp.Sum(this=col("values", "x")), "bigint"), "values"),
        *_ends(quasi, col("least", "x"), col("most", "x")),
    ]
    return create_scratch(
        names.values(quasi), query(columns, scratch(names.finest(quasi), "x"), group=[number(1), number(2)])
    )


def drop_finest(names: Scratch, quasi: Quasi) -> exp.Drop:
    return exp.Drop(tables=[scratch(names.finest(quasi))], kind="TABLE")


def rare_values(names: Scratch, quasi: Quasi, k: int) -> exp.Select:
    """Records; those whose value fewer than k have; how many values there are; whether all labels can be read."""
    records = exp.Mul(this=col("n", "x"), expression=col("values", "x"))
    rare = every([_known("x"), exp.LT(this=col("n", "x"), expression=number(k))])
    return query(
        [
            _total(records),
            _total(records.copy(), rare),
            _total(col("values", "x"), _known("x")),
            call("coalesce", call("bool_and", col("read", "x")), true()),
        ],
        scratch(names.finest(quasi), "x"),
    )


def rare_labels(names: Scratch, quasi: Quasi, level: int, k: int) -> exp.Select:
    """Records whose label at a level fewer than k have, and how many labels there are."""
    form = quasi.hierarchy
    assert isinstance(form, Computed)
    label = form.labels(quasi, as_text(col("raw", "x")))[level - 1]
    records = exp.Mul(this=col("n", "x"), expression=col("values", "x"))
    labels = query(
        [named(collate_c(cast(label, "text")), "label"), named(exp.Sum(this=records), "n")],
        scratch(names.finest(quasi), "x"),
        where=_known("x"),
        group=[number(1)],
    )
    rare = exp.LT(this=col("n", "y"), expression=number(k))
    return query([_total(col("n", "y"), rare), exp.Count(this=exp.Star())], subquery(labels, "y"))


def span(names: Scratch, quasi: Quasi) -> exp.Select:
    """From the least to the greatest value of a column, in the unit of its widths."""
    form = quasi.hierarchy
    assert isinstance(form, Computed)
    if quasi.is_coarse:
        ends = [
            query([named(as_text(end), "raw")], scratch(names.values(quasi), "x"))
            for end in (exp.Min(this=col("least", "x")), exp.Max(this=col("most", "x")))
        ]
        return query([named(form.span(quasi, col("raw", "e")), "whole")], subquery(union_all(ends), "e"))
    spanned = query(
        [named(form.span(quasi, col("raw", "e")), "whole")], scratch(names.dictionary(quasi), "e")
    )
    if form.is_ordered(quasi):  # leaves are numbered in the order of their values
        last = query([exp.Max(this=col("leaf", "w"))], scratch(names.dictionary(quasi), "w"))
        spanned = spanned.where(exp.In(this=col("leaf", "e"), expressions=[number(1), subquery(last)]))
    return spanned


def originals(names: Scratch, source: Relation, quasi: Sequence[Quasi]) -> exp.Create:
    """How many classes of each size the originals make, and how many they would make without each of the columns."""
    everything = query(
        [
            named(null(), "dropped"),
            named(col("n", "c"), "size"),
            named(exp.Count(this=exp.Star()), "classes"),
        ],
        subquery(_classes(names, source, quasi), "c"),
        group=[col("n", "c")],
    )
    if len(quasi) == 1:
        everything = _sizes_of(names, quasi[0])
    everything.expressions[0].set("this", cast(null(), "int"))
    without = []
    for place, _ in enumerate(quasi, 1):
        others = [q for other, q in enumerate(quasi, 1) if other != place]
        columns = [named(number(place), "dropped"), named(cast(null(), "bigint"), "size")]
        if not others:
            without.append(exp.select(*columns, named(cast(number(1), "bigint"), "classes")))
        elif len(others) == 1 and others[0].is_coarse:
            total = named(cast(exp.Sum(this=col("values", "x")), "bigint"), "classes")
            without.append(query([*columns, total], scratch(names.values(others[0]), "x")))
        else:
            counted = [*columns, named(exp.Count(this=exp.Star()), "classes")]
            without.append(query(counted, subquery(_classes(names, source, others), "c")))
    return create_scratch(names.profile, union_all([everything, *without]))


def _sizes_of(names: Scratch, quasi: Quasi) -> exp.Select:
    columns = [
        named(null(), "dropped"),
        named(col("n", "x"), "size"),
        named(cast(exp.Sum(this=col("values", "x")), "bigint"), "classes"),
    ]
    return query(columns, scratch(names.values(quasi), "x"), group=[col("n", "x")])


def _classes(names: Scratch, source: Relation, quasi: Sequence[Quasi]) -> exp.Select:
    """The sizes of classes by the own values of columns; where none is coarse, the first pass has counted them."""
    if any(q.is_coarse for q in quasi):
        keys: list[exp.Expr] = [named(grouping_value(q.column, "s"), q.raw) for q in quasi]
        total: exp.Expr = exp.Count(this=exp.Star())
        of = table(source.name, source.schema, "s")
    else:
        keys = [col(q.raw, "s") for q in quasi]
        total, of = cast(exp.Sum(this=col("n", "s")), "bigint"), scratch(names.raw, "s")
    return query([*keys, named(total, "n")], of, group=[number(place) for place, _ in enumerate(quasi, 1)])


def _known(of: str) -> exp.Expr:
    return exp.Not(this=exp.Is(this=col("raw", of), expression=null()))


def _total(what: exp.Expr, condition: exp.Expr | None = None) -> exp.Expr:
    total: exp.Expr = exp.Sum(this=what)
    if condition is not None:
        total = exp.Filter(this=total, expression=exp.Where(this=condition))
    return cast(call("coalesce", total, number(0)), "bigint")
