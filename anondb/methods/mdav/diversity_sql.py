"""The sensitive values of classes of sets: coded by record, and which classes do not satisfy the policy's models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from anondb.models.sql import Models, class_rows, passes
from anondb.run.frequency_sql import Counted
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    named,
    number,
    query,
    scratch,
    subquery,
)
from anondb.sqltree.equality import as_text, counted_value
from anondb.sqltree.tables import Scratch, Sensitive, SourceColumn

CODED = "mdav_sensitive"
CLASSES = "mdav_class"
NO_CLASS = 0
"""Of records without a concept, which are a class of their own."""


def coded(names: Scratch, sensitive: Sequence[Sensitive], kept: Sequence[SourceColumn]) -> exp.Create:
    """A number for each sensitive value of each record; NULL is a value."""
    codes: list[exp.Expr] = [named(col("rid", "r"), "record")]
    for one in sensitive:
        place = 1 + [column.name for column in kept].index(one.name)
        value = as_text(counted_value(replace(one.column, name=f"c{place}"), "r"))
        order = exp.Order(expressions=[exp.Ordered(this=value)])
        codes.append(named(cast(exp.Window(this=call("dense_rank"), order=order), "int"), one.code))
    return create_scratch(CODED, query(codes, scratch(names.records, "r")))


def values(sensitive: Sensitive) -> exp.Select:
    """How many different values a column has."""
    most = exp.Max(this=col(sensitive.code, "s"))
    return query([call("coalesce", most, number(0))], scratch(CODED, "s"))


def failing(names: Scratch, models: Models, *, with_concepts: bool, without: bool) -> exp.Select:
    """The classes that do not satisfy the models, in their order; those that are not released satisfy all."""
    sensitive = models.counted.sensitive
    class_ = call("coalesce", col("class", "c"), number(NO_CLASS))
    codes = [col(one.code, "s") for one in sensitive]
    join = exp.Join(this=scratch(CLASSES, "c"), on=equal(col("record", "c"), col("record", "s")), side="left")
    of_records = query([named(class_, "class"), *codes], scratch(CODED, "s"), joins=[join])
    keys = [col("class", "x"), *(col(one.code, "x") for one in sensitive)]
    is_without = equal(col("class", "x"), number(NO_CLASS))
    released = [
        is_without if without else exp.false(),
        exp.Not(this=is_without.copy()) if with_concepts else exp.false(),
    ]
    counted = query(
        [*keys, named(exp.Count(this=exp.Star()), "n")],
        subquery(of_records, "x"),
        where=exp.paren(exp.or_(*released)),
        group=[key.copy() for key in keys],
    )
    found = class_rows(subquery(counted, "f"), ["class"], models)
    fails = exp.Not(this=exp.paren(passes(names, models, "k")))
    return query([col("class", "k")], subquery(found, "k"), where=fails).order_by(col("class", "k"))


def counted(sensitive: Sequence[Sensitive]) -> Counted:
    return Counted((), tuple(sensitive), counts="bigint")
