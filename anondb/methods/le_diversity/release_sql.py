"""The two tables of a release by (l, e)-diversity: numbers of classes, rows in their own order, and what they reach."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.methods.le_diversity.sql import RecordScratch, all_of, copied
from anondb.methods.le_diversity.tables import CLASS_ID
from anondb.models.le_diversity_sql import measured
from anondb.releases.ledger_sql import OUT
from anondb.run.keyed_sql import Key, keyed, keyed_rank, with_keys
from anondb.sqltree.build import (
    cast,
    col,
    create_scratch,
    equal,
    ident,
    named,
    null,
    number,
    parameter,
    query,
    scratch,
    subquery,
    table,
    union_all,
)
from anondb.sqltree.tables import Relation, Sensitive, SourceColumn


def class_ids(names: RecordScratch, after: int = 0) -> exp.Create:
    """The numbers by which classes are released: a keyed permutation, after those of the classes that stay."""
    found = query([col("class", "r")], scratch(names.rec, "r"), group=[col("class", "r")])
    found = found.where(exp.Not(this=exp.Is(this=col("class", "r"), expression=null())))
    rank: exp.Expr = keyed_rank(Key.CLASS, [col("class", "c")])
    if after:
        rank = exp.Add(this=rank, expression=cast(number(after), "bigint"))
    number_of = named(rank, CLASS_ID.name)
    numbered = query([col("class", "c"), number_of], subquery(found, "c"))
    return create_scratch(names.classes, with_keys(numbered, names))


def insert(
    names: RecordScratch,
    fresh: Relation,
    released: Sequence[SourceColumn],
    columns: Sequence[SourceColumn],
    before: Relation | None = None,
) -> exp.Insert:
    """Some columns of all records that have a class, ordered by it and then by a keyed hash of these alone.

    With those of the classes of the release before that stay as they are.
    """
    values: list[exp.Expr] = [col(copied(c, columns).name, "r") for c in released]
    joined = exp.Join(this=scratch(names.classes, "c"), on=equal(col("class", "c"), col("class", "r")))
    rows = query([col(CLASS_ID.name, "c"), *values], scratch(names.rec, "r"), joins=[joined])
    place = col(CLASS_ID.name, "c")
    if before is not None:
        place, (rows, values) = col(CLASS_ID.name, "u"), _beside(rows, before, released)
    rows = with_keys(rows, names).order_by(place, keyed(Key.ORDER, values))
    names_of = [ident(c.name) for c in (CLASS_ID, *released)]
    return exp.Insert(
        this=exp.Schema(this=table(fresh.name, fresh.schema), expressions=names_of), expression=rows
    )


def _beside(
    rows: exp.Select, before: Relation, released: Sequence[SourceColumn]
) -> tuple[exp.Select, list[exp.Expr]]:
    """The new rows and those that stay, and their values."""
    own = [CLASS_ID.name, *[f"v{place}" for place, _ in enumerate(released, 1)]]
    fresh = [named(value.copy(), name) for value, name in zip(rows.expressions, own, strict=True)]
    there = [named(col(c.name, "t"), name) for c, name in zip((CLASS_ID, *released), own, strict=True)]
    out = exp.Join(this=scratch(OUT, "o"), on=equal(col("class", "o"), col(CLASS_ID.name, "t")), side="LEFT")
    stays = query(
        there,
        table(before.name, before.schema, "t"),
        joins=[out],
        where=exp.Is(this=col("class", "o"), expression=null()),
    )
    both = union_all([rows.select(*fresh, append=False), stays])
    found: list[exp.Expr] = [col(name, "u") for name in own]
    return query(found, subquery(both, "u")), found[1:]


def reached(names: RecordScratch, release: Relation, sensitive: Sensitive) -> exp.Select:
    """The figures of the sensitive release, from its own rows; e and the suppressed records are $1 and $2."""
    given = (cast(parameter(1), "float8"), cast(parameter(2), "bigint"))
    return all_of(measured(names, release, [CLASS_ID.name], sensitive, *given))


def other_sizes(one: Relation, other: Relation) -> exp.Select:
    """How many classes of the one release do not have as many records in the other."""
    found = [_class_sizes(release) for release in (one, other)]
    return query([exp.Count(this=exp.Star())], subquery(exp.except_(*found, distinct=False), "e"))


def sizes(release: Relation) -> exp.Select:
    """The sizes of classes, and how many there are of each."""
    counted: list[exp.Expr] = [col("n", "c"), exp.Count(this=exp.Star())]
    found = query(counted, subquery(_class_sizes(release), "c"), group=[col("n", "c")])
    return found.order_by(number(1))


def _class_sizes(release: Relation) -> exp.Select:
    class_id = col(CLASS_ID.name, "t")
    columns: list[exp.Expr] = [class_id, named(exp.Count(this=exp.Star()), "n")]
    return query(columns, table(release.name, release.schema, "t"), group=[class_id.copy()])
