"""The sensitive values of those who would enter, move or leave together, and whether they meet the models."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from sqlglot import exp

from anondb.models import sql as models
from anondb.models.sql import Judged, Models, class_rows
from anondb.releases.ledger_sql import (
    CELL,
    CODE,
    DELTA,
    HELD,
    NULL_VALUE,
    PART,
    free,
    same_part,
    same_share,
    value_hash,
)
from anondb.run.frequency_sql import Counted
from anondb.sqltree.build import (
    call,
    cast,
    col,
    equal,
    every,
    ident,
    named,
    number,
    query,
    scratch,
    star,
    string,
    subquery,
    table,
)
from anondb.sqltree.equality import counted_value
from anondb.sqltree.tables import Relation, Scratch, Sensitive


def released_values(
    names: Scratch, release: Relation, sensitive: Sensitive, columns: Sequence[str]
) -> exp.Insert:
    """Values that only the last release has, as combinations without a record: they get codes, and count nothing."""
    one = query([star("r")], scratch(names.raw, "r")).limit(number(1))
    value = counted_value(sensitive.column, "t")
    distinct = query([named(value, "value")], table(release.name, release.schema, "t")).distinct()
    found = [
        col("value", "x") if name == sensitive.raw else number(0) if name == "n" else col(name, "o")
        for name in columns
    ]
    rows = query(found, subquery(distinct, "x"), joins=[exp.Join(this=subquery(one, "o"), kind="CROSS")])
    target = exp.Schema(this=scratch(names.raw), expressions=[ident(name) for name in columns])
    return exp.Insert(this=target, expression=rows)


def forget_released_values(names: Scratch) -> exp.Delete:
    return exp.Delete(this=scratch(names.raw, "r"), where=exp.Where(this=equal(col("n", "r"), number(0))))


def column_code(name: str) -> int:
    """By what the ledger knows a column; its place among others may be another tomorrow."""
    return crc32(name.encode()) >> 1


def codes(names: Scratch, sensitive: Sensitive, null_code: int) -> exp.Insert:
    """By which code the models know a value of the ledger."""
    column = number(column_code(sensitive.name))
    rows: exp.Query = query(
        [column, value_hash(col("raw", "d")), cast(_code(null_code), "int")],
        scratch(names.dictionary(sensitive), "d"),
    )
    rows = exp.union(
        rows, query([column.copy(), number(NULL_VALUE), number(null_code)], _one_row()), distinct=True
    )
    if sensitive.has_spellings:
        spelled = query(
            [column.copy(), value_hash(col("text", "p")), cast(_code(null_code), "int")],
            scratch(names.spellings(sensitive), "p"),
            joins=[
                exp.Join(
                    this=scratch(names.dictionary(sensitive), "d"),
                    on=equal(col("raw", "d"), col("raw", "p")),
                ),
            ],
        )
        rows = exp.union(rows, spelled, distinct=True)
    target = exp.Schema(this=scratch(CODE), expressions=[ident(n) for n in ("of_column", "value", "code")])
    return exp.Insert(this=target, expression=rows)


def cells(sensitive: Sensitive, position: int, *, shares: bool = False) -> exp.Insert:
    """How often each value occurs among those who would enter a class, or move there, together; or share by share."""
    value = value_hash(col(f"c{position}", "d"))
    rows = query(
        [col("part", "p"), number(column_code(sensitive.name)), value, exp.Count(this=exp.Star())],
        scratch(DELTA, "d"),
        joins=[
            exp.Join(this=scratch(PART, "p"), on=every(same_share() if shares else same_part())),
            exp.Join(this=scratch(HELD, "h"), on=equal(col("person", "h"), col("person", "d")), side="LEFT"),
        ],
        where=free(),
        group=[number(1), number(3)],
    )
    return exp.Insert(this=scratch(CELL), expression=rows)


def judge(
    names: Scratch, judged: Models, sensitive: Sensitive, null_code: int, kinds: Sequence[str]
) -> exp.Update:
    """Takes their permission from parts that fail a model."""
    of_it = tuple(one for one in judged.judged if one.sensitive == sensitive)
    code = call("coalesce", col("code", "k"), number(null_code))
    same = [equal(col("value", "k"), col("value", "e")), equal(col("of_column", "k"), col("of_column", "e"))]
    wanted = exp.In(this=col("kind", "p"), expressions=[string(kind) for kind in kinds])
    source = query(
        [
            col("part", "e"),
            named(code, sensitive.code),
            named(cast(exp.Sum(this=col("n", "e")), "bigint"), "n"),
        ],
        scratch(CELL, "e"),
        joins=[
            exp.Join(
                this=scratch(PART, "p"),
                on=every([equal(col("part", "p"), col("part", "e")), col("ok", "p"), wanted]),
            ),
            exp.Join(this=scratch(CODE, "k"), on=every(same), side="LEFT"),
        ],
        where=equal(col("of_column", "e"), number(column_code(sensitive.name))),
        group=[number(1), number(2)],
    )
    alone = Models(Counted((), (sensitive,), counts="bigint"), 1, of_it)
    rows = class_rows(subquery(source, "f"), ["part"], alone)
    passes = models.passes(names, alone, "x")
    failed = query([col("part", "x")], subquery(rows, "x"), where=exp.Not(this=exp.Paren(this=passes)))
    return exp.Update(
        this=scratch(PART, "p"),
        expressions=[equal(exp.Column(this=ident("ok")), exp.false())],
        where=exp.Where(this=exp.In(this=col("part", "p"), query=exp.Subquery(this=failed))),
    )


def only_passed(names: Scratch) -> exp.Update:
    """In a first release everybody enters, class by class: those classes that the search has found good."""
    passed = query([col("hash", "k")], scratch(names.classes, "k"), where=col("ok", "k"))
    return exp.Update(
        this=scratch(PART, "p"),
        expressions=[equal(exp.Column(this=ident("ok")), exp.false())],
        where=exp.Where(this=exp.Not(this=exp.In(this=col("class", "p"), query=exp.Subquery(this=passed)))),
    )


def published(names: Scratch, series: int) -> exp.Update:
    """Which classes of the source are published, for what is measured with them."""
    known = exp.Table(
        this=call("anondb.ledger_classes", number(series)), alias=exp.TableAlias(this=ident("c"))
    )
    there = exp.Subquery(this=query([col("class", "c")], known))
    return exp.Update(
        this=scratch(names.classes, "k"),
        expressions=[equal(exp.Column(this=ident("ok")), exp.In(this=col("hash", "k"), query=there))],
    )


def judged_sensitive(judged: Sequence[Judged]) -> list[Sensitive]:
    return list(dict.fromkeys(one.sensitive for one in judged))


def _code(null_code: int) -> exp.Expr:
    is_null = equal(col("leaf", "d"), number(0))
    return exp.Case().when(is_null, number(null_code)).else_(col("leaf", "d"))


def _one_row() -> exp.Expr:
    return subquery(exp.Select(expressions=[named(number(1), "one")]), "one")
