"""What the ledger knows of a record whose sensitive value is released apart from it, as columns of the copy."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.releases.following import Following
from anondb.releases.ledger_sql import key_of, record_mark, row_hash, texts, value_hash
from anondb.sqltree.build import call, col, named, number
from anondb.sqltree.tables import SourceColumn

MARKS = ("person", "mark", "kept", "valued")


def marks(
    following: Following, columns: Sequence[SourceColumn], values: Sequence[exp.Expr], hidden: SourceColumn
) -> list[exp.Expr]:
    """Whose it is, what it says, and hashes of what is released of it: of the two tables together, and of the value."""
    keys: list[exp.Expr] = [col(c.name, "s") for c in following.key]
    shown = [value for c, value in zip(columns, values, strict=True) if c != hidden]
    [value] = [value for c, value in zip(columns, values, strict=True) if c == hidden]
    person = call("anondb.person_hash", key_of("inner_key"), key_of("outer_key"), texts(keys))
    mark = record_mark(keys, values)
    # halves, so that their sum is a number of the same size
    kept = exp.Add(this=_half(row_hash(shown)), expression=_half(value_hash(value.copy())))
    return [
        named(made, name)
        for made, name in zip((person, mark, kept, value_hash(value.copy())), MARKS, strict=True)
    ]


def _half(hashed: exp.Expr) -> exp.Expr:
    return exp.paren(exp.BitwiseRightShift(this=exp.paren(hashed), expression=number(1)))
