"""Whether all values of a column are inside of a hierarchy, before a policy says so."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import Computed
from anondb.sqltree.build import col, ident, named, query, subquery, table, texts
from anondb.sqltree.columns import SourceColumn
from anondb.sqltree.equality import as_text
from anondb.sqltree.tables import Quasi, Relation


def outside(source: Relation, column: SourceColumn, hierarchy: Computed) -> exp.Select:
    """How many different values have no label: a run would refuse them."""
    raw = col("raw", "v")
    label, *_ = hierarchy.labels(Quasi(1, column, hierarchy, hierarchy.height), raw)
    return _counted(source, column, exp.Is(this=label, expression=exp.Null()))


def unlisted(source: Relation, column: SourceColumn, leaves: Sequence[str]) -> exp.Select:
    """The same of a hierarchy that lists its values."""
    listed = exp.EQ(this=col("raw", "v"), expression=exp.Any(this=exp.paren(texts(leaves))))
    return _counted(source, column, exp.Not(this=exp.paren(listed)))


def _counted(source: Relation, column: SourceColumn, is_outside: exp.Expr) -> exp.Select:
    value = col(column.name, "t")
    known = exp.Not(this=exp.paren(exp.Is(this=value, expression=exp.Null())))
    different = (
        exp.select(named(value.copy(), "own")).distinct().from_(table(source.name, source.schema, "t"))
    )
    values = query([named(as_text(col("own", "d")), "raw")], subquery(different.where(known), "d"))
    # kept apart, as the server would else look at the label of each row
    counted = query([exp.Count(this=exp.Star())], table("v"), where=is_outside)
    return counted.with_(ident("v"), as_=values, materialized=True)
