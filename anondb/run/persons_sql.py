"""Columns that are released in a form of their own: pseudonyms, dates that move with the person, changed numbers.

Most come from keys that only the server has. A form is applied where a value is read from the source, so that nothing
behind that sees the value itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from anondb.run.perturbed_sql import noisy, rounded
from anondb.sqltree.build import call, cast, col, number, scratch, string
from anondb.sqltree.equality import grouping_value
from anondb.sqltree.released import Noise, Pseudonym, Rounded, Shift
from anondb.sqltree.tables import Scratch, SourceColumn

KEYS = "key"
"""What the one-row table of keys is called in a query."""


def kept_value(column: SourceColumn, of: str) -> exp.Expr:
    """What is released of a column that is not generalized; with a form, in a query that has the run's keys."""
    value = col(column.name, of)
    match column.form:
        case Pseudonym(type_):
            code = call("anondb.pseudonym", *key_of("pseudonym"), _text_of(column, of))
            return code if type_ == "uuid" else call("replace", cast(code, "text"), string("-"), string(""))
        case Shift(by, days):
            moved: exp.Expr = call("anondb.shifted_days", *key_of("shift"), _person(by, of), number(days))
            if column.base != "date":
                moved = exp.Mul(this=moved, expression=cast(string("1 day"), "interval"))
            typed = value if column.type == column.compared_as else cast(value, column.compared_as or "date")
            return exp.Add(this=typed, expression=moved)
        case Noise() as noise:
            return noisy(column, noise, of, key_of("noise"), KEYS)
        case Rounded() as form:
            return rounded(column, form, of)
    return value  # also of what is exchanged in its class, once that is known


def with_keys_of_forms(select: exp.Select, names: Scratch, columns: Iterable[SourceColumn]) -> exp.Select:
    """Gives a query the run's keys, if any of these columns has a form that is made with one."""
    if any(isinstance(column.form, Pseudonym | Shift | Noise) for column in columns):
        select.append("joins", exp.Join(this=scratch(names.keys, KEYS), kind="CROSS"))
    return select


def key_of(purpose: str) -> list[exp.Expr]:
    """The two parts of a key, in a query that has the run's keys."""
    return [col(f"{purpose}_{part}", KEYS) for part in ("inner", "outer")]


def _text_of(column: SourceColumn, of: str) -> exp.Expr:
    """The one text of all values that equal it: 5 of an int and of a bigint, 5.0 and 5.00 of a numeric."""
    return cast(grouping_value(column, of), "text")


def _person(by: SourceColumn, of: str) -> exp.Expr:
    """NULLs are one person, and no text is theirs."""
    return cast(exp.Array(expressions=[_text_of(by, of)]), "text")
