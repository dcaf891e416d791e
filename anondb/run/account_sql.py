"""Figures of a run that a report draws: how many classes there are of each size."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import StoredVgh, TableVgh
from anondb.sqltree.build import cast, col, named, number, query, scratch, subquery
from anondb.sqltree.tables import Quasi, Scratch


def original_sizes(link: str, quasi: Sequence[Quasi]) -> exp.Select:
    """Sizes of the groups that look the same in the source, and how many there are of each."""
    return _sizes(link, [f"o{q.number}" for q in quasi], None)


def released_sizes(link: str, quasi: Sequence[Quasi]) -> exp.Select:
    """Sizes of the released classes, and how many there are of each; suppressed records are in none."""
    return _sizes(link, [f"r{q.number}" for q in quasi], col("released", "l"))


def has_leaves(quasi: Quasi) -> bool:
    """Its hierarchy is a list of leaves, which the run has put down."""
    return isinstance(quasi.hierarchy, StoredVgh | TableVgh)


def hierarchy(names: Scratch, quasi: Quasi) -> exp.Select:
    """The labels of each leaf from the leaf to the root, in the order of the leaves."""
    labels: list[exp.Expr] = [col(f"g{level}", "h") for level in range(quasi.height + 1)]
    return query(labels, scratch(names.leaves(quasi), "h")).order_by(col("position", "h"))


def _sizes(link: str, columns: Sequence[str], where: exp.Expr | None) -> exp.Select:
    total = named(cast(exp.Sum(this=col("n", "l")), "bigint"), "size")
    keys: list[exp.Expr] = [col(column, "l") for column in columns]
    classes = query([total], scratch(link, "l"), where=where, group=keys)
    counted: list[exp.Expr] = [col("size", "c"), exp.Count(this=exp.Star())]
    return query(counted, subquery(classes, "c"), group=[number(1)]).order_by(number(1))
