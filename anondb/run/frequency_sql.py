"""The frequency set in codes, and roll-ups of it: all that a search reads.

Every quasi-identifier has its leaf codes `q1` and, beside them, the codes of each higher level below the
root, `q1_1`, `q1_2`, …: what a node of the lattice would give is then one grouping, without a join.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.run.encode_sql import with_dictionaries
from anondb.sqltree.build import call, cast, col, create_scratch, left_join, number, scratch
from anondb.sqltree.tables import Coded, Quasi, Scratch, Sensitive

SMALL = 2**15  # codes below it fit into two bytes
MOST_COLUMNS = 1500  # PostgreSQL has 1,600 at most

Partial = Sequence[int | None]
"""Levels of some of the quasi-identifiers: None leaves one out."""


@dataclass(frozen=True)
class Counted:
    """What the frequency set tells apart, and how its counts are kept."""

    quasi: tuple[Quasi, ...]
    sensitive: tuple[Sensitive, ...] = ()
    unit: bool = False  # persons are told apart too
    counts: str = "int"  # the type of the counts; with int their sums are fast
    roots: bool = False  # there is a column for the root too, in which all have the same code

    @property
    def apart(self) -> list[str]:
        """The columns that are told apart besides the quasi-identifiers'."""
        return [s.code for s in self.sensitive] + ["u"] * self.unit


def counts_type(records: int) -> str:
    return "int" if records < 2**31 else "bigint"


def units(names: Scratch) -> exp.Create:
    """Numbers for the persons who occur in several combinations; NULLs are one person."""
    place = exp.Window(this=call("row_number"))
    query = (
        exp.select(col("u", "r"), exp.alias_(cast(place, "int"), "code", quoted=True))
        .from_(scratch(names.raw, "r"))
        .group_by(col("u", "r"))
        .having(exp.GT(this=exp.Count(this=exp.Star()), expression=number(1)))
    )
    return create_scratch(names.units, query)


def frequency_set(
    names: Scratch, counted: Counted, labels: Sequence[Sequence[int]], values: Sequence[int], *, merge: bool
) -> exp.Create:
    """The frequency set in codes. A value without an entry is NULL, as all others have one.

    `labels` are the numbers of labels of each quasi-identifier at each level, `values` those of values that
    are not NULL of each sensitive column; `merge` where raw combinations can have the same codes.
    """
    codes = [
        exp.alias_(_small(_code(q, level), labels[i][level]), q.code_at(level), quoted=True)
        for i, q in enumerate(counted.quasi)
        for level in range(q.height or 1)
    ]
    if counted.roots:
        codes += [exp.alias_(cast(number(1), "int"), q.code_at(q.height), quoted=True) for q in counted.quasi]
    keys = [
        exp.alias_(
            _small(call("coalesce", col("leaf", s.code), number(values[i] + 1)), values[i] + 1),
            s.code,
            quoted=True,
        )
        for i, s in enumerate(counted.sensitive)
    ]
    if counted.unit:
        keys.append(exp.alias_(call("coalesce", col("code", "p"), number(0)), "u", quoted=True))
    query = exp.select(*codes, *keys, exp.alias_(cast(col("n", "r"), counted.counts), "n", quoted=True))
    query = query.from_(scratch(names.raw, "r"))
    query = with_dictionaries(query, names, (*counted.quasi, *counted.sensitive))
    if counted.unit:
        # inside an array NULL equals NULL, and the join can still hash
        same = [exp.Array(expressions=[col("u", of)]) for of in ("p", "r")]
        query = left_join(query, scratch(names.units, "p"), exp.EQ(this=same[0], expression=same[1]))
        query = query.select(exp.alias_(cast(number(1), counted.counts), "p", quoted=True))
    if merge:
        query = _merged(query.subquery("f"), counted, (0,) * len(counted.quasi))
    return create_scratch(names.freq, query)


def drop(name: str) -> exp.Drop:
    return exp.Drop(tables=[scratch(name)], kind="TABLE")


def key_names(quasi: Sequence[Quasi], levels: Partial) -> list[str]:
    """The columns by which the classes of a node are told apart; at its root a column has one value."""
    return [
        q.code_at(level)
        for q, level in zip(quasi, levels, strict=True)
        if level is not None and level < q.height
    ]


def persons(type_: str) -> exp.Expr:
    """How many persons the merged rows `f` are: with a number one, however many rows; without, all different."""
    is_many = exp.EQ(this=col("u", "f"), expression=number(0))
    found = exp.Case().when(is_many, exp.Sum(this=col("p", "f"))).else_(number(1))
    return exp.alias_(cast(found, type_), "p", quoted=True)


def _merged(source: exp.Expr, counted: Counted, levels: Partial) -> exp.Select:
    """One row for what is not told apart at these levels; the codes further up hang on them."""
    keys = [*key_names(counted.quasi, levels), *counted.apart]
    above = [
        q.code_at(further)
        for q, level in zip(counted.quasi, levels, strict=True)
        if level is not None
        for further in range(level + 1, q.height + counted.roots)
    ]
    total = cast(exp.Sum(this=col("n", "f")), counted.counts)
    query = (
        exp.select(*[col(key, "f") for key in keys])
        .select(*[exp.alias_(exp.Min(this=col(name, "f")), name, quoted=True) for name in above])
        .select(exp.alias_(total, "n", quoted=True))
        .from_(source)
    )
    if counted.unit:
        query = query.select(persons(counted.counts))
    return query.group_by(*[col(key, "f") for key in keys]) if keys else query.having(_any_row())


def _any_row() -> exp.Expr:
    return exp.GT(this=exp.Count(this=exp.Star()), expression=number(0))


def _code(quasi: Coded, level: int) -> exp.Expr:
    name = "leaf" if level == 0 else f"l{level}"
    return call("coalesce", col(name, quasi.code), number(0))


def _small(code: exp.Expr, most: int) -> exp.Expr:
    return cast(code, "smallint" if most < SMALL else "int")
