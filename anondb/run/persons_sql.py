"""Columns that are released in a form of their own: pseudonyms, dates that move with the person, changed numbers.

Most come from keys that only the server has. A form is applied where a value is read from the source, so that nothing
behind that sees the value itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from anondb.run.perturbed_sql import noisy, rounded
from anondb.sqltree.build import call, cast, col, concat, number, scratch, string
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
            code = _pseudonym(_text_of(column, of))
            return code if type_ == "uuid" else call("replace", cast(code, "text"), string("-"), string(""))
        case Shift(by, days):
            moved = _shifted_days(_person(by, of), days)
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


def _hash(purpose: str, text: exp.Expr) -> exp.Expr:
    """As anondb.keyed_hash of anondb.text_bytes, by functions of the server's own: the source may lie on others."""
    inner, outer = key_of(purpose)
    plain = string("SQL_ASCII")
    is_plain = exp.EQ(this=call("getdatabaseencoding"), expression=plain)
    encoding = exp.Case().when(is_plain, plain.copy()).else_(string("UTF8"))
    inside = call("sha256", concat([inner, call("convert_to", text, encoding)]))
    return call("sha256", concat([outer, inside]))


def _pseudonym(text: exp.Expr) -> exp.Expr:
    """As anondb.pseudonym."""
    digits = call("encode", call("substr", _hash("pseudonym", text), number(1), number(16)), string("hex"))
    return cast(digits, "uuid")


def _shifted_days(person: exp.Expr, days: int) -> exp.Expr:
    """As anondb.shifted_days."""
    digits = call("encode", call("substr", _hash("shift", person), number(1), number(8)), string("hex"))
    drawn = cast(cast(exp.paren(concat([string("x"), digits])), "bit(64)"), "bigint")
    positive = exp.paren(exp.BitwiseAnd(this=drawn, expression=number(2**63 - 1)))
    rest = exp.Mod(this=positive, expression=cast(number(2 * days + 1), "bigint"))
    return cast(exp.paren(exp.Sub(this=rest, expression=number(days))), "int")


def _text_of(column: SourceColumn, of: str) -> exp.Expr:
    """The one text of all values that equal it: 5 of an int and of a bigint, 5.0 and 5.00 of a numeric."""
    return cast(grouping_value(column, of), "text")


def _person(by: SourceColumn, of: str) -> exp.Expr:
    """NULLs are one person, and no text is theirs."""
    return cast(exp.Array(expressions=[_text_of(by, of)]), "text")
