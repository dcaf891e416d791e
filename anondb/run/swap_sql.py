"""Swap: the statements by which a verified release takes the place of the one before."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.sqltree.build import call, cast, ident, string, table
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation, SourceColumn


def lock(target: Relation, *, readers: bool) -> exp.Select:
    """Keeps others from writing and from changing what hangs on the target; `readers` too."""
    return exp.select(
        call(
            "anondb.lock_release",
            string(target.schema),
            string(target.name),
            exp.true() if readers else exp.false(),
        )
    )


def replace_rows(fresh: Relation, target: Relation, columns: Sequence[SourceColumn]) -> exp.Select:
    """Puts the fresh rows in the place of those that are there; returns how many those were."""
    names = cast(exp.Array(expressions=[string(c.name) for c in columns]), "name[]")
    return exp.select(
        call("anondb.replace_rows", _regclass(fresh), string(target.schema), string(target.name), names)
    )


def count(release: Relation) -> exp.Select:
    return exp.select(exp.Count(this=exp.Star())).from_(
        exp.Table(this=ident(release.name), db=ident(release.schema), only=True)
    )


def place(fresh: Relation, target: Relation) -> exp.Select:
    """Gives the fresh release the target's name, which must be free."""
    return exp.select(call("anondb.place_release", _regclass(fresh), string(target.name)))


def rename(release: Relation, name: str) -> exp.Alter:
    return exp.Alter(
        this=table(release.name, release.schema),
        kind="TABLE",
        actions=[exp.AlterRename(this=table(name))],
    )


def drop(release: Relation) -> exp.Drop:
    return exp.Drop(tables=[table(release.name, release.schema)], kind="TABLE")


def without_grants(release: Relation) -> exp.Select:
    return exp.select(call("anondb.without_grants", _regclass(release)))


def _regclass(relation: Relation) -> exp.Cast:
    return cast(string(name_of(relation)), "regclass")


def name_of(relation: Relation) -> str:
    """As the server reads it."""
    return render(table(relation.name, relation.schema))
