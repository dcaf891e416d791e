"""Quasi-identifiers that are released as numbers, dates and ranges: which types they get, and their statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from anondb.errors import Problem
from anondb.hierarchies.forms import Age
from anondb.models.model import ClassModel
from anondb.policy.check import written
from anondb.policy.model import Column, Policy, Role
from anondb.policy.names import quoted
from anondb.policy.released import EXACT
from anondb.run.statement import Runner, Statement
from anondb.sqltree.released import TEXT, Shown, Typed
from anondb.sqltree.tables import Scratch, SourceColumn

if TYPE_CHECKING:
    from anondb.run.publish_sql import Chosen
    from anondb.sqltree.build import Select

_RANGES = {
    "number": "numrange",
    "date": "daterange",
    "timestamp": "tsrange",
    "timestamptz": "tstzrange",
}


def kind_of(column: Column, source: SourceColumn) -> str | None:
    """What the labels of a column tell of; None for what is neither a number nor a date."""
    if isinstance(column.hierarchy, Age) or source.is_whole:
        return "whole"
    if source.is_number:
        return "number"
    return source.base if source.is_date else None


def typed(column: Column, source: SourceColumn) -> SourceColumn:
    """A quasi-identifier with the form that it is released in."""
    kind = kind_of(column, source)
    if column.role is not Role.QUASI or column.release == (TEXT,) or kind is None:
        return source
    several = len(column.release) > 1
    shown = tuple(
        Shown(f"{column.name}_{word}" if several else column.name, word, _type(word, kind, column, source))
        for word in column.release
    )
    return replace(source, form=Typed(kind, shown))


def _type(word: str, kind: str, column: Column, source: SourceColumn) -> str:
    if word == TEXT:
        return "text"
    if word == "range":
        if kind == "whole":
            long = source.base == "int8" and not isinstance(column.hierarchy, Age)
            return "int8range" if long else "int4range"
        return _RANGES[kind]
    return "numeric" if kind in ("whole", "number") else kind


def misfits(policy: Policy, column: Column, source: SourceColumn, taken: Sequence[str]) -> Iterator[Problem]:
    """What of a form does not fit the type of a column, or the names of the others."""
    if column.role is not Role.QUASI or column.release == (TEXT,):
        return
    place = f"{policy.place} [columns.{written(column.name)}]"
    if kind_of(column, source) is None:
        yield Problem(
            place,
            f"release = {quoted(column.release[0])} needs numbers or dates, and {quoted(column.name)} is {source.type}",
            "leave release out: labels of other values are texts",
        )
        return
    lossy = [word for word in column.release if word not in EXACT]
    for model in policy.privacy.models if lossy else ():
        if isinstance(model, ClassModel) and not model.is_additive:
            yield Problem(
                place,
                f"classes of one {lossy[0]} would be one, and two that satisfy {model.name} may make one that does not",
                'write release = "range": different ranges stay different',
            )
    form = typed(column, source).form
    assert isinstance(form, Typed)
    for shown in form.shown:
        if shown.name != column.name and shown.name in taken:
            yield Problem(
                place,
                f"the release would have two columns {quoted(shown.name)}",
                "give one of the columns another name in a view of the source",
            )


def write_values(
    db: Runner, names: Scratch, chosen: Sequence[Chosen], classified: Callable[[], Select]
) -> None:
    """Puts what is released beside the labels of the classes."""
    from anondb.run import typed_sql

    words = [
        s.word for c in chosen if isinstance(c.quasi.column.form, Typed) for s in c.quasi.column.form.shown
    ]
    if not words:
        return
    if "mean" in words:
        db.run(Statement("means", typed_sql.means(names, chosen, classified())))
    db.run(Statement("room for values", typed_sql.make_room(names, chosen)))
    db.run(Statement("values", typed_sql.fill(names, chosen)))
