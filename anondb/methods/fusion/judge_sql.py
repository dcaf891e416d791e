"""The classes of a fusion as they are now, judged by the models of the policy as whoever reads the release would."""

from __future__ import annotations

from sqlglot import exp

from anondb.methods.fusion.sql import Fusion, fused_as, spelt
from anondb.models.sql import Models, class_rows, passes
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


def judge(f: Fusion, models: Models) -> exp.Create:
    """The classes as they are now: their records, and whether they fail a model of the policy."""
    sensitive = [col(s.code, "f") for s in models.counted.sensitive]
    part = call("coalesce", col("released_as", "z"), col("tuple", "t"))
    fails = named(exp.Not(this=exp.paren(passes(f.names, models, "c"))), "fails")
    if models.are_additive:
        rows = query(
            [named(part, "part"), *sensitive, col("n", "f")], scratch(f.names.freq, "f"), joins=fused_as(f)
        )
        classes = class_rows(subquery(rows, "f"), ["part"], models)
        return create_scratch(
            f.judged, query([col("part", "c"), col("n", "c"), fails], subquery(classes, "c"))
        )
    # what looks the same in a release is one class there, which may fail where its parts do not
    same = exp.Join(this=subquery(_looks(f), "k"), on=equal(col("tuple", "k"), part))
    rows = query(
        [named(col("looks", "k"), "part"), *sensitive, col("n", "f")],
        scratch(f.names.freq, "f"),
        joins=[*fused_as(f), same],
    )
    classes = class_rows(subquery(rows, "f"), ["part"], models)
    total = named(cast(exp.Sum(this=col("n", "f")), "bigint"), "n")
    parts = query(
        [named(part.copy(), "part"), total],
        scratch(f.names.freq, "f"),
        joins=fused_as(f),
        group=[number(1)],
    )
    joins = [
        exp.Join(this=subquery(_looks(f), "k"), on=equal(col("tuple", "k"), col("part", "p"))),
        exp.Join(this=subquery(classes, "c"), on=equal(col("part", "c"), col("looks", "k"))),
    ]
    judged = query([col("part", "p"), col("n", "p"), fails], subquery(parts, "p"), joins=joins)
    return create_scratch(f.judged, judged)


def _looks(f: Fusion) -> exp.Select:
    """Each tuple with the first of those that are released with the same labels, such as * for rare values."""
    spellings = [col("spelling", f"v{q.number}") for q in f.quasi]
    first = exp.Window(this=exp.Min(this=col("tuple", "t")), partition_by=spellings)
    return query([col("tuple", "t"), named(first, "looks")], scratch(f.tuples, "t"), joins=spelt(f))


def failing(f: Fusion) -> exp.Select:
    """How many classes fail, of how many."""
    counted = exp.Count(this=exp.Star())
    fails = exp.Filter(this=counted.copy(), expression=exp.Where(this=col("fails", "j")))
    return query([fails, counted], scratch(f.judged, "j"))
