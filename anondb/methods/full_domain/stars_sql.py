"""Statements of cell suppression where a star matches anything: equal labels are counted for each set of stars."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.models.sql import Models, class_rows, judged_rows
from anondb.run.stars_sql import masked
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
    over,
    parameter,
    query,
    scratch,
    subquery,
)
from anondb.sqltree.tables import Scratch

_STAR = -1  # in the place of a label's code


def classes(names: Scratch, keys: Sequence[str], counted: Models) -> exp.Create:
    """All classes; those that satisfy the policy have no stars, of the others `stars` is not known yet."""
    judged = judged_rows(names, counted, class_rows(scratch(names.freq, "f"), keys, counted), reference=False)
    n = named(cast(col("n", "j"), counted.counted.counts), "n")
    known = named(cast(exp.Case().when(col("ok", "j"), number(0)), "bigint"), "stars")
    return create_scratch(
        names.small, query([*[col(key, "j") for key in keys], n, known], subquery(judged, "j"))
    )


def pending(names: Scratch) -> exp.Select:
    """How many classes there are, and how many of them have too few records."""
    unknown = exp.Is(this=col("stars", "s"), expression=exp.Null())
    some = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=unknown))
    return query([exp.Count(this=exp.Star()), some], scratch(names.small, "s"))


def suppress(names: Scratch, keys: Sequence[str], chosen: Sequence[int], k: int) -> exp.Update:
    """Suppresses the cells of these columns of all records that match k then; $1 are the bits of the columns."""
    others = [place for place, _ in enumerate(keys) if place not in chosen]
    unknown = exp.Is(this=col("stars", "p"), expression=exp.Null())
    none = cast(number(0), "bigint")
    sets = query(
        [named(call("coalesce", col("stars", "a"), none), "stars")], scratch(names.small, "a")
    ).distinct()
    mine = query(
        [
            *[col(key, "p") for key in keys],
            named(col("stars", "m"), "theirs"),
            *[named(masked(i, col(keys[i], "p"), number(_STAR), col("stars", "m")), f"e{i}") for i in others],
        ],
        scratch(names.small, "p"),
        joins=[exp.Join(this=subquery(sets, "m"), kind="CROSS")],
        where=unknown,
    )
    stars = call("coalesce", col("stars", "a"), none.copy())
    rows = query(
        [
            col("n", "a"),
            named(stars, "theirs"),
            *[named(masked(i, col(keys[i], "a"), number(_STAR), stars.copy()), f"e{i}") for i in others],
        ],
        scratch(names.small, "a"),
    )
    by = ["theirs", *[f"e{i}" for i in others]]
    theirs = query(
        [*[col(name, "f") for name in by], named(exp.Sum(this=col("n", "f")), "n")],
        subquery(rows, "f"),
        group=[col(name, "f") for name in by],
    )
    matched = query(
        [*[col(key, "l") for key in keys], named(exp.Sum(this=col("n", "r")), "n")],
        subquery(mine, "l"),
        joins=[
            exp.Join(
                this=subquery(theirs, "r"), on=every([equal(col(name, "l"), col(name, "r")) for name in by])
            )
        ],
        group=[col(key, "l") for key in keys],
    )
    enough = [exp.Is(this=col("stars", "s"), expression=exp.Null()), over(col("n", "j"), number(k - 1))]
    enough += [equal(col(key, "j"), col(key, "s")) for key in keys]
    return exp.Update(
        this=scratch(names.small, "s"),
        expressions=[equal(exp.column(ident("stars")), cast(parameter(1), "bigint"))],
        from_=exp.From(this=subquery(matched, "j")),
        where=exp.Where(this=every(enough)),
    )
