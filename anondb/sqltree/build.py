"""Small constructors of SQL nodes: names are always quoted, and a string is never parsed as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from sqlglot import exp

Node = exp.Expr
"""A piece of SQL as a tree; what this package hands out to the others."""

Select = exp.Select
"""A query as a tree."""


def ident(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def table(name: str, schema: str | None = None, alias: str | None = None) -> exp.Expr:
    """A table by its catalogue name; with an alias, ready for FROM."""
    return exp.Table(
        this=ident(name),
        db=None if schema is None else ident(schema),
        alias=None if alias is None else exp.TableAlias(this=ident(alias)),
    )


def scratch(name: str, alias: str | None = None) -> exp.Expr:
    """A temporary table of the run."""
    return table(name, "pg_temp", alias)


def col(name: str, of: str | None = None) -> exp.Column:
    return exp.Column(this=ident(name), table=None if of is None else ident(of))


def named(value: exp.Expr, name: str) -> exp.Alias:
    """`value as "name"`."""
    return exp.Alias(this=value, alias=ident(name))


def query(
    columns: Sequence[exp.Expr],
    source: exp.Expr,
    *,
    joins: Sequence[exp.Join] = (),
    where: exp.Expr | None = None,
    group: Sequence[exp.Expr] = (),
) -> exp.Select:
    """A select of fresh nodes. A search builds thousands of them, and sqlglot's own builders copy at each step."""
    return exp.Select(
        expressions=list(columns),
        from_=exp.From(this=source),
        joins=list(joins),
        where=None if where is None else exp.Where(this=where),
        group=exp.Group(expressions=list(group)) if group else None,
    )


def subquery(select: exp.Query, alias: str | None = None) -> exp.Subquery:
    return exp.Subquery(this=select, alias=None if alias is None else exp.TableAlias(this=ident(alias)))


def every(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """All of these, each a comparison or a call; true for none."""
    if not conditions:
        return exp.true()
    return reduce(lambda left, right: exp.And(this=left, expression=right), conditions)


def equal(left: exp.Expr, right: exp.Expr) -> exp.EQ:
    return exp.EQ(this=left, expression=right)


def star(of: str) -> exp.Column:
    return exp.Column(this=exp.Star(), table=ident(of))


def number(value: object) -> exp.Expr:
    """A numeric constant; negative ones in parentheses, as `x - -1` would start a comment."""
    text = str(value)
    return (
        exp.paren(exp.Neg(this=exp.Literal.number(text[1:])))
        if text.startswith("-")
        else exp.Literal.number(text)
    )


def parameter(position: int) -> exp.Parameter:
    """A value that is sent beside the statement: $1 …"""
    return exp.Parameter(this=exp.Literal.number(position))


def string(value: str) -> exp.Literal:
    return exp.Literal.string(value)


def null() -> exp.Null:
    return exp.Null()


def call(name: str, *args: exp.Expr) -> exp.Anonymous:
    """A function by its own name: sqlglot's typed functions are rendered as it thinks best."""
    return exp.Anonymous(this=name, expressions=list(args))


def cast(node: exp.Expr, type_: str) -> exp.Cast:
    return exp.Cast(this=node, to=named_type(type_))


def named_type(text: str) -> exp.Var:
    """A type as the server's own format_type() spells it, quoted where it must be."""
    return exp.Var(this=text)


def collate_c(node: exp.Expr) -> exp.Collate:
    """Byte order: the same in every database, and the fastest."""
    return exp.Collate(this=exp.paren(node), expression=ident("C"))


def concat(nodes: Sequence[exp.Expr]) -> exp.Expr:
    """`a || b || …`; the empty string for none."""
    return reduce(lambda left, right: exp.DPipe(this=left, expression=right), nodes) if nodes else string("")


def divided(dividend: exp.Expr, divisor: exp.Expr) -> exp.Div:
    """A division as PostgreSQL does it: of integers, an integer."""
    return exp.Div(this=dividend, expression=divisor, typed=True)


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    return reduce(lambda left, right: exp.union(left, right, distinct=False, copy=False), queries)


def left_join(select: exp.Select, joined: exp.Expr, on: exp.Expr) -> exp.Select:
    select.append("joins", exp.Join(this=joined, on=on, side="left"))
    return select


def create_scratch(name: str, query: exp.Query) -> exp.Create:
    """A temporary table of a query's rows: gone with the run's connection, also after a crash."""
    return exp.Create(
        this=scratch_name(name),
        kind="TABLE",
        expression=query,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )


def set_local(setting: str, value: str) -> exp.Set:
    """A setting until the end of the transaction, as a statement: a call would reach no other server."""
    given = exp.EQ(this=exp.Var(this=setting), expression=string(value))
    return exp.Set(expressions=[exp.SetItem(this=given, kind="LOCAL")])


def fill_scratch(name: str) -> exp.Copy:
    """COPY of a temporary table's rows from the client."""
    return exp.Copy(this=scratch(name), kind=True, files=[exp.var("stdin")])


def scratch_name(name: str) -> exp.Table:
    return exp.Table(this=ident(name))


def true() -> exp.Boolean:
    return exp.true()


def false() -> exp.Boolean:
    return exp.false()


def plus(left: exp.Expr, right: exp.Expr, *, grouped: bool = False) -> exp.Expr:
    total = exp.Add(this=left, expression=right)
    return exp.paren(total) if grouped else total


def minus(left: exp.Expr, right: exp.Expr, *, grouped: bool = False) -> exp.Expr:
    rest = exp.Sub(this=left, expression=right)
    return exp.paren(rest) if grouped else rest


def times(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.Mul(this=exp.paren(left), expression=right)


def over(left: exp.Expr, right: exp.Expr) -> exp.GT:
    return exp.GT(this=left, expression=right)


def under(left: exp.Expr, right: exp.Expr) -> exp.LT:
    return exp.LT(this=left, expression=right)


def greatest_of(value: exp.Expr) -> exp.Max:
    """Of a group of rows."""
    return exp.Max(this=value)


def least_of(value: exp.Expr) -> exp.Min:
    """Of a group of rows."""
    return exp.Min(this=value)


def part_of(field: str, moment: exp.Expr) -> exp.Extract:
    """The year, or another field, of a moment."""
    return exp.Extract(this=exp.var(field), expression=moment)


def seconds_of(interval: exp.Expr) -> exp.Extract:
    return exp.Extract(this=exp.var("epoch"), expression=exp.paren(interval))


def case(whens: Sequence[tuple[exp.Expr, exp.Expr]], otherwise: exp.Expr) -> exp.Expr:
    """The value of the first condition that holds."""
    found = exp.Case()
    for condition, value in whens:
        found = found.when(condition, value)
    return found.else_(otherwise)


def texts(values: Sequence[str]) -> exp.Expr:
    """A constant array of texts, in the order and the equality of their bytes."""
    return cast(exp.Array(expressions=[string(value) for value in values]), "text[]")
