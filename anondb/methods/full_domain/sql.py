"""Questions to the frequency set: what a node of the generalization lattice would give.

Mostly one statement. Where a class that is left out changes what the others are compared with (as in t-closeness),
or all that is left out becomes a class (masking), the node's classes are put down first, in a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sqlglot import exp

from anondb.methods.full_domain.packed_sql import Field, Packing, at_node
from anondb.models import sql as model
from anondb.models.sql import Models, class_rows
from anondb.run.frequency_sql import Partial
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    every,
    ident,
    named,
    number,
    query,
    scratch,
    star,
    subquery,
    table,
)
from anondb.sqltree.render import render
from anondb.sqltree.tables import Quasi, Scratch


@dataclass(frozen=True)
class Costs:
    """What the objective takes for the records that a node leaves out."""

    weights: Sequence[float]  # of each quasi-identifier; they sum to 1
    by_leaf: bool  # records of one class can cost differently
    budget: int  # more left-out records fail, and need no cost


def figures(
    names: Scratch,
    source: str,
    packing: Packing,
    models: Models,
    levels: Partial,
    costs: Costs | None = None,
) -> exp.Select:
    """Classes that pass, records in the others, those that no finer node can help, squares, all classes, cost.

    Without costs the levels are in the parameters alone: the masks of the words.
    """
    keys = packing.keys(levels)
    rows = class_rows(at_node(source, packing, levels, as_parameters=costs is None), keys, models)
    found = [
        *[col(key, "x") for key in keys],
        col("n", "x"),
        *model.judgement(names, models, "x", reference=True),
    ]
    return _summed(names, packing, models, levels, query(found, subquery(rows, "x")), costs)


def put_down(
    names: Scratch, source: str, packing: Packing, models: Models, levels: Partial, *, reference: bool
) -> exp.Create:
    """A node's classes as a table; with `reference`, what is released is all records."""
    rows = class_rows(at_node(source, packing, levels), packing.keys(levels), models)
    return create_scratch(names.node, model.judged_rows(names, models, rows, reference=reference))


def remove_distant(names: Scratch, classes: str, models: Models) -> exp.Update:
    """Classes too far from those that still pass do not pass; says how many, and is asked until none is."""
    close = [
        one.holds(names, "x", model.released_reference(names, one.sensitive, classes))
        for one in models.relative
    ]
    return exp.Update(
        this=scratch(classes, "x"),
        expressions=[equal(exp.Column(this=ident("ok")), exp.false())],
        where=exp.Where(this=every([col("ok", "x"), exp.Not(this=exp.Paren(this=every(close)))])),
    )


def put_down_figures(
    names: Scratch, packing: Packing, models: Models, levels: Partial, costs: Costs | None = None
) -> exp.Select:
    """The figures of a node whose classes have been put down."""
    columns = [*packing.keys(levels), "n", "ok", "sure"]
    judged = query([col(name, "x") for name in columns], scratch(names.node, "x"))
    return _summed(names, packing, models, levels, judged, costs)


def masked_passes(
    names: Scratch, source: str, packing: Packing, models: Models, levels: Partial
) -> exp.Select:
    """Whether all that a node leaves out would pass as one class."""
    join = exp.Join(this=scratch(names.node, "k"), on=_left_out(packing.keys(levels), "f", "k"))
    left_out = query([star("f")], at_node(source, packing, levels), joins=[join])
    rows = class_rows(subquery(left_out, "f"), [], models)
    return query([model.passes(names, models, "x")], subquery(rows, "x"))


def _summed(
    names: Scratch,
    packing: Packing,
    models: Models,
    levels: Partial,
    judged: exp.Select,
    costs: Costs | None,
) -> exp.Select:
    fails = exp.Not(this=col("ok", "c"))
    # what fits into int has a square that fits into bigint, and is faster summed
    size = cast(col("n", "c"), "bigint" if models.counted.counts == "int" else "numeric")
    square = exp.Mul(this=size, expression=col("n", "c"))
    found = {
        "classes": _where(exp.Count(this=exp.Star()), col("ok", "c")),
        "outliers": _sum_where(col("n", "c"), fails, "bigint"),
        "hopeless": _sum_where(col("n", "c"), exp.Not(this=col("sure", "c")), "bigint"),
        "squares": _sum_where(square, col("ok", "c"), "numeric"),
        "groups": exp.Count(this=exp.Star()),
    }
    if costs and not costs.by_leaf:
        each = exp.Mul(
            this=col("n", "c"), expression=exp.Paren(this=_class_cost(names, packing, levels, costs))
        )
        found["cost"] = _sum_where(each, fails.copy(), "float8")
    columns = [named(value, name) for name, value in found.items()]
    if not costs or not costs.by_leaf:
        return query(columns, subquery(judged, "c"))
    # the classes are read twice, and the second time only where their cost will be asked for
    affordable = exp.Between(this=col("outliers", "z"), low=number(1), high=number(costs.budget))
    cost = exp.Case().when(affordable, _leaf_cost(names, packing, levels, costs)).else_(number(0))
    sums = query(columns, table("y", alias="c"))
    outer = query([*[col(name, "z") for name in found], named(cost, "cost")], subquery(sums, "z"))
    return outer.with_(ident("y"), as_=judged)


def _class_cost(names: Scratch, packing: Packing, levels: Partial, costs: Costs) -> exp.Expr:
    """What releasing a record of a class costs, by the codes of the class."""
    total: exp.Expr = number(0)
    for column, (level, weight) in enumerate(zip(levels, costs.weights, strict=True)):
        q = packing.counted.quasi[column]
        if level is None or level == 0 or weight == 0:
            continue
        cost: exp.Expr = number(weight)
        if level < q.height:
            cost = exp.Var(this=_weighted(names, q, level, weight, packing.field(column, level), "c"))
        total = exp.Add(this=total, expression=cost)
    return total


def _leaf_cost(names: Scratch, packing: Packing, levels: Partial, costs: Costs) -> exp.Expr:
    """What releasing all left-out records would cost, by their leaves."""
    total: exp.Expr = number(0)
    leaves: list[exp.Expr] = []
    for column, (level, weight) in enumerate(zip(levels, costs.weights, strict=True)):
        q = packing.counted.quasi[column]
        if level is not None and level > 0 and weight > 0:
            leaves.append(named(packing.field(column, 0).code("p"), q.code))
            cost = exp.Var(this=_weighted(names, q, level, weight, None, "f"))
            total = exp.Add(this=total, expression=cost)
    each = exp.Mul(this=col("n", "f"), expression=exp.Paren(this=total))
    join = exp.Join(this=table("y", alias="o"), on=_left_out(packing.keys(levels), "f", "o"))
    all_of_it = call("coalesce", exp.Sum(this=each), number(0))
    return subquery(query([all_of_it], at_node(names.packed, packing, levels, leaves), joins=[join]))


@lru_cache(maxsize=10_000)
def _weighted(names: Scratch, quasi: Quasi, level: int, weight: float, field: Field | None, of: str) -> str:
    """The weighted cost of a code; NULL, whose code is 0, has none and costs nothing.

    Text, because a search asks for the same ones again and again.
    """
    here = every([equal(col("quasi", "k"), number(quasi.number)), equal(col("level", "k"), number(level))])
    array = model.array_of(scratch(names.costs, "k"), col("cost", "k"), [col("code", "k")], here)
    code = col(quasi.code, of) if field is None else field.code(of)
    entry = exp.Bracket(this=exp.Paren(this=array), expressions=[code], offset=1, safe=False)
    return render(exp.Mul(this=number(weight), expression=call("coalesce", entry, number(0))))


def _left_out(keys: Sequence[str], one: str, classes: str) -> exp.Expr:
    """A row belongs to a class that does not pass."""
    same = [equal(col(key, one), col(key, classes)) for key in keys]
    return every([*same, exp.Not(this=col("ok", classes))])


def _where(aggregate: exp.Expr, condition: exp.Expr) -> exp.Filter:
    return exp.Filter(this=aggregate, expression=exp.Where(this=condition))


def _sum_where(value: exp.Expr, condition: exp.Expr, type_: str) -> exp.Expr:
    total = _where(exp.Sum(this=value), condition)
    return cast(call("coalesce", total, number(0)), type_)
