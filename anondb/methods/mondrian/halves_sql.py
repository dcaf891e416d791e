"""The halves that a round of Mondrian makes: whether they hold, and where they go."""

from __future__ import annotations

from sqlglot import exp

from anondb.methods.mondrian.loss_sql import parted
from anondb.methods.mondrian.sql import (
    Condition,
    Partitioning,
    cells,
    histogram,
    insert_scratch,
    value_cut,
)
from anondb.sqltree.build import (
    call,
    cast,
    col,
    left_join,
    null,
    number,
    scratch,
    union_all,
)


def refuse(p: Partitioning, condition: Condition) -> exp.Delete:
    """Takes back the cuts of which a half does not satisfy a model."""
    counts = histogram(_halved(p).subquery("h"), condition, ["part", "side"])
    failing = (
        exp.select(col("part", "h"))
        .from_(counts.subquery("h"))
        .group_by(col("part", "h"), col("side", "h"))
        .having(exp.Not(this=exp.paren(condition.holds(col("value", "h"), col("n", "h")))))
    )
    which = exp.In(this=col("part", "t"), query=failing.subquery())
    return exp.Delete(this=scratch(p.names.cuts, "t"), where=exp.Where(this=which))


def figures(p: Partitioning) -> exp.Select:
    """How many halves may be cut again, by how many there are more than before, and which columns were cut."""
    right = exp.paren(exp.Sub(this=col("n", "t"), expression=col("left", "t")))
    large = [
        exp.Filter(
            this=exp.Count(this=exp.Star()),
            expression=exp.Where(this=exp.GTE(this=size, expression=number(2 * p.k))),
        )
        for size in (col("left", "t"), right)
    ]
    columns = call("array_agg", exp.Distinct(expressions=[col("d", "t")]))
    again = exp.Add(this=large[0], expression=large[1])
    return exp.select(again, exp.Count(this=exp.Star()), columns).from_(scratch(p.names.cuts, "t"))


def close_uncut(p: Partitioning) -> exp.Insert:
    """Partitions without a cut are classes."""
    uncut = left_join(
        cells(p).from_(scratch(p.cells, "c")),
        scratch(p.names.cuts, "t"),
        exp.EQ(this=col("part", "t"), expression=col("part", "c")),
    ).where(exp.Is(this=col("part", "t"), expression=null()))
    return insert_scratch(p.names.partitioned, p.columns, uncut)


def close_small(p: Partitioning) -> exp.Insert:
    """Halves of fewer than 2k records are classes: no cut could leave k on both sides."""
    small = exp.LT(this=col("size", "h"), expression=number(2 * p.k))
    return insert_scratch(p.names.partitioned, p.columns, _numbered(p).where(small))


def large(p: Partitioning) -> exp.Insert:
    """Halves of 2k records or more are the open partitions of the next round."""
    enough = exp.GTE(this=col("size", "h"), expression=number(2 * p.k))
    return insert_scratch(p.halves, p.columns, _numbered(p).where(enough))


def close_all(p: Partitioning) -> exp.Insert:
    """All that is still open is a class."""
    return insert_scratch(p.names.partitioned, p.columns, cells(p).from_(scratch(p.cells, "c")))


def _numbered(p: Partitioning) -> exp.Select:
    """The halved cells under the numbers of their halves."""
    part = cast(exp.Add(this=col("child", "h"), expression=col("side", "h")), "int")
    columns = [col(name, "h") for name in (*p.codes, "n")]
    return exp.select(*columns, exp.alias_(part, "part", quoted=True)).from_(_halved(p).subquery("h"))


def _halved(p: Partitioning) -> exp.Query:
    """The cells of partitions with a cut: their `side` of it (0 is left), and the `size` of that half."""
    if p.by_loss:
        return parted(p)
    return _halved_strictly(p) if p.strict else _halved_evenly(p)


def _halved_strictly(p: Partitioning) -> exp.Select:
    goes_left = exp.LTE(this=value_cut(p), expression=col("at", "t"))
    side = exp.Case().when(goes_left, number(0)).else_(number(1))
    size = exp.Case().when(goes_left.copy(), col("left", "t")).else_(_right("t"))
    columns = [col(name, "c") for name in (*p.codes, "n", "part")]
    query = exp.select(*columns, col("child", "t")).select(
        exp.alias_(side, "side", quoted=True), exp.alias_(size, "size", quoted=True)
    )
    return _with_cuts(p, query)


def _halved_evenly(p: Partitioning) -> exp.Query:
    """Relaxed: the cells of the median fill the left half up, in their own order, and one may be divided."""
    columns = [col(name, "c") for name in (*p.codes, "n", "part")]
    upto = exp.Window(
        this=exp.Sum(this=col("n", "c")),
        partition_by=[col("part", "c"), value_cut(p)],
        order=exp.Order(expressions=[exp.Ordered(this=col(name, "c")) for name in p.codes]),
    )
    before = exp.paren(exp.Sub(this=upto, expression=col("n", "c")))
    room = exp.Greatest(this=exp.Sub(this=col("quota", "t"), expression=before), expressions=[number(0)])
    taken = (
        exp.Case()
        .when(exp.LT(this=value_cut(p), expression=col("at", "t")), col("n", "c"))
        .when(exp.GT(this=value_cut(p), expression=col("at", "t")), number(0))
        .else_(exp.Least(this=col("n", "c"), expressions=[room]))
    )
    dealt = _with_cuts(
        p,
        exp.select(*columns, *[col(name, "t") for name in ("child", "left")]).select(
            exp.alias_(_right("t"), "right", quoted=True),
            exp.alias_(cast(taken, "bigint"), "taken", quoted=True),
        ),
    )
    rest = exp.Sub(this=col("n", "x"), expression=col("taken", "x"))
    sides = []
    for side, (records, size) in enumerate(((col("taken", "x"), "left"), (rest, "right"))):
        values = {"n": records, "part": col("part", "x"), "child": col("child", "x"), "side": number(side)}
        sides.append(
            exp.select(*[col(name, "x") for name in p.codes])
            .select(*[exp.alias_(node, name, quoted=True) for name, node in values.items()])
            .select(exp.alias_(col(size, "x"), "size", quoted=True))
            .from_(dealt.subquery("x"))
            .where(exp.GT(this=records.copy(), expression=number(0)))
        )
    return union_all(sides)


def _with_cuts(p: Partitioning, query: exp.Select) -> exp.Select:
    same = exp.EQ(this=col("part", "t"), expression=col("part", "c"))
    return query.from_(scratch(p.cells, "c")).join(scratch(p.names.cuts, "t"), on=same)


def _right(of: str) -> exp.Sub:
    return exp.Sub(this=col("n", of), expression=col("left", of))
