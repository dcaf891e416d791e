"""The statements of a check with other releases that hang on columns: the source as it is compared, and its labels."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.releases.ledger_sql import DELTA, HELD, PART, free, record_mark, same_part
from anondb.run.persons_sql import kept_value, with_keys_of_forms
from anondb.run.plan import Plan
from anondb.sqltree.build import (
    col,
    false,
    ident,
    named,
    number,
    query,
    scratch,
    scratch_name,
    table,
    union_all,
)
from anondb.sqltree.tables import Quasi, Relation, Scratch, SourceColumn

SOURCE, LADDER, JOINT = "together_source", "together_ladder", "together_joint"


def source(
    names: Scratch, plan: Plan, of: Relation, columns: Sequence[SourceColumn], absent: str
) -> exp.Create:
    """The records of the source, and whether each is kept out of the release although its class is there."""
    rows: exp.Select = query(
        [*[named(col(c.name, "s"), c.name) for c in columns], named(_absent(plan), absent)],
        table(of.name, of.schema, "s"),
    )
    if plan.follows:
        rows = with_keys_of_forms(rows, names, plan.kept)
    return exp.Create(
        this=scratch_name(SOURCE),
        kind="VIEW",
        expression=rows,
        properties=exp.Properties(expressions=[exp.TemporaryProperty()]),
    )


def _absent(plan: Plan) -> exp.Expr:
    """Records that wait or are withheld, and those whose rows are still those of another class."""
    if not plan.follows:
        return false()
    mark = record_mark([col(c.name, "s") for c in plan.followed.key], [kept_value(c, "s") for c in plan.kept])
    goes = exp.and_(exp.Not(this=exp.Is(this=col("part", "p"), expression=exp.null())), free())
    outside = query(
        [col("mark", "d")],
        scratch(DELTA, "d"),
        joins=[
            exp.Join(this=scratch(PART, "p"), on=exp.and_(*same_part(), col("goes", "p")), side="LEFT"),
            exp.Join(
                this=scratch(HELD, "h"),
                on=exp.EQ(this=col("person", "h"), expression=col("person", "d")),
                side="LEFT",
            ),
        ],
        where=exp.and_(
            exp.Not(this=exp.Is(this=col("class", "d"), expression=exp.null())),
            exp.Not(this=exp.Is(this=col("mark", "d"), expression=exp.null())),
            exp.Not(this=exp.paren(goes)),
        ),
    )
    return exp.In(this=mark, query=exp.Subquery(this=outside))


def ladder(names: Scratch, quasi: Sequence[Quasi]) -> exp.Insert:
    """What each value of the source can be released as, by its column's own hierarchy."""
    rungs = [
        query(
            [
                named(number(place), "place"),
                named(col("raw", "d"), "leaf"),
                named(col(f"g{level}", "d"), "label"),
            ],
            scratch(names.dictionary(q), "d"),
        )
        for place, q in enumerate(quasi, 1)
        for level in range(q.height + 1)
    ]
    found = query(
        [col(name, "r") for name in ("place", "leaf", "label")],
        exp.Subquery(this=union_all(rungs), alias=ident("r")),
    )
    target = exp.Schema(this=scratch(LADDER), expressions=[ident(n) for n in ("place", "leaf", "label")])
    return exp.Insert(this=target, expression=found.distinct())
