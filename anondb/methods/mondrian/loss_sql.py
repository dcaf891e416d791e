"""Cuts by what they save: of every open partition and column the nodes that a cut may part, and the best cut.

A cut parts the nodes right below the lowest one that all values of a partition have in common, and a column
without a hierarchy anywhere. `anondb.mondrian_cuts` says what each place saves.
"""

from __future__ import annotations

from sqlglot import exp

from anondb.methods.mondrian.sql import CUT_BY_LOSS, ITEM, Partitioning, code, insert_scratch, value_cut
from anondb.run.linked_sql import temporary
from anondb.sqltree.build import (
    call,
    cast,
    col,
    equal,
    every,
    ident,
    named,
    number,
    parameter,
    query,
    scratch,
    string,
    subquery,
    table,
    union_all,
)

_CHOSEN = ("at", "left", "parts", "level")
"""Of the best cut of a column, besides its rank."""


def items(p: Partitioning) -> exp.Insert:
    """The nodes that cuts may part, in order: the largest first, as the small ones may be too few alone; or by place.

    `above` is what two records of different nodes cost, `below` what all pairs of one node do, if all their
    values cost what the node does: a little more than they cost, and known without the nodes between.
    """
    n, squares = (
        exp.Sum(this=col("n", "h")),
        exp.Sum(this=exp.Mul(this=col("n", "h"), expression=col("n", "h"))),
    )
    pairs = exp.paren(exp.Sub(this=exp.Mul(this=n.copy(), expression=n.copy()), expression=squares))
    cost_below = exp.Max(this=_at_level(p, "k", -1))
    grouped = query(
        [
            *[col(name, "t") for name in ("part", "d", "level", "total")],
            named(_at_level(p, "l", -1), "child"),
            named(cast(n, "bigint"), "n"),
            named(cast(exp.Mul(this=cost_below, expression=cast(pairs, "float8")), "float8"), "below"),
            named(exp.Max(this=_at_level(p, "k", 0)), "above"),
            named(exp.Max(this=col("x", "e")), "x"),
        ],
        table("histogram", alias="h"),
        joins=[
            exp.Join(this=table("tops", alias="t"), on=_same(("part", "d"), "t", "h")),
            exp.Join(this=scratch(p.names.tree, "e"), on=_same(("d", "leaf"), "e", "h")),
        ],
        group=[number(place) for place in range(1, 6)],
    )
    of_column = [col("part", "g"), col("d", "g")]
    on_line = exp.Not(this=exp.Is(this=col("x", "g"), expression=exp.Null()))
    size = exp.Case().when(on_line, number(0)).else_(col("n", "g"))
    order = exp.Order(expressions=[exp.Ordered(this=size, desc=True), exp.Ordered(this=col("child", "g"))])
    of_row = {"part", "d", "level", "child", "n", "total", "below", "above", "x"}
    values: dict[str, exp.Expr] = {name: col(name, "g") for name in ITEM if name in of_row}
    values["place"] = _window(call("row_number"), of_column, order)
    values["left"] = _window(exp.Sum(this=col("n", "g")), of_column, order)
    rows = query([values[name] for name in ITEM], subquery(grouped, "g"))
    rows = rows.with_(ident("histogram"), as_=_histogram(p), materialized=True)
    return insert_scratch(p.names.items, list(ITEM), rows.with_(ident("tops"), as_=_tops(p)))


def ranks(p: Partitioning) -> exp.Insert:
    """The columns of every partition that some cut could part, the one whose best cut saves most first."""
    cuts = exp.Table(this=call("anondb.mondrian_cuts", string(temporary(p.names.items)), number(p.k)))
    cuts.set("alias", exp.TableAlias(this=ident("t")))
    columns = ("part", "n", "d", "rank", *_CHOSEN)
    return insert_scratch(p.names.ranks, columns, query([col(name, "t") for name in columns], cuts))


def rank_figures(p: Partitioning) -> exp.Select:
    """How many partitions have a column to try, the most columns that one has, and the most parts of a cut."""
    first = exp.Where(this=equal(col("rank", "t"), number(1)))
    most = [call("coalesce", exp.Max(this=col(name, "t")), number(0)) for name in ("rank", "parts")]
    partitions = exp.Filter(this=exp.Count(this=exp.Star()), expression=first)
    return query([partitions, *most], scratch(p.names.ranks, "t"))


def cut(p: Partitioning, rank: int) -> exp.Insert:
    """The best cuts of the columns of a rank, of partitions that have none; their parts are numbered from $1 on."""
    upto = exp.Window(
        this=exp.Sum(this=col("parts", "t")),
        order=exp.Order(expressions=[exp.Ordered(this=col("part", "t"))]),
    )
    before = exp.Sub(this=cast(upto, "int"), expression=col("parts", "t"))
    child = exp.Add(this=cast(parameter(1), "int"), expression=exp.paren(before))
    rows = query(
        [*[col(name, "t") for name in CUT_BY_LOSS[:-1]], child],
        scratch(p.names.ranks, "t"),
        where=every(
            [equal(col("rank", "t"), number(rank)), exp.Is(this=col("part", "u"), expression=exp.Null())]
        ),
        joins=[exp.Join(this=scratch(p.names.cuts, "u"), on=_same(("part",), "u", "t"), side="LEFT")],
    )
    return insert_scratch(p.names.cuts, CUT_BY_LOSS, rows)


def parted(p: Partitioning) -> exp.Select:
    """The cells of partitions with a cut: in which part (`side`) each lies, and the `size` of that part."""
    child = exp.Case(this=col("level", "t"))
    for level in range(1, p.height + 1):
        child = child.when(number(level), col(f"l{level - 1}", "e"))
    return query(
        [
            *[col(name, "c") for name in (*p.codes, "n", "part")],
            col("child", "t"),
            named(_side(), "side"),
            named(_size(), "size"),
        ],
        scratch(p.cells, "c"),
        joins=[
            exp.Join(this=scratch(p.names.cuts, "t"), on=_same(("part",), "t", "c")),
            exp.Join(
                this=scratch(p.names.tree, "e"),
                on=every([equal(col("d", "e"), col("d", "t")), equal(col("leaf", "e"), value_cut(p))]),
            ),
            exp.Join(
                this=scratch(p.names.items, "i"),
                on=every([*_equals(("part", "d"), "i", "t"), equal(col("child", "i"), child)]),
            ),
        ],
    )


def figures(p: Partitioning) -> exp.Select:
    """How many parts may be cut again, by how many there are more than before, and which columns were cut."""
    sides = query(
        [col("part", "t"), col("d", "t"), named(_side(), "side"), named(exp.Max(this=_size()), "size")],
        scratch(p.names.cuts, "t"),
        joins=[exp.Join(this=scratch(p.names.items, "i"), on=_same(("part", "d"), "i", "t"))],
        group=[number(place) for place in (1, 2, 3)],
    )
    enough = exp.Where(this=exp.GTE(this=col("size", "h"), expression=number(2 * p.k)))
    large = exp.Filter(this=exp.Count(this=exp.Star()), expression=enough)
    partitions = exp.Count(this=exp.Distinct(expressions=[col("part", "h")]))
    more = exp.Sub(this=exp.Count(this=exp.Star()), expression=partitions)
    columns = call("array_agg", exp.Distinct(expressions=[col("d", "h")]))
    return query([large, more, columns], subquery(sides, "h"))


def _side() -> exp.Expr:
    """In two, what lies before the cut and behind it; in several, each node before it is a part of its own."""
    behind = exp.GT(this=col("place", "i"), expression=col("at", "t"))
    last = exp.Sub(this=col("parts", "t"), expression=number(1))
    in_two = equal(col("parts", "t"), number(2))
    alone = exp.Sub(this=col("place", "i"), expression=number(1))
    return exp.Case().when(behind, last).when(in_two, number(0)).else_(alone)


def _size() -> exp.Expr:
    behind = exp.GT(this=col("place", "i"), expression=col("at", "t"))
    rest = exp.Sub(this=col("n", "t"), expression=col("left", "t"))
    in_two = equal(col("parts", "t"), number(2))
    return exp.Case().when(behind, rest).when(in_two, col("left", "t")).else_(col("n", "i"))


def _histogram(p: Partitioning) -> exp.Query:
    """The records of every value of every open partition, by column."""
    by_column = []
    for q in p.quasi:
        records = cast(exp.Sum(this=col("n", "c")), "bigint")
        value = named(col(code(q), "c"), "leaf")
        columns = [col("part", "c"), named(number(q.number), "d"), value, named(records, "n")]
        groups = [col("part", "c"), col(code(q), "c")]
        by_column.append(query(columns, scratch(p.cells, "c"), group=groups))
    return union_all(by_column)


def _tops(p: Partitioning) -> exp.Select:
    """The level at which all values of a partition have a node in common; none of columns with a single value."""
    level = exp.Case()
    for at in range(1, p.height):
        ends = [of(this=col(f"l{at}", "e")) for of in (exp.Min, exp.Max)]
        level = level.when(equal(*ends), number(at))
    found = level.else_(number(p.height)) if p.height > 1 else number(1)
    total = cast(exp.Sum(this=col("n", "h")), "bigint")
    tops = query(
        [col("part", "h"), col("d", "h"), named(total, "total"), named(found, "level")],
        table("histogram", alias="h"),
        joins=[exp.Join(this=scratch(p.names.tree, "e"), on=_same(("d", "leaf"), "e", "h"))],
        group=[col("part", "h"), col("d", "h")],
    )
    ends = [of(this=col("leaf", "h")) for of in (exp.Min, exp.Max)]
    return tops.having(exp.LT(this=ends[0], expression=ends[1]))


def _at_level(p: Partitioning, what: str, beside: int) -> exp.Case:
    """The node (`l`) or its cost (`k`) of a value `e` at the level of `t`, or so many levels from it."""
    at = exp.Case(this=col("level", "t"))
    for level in range(1, p.height + 1):
        at = at.when(number(level), col(f"{what}{level + beside}", "e"))
    return at


def _window(of: exp.Expr, partition: list[exp.Column], order: exp.Order) -> exp.Window:
    return exp.Window(this=of, partition_by=[column.copy() for column in partition], order=order.copy())


def _same(names: tuple[str, ...], one: str, other: str) -> exp.Expr:
    return every(_equals(names, one, other))


def _equals(names: tuple[str, ...], one: str, other: str) -> list[exp.Expr]:
    return [equal(col(name, one), col(name, other)) for name in names]
