"""Questions to the frequency set: what a node of the generalization lattice would give."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.sqlgen.build import cast, col, number, scratch
from anondb.sqlgen.shape import Quasi, Scratch


def rolled_up(names: Scratch, quasi: Sequence[Quasi], levels: Sequence[int]) -> exp.Select:
    """The sizes `n` of a node's classes. Columns at their root have one value, and do not take part."""
    query = exp.select(exp.alias_(exp.Sum(this=col("n", "f")), "n", quoted=True)).from_(
        scratch(names.freq, "f")
    )
    for q, level in zip(quasi, levels, strict=True):
        if level == q.height:
            continue
        if level == 0:
            query = query.group_by(col(f"q{q.number}", "f"))
            continue
        alias = f"d{q.number}"
        query = query.join(
            scratch(names.dictionary(q), alias),
            on=exp.EQ(this=col("leaf", alias), expression=col(f"q{q.number}", "f")),
        ).group_by(col(f"l{level}", alias))
    return query


def node_figures(names: Scratch, quasi: Sequence[Quasi], levels: Sequence[int], k: int) -> exp.Select:
    """Classes of k records or more, records in smaller ones, and the number of those."""
    small = exp.Where(this=exp.LT(this=col("n", "c"), expression=number(k)))
    large = exp.Where(this=exp.GTE(this=col("n", "c"), expression=number(k)))
    outliers = exp.Filter(this=exp.Sum(this=col("n", "c")), expression=small)
    return (
        exp.select(exp.Filter(this=exp.Count(this=exp.Star()), expression=large))
        .select(cast(exp.func("coalesce", outliers, number(0)), "bigint"))
        .select(exp.Filter(this=exp.Count(this=exp.Star()), expression=small.copy()))
        .from_(rolled_up(names, quasi, levels).subquery("c"))
    )
