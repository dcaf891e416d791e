"""Keyed hashes: what a recipient must not be able to guess comes from the secret of the installation.

The keys lie in a one-row table of the run, made in the server from the secret; no statement or parameter has one.
Without the secret the hash of a row says nothing of it, not even to those who know the row. Equal rows alone
have equal hashes, so that an order by them needs nothing else to be the same for the same data.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum

from sqlglot import exp

from anondb.run.encode_sql import dense_rank
from anondb.run.persons_sql import KEYS, key_of
from anondb.sqltree.build import (
    call,
    cast,
    col,
    concat,
    create_scratch,
    ident,
    named,
    query,
    scratch,
    star,
    string,
    table,
)
from anondb.sqltree.tables import TEMPORARY, Scratch


class Key(StrEnum):
    """What keys are for; each purpose has its own, so that one kind of hash says nothing of another."""

    ORDER = "row order"  # of classes
    ROW = "row in its class"
    RECORD = "record number"
    CLASS = "class id"
    DRAW = "draw"
    PSEUDONYM = "pseudonym"
    SHIFT = "shift"
    NOISE = "noise"
    SHUFFLE = "shuffle"

    def within(self, seed: int, scope: str | None, changes: Collection[str] = ()) -> str | None:
        """What of a policy changes it: nothing, its seed, or its scope; None where the policy has no use for it."""
        if self in (Key.PSEUDONYM, Key.SHIFT):
            return scope
        if self in (Key.NOISE, Key.SHUFFLE) and self not in changes:
            return None
        return "" if self in (Key.ORDER, Key.ROW) else str(seed)


def keys(names: Scratch, seed: int, scope: str | None = None, changes: Collection[str] = ()) -> exp.Create:
    """The run's keys, in one row; with what was measured for noise, if there is any."""
    columns: list[exp.Expr] = []
    sources: list[exp.Expr] = []
    for place, key in enumerate(Key, 1):
        if (within := key.within(seed, scope, changes)) is None:
            continue
        columns += [named(col(f"{part}_key", f"k{place}"), _column(key, part)) for part in ("inner", "outer")]
        derived = call("anondb.derived_key", string(key), string(within))
        sources.append(exp.Table(this=derived, alias=exp.TableAlias(this=ident(f"k{place}"))))
    if Key.NOISE in changes:
        columns.append(star("m"))
        sources.append(scratch(names.measures, "m"))
    joins = [exp.Join(this=source, kind="CROSS") for source in sources[1:]]
    return create_scratch(names.keys, query(columns, sources[0], joins=joins))


def with_keys(select: exp.Select, names: Scratch, schema: str = TEMPORARY) -> exp.Select:
    """Gives a query the run's keys."""
    select.append("joins", exp.Join(this=table(names.keys, schema, KEYS), kind="CROSS"))
    return select


def keyed(key: Key, values: Sequence[exp.Expr]) -> exp.Expr:
    """A hash of these values, in a query that has the keys."""
    return call("anondb.keyed_hash", *key_of(key.name.lower()), _message(values))


def row_order(values: Sequence[exp.Expr]) -> exp.Expr:
    """What the rows of a class are sorted by: a hash that is made of each row, and that nobody sees.

    SHA-256 of a key of full length and a message, half the work of `keyed`: only which of two is the smaller is
    seen, and without its bytes nothing can be hashed on from it. By functions of the server's own, as it is asked of
    the rows of the source, where these may lie on another server.
    """
    inner, _ = key_of(Key.ROW.name.lower())
    return call("sha256", concat([inner, _message(values)]))


def _message(values: Sequence[exp.Expr]) -> exp.Expr:
    """Texts in an array are quoted, so that no two rows have the same; one piece, however many columns there are."""
    array = exp.Array(expressions=[cast(value.copy(), "text") for value in values])
    # of nothing, as of records without a kept column, the server could not tell the type
    texts = cast(array if values else cast(array, "text[]"), "text")
    # as the database has it: one that knows no encoding could not convert it
    return call("convert_to", texts, call("getdatabaseencoding"))


def keyed_rank(key: Key, values: Sequence[exp.Expr]) -> exp.Expr:
    """Numbers from 1 in an order that the key decides, equal values alike."""
    return cast(dense_rank([keyed(key, values)]), "int")


def _column(key: Key, part: str) -> str:
    return f"{key.name.lower()}_{part}"
