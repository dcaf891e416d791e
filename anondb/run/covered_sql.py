"""Columns whose labels say which values they cover: measured by codes, without a text of each value."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import Computed
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
    query,
    scratch,
    star,
    subquery,
    true,
    union_all,
)
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
    """Of each column, how many `values` have the same label and counts: released `kept`, and not released `lost`."""
    return create_scratch(names.covered, union_all([_values(names, c) for c in chosen]))


def _values(names: Scratch, chosen: Chosen) -> exp.Select:
    label, original = col(matched(chosen), "l"), col(f"o{chosen.quasi.number}", "l")
    released = col("released", "l")
    kept = _records(released)
    lost = _records(exp.Not(this=released.copy()))
    of_value = [named(label, "label"), named(original, "value"), named(kept, "kept"), named(lost, "lost")]
    counted = query(of_value, scratch(names.link, "l"), group=[number(1), number(2)])
    is_null = equal(col("value", "v"), number(0))
    columns = [
        named(number(chosen.quasi.number), "i"),
        col("label", "v"),
        named(is_null, "is_null"),
        *[col(name, "v") for name in ("kept", "lost")],
        named(exp.Count(this=exp.Star()), "values"),
        named(true() if chosen.at_root else false(), "at_root"),
        named(cast(_share(names, chosen), "float8"), "share"),
        named(
            cast(divided(cast(number(chosen.level), "float8"), number(chosen.quasi.height)), "float8"), "rise"
        ),
    ]
    groups: list[exp.Expr] = [number(position) for position in range(2, 6)]
    return query(columns, subquery(counted, "v"), group=groups)


def _records(condition: exp.Expr) -> exp.Expr:
    total = exp.Filter(this=exp.Sum(this=col("n", "l")), expression=exp.Where(this=condition))
    return cast(call("coalesce", total, number(0)), "bigint")


def _share(names: Scratch, chosen: Chosen) -> exp.Expr:
    """What a released value loses of its column's domain; NULL where the values below its label are counted."""
    quasi, form = chosen.quasi, chosen.quasi.hierarchy
    assert isinstance(form, Computed)
    if chosen.at_root:
        return number(1)
    if chosen.level == 0:
        return number(0)
    width = form.width(quasi, col("raw", "e"), chosen.level)
    if width is None:
        return null()
    # leaves are numbered in the order of their values
    last = query([exp.Max(this=col("leaf", "w"))], scratch(names.dictionary(quasi), "w"))
    spanned = query([form.span(quasi, col("raw", "e"))], scratch(names.dictionary(quasi), "e"))
    spanned = spanned.where(exp.In(this=col("leaf", "e"), expressions=[number(1), subquery(last)]))
    whole = call("nullif", subquery(spanned), number(0))
    return call("least", number(1), call("coalesce", divided(width, whole), number(1)))


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
