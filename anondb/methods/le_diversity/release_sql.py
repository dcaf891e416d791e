"""The two tables of a release by (l, e)-diversity: numbers of classes, rows in their own order, and what they reach."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.methods.le_diversity.sql import RecordScratch, all_of, copied
from anondb.methods.le_diversity.tables import CLASS_ID
from anondb.models.le_diversity_sql import measured
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
)
from anondb.sqltree.tables import Relation, Sensitive, SourceColumn


def class_ids(names: RecordScratch) -> exp.Create:
    """The numbers by which classes are released: a keyed permutation."""
    found = query([col("class", "r")], scratch(names.rec, "r"), group=[col("class", "r")])
    found = found.where(exp.Not(this=exp.Is(this=col("class", "r"), expression=null())))
    number_of = named(keyed_rank(Key.CLASS, [col("class", "c")]), CLASS_ID.name)
    numbered = query([col("class", "c"), number_of], subquery(found, "c"))
    return create_scratch(names.classes, with_keys(numbered, names))


def insert(
    names: RecordScratch, fresh: Relation, released: Sequence[SourceColumn], columns: Sequence[SourceColumn]
) -> exp.Insert:
    """Some columns of all records that have a class, ordered by it and then by a keyed hash of these alone."""
    values = [col(copied(c, columns).name, "r") for c in released]
    joined = exp.Join(this=scratch(names.classes, "c"), on=equal(col("class", "c"), col("class", "r")))
    rows = query([col(CLASS_ID.name, "c"), *values], scratch(names.rec, "r"), joins=[joined])
    rows = with_keys(rows, names).order_by(col(CLASS_ID.name, "c"), keyed(Key.ORDER, values))
    names_of = [ident(c.name) for c in (CLASS_ID, *released)]
    return exp.Insert(
        this=exp.Schema(this=table(fresh.name, fresh.schema), expressions=names_of), expression=rows
    )


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
