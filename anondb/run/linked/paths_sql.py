"""Paths of labels that might have too few persons, where an attacker knows one row at most.

A path and its persons are not listed for all paths: most have so many persons that a sketch is enough, in which each
person sets one of 64 bits. As many persons as bits that are set there are at least. Only of the others they are listed.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.run.linked.choices_sql import Levels, path_of
from anondb.run.linked.places_sql import at, create
from anondb.run.linked.plan import LinkedPlan, LinkedScratch, TablePlan
from anondb.run.linked.rows_sql import Words
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    every,
    ident,
    named,
    number,
    query,
    scratch,
    star,
    subquery,
    union_all,
)

_BITS = 64
_SPARE = 3  # so many persons more than k: a path that loses no more need not be listed later
_MOST_SKETCHES = 8
SAMPLE = 16  # one in so many paths


def sketches(k: int) -> int:
    """How many sketches tell k persons apart: one that is nearly full tells no more."""
    return min(-(-k // 24), _MOST_SKETCHES)


def paths(
    names: LinkedScratch,
    linked: LinkedPlan,
    words: Words,
    tables: Sequence[TablePlan],
    levels: Levels,
    k: int,
) -> exp.Create:
    """The paths of tables: how many rows, how many persons at least, one of the persons; since when listed."""
    parts = [_paths_of(names, linked, words, one, levels, k) for one in tables]
    return create(names, names.paths, union_all(parts))


def _paths_of(
    names: LinkedScratch, linked: LinkedPlan, words: Words, one: TablePlan, levels: Levels, k: int
) -> exp.Select:
    least = exp.Count(this=exp.Star()) if one.parent is None else _at_least(k)
    found = [
        named(cast(number(one.number), "int"), "t"),
        named(path_of(linked, words, one, levels, "r"), "p"),
        named(exp.Count(this=exp.Star()), "rows"),
        named(cast(least, "bigint"), "least"),
        named(exp.Min(this=col("person", "r")), "one"),
    ]
    counted = query(found, at(names, names.rows(one), "r"), group=[number(2)])
    rare = exp.LT(this=col("least", "x"), expression=number(k + _SPARE))
    listed = named(exp.Case().when(rare, number(1)).else_(number(0)), "listed")
    columns = [col(name, "x") for name in ("t", "p", "rows", "least", "one")]
    return query([*columns, listed], subquery(counted, "x"))


def _at_least(k: int) -> exp.Expr:
    many = sketches(k)
    place = exp.BitwiseAnd(this=col("person", "r"), expression=number(_BITS - 1))
    bit: exp.Expr = exp.BitwiseLeftShift(this=cast(number(1), "bigint"), expression=exp.paren(place))
    found: list[exp.Expr] = []
    for sketch in range(many):
        mine = bit.copy()
        if many > 1:
            which = exp.Mod(
                this=exp.paren(exp.BitwiseRightShift(this=col("person", "r"), expression=number(6))),
                expression=number(many),
            )
            mine = exp.Case().when(equal(which, number(sketch)), mine).else_(cast(number(0), "bigint"))
        bits = cast(call("bit_or", mine), f"bit({_BITS})")
        found.append(call("bit_count", bits))
    whole = found[0]
    for further in found[1:]:
        whole = exp.Add(this=whole, expression=further)
    return exp.paren(whole)


def surely_lost(names: LinkedScratch, one: TablePlan, k: int) -> exp.Select:
    """So many persons at least are of a path that fewer than k rows have."""
    rare = every(
        [
            equal(col("t", "x"), number(one.number)),
            exp.LT(this=col("rows", "x"), expression=number(k)),
        ]
    )
    persons = exp.Count(this=exp.Distinct(expressions=[col("one", "x")]))
    if one.parent is None:
        total = exp.Sum(this=col("rows", "x"))
        return query(
            [cast(call("coalesce", total, number(0)), "bigint")], at(names, names.paths, "x"), where=rare
        )
    return query([persons], at(names, names.paths, "x"), where=rare)


def surely_lost_of_sample(
    names: LinkedScratch, linked: LinkedPlan, words: Words, one: TablePlan, levels: Levels, k: int
) -> exp.Select:
    """The same of some paths, with all rows that they have: quick where there are very many."""
    path = named(path_of(linked, words, one, levels, "r"), "p")
    paths_ = query([path, col("person", "r")], at(names, names.rows(one), "r"))
    hashed = exp.BitwiseAnd(this=call("hashint8", col("p", "y")), expression=number(SAMPLE - 1))
    rare = query(
        [named(exp.Min(this=col("person", "y")), "one")],
        subquery(paths_, "y"),
        where=equal(exp.paren(hashed), number(0)),
        group=[col("p", "y")],
    )
    rare.set("having", exp.Having(this=exp.LT(this=exp.Count(this=exp.Star()), expression=number(k))))
    return query([exp.Count(this=exp.Distinct(expressions=[col("one", "x")]))], subquery(rare, "x"))


def doubtful(
    names: LinkedScratch,
    linked: LinkedPlan,
    words: Words,
    levels: Levels,
    knows: int,
    since: int,
    into: str | None = None,
) -> exp.Create:
    """Each person of the paths that are listed from a round on, once; those who are left out no more."""
    parts = []
    for one in linked.tables if knows else linked.tables[:1]:
        same = every(
            [
                equal(col("t", "x"), number(one.number)),
                equal(col("p", "x"), path_of(linked, words, one, levels, "r")),
                equal(col("listed", "x"), number(since)),
            ]
        )
        joins = [exp.Join(this=at(names, names.paths, "x"), on=same)]
        left = None
        if since > 1:
            gone = equal(col("person", "g"), col("person", "r"))
            joins.append(exp.Join(this=at(names, names.gone, "g"), on=gone, side="LEFT"))
            left = exp.Is(this=col("person", "g"), expression=exp.Null())
        found = [col("t", "x"), col("p", "x"), col("person", "r")]
        rows = query(found, at(names, names.rows(one), "r"), joins=joins, where=left)
        parts.append(rows if one.parent is None else rows.distinct())
    return create_scratch(into or names.doubtful, union_all(parts))


def list_too(names: LinkedScratch) -> exp.Insert:
    more = query([star("m")], scratch(names.touched, "m"))
    return exp.Insert(this=scratch(names.doubtful), expression=more)


def too_few(names: LinkedScratch, k: int) -> exp.Create:
    """The persons of listed paths that have fewer than k."""
    rare = query(
        [col("t", "c"), col("p", "c")],
        scratch(names.doubtful, "c"),
        group=[col("t", "c"), col("p", "c")],
    )
    rare.set("having", exp.Having(this=exp.LT(this=exp.Count(this=exp.Star()), expression=number(k))))
    same = every([equal(col(key, "b"), col(key, "c")) for key in ("t", "p")])
    joined = exp.Join(this=subquery(rare, "b"), on=same)
    found = query([col("person", "c")], scratch(names.doubtful, "c"), joins=[joined]).distinct()
    return create(names, names.last, found)


def lost(names: LinkedScratch, linked: LinkedPlan, words: Words, levels: Levels, knows: int) -> exp.Create:
    """The paths that lose persons in this round: how many, and how many rows."""
    parts = []
    for one in linked.tables:
        path: exp.Expr = cast(number(0), "bigint")
        if knows or one.parent is None:  # else nobody knows of the rows, and they are counted alone
            path = path_of(linked, words, one, levels, "r")
        joined = exp.Join(this=at(names, names.last, "g"), on=equal(col("person", "g"), col("person", "r")))
        found = [
            named(cast(number(one.number), "int"), "t"),
            named(path, "p"),
            col("person", "r"),
            named(exp.Count(this=exp.Star()), "rows"),
        ]
        rows = query(found, at(names, names.rows(one), "r"), joins=[joined])
        parts.append(rows.group_by(number(1), number(2), number(3)))
    keys = [col("t", "x"), col("p", "x")]
    n = named(exp.Count(this=exp.Star()), "n")
    rows_ = named(cast(exp.Sum(this=col("rows", "x")), "bigint"), "rows")
    counted = query([*keys, n, rows_], subquery(union_all(parts), "x"), group=[key.copy() for key in keys])
    return create_scratch(names.lost, counted)


def rows_lost(names: LinkedScratch, linked: LinkedPlan) -> exp.Select:
    """Of each table below the persons', how many rows are those of the persons of this round."""
    counts: list[exp.Expr] = []
    for one in linked.lower:
        total = exp.Filter(
            this=exp.Sum(this=col("rows", "l")),
            expression=exp.Where(this=equal(col("t", "l"), number(one.number))),
        )
        counts.append(cast(call("coalesce", total, number(0)), "bigint"))
    return query(counts, scratch(names.lost, "l"))


def less(names: LinkedScratch) -> exp.Update:
    """So many persons fewer the paths have at least."""
    same = every([equal(col(key, "x"), col(key, "l")) for key in ("t", "p")])
    fewer = exp.Sub(this=col("least", "x"), expression=col("n", "l"))
    return exp.Update(
        this=at(names, names.paths, "x"),
        expressions=[exp.EQ(this=exp.Column(this=ident("least")), expression=fewer)],
        from_=exp.From(this=scratch(names.lost, "l")),
        where=exp.Where(this=same),
    )


def newly_listed(names: LinkedScratch, k: int, since: int) -> exp.Update:
    """Paths that might have too few now."""
    rare = every(
        [
            equal(col("listed", "x"), number(0)),
            exp.LT(this=col("least", "x"), expression=number(k)),
        ]
    )
    return exp.Update(
        this=at(names, names.paths, "x"),
        expressions=[exp.EQ(this=exp.Column(this=ident("listed")), expression=number(since))],
        where=exp.Where(this=rare),
    )


def rows_of_gone(names: LinkedScratch, linked: LinkedPlan) -> exp.Select:
    """Of each table below the persons', how many rows are those of persons who are left out."""
    counts: list[exp.Expr] = []
    for one in linked.lower:
        gone = exp.Join(this=at(names, names.gone, "g"), on=equal(col("person", "g"), col("person", "r")))
        rows = query([exp.Count(this=exp.Star())], at(names, names.rows(one), "r"), joins=[gone])
        counts.append(subquery(rows))
    return exp.Select(expressions=counts)
