"""The cuts of a round of Mondrian: the columns of every open partition by their width, and their medians."""

from __future__ import annotations

from sqlglot import exp

from anondb.methods.mondrian.sql import (
    CUT,
    Partitioning,
    code,
    insert_scratch,
    value_cut,
)
from anondb.sqltree.build import (
    call,
    cast,
    col,
    divided,
    ident,
    left_join,
    null,
    number,
    parameter,
    scratch,
    union_all,
)
from anondb.sqltree.tables import Quasi


def ranks(p: Partitioning) -> exp.Insert:
    """The columns of every partition of 2k records or more, by the width of their normalized range.

    Rounded, so that equal shares of different spans are equal. A column of one value has nothing to cut.
    """
    by_column = union_all([_range_of(q) for q in p.quasi])
    difference = exp.paren(exp.Sub(this=col("value", "hi"), expression=col("value", "lo")))
    width = divided(difference, call("nullif", col("span", "hi"), number(0)))
    order = [
        exp.Ordered(this=call("coalesce", call("round", width, number(12)), number(0)), desc=True),
        exp.Ordered(this=col("d", "x")),
    ]
    rank = exp.Window(
        this=call("row_number"), partition_by=[col("part", "x")], order=exp.Order(expressions=order)
    )
    query = exp.select(*[col(name, "x") for name in ("part", "n", "d")], rank)
    query = query.from_(by_column.subquery("x"))
    for end in ("lo", "hi"):
        same = exp.and_(
            exp.EQ(this=col("d", end), expression=col("d", "x")),
            exp.EQ(this=col("leaf", end), expression=col(end, "x")),
        )
        query = query.join(scratch(p.names.places, end), on=same)
    query = query.with_(ident("ranges"), as_=_ranges(p))
    return insert_scratch(p.names.ranks, ("part", "n", "d", "rank"), query)


def rank_figures(p: Partitioning) -> exp.Select:
    """How many partitions have a column to try, the most columns that one has, and the most parts of a cut."""
    first = exp.Where(this=exp.EQ(this=col("rank", "t"), expression=number(1)))
    return exp.select(
        exp.Filter(this=exp.Count(this=exp.Star()), expression=first),
        call("coalesce", exp.Max(this=col("rank", "t")), number(0)),
        number(2),
    ).from_(scratch(p.names.ranks, "t"))


def cut(p: Partitioning, rank: int) -> exp.Insert:
    """The cuts at the median, by the columns of a rank, that leave k records or more on both sides.

    The median is the first value at which the running count reaches half of the records. Strict, all of its
    records go left; relaxed, as many as make the halves equal, and the others go right. The halves are
    numbered in pairs from $1 on.
    """
    reached = exp.GTE(this=exp.Mul(this=number(2), expression=col("upto", "x")), expression=col("n", "x"))
    upto, before = exp.Min(this=col("upto", "x")), exp.Min(this=col("before", "x"))
    half = divided(exp.paren(exp.Add(this=col("n", "x"), expression=number(1))), number(2))
    left: exp.Expr = upto if p.strict else half
    medians = (
        exp.select(*[col(name, "x") for name in ("part", "d", "n")])
        .select(exp.alias_(exp.Min(this=col("value", "x")), "at", quoted=True))
        .select(exp.alias_(left, "left", quoted=True))
        .select(exp.alias_(exp.Sub(this=left.copy(), expression=before), "quota", quoted=True))
        .from_(_running_counts(p, rank).subquery("x"))
        .where(reached)
        .group_by(*[col(name, "x") for name in ("part", "d", "n")])
    )
    row = exp.Window(
        this=call("row_number"), order=exp.Order(expressions=[exp.Ordered(this=col("part", "y"))])
    )
    pair = exp.Mul(this=number(2), expression=exp.paren(exp.Sub(this=row, expression=number(1))))
    right = exp.Sub(this=col("n", "y"), expression=col("left", "y"))
    query = (
        exp.select(
            *[col(name, "y") for name in CUT[:-1]], exp.Add(this=cast(parameter(1), "int"), expression=pair)
        )
        .from_(medians.subquery("y"))
        .where(exp.GTE(this=exp.Least(this=col("left", "y"), expressions=[right]), expression=number(p.k)))
    )
    return insert_scratch(p.names.cuts, CUT, query)


def _running_counts(p: Partitioning, rank: int) -> exp.Select:
    """Of the values of each column that is tried: the records up to them, and before them.

    A partition has one column and one size; as aggregates they cost less than as keys.
    """
    same = exp.EQ(this=col("part", "t"), expression=col("part", "c"))
    tried = exp.and_(same, exp.EQ(this=col("rank", "t"), expression=number(rank)))
    columns = {
        "part": col("part", "t"),
        "value": value_cut(p),
        "d": exp.Min(this=col("d", "t")),
        "n": exp.Min(this=col("n", "t")),
        "count": cast(exp.Sum(this=col("n", "c")), "bigint"),
    }
    counts = (
        exp.select(*[exp.alias_(node, name, quoted=True) for name, node in columns.items()])
        .from_(scratch(p.cells, "c"))
        .join(scratch(p.names.ranks, "t"), on=tried)
        .group_by(number(1), number(2))
    )
    if rank > 1:
        has_cut = exp.EQ(this=col("part", "u"), expression=col("part", "t"))
        left_join(counts, scratch(p.names.cuts, "u"), has_cut)
        counts = counts.where(exp.Is(this=col("part", "u"), expression=null()))
    by_value = exp.Order(expressions=[exp.Ordered(this=col("value", "h"))])
    running = exp.Window(
        this=exp.Sum(this=col("count", "h")), partition_by=[col("part", "h")], order=by_value
    )
    upto = cast(running, "bigint")
    return (
        exp.select(*[col(name, "h") for name in ("part", "d", "n", "value")])
        .select(exp.alias_(upto, "upto", quoted=True))
        .select(exp.alias_(exp.Sub(this=upto.copy(), expression=col("count", "h")), "before", quoted=True))
        .from_(counts.subquery("h"))
    )


def _ranges(p: Partitioning) -> exp.Select:
    """The size of every partition that could be two, and the least and the greatest code of each column."""
    extremes = [
        exp.alias_(of(this=col(code(q), "c")), f"{name}{q.number}", quoted=True)
        for q in p.quasi
        for name, of in (("lo", exp.Min), ("hi", exp.Max))
    ]
    size = exp.Sum(this=col("n", "c"))
    return (
        exp.select(col("part", "c"), exp.alias_(cast(size, "bigint"), "n", quoted=True), *extremes)
        .from_(scratch(p.cells, "c"))
        .group_by(col("part", "c"))
        .having(exp.GTE(this=size.copy(), expression=number(2 * p.k)))
    )


def _range_of(quasi: Quasi) -> exp.Select:
    """The ranges of one column, as rows."""
    lo, hi = col(f"lo{quasi.number}", "r"), col(f"hi{quasi.number}", "r")
    columns = {"part": col("part", "r"), "n": col("n", "r"), "d": number(quasi.number), "lo": lo, "hi": hi}
    return (
        exp.select(*[exp.alias_(node, name, quoted=True) for name, node in columns.items()])
        .from_(exp.alias_(exp.Table(this=ident("ranges")), ident("r"), table=True))
        .where(exp.LT(this=lo.copy(), expression=hi.copy()))
    )
