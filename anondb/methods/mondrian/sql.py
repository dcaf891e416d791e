"""Partitions of the frequency set: what a search by Mondrian starts with, and what its rounds share.

The cells of a partition are rows of the frequency set, so that a round costs a few scans of what is still
open, whatever the size of the source. Codes grow with the values; NULL is 0, before all others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from anondb.run.encode_sql import measured
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    ident,
    number,
    scratch,
    scratch_name,
    union_all,
)
from anondb.sqltree.tables import NUMERIC_TYPES, Quasi, Scratch, Sensitive

CUT = ("part", "d", "at", "n", "left", "quota", "child")
"""Of a cut: where it is, how many records lie left of it, how many of them have its value, its first half."""
CUT_BY_LOSS = ("part", "d", "at", "n", "left", "parts", "level", "child")
"""Of a cut between nodes below one of a `level`: behind which it is, the records before it, how many parts it makes."""
ITEM = dict.fromkeys(("part", "d", "level", "child", "place"), "int")
ITEM |= dict.fromkeys(("n", "left", "total"), "bigint") | dict.fromkeys(("below", "above", "x"), "float8")
"""Of a node that a cut may part from others: see `anondb.methods.mondrian.loss_sql`."""


@dataclass(frozen=True)
class Condition:
    """What both halves of a cut have to satisfy besides k: a model of a sensitive column."""

    column: str  # of the frequency set: s1 …
    holds: Callable[[exp.Expr, exp.Expr], exp.Expr]
    """A condition with aggregates over a class's histogram, given the columns of its values and counts."""


@dataclass(frozen=True)
class Partitioning:
    """What the statements of a search have in common."""

    names: Scratch
    quasi: Sequence[Quasi]
    k: int
    strict: bool = True
    conditions: Sequence[Condition] = ()
    judged: Sequence[tuple[Sensitive, int]] = ()  # the columns of the conditions, each with its code for NULL
    by_loss: bool = False  # cuts are chosen by what they save, and not by the widths of columns
    exact: bool = False  # ranges end at values of the data, and not at rounded ones
    turn: int = 0  # which of two tables has the open partitions

    @property
    def cells(self) -> str:
        return self.names.cells(self.turn)

    @property
    def halves(self) -> str:
        """The cells of the next round."""
        return self.names.cells(1 - self.turn)

    def next_round(self) -> Partitioning:
        return replace(self, turn=1 - self.turn)

    @property
    def height(self) -> int:
        """Of the highest hierarchy."""
        return max(q.height for q in self.quasi)

    @property
    def codes(self) -> list[str]:
        """The columns that tell one cell of a partition from another."""
        return [code(q) for q in self.quasi] + sorted({c.column for c in self.conditions})

    @property
    def columns(self) -> list[str]:
        """Of a table of cells."""
        return [*self.codes, "n", "part"]


def places(p: Partitioning) -> exp.Create:
    """What ranges are measured by: numbers by value, dates by their time, categories by their position.

    A NULL among numbers lies where the smallest lies: apart from it, but at no distance.
    """
    everything = [_places_of(p.names, q) for q in p.quasi]
    return create_scratch(p.names.places, union_all(everything))


def index_places(p: Partitioning) -> exp.Create:
    """Few partitions ask for few of many places."""
    columns = [exp.Ordered(this=col(name)) for name in ("d", "leaf")]
    index = exp.Index(table=scratch_name(p.names.places), params=exp.IndexParameters(columns=columns))
    return exp.Create(this=index, kind="INDEX", unique=True)


def tables(p: Partitioning) -> list[exp.Create]:
    """The search's tables, empty. They are emptied between rounds and not made anew: a lock would be held for each."""
    cells_of = dict.fromkeys(p.codes, "int") | {"n": "bigint", "part": "int"}
    ranks_of = {"part": "int", "n": "bigint", "d": "int", "rank": "int"}
    cut = CUT_BY_LOSS if p.by_loss else CUT
    cuts_of = {name: "bigint" if name in ("n", "left", "quota") else "int" for name in cut}
    if p.by_loss:
        ranks_of |= {name: cuts_of[name] for name in CUT_BY_LOSS[2:-1]}
    return [
        *[_empty(p.names.items, ITEM)] * p.by_loss,
        _empty(p.cells, cells_of),
        _empty(p.halves, cells_of),
        _empty(p.names.partitioned, cells_of),
        _empty(p.names.ranks, ranks_of),
        _empty(p.names.cuts, cuts_of),
    ]


def whole(p: Partitioning) -> exp.Insert:
    """The whole frequency set is partition 1; rows that differ in nothing that is looked at are one cell."""
    codes = [col(name, "f") for name in p.codes]
    cells_of = exp.select(*codes, exp.Sum(this=col("n", "f")), number(1))
    cells_of = cells_of.from_(scratch(p.names.freq, "f")).group_by(*[each.copy() for each in codes])
    return insert_scratch(p.cells, p.columns, cells_of)


def whole_holds(p: Partitioning, condition: Condition) -> exp.Select:
    """Whether the whole table satisfies a model: no part of it needs to, if it does not."""
    counts = histogram(scratch(p.cells, "h"), condition, ["part"])
    return exp.select(condition.holds(col("value", "h"), col("n", "h"))).from_(counts.subquery("h"))


def cells(p: Partitioning) -> exp.Select:
    """The columns of the cells `c`."""
    return exp.select(*[col(name, "c") for name in p.columns])


def value_cut(p: Partitioning) -> exp.Expr:
    """The code of a cell `c` in the column that its partition's row `t` names."""
    chosen = exp.Case(this=col("d", "t"))
    for q in p.quasi:
        chosen = chosen.when(number(q.number), col(code(q), "c"))
    return chosen


def histogram(of: exp.Expr, condition: Condition, by: Sequence[str]) -> exp.Select:
    """The counts `n` of every sensitive `value` in groups of `h`."""
    keys = [col(name, "h") for name in by]
    return (
        exp.select(*keys, exp.alias_(col(condition.column, "h"), "value", quoted=True))
        .select(exp.alias_(cast(exp.Sum(this=col("n", "h")), "bigint"), "n", quoted=True))
        .from_(of)
        .group_by(*[key.copy() for key in keys], col(condition.column, "h"))
    )


def insert_scratch(name: str, columns: Sequence[str], query: exp.Query) -> exp.Insert:
    target = exp.Schema(this=scratch(name), expressions=[ident(column) for column in columns])
    return exp.Insert(this=target, expression=query)


def empty_round(p: Partitioning) -> exp.TruncateTable:
    """What a round has used is not needed again."""
    used = (p.cells, p.names.ranks, p.names.cuts, *[p.names.items] * p.by_loss)
    return exp.TruncateTable(expressions=[scratch(name) for name in used])


def code(quasi: Quasi) -> str:
    """The column of the frequency set that has its codes."""
    return f"q{quasi.number}"


def _places_of(names: Scratch, quasi: Quasi) -> exp.Select:
    leaf = col("leaf", "e")
    value: exp.Expr = cast(leaf.copy(), "numeric")
    if quasi.is_ranged:
        value = measured(quasi, col("raw", "e"))
        if quasi.column.base not in NUMERIC_TYPES:
            value = exp.Extract(this=exp.var("epoch"), expression=value)
    least, most = (exp.Window(this=of(this=value.copy())) for of in (exp.Min, exp.Max))
    columns = {
        "d": number(quasi.number),
        "leaf": leaf,
        "value": call("coalesce", value, least),
        "span": exp.Sub(this=most, expression=least.copy()),
    }
    return exp.select(*[exp.alias_(node, name, quoted=True) for name, node in columns.items()]).from_(
        scratch(names.dictionary(quasi), "e")
    )


def _empty(name: str, columns: Mapping[str, str]) -> exp.Create:
    typed = [exp.alias_(cast(number(0), type_), column, quoted=True) for column, type_ in columns.items()]
    return create_scratch(name, exp.select(*typed).limit(number(0)))
