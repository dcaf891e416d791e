"""Stars that match anything, counted from the rows of a release: who agrees with whom where neither has a star.

Classes are compared by the columns in which both have no star. For classes that are given their stars, these
columns are the same; so each class is joined by equal labels with the classes of each set of stars that occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from anondb.sqltree.build import (
    call,
    cast,
    col,
    concat,
    create_scratch,
    equal,
    every,
    named,
    number,
    plus,
    query,
    scratch,
    string,
    subquery,
    table,
)
from anondb.sqltree.equality import as_text
from anondb.sqltree.tables import Relation, Scratch

MOST_COLUMNS = 62
"""A set of columns is kept as the bits of a number."""
_STAR = "*"  # every other label is kept with a sign before it


def bit_is_set(place: int, bits: exp.Expr) -> exp.Expr:
    found = exp.BitwiseAnd(this=exp.paren(bits), expression=number(1 << place))
    return exp.NEQ(this=exp.paren(found), expression=number(0))


def masked(place: int, value: exp.Expr, star: exp.Expr, *bits: exp.Expr) -> exp.Expr:
    """A value, or the star where one of these sets of columns has it."""
    both = bits[0] if len(bits) == 1 else exp.BitwiseOr(this=bits[0], expression=bits[1])
    return exp.Case().when(bit_is_set(place, both), star).else_(value)


def coded(names: Scratch, release: Relation, roots: Mapping[str, str]) -> exp.Create:
    """The classes of the release, numbered, with their stars: where a label is the root of its column."""
    stars: exp.Expr = cast(number(0), "bigint")
    labels = []
    for place, (name, root) in enumerate(roots.items()):
        label = as_text(col(name, "t"))
        starred = exp.Case().when(equal(label, string(root)), cast(number(1 << place), "bigint"))
        stars = plus(stars, starred.else_(number(0)))
        kept = call("coalesce", concat([string("="), cast(col(name, "t"), "text")]), string("null"))
        labels.append(named(as_text(kept), f"g{place}"))
    rows = query([*labels, named(stars, "stars")], table(release.name, release.schema, "t"))
    places = [col(f"g{place}", "x") for place, _ in enumerate(roots)]
    keys = [*places, col("stars", "x")]
    grouped = query(
        [*keys, named(exp.Count(this=exp.Star()), "n")],
        subquery(rows, "x"),
        group=[key.copy() for key in keys],
    )
    number_of = named(exp.Window(this=call("row_number")), "id")
    return create_scratch(
        names.audit, query([number_of, exp.Column(this=exp.Star(), table="y")], subquery(grouped, "y"))
    )


def size(names: Scratch) -> exp.Select:
    """How many classes there are, and sets of stars."""
    sets = exp.Count(this=exp.Distinct(expressions=[col("stars", "c")]))
    return query([exp.Count(this=exp.Star()), sets], scratch(names.audit, "c"))


def fewest(names: Scratch, columns: int) -> exp.Select:
    """The records that a record matches, itself among them: of the record with fewest."""
    masks = query([named(col("stars", "a"), "stars")], scratch(names.audit, "a")).distinct()
    places = range(columns)

    def beside(keys: Callable[[], Sequence[exp.Expr]]) -> exp.Select:
        """Each class with each set of stars: its labels where neither has one."""
        labels = [
            named(masked(i, col(f"g{i}", "c"), string(_STAR), col("stars", "c"), col("stars", "m")), f"e{i}")
            for i in places
        ]
        return query(
            [*keys(), *labels],
            scratch(names.audit, "c"),
            joins=[exp.Join(this=subquery(masks.copy(), "m"), kind="CROSS")],
        )

    mine = beside(
        lambda: [
            col("id", "c"),
            named(col("stars", "c"), "mine"),
            named(col("stars", "m"), "theirs"),
        ]
    )
    found = beside(
        lambda: [
            col("n", "c"),
            named(col("stars", "m"), "mine"),
            named(col("stars", "c"), "theirs"),
        ]
    )
    keys = ["mine", "theirs", *[f"e{i}" for i in places]]
    theirs = query(
        [*[col(key, "f") for key in keys], named(exp.Sum(this=col("n", "f")), "n")],
        subquery(found, "f"),
        group=[col(key, "f") for key in keys],
    )
    same = every([equal(col(key, "l"), col(key, "r")) for key in keys])
    matched = query(
        [named(exp.Sum(this=col("n", "r")), "n")],
        subquery(mine, "l"),
        joins=[exp.Join(this=subquery(theirs, "r"), on=same)],
        group=[col("id", "l")],
    )
    least = call("coalesce", exp.Min(this=col("n", "x")), number(0))
    return query([cast(least, "bigint")], subquery(matched, "x"))
