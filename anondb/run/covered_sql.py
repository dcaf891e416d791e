"""Columns whose labels say which values they cover: measured by codes, without a text of each value."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import Computed
from anondb.run.coarse_sql import span
from anondb.run.publish_sql import Chosen
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    divided,
    equal,
    false,
    named,
    null,
    number,
    plus,
    query,
    scratch,
    star,
    subquery,
    true,
    union_all,
)
from anondb.sqltree.equality import as_text
from anondb.sqltree.render import render
from anondb.sqltree.tables import Quasi, Scratch


def matched(chosen: Chosen) -> str:
    """Its column in the link, besides what was released: the code of the label that covers the original."""
    return f"m{chosen.quasi.number}"


def equals(chosen: Chosen) -> str:
    """Its column in a linked query: the code of the label that is the original's own text, or one that none has."""
    return f"t{chosen.quasi.number}"


def are_read_back(names: Scratch, chosen: Chosen) -> exp.Select | None:
    """Whether its labels, as they are read, cover the values that have them and no others; None if nobody can say."""
    form = chosen.quasi.hierarchy
    read = form.read_back(chosen.quasi, chosen.level, col("raw", "d")) if isinstance(form, Computed) else None
    if read is None:
        return None
    found = call("coalesce", call("bool_and", read), true())
    return query([found], scratch(names.dictionary(chosen.quasi), "d"))


def values(names: Scratch, chosen: Sequence[Chosen]) -> exp.Create:
    """Of each label of a column, its records `kept` and `lost`, its `values`, and how many records these are apart.

    `own` is the mean, over its records, of the logarithm of how many records have the same value: all that entropy
    asks of single values.
    """
    return create_scratch(names.covered, union_all([_labels(names, c) for c in chosen]))


def _labels(names: Scratch, chosen: Chosen) -> exp.Select:
    total = {name: exp.Sum(this=col(name, "v")) for name in ("kept", "lost", "values", "own")}
    records = plus(exp.Sum(this=col("kept", "v")), exp.Sum(this=col("lost", "v")), grouped=True)
    counted = query(
        [
            *[col(name, "v") for name in ("label", "is_null")],
            *[named(cast(total[name], "bigint"), name) for name in ("kept", "lost", "values")],
            named(divided(total["own"], records), "own"),
        ],
        subquery(_values(names, chosen), "v"),
        group=[number(1), number(2)],
    )
    share, joins = _share(names, chosen)
    columns = [
        named(number(chosen.quasi.number), "i"),
        *[col(name, "v") for name in ("label", "is_null", "kept", "lost", "values", "own")],
        named(true() if chosen.at_root else false(), "at_root"),
        named(cast(share, "float8"), "share"),
        named(
            cast(divided(cast(number(chosen.level), "float8"), number(chosen.quasi.height)), "float8"), "rise"
        ),
    ]
    return query(columns, subquery(counted, "v"), joins=joins)


def _values(names: Scratch, chosen: Chosen) -> exp.Query:
    """The values of a column with their labels and records; of one that is coded coarsely these are known apart."""
    label, original = col(matched(chosen), "l"), col(f"o{chosen.quasi.number}", "l")
    is_null, released = equal(original, number(0)), col("released", "l")
    found = [
        named(label, "label"),
        named(is_null, "is_null"),
        named(_records(released), "kept"),
        named(_records(exp.Not(this=released.copy())), "lost"),
    ]
    groups: list[exp.Expr] = [number(1), number(2)]
    if chosen.quasi.is_coarse:
        nothing = [named(number(0), "values"), named(cast(number(0), "float8"), "own")]
        of_labels = query([*found, *nothing], scratch(names.link, "l"), group=groups)
        return union_all([of_labels, _coarse_values(names, chosen)])
    by_value = query(
        [*found, named(original.copy(), "value")], scratch(names.link, "l"), group=[*groups, number(5)]
    )
    known = [col(name, "w") for name in ("label", "is_null", "kept", "lost")]
    records = cast(plus(col("kept", "w"), col("lost", "w"), grouped=True), "float8")
    own = exp.Mul(this=records, expression=call("ln", records.copy()))
    return query([*known, named(number(1), "values"), named(own, "own")], subquery(by_value, "w"))


def _coarse_values(names: Scratch, chosen: Chosen) -> exp.Select:
    quasi = chosen.quasi
    label = number(0) if chosen.at_root else call("coalesce", chosen.code("d"), number(0))
    entry = exp.Join(
        this=scratch(names.dictionary(quasi), "d"),
        on=equal(col("raw", "d"), as_text(col("raw", "x"))),
        side="LEFT",
    )
    nobody = cast(number(0), "bigint")
    times = cast(col("n", "x"), "float8")
    records = exp.Mul(
        this=exp.Mul(this=times, expression=col("values", "x")), expression=call("ln", times.copy())
    )
    columns = [
        named(label, "label"),
        named(exp.Is(this=col("raw", "x"), expression=null()), "is_null"),
        named(nobody, "kept"),
        named(nobody.copy(), "lost"),
        col("values", "x"),
        named(records, "own"),
    ]
    return query(columns, scratch(names.values(quasi), "x"), joins=[entry])


def _records(condition: exp.Expr) -> exp.Expr:
    total = exp.Filter(this=exp.Sum(this=col("n", "l")), expression=exp.Where(this=condition))
    return cast(call("coalesce", total, number(0)), "bigint")


def _share(names: Scratch, chosen: Chosen) -> tuple[exp.Expr, list[exp.Join]]:
    """What a released value loses of its column's domain, with what is joined for it.

    NULL where the values below its label are counted.
    """
    quasi, form = chosen.quasi, chosen.quasi.hierarchy
    assert isinstance(form, Computed)
    if chosen.at_root:
        return number(1), []
    if chosen.level == 0:
        return number(0), []
    width, joins = form.told_width(quasi, col("raw", "e"), chosen.level), []
    if width is None:
        return null(), []
    if width.find(exp.Column):  # units of the calendar are of different lengths
        widths = query(
            [named(chosen.code("e"), "label"), named(exp.Max(this=width), "width")],
            scratch(names.dictionary(quasi), "e"),
            where=exp.GT(this=col("leaf", "e"), expression=number(0)),
            group=[number(1)],
        )
        on = equal(col("label", "m"), col("label", "v"))
        joins, width = [exp.Join(this=subquery(widths, "m"), on=on, side="LEFT")], col("width", "m")
    whole = call("nullif", subquery(span(names, quasi)), number(0))
    return call("least", number(1), call("coalesce", divided(width, whole), number(1))), joins


def query_of(names: Scratch, chosen: Sequence[Chosen]) -> str:
    """The link, with what equals an original beside what covers it."""
    columns = [named(_equal(c), equals(c)) for c in chosen]
    return render(query([star("l"), *columns], scratch(names.link, "l")))


def _equal(chosen: Chosen) -> exp.Expr:
    """A label is the text of no value but its own at level 0, and NULL is NULL below the root."""
    if chosen.at_root:
        return number(-1)
    own = col(matched(chosen), "l")
    if chosen.level == 0:
        return own
    is_null = equal(col(f"o{chosen.quasi.number}", "l"), number(0))
    return exp.Case().when(is_null, own).else_(number(-1))


def known(quasi: Sequence[Quasi], chosen: Sequence[Chosen], matching: str) -> list[str | None] | None:
    """Of each column, where such a query has the code of the label that an original matches."""
    place = matched if matching == "coverage" else equals
    columns = {c.quasi.number: place(c) for c in chosen}
    return [columns.get(q.number) for q in quasi] if columns else None
