"""Statements of cell suppression: the classes that are too small, what becomes of them, and the labels of the rest."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.models import sql as models
from anondb.models.sql import Models, class_rows, judged_rows
from anondb.run.keyed_sql import Key, keyed_rank, with_keys
from anondb.run.publish_sql import Chosen, labels_at
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    every,
    ident,
    left_join,
    named,
    number,
    parameter,
    query,
    scratch,
    star,
    string,
    subquery,
)
from anondb.sqltree.tables import Scratch

LEFT_OUT = 0
"""The partition of records that are not released."""
_STAR = -1  # in the place of a label's code
_OUT = -1  # in the place of the bits of suppressed columns, of records that are not released


def small(names: Scratch, keys: Sequence[str], counted: Models) -> exp.Create:
    """The frequency set of the classes that do not satisfy the policy; `stars` says which cells are suppressed."""
    judged = judged_rows(names, counted, class_rows(scratch(names.freq, "f"), keys, counted), reference=False)
    failing = query(
        [col(key, "j") for key in keys], subquery(judged, "j"), where=exp.Not(this=exp.paren(col("ok", "j")))
    )
    of_row = [col(name, "f") for name in (*keys, *counted.counted.apart)]
    n = named(cast(exp.Sum(this=col("n", "f")), counted.counted.counts), "n")
    same = every([equal(col(key, "k"), col(key, "f")) for key in keys])
    join = exp.Join(this=subquery(failing, "k"), on=same)
    stars = named(cast(exp.Null(), "bigint"), "stars")
    group = [column.copy() for column in of_row]
    return create_scratch(
        names.small, query([*of_row, n, stars], scratch(names.freq, "f"), joins=[join], group=group)
    )


def suppress(names: Scratch, keys: Sequence[str], chosen: Sequence[int], counted: Models) -> exp.Update:
    """Suppresses the cells of these columns of all records that are a class then; $1 are the bits of the columns."""
    others = [key for place, key in enumerate(keys) if place not in chosen]
    pending = exp.Is(this=col("stars", "p"), expression=exp.Null())
    left = subquery(query([star("p")], scratch(names.small, "p"), where=pending), "f")
    judged = models.judged_rows(names, counted, class_rows(left, others, counted), reference=False)
    now = [exp.Is(this=col("stars", "s"), expression=exp.Null()), col("ok", "j")]
    now += [equal(col(key, "j"), col(key, "s")) for key in others]
    return exp.Update(
        this=scratch(names.small, "s"),
        expressions=[equal(exp.column(ident("stars")), cast(parameter(1), "bigint"))],
        from_=exp.From(this=subquery(judged, "j")),
        where=exp.Where(this=every(now)),
    )


def figures(names: Scratch, keys: Sequence[str]) -> exp.Select:
    """The records that are left out, those with a cell suppressed, and of each column how many of its cells are."""
    records: list[exp.Expr] = [exp.Is(this=col("stars", "s"), expression=exp.Null())]
    has_star = exp.NEQ(this=col("stars", "s"), expression=number(0))
    records += [has_star, *[_is_starred(place, "s") for place, _ in enumerate(keys)]]
    counts = [
        call(
            "coalesce",
            exp.Filter(this=exp.Sum(this=col("n", "s")), expression=exp.Where(this=one)),
            number(0),
        )
        for one in records
    ]
    return query([cast(count, "bigint") for count in counts], scratch(names.small, "s"))


def different(names: Scratch, keys: Sequence[str]) -> exp.Select:
    """How many labels each column has, of records without a class."""
    counts = [exp.Count(this=exp.Distinct(expressions=[col(key, "s")])) for key in keys]
    pending = exp.Is(this=col("stars", "s"), expression=exp.Null())
    return query(counts, scratch(names.small, "s"), where=pending)


def partitioned(names: Scratch, chosen: Sequence[Chosen], keys: Sequence[str]) -> exp.Create:
    """Each combination of values with the number of its class, and the codes of the class's labels."""
    stars = (
        query(
            [
                *[col(key, "s") for key in keys],
                named(exp.Max(this=call("coalesce", col("stars", "s"), number(-1))), "stars"),
            ],
            scratch(names.small, "s"),
            group=[col(key, "s") for key in keys],
        )
        if keys
        else None
    )
    leaves = [col(c.quasi.code, "f") for c in chosen]
    codes = [
        named(exp.Case().when(_is_starred(place, "f"), number(_STAR)).else_(col(key, "f")), f"e{place}")
        for place, key in enumerate(keys)
    ]
    bits = call("coalesce", exp.Max(this=col("stars", "t")), number(0)) if keys else number(0)
    wanted = dict.fromkeys([c.quasi.code for c in chosen] + list(keys))
    rows = query(
        [
            *[col(name, "f") for name in wanted],
            named(cast(exp.Sum(this=col("n", "f")), "bigint"), "n"),
            named(bits, "stars"),
        ],
        scratch(names.freq, "f"),
        group=[col(name, "f") for name in wanted],
    )
    if stars is not None:
        same = every([equal(col(key, "t"), col(key, "f")) for key in keys])
        rows.set("joins", [exp.Join(this=subquery(stars, "t"), on=same, side="LEFT")])
    coded = query([*leaves, col("n", "f"), col("stars", "f"), *codes], subquery(rows, "f"))
    order = [exp.Ordered(this=col(f"e{place}", "x")) for place, _ in enumerate(keys)]
    rank = exp.Window(this=call("dense_rank"), order=exp.Order(expressions=order)) if order else number(1)
    out = equal(col("stars", "x"), number(_OUT))
    part = named(cast(exp.Case().when(out, number(LEFT_OUT)).else_(rank), "int"), "part")
    found = [*[col(c.quasi.code, "x") for c in chosen], col("n", "x"), part]
    found += [col(f"e{place}", "x") for place, _ in enumerate(keys)]
    return create_scratch(names.partitioned, query(found, subquery(coded, "x")))


def classes(names: Scratch, chosen: Sequence[Chosen]) -> exp.Create:
    """The labels of each class, and its number; a suppressed cell has the label of its column's root."""
    below = [c for c in chosen if not c.at_root]
    released = exp.NEQ(this=col("part", "p"), expression=number(LEFT_OUT))
    codes = [col("part", "p"), *[col(f"e{place}", "p") for place, _ in enumerate(below)]]
    parts = query(
        codes, scratch(names.partitioned, "p"), where=released, group=[code.copy() for code in codes]
    )
    labels: list[exp.Expr] = []
    joined = query([], subquery(parts, "y"))
    place = 0
    for c in chosen:
        if c.at_root:
            labels.append(string(c.quasi.root))
            continue
        code = col(f"e{place}", "y")
        left_join(joined, subquery(labels_at(names, c), c.label), equal(col("code", c.label), code))
        is_star = equal(code.copy(), number(_STAR))
        labels.append(exp.Case().when(is_star, string(c.quasi.root)).else_(col("label", c.label)))
        place += 1
    joined.set(
        "expressions",
        [col("part", "y"), *[named(label, c.label) for c, label in zip(chosen, labels, strict=True)]],
    )
    rank = keyed_rank(Key.ORDER, [col(c.label, "z") for c in chosen])
    numbered = query(
        [col("part", "z"), named(rank, "class"), *[col(c.label, "z") for c in chosen]], subquery(joined, "z")
    )
    return create_scratch(names.classes, with_keys(numbered, names))


def _is_starred(place: int, of: str) -> exp.Expr:
    bit = exp.BitwiseAnd(this=col("stars", of), expression=number(1 << place))
    return exp.NEQ(this=exp.paren(bit), expression=number(0))
