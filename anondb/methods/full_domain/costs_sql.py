"""What releasing a value at a level costs: generalized information loss, or semantic loss by concepts."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import Computed, StoredVgh, TableVgh
from anondb.run.coarse_sql import span
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    every,
    ident,
    left_join,
    named,
    number,
    query,
    scratch,
    star,
    string,
    subquery,
    table,
)
from anondb.sqltree.equality import as_text
from anondb.sqltree.tables import Quasi, Scratch


def cost_table(names: Scratch, quasi: Sequence[Quasi], *, measure: str | None = None) -> exp.Create:
    """What releasing a value at a level above its own costs, in [0, 1]; a suppressed one costs 1.

    Iyengar 2002: the share of the domain that a value can no longer be told from; by the codes at the level.
    With a similarity `measure` stored hierarchies cost the semantic distance instead, as far as their terms
    have concepts; the leaves below a node then cost differently, and the costs are by the leaves' codes.
    """
    queries = [_level(names, q, level, measure) for q in quasi for level in range(1, q.height + 1)]
    rows = _together(queries)
    for q in quasi:
        if (whole := _whole(names, q)) is not None:
            rows = rows.with_(ident(_span(q)), as_=whole, materialized=True)
    return create_scratch(names.costs, rows)


def _together(queries: Sequence[exp.Select]) -> exp.Query:
    """The rows of all of them."""
    rows: exp.Query = queries[0]
    for further in queries[1:]:
        rows = exp.union(rows, further, distinct=False)
    return rows


def column_costs(names: Scratch, quasi: Quasi, *, by_leaf: bool) -> exp.Select:
    """Of each level, the summed cost over all records and the greatest of a record; NULLs cost nothing.

    The records are counted once, by leaf or by the codes of all levels, and every level joins by equality.
    """
    levels = range(1, quasi.height + 1)
    keys: dict[str, exp.Expr] = {
        f"l{level}": col(quasi.code if by_leaf else quasi.code_at(level), "f")
        for level in levels
        if by_leaf or level < quasi.height
    }
    n = named(exp.Sum(this=col("n", "f")), "n")
    groups: list[exp.Expr] = [number(position) for position, _ in enumerate(keys, 1)]
    counted = query(
        [*[named(key, name) for name, key in keys.items()], n], scratch(names.freq, "f"), group=groups
    )
    if not by_leaf:
        counted.append("expressions", named(number(1), f"l{quasi.height}"))  # all have the root in common
    costs = _together([_level_costs(names, quasi, level) for level in levels])
    ordered = query([star("z")], subquery(costs, "z")).order_by(number(1))
    return ordered.with_(ident("y"), as_=counted, materialized=True)


def _level_costs(names: Scratch, quasi: Quasi, level: int) -> exp.Select:
    cost = exp.Mul(this=col("n", "y"), expression=col("cost", "k"))
    here = every([equal(col("quasi", "k"), number(quasi.number)), equal(col("level", "k"), number(level))])
    same = exp.Join(this=scratch(names.costs, "k"), on=equal(col("code", "k"), col(f"l{level}", "y")))
    most = cast(exp.Max(this=col("cost", "k")), "float8")
    total = cast(exp.Sum(this=cost), "float8")
    found = [named(number(level), "level"), named(total, "total"), named(most, "most")]
    rows = query(found, table("y", alias="y"), joins=[same], where=here)
    rows.set("having", exp.Having(this=exp.GT(this=exp.Count(this=exp.Star()), expression=number(0))))
    return rows


def _level(names: Scratch, quasi: Quasi, level: int, measure: str | None) -> exp.Select:
    code = col("leaf" if measure else f"l{level}", "d")
    rows = exp.select(
        exp.alias_(number(quasi.number), "quasi", quoted=True),
        exp.alias_(number(level), "level", quoted=True),
        exp.alias_(code, "code", quoted=True),
    ).from_(scratch(names.dictionary(quasi), "d"))
    cost, below = _cost(names, quasi, level)
    if below is not None:
        same = exp.EQ(this=col("label", "b"), expression=col(f"g{level}", "d"))
        rows = left_join(rows, below.subquery("b"), same)
    if measure is not None and isinstance(quasi.hierarchy, StoredVgh):
        losses = call("anondb.trans_gsl", string(quasi.hierarchy.name), string(measure), string("skip"))
        source = exp.alias_(exp.Table(this=losses), "t", quoted=True, table=True)
        label = as_text(call("anondb.label_without_sense", col("leaf", "t")))
        rows = left_join(
            rows,
            source,
            exp.and_(
                exp.EQ(this=label, expression=col("raw", "d")),
                exp.EQ(this=col("level", "t"), expression=number(level)),
            ),
        )
        cost = call("coalesce", col("loss", "t"), cost)
    # NULL, with leaf 0, has a code at each level too, and costs nothing there
    cost = exp.Case().when(exp.EQ(this=col("leaf", "d"), expression=number(0)), number(0)).else_(cost)
    rows = rows.select(exp.alias_(cast(exp.Max(this=cost), "float8"), "cost", quoted=True))
    rows = rows.group_by(number(3))
    return rows.where(exp.GT(this=col("leaf", "d"), expression=number(0))) if measure else rows


def _cost(names: Scratch, quasi: Quasi, level: int) -> tuple[exp.Expr, exp.Select | None]:
    """The cost of a value at a level; and what has to be joined as `b` for it: the leaves below each label."""
    if level == quasi.height:
        return number(1), None
    match quasi.hierarchy:
        case StoredVgh() | TableVgh():
            return _share_of(names.leaves(quasi), "h", level, None)
        case Computed() as form:
            width = form.width(quasi, col("raw", "d"), level)
            if width is not None:
                return _width(quasi, width), None
            if quasi.is_coarse:
                return _share_of_values(names, quasi, level)
            known = exp.GT(this=col("leaf", "h"), expression=number(0))
            return _share_of(names.dictionary(quasi), "h", level, known)
    raise AssertionError(quasi.hierarchy)


def _share_of(leaves: str, alias: str, level: int, condition: exp.Expr | None) -> tuple[exp.Expr, exp.Select]:
    """(leaves below a label - 1) / (all leaves - 1)."""
    label = exp.alias_(col(f"g{level}", alias), "label", quoted=True)
    below = exp.select(label, exp.alias_(exp.Count(this=exp.Star()), "leaves", quoted=True))
    below = below.from_(scratch(leaves, alias)).group_by(number(1))
    everything = exp.select(exp.Count(this=exp.Star())).from_(scratch(leaves, alias))
    if condition is not None:
        below, everything = below.where(condition), everything.where(condition.copy())
    others = call("greatest", exp.Sub(this=everything.subquery(), expression=number(1)), number(1))
    share = exp.Sub(this=cast(col("leaves", "b"), "float8"), expression=number(1))
    return exp.Div(this=exp.paren(share), expression=others), below


def _share_of_values(names: Scratch, quasi: Quasi, level: int) -> tuple[exp.Expr, exp.Select]:
    """The same of values that have no entries of their own, and are counted apart."""
    entry = exp.Join(
        this=scratch(names.dictionary(quasi), "h"), on=equal(col("raw", "h"), as_text(col("raw", "x")))
    )
    total = cast(exp.Sum(this=col("values", "x")), "float8")
    label = named(col(f"g{level}", "h"), "label")
    below = query(
        [label, named(total, "leaves")], scratch(names.values(quasi), "x"), joins=[entry], group=[number(1)]
    )
    known = exp.Not(this=exp.Is(this=col("raw", "x"), expression=exp.Null()))
    everything = subquery(query([total.copy()], scratch(names.values(quasi), "x"), where=known))
    one_less = exp.Sub(this=everything, expression=number(1))
    share = exp.paren(exp.Sub(this=col("leaves", "b"), expression=number(1)))
    return exp.Div(this=share, expression=call("greatest", one_less, number(1))), below


def _span(quasi: Quasi) -> str:
    return f"span{quasi.number}"


def _whole(names: Scratch, quasi: Quasi) -> exp.Select | None:
    """How wide a column is, where ranges have a share of it: looked at once for all levels."""
    form = quasi.hierarchy
    if not isinstance(form, Computed) or quasi.height == 1:  # the root costs all
        return None
    if form.width(quasi, col("raw", "d"), 1) is None:
        return None
    return span(names, quasi)


def _width(quasi: Quasi, width: exp.Expr) -> exp.Expr:
    """The width of a range as a share of the column's own; a column of one value has nothing to lose."""
    whole = subquery(query([col("whole", "x")], table(_span(quasi), alias="x")))
    share = exp.Div(this=width, expression=call("nullif", whole, number(0)))
    return (
        exp.Case()
        .when(exp.Is(this=share.copy(), expression=exp.Null()), number(0))
        .else_(call("least", share, number(1)))
    )
