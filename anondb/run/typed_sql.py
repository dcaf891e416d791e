"""Released labels as numbers, dates and ranges, for whoever computes with them; and the means of classes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import Age
from anondb.run.publish_sql import Chosen
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    divided,
    equal,
    ident,
    minus,
    named,
    named_type,
    number,
    plus,
    scratch,
    seconds_of,
    string,
    times,
)
from anondb.sqltree.equality import as_text
from anondb.sqltree.released import Shown, Typed
from anondb.sqltree.tables import Quasi, Scratch

_FIRST_DAY = "2000-01-01"


def means(names: Scratch, chosen: Sequence[Chosen], classified: exp.Select) -> exp.Create:
    """The mean of each class in the columns that are released so; NULLs do not count.

    `classified` gives the raw values `r`, with their counts, the numbers of their classes.
    """
    query = classified.select(named(col("class", "k"), "class"))
    for c in chosen:
        if _has_mean(c):
            place = _place(c.quasi)
            known = exp.Where(this=exp.Not(this=exp.Is(this=col(c.quasi.raw, "r"), expression=exp.null())))
            total = exp.Sum(this=times(place, col("n", "r")))
            count = exp.Filter(this=exp.Sum(this=col("n", "r")), expression=known)
            query = query.select(named(divided(total, call("nullif", count, number(0))), c.mean))
    return create_scratch(names.means, query.group_by(number(1)))


def make_room(names: Scratch, chosen: Sequence[Chosen]) -> exp.Alter:
    """Columns for the values, beside the labels of the classes."""
    columns = [
        exp.ColumnDef(this=ident(c.place_of(position)), kind=named_type(shown.type))
        for c in chosen
        for position, shown in enumerate(_shown(c), 1)
    ]
    return exp.Alter(this=scratch(names.classes), kind="TABLE", actions=columns)


def fill(names: Scratch, chosen: Sequence[Chosen]) -> exp.Update:
    """The values, each from its label, or from the mean of its class."""
    values = [
        equal(exp.Column(this=ident(c.place_of(position))), value_of(c, shown))
        for c in chosen
        for position, shown in enumerate(_shown(c), 1)
    ]
    update = exp.Update(this=scratch(names.classes, "k"), expressions=values)
    if any(map(_has_mean, chosen)):
        update.set("from_", exp.From(this=scratch(names.means, "m")))
        update.set("where", exp.Where(this=equal(col("class", "m"), col("class", "k"))))
    return update


def value_of(chosen: Chosen, shown: Shown) -> exp.Expr:
    """What is released of a class `k` in a column, with its means `m`."""
    form = chosen.quasi.column.form
    assert isinstance(form, Typed)
    label = col(chosen.label, "k")
    if shown.word == "mean":
        return _from_place(form.kind, col(chosen.mean, "m"))
    if shown.word == "text":
        return label
    match form.kind:
        case "whole":
            if shown.word == "range":
                return call(
                    "anondb.int8_bounds" if shown.type == "int8range" else "anondb.int4_bounds", label
                )
            return _end(shown.word, call("anondb.whole_bounds", label))
        case "number":
            bounds = call("anondb.number_bounds", label)
            return bounds if shown.word == "range" else _end(shown.word, bounds)
        case "date":
            return _of_days(shown.word, call("anondb.date_bounds", label))
    bounds = call("anondb.date_bounds", label)
    zoned = form.kind == "timestamptz"
    if shown.word == "range":
        return _zoned_range(bounds) if zoned else bounds
    found = _end(shown.word, bounds)
    return _zoned(found) if zoned else found


def _end(word: str, bounds: exp.Expr) -> exp.Expr:
    """The lower end, the upper one, or what lies between them; NULL where an end is open."""
    low, high = call("lower", bounds), call("upper", bounds.copy())
    if word == "lower":
        return low
    if word == "upper":
        return high
    return plus(low, divided(minus(high, low.copy(), grouped=True), number(2)))


def _of_days(word: str, bounds: exp.Expr) -> exp.Expr:
    low = cast(call("lower", bounds), "date")
    after = cast(call("upper", bounds.copy()), "date")
    last = minus(after, number(1))
    if word == "range":
        return call("daterange", low, after.copy())
    if word == "lower":
        return low
    if word == "upper":
        return last
    return plus(low, divided(exp.paren(minus(last, low.copy())), number(2)))


def _zoned(moment: exp.Expr) -> exp.Expr:
    return call("timezone", string("UTC"), moment)


def _zoned_range(bounds: exp.Expr) -> exp.Expr:
    ends = [_zoned(call(end, bounds.copy())) for end in ("lower", "upper")]
    # a moment alone has both of its ends
    kind = exp.Case().when(call("upper_inc", bounds.copy()), string("[]")).else_(string("[)"))
    known = exp.Is(this=bounds.copy(), expression=exp.null())
    return exp.Case().when(exp.Not(this=known), call("tstzrange", *ends, kind))


def _place(quasi: Quasi) -> exp.Expr:
    """A raw value `r` as a number of which there is a mean: of days, or of seconds."""
    raw, form = as_text(col(quasi.raw, "r")), quasi.column.form
    assert isinstance(form, Typed)
    if isinstance(quasi.hierarchy, Age):
        return quasi.hierarchy.age(quasi, raw)
    match form.kind:
        case "whole" | "number":
            return cast(raw, "numeric")
        case "date":
            return cast(exp.paren(minus(cast(raw, "date"), cast(string(_FIRST_DAY), "date"))), "numeric")
    return cast(seconds_of(minus(cast(raw, "timestamp"), cast(string(_FIRST_DAY), "timestamp"))), "numeric")


def _from_place(kind: str, mean: exp.Expr) -> exp.Expr:
    if kind in ("whole", "number"):
        return call("trim_scale", mean)
    if kind == "date":
        return plus(cast(string(_FIRST_DAY), "date"), cast(call("floor", mean), "int"))
    second = times(cast(mean, "float8"), cast(string("1 second"), "interval"))
    moment = plus(cast(string(_FIRST_DAY), "timestamp"), second)
    return _zoned(moment) if kind == "timestamptz" else moment


def _shown(chosen: Chosen) -> tuple[Shown, ...]:
    form = chosen.quasi.column.form
    return form.shown if isinstance(form, Typed) else ()


def _has_mean(chosen: Chosen) -> bool:
    return any(shown.word == "mean" for shown in _shown(chosen))
