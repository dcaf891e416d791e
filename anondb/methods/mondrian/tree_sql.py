"""What a cut by loss looks things up in: of every value the nodes above it with their costs, or its place on a line.

The nodes below one cost alike whatever two of them a class has in common with: what the node above costs. Numbers and
dates without a hierarchy lie on a line, and two of them cost their distance.
"""

from __future__ import annotations

from sqlglot import exp

from anondb.hierarchies.forms import Values
from anondb.methods.mondrian.sql import Partitioning
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    divided,
    equal,
    every,
    named,
    null,
    number,
    query,
    scratch,
    subquery,
    union_all,
)
from anondb.sqltree.tables import Quasi

FIRST = 1  # the place of the least value; a NULL lies as far before it as the greatest behind it


def tree(p: Partitioning) -> exp.Create:
    """Every value with its nodes up to the greatest height of all columns: above a root there are roots."""
    rows = [_on_line(p, q) if q.is_ranged else _below_root(p, q) for q in p.quasi]
    return create_scratch(p.names.tree, union_all(rows))


def _below_root(p: Partitioning, quasi: Quasi) -> exp.Select:
    """The codes of a value's nodes, and what a class of several values below each costs."""
    of_values = isinstance(quasi.hierarchy, Values)
    codes: list[exp.Expr] = [col("leaf", "e")]
    costs: list[exp.Expr] = [number(0)]
    joins = []
    for level in range(1, quasi.height):
        codes.append(col(f"l{level}", "e"))
        costs.append(col("cost", f"k{level}"))
        same = [
            equal(col("quasi", f"k{level}"), number(quasi.number)),
            equal(col("level", f"k{level}"), number(level)),
            equal(col("code", f"k{level}"), col(f"l{level}", "e")),
        ]
        joins.append(exp.Join(this=scratch(p.names.costs, f"k{level}"), on=every(same)))
    root = _of_several(p, quasi) if of_values else number(1)
    return _row(p, quasi, codes, costs, root, null(), joins)


def _of_several(p: Partitioning, quasi: Quasi) -> exp.Expr:
    """A set of k of the column's values, as a share of all: what is in a class of the smallest size."""
    every_value = query([exp.Count(this=exp.Star())], scratch(p.names.dictionary(quasi), "w"))
    others = exp.paren(exp.Sub(this=subquery(every_value), expression=number(1)))
    share = divided(cast(number(p.k - 1), "float8"), call("greatest", others, number(1)))
    return call("least", share, number(1))


def _on_line(p: Partitioning, quasi: Quasi) -> exp.Select:
    """The place of a value: from 1 for the least to 2 for the greatest, and 0 for NULL."""
    least = query([exp.Min(this=col("value", "w"))], scratch(p.names.places, "w"), where=_of(quasi, "w"))
    beyond = exp.paren(exp.Sub(this=col("value", "v"), expression=subquery(least)))
    share = call("coalesce", divided(beyond, call("nullif", col("span", "v"), number(0))), number(0))
    place = cast(exp.paren(exp.Add(this=share, expression=number(FIRST))), "float8")
    is_null = equal(col("leaf", "e"), number(0))
    x = exp.Case().when(is_null, number(0)).else_(place)
    same = exp.and_(_of(quasi, "v"), equal(col("leaf", "v"), col("leaf", "e")))
    join = exp.Join(this=scratch(p.names.places, "v"), on=same)
    return _row(p, quasi, [col("leaf", "e")], [number(0)], number(1), x, [join])


def _of(quasi: Quasi, alias: str) -> exp.EQ:
    return equal(col("d", alias), number(quasi.number))


def _row(
    p: Partitioning,
    quasi: Quasi,
    codes: list[exp.Expr],
    costs: list[exp.Expr],
    root: exp.Expr,
    x: exp.Expr,
    joins: list[exp.Join],
) -> exp.Select:
    columns = [named(number(quasi.number), "d"), named(col("leaf", "e"), "leaf")]
    columns.append(named(cast(x, "float8"), "x"))
    for level in range(p.height + 1):
        below = level < len(codes)
        columns.append(named(codes[level] if below else number(1), f"l{level}"))
        columns.append(named(cast(costs[level] if below else root.copy(), "float8"), f"k{level}"))
    return query(columns, scratch(p.names.dictionary(quasi), "e"), joins=joins)
