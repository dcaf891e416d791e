"""Which choices fail: too few persons match them, or the sensitive values of those who do are too much alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.models.model import ClassModel
from anondb.models.sql import Models, class_rows, passes
from anondb.run.linked import choices_sql as sql
from anondb.run.linked.choices_sql import Levels
from anondb.run.linked.places_sql import at, emptied, filled
from anondb.run.linked.plan import LinkedPlan, LinkedScratch, TablePlan
from anondb.run.linked.rows_sql import Words, kept_columns
from anondb.run.statement import Runner, Statement
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    every,
    named,
    number,
    query,
    scratch,
    star,
    subquery,
    union_all,
)
from anondb.sqltree.equality import as_text, with_entry
from anondb.sqltree.tables import Sensitive


@dataclass(frozen=True)
class LowerDiversity:
    """Of those who match a choice, at most one in l has any one value in a table below."""

    table: TablePlan
    model: ClassModel

    @property
    def l(self) -> float:  # noqa: E743
        return self.model.demanded


def own_values(
    names: LinkedScratch, root: TablePlan, sensitive: Sequence[Sensitive], nulls: Sequence[int]
) -> exp.Create:
    """Each person with the codes of the sensitive values of the own row; NULL comes after all values."""
    places = {c.name: place for place, c in enumerate(kept_columns(root), 1)}
    rows = query([col("person", "r")], at(names, names.rows(root), "r"))
    for s, null_code in zip(sensitive, nulls, strict=True):
        text = as_text(col(f"c{places[s.name]}", "r"))
        rows = with_entry(rows, names.sensitive, s, text)
        code = call("coalesce", call("nullif", col("leaf", s.code), number(0)), number(null_code))
        rows = rows.select(named(cast(code, "int"), s.code), copy=False)
    return create_scratch(names.values, rows.select(named(cast(number(1), "bigint"), "n"), copy=False))


def lower_values(names: LinkedScratch, one: LowerDiversity) -> exp.Create:
    """Each person with each value of a column of a table below, once."""
    [place] = [n for n, c in enumerate(kept_columns(one.table), 1) if c.name == one.model.column]
    found = [col("person", "r"), named(as_text(col(f"c{place}", "r")), "value")]
    return create_scratch(
        names.values_of(one.table), query(found, at(names, names.rows(one.table), "r")).distinct()
    )


def refresh(db: Runner, names: LinkedScratch, models: Models) -> None:
    """What classes are compared with: the persons who are left."""
    for s in {one.sensitive: None for one in models.relative}:
        db.run(Statement("forget", emptied(names, names.sensitive.totals(s))))
        db.run(Statement(f"totals {s.code}", filled(names, totals(names, s))))


def totals(names: LinkedScratch, s: Sensitive) -> exp.Create:
    """How many of the persons who are left have each value; none have those that no longer occur."""
    gone = exp.Join(
        this=at(names, names.gone, "g"), on=equal(col("person", "g"), col("person", "v")), side="LEFT"
    )
    left = exp.Filter(
        this=exp.Count(this=exp.Star()),
        expression=exp.Where(this=exp.Is(this=col("person", "g"), expression=exp.Null())),
    )
    rows = query(
        [named(col(s.code, "v"), "code"), named(left, "n")], scratch(names.values, "v"), joins=[gone]
    )
    return create_scratch(names.sensitive.totals(s), rows.group_by(number(1)))


def failing_parts(
    names: LinkedScratch,
    keys: Sequence[str],
    k: int,
    models: Models | None,
    lower: Sequence[LowerDiversity],
    *,
    touched_only: bool = False,
) -> list[exp.Select]:
    """The choices that fail by number, by a model of the own row, or by a value of a table below."""
    parts = [sql.rare_choices(names, keys, k, touched_only=touched_only)]
    if models is not None:
        codes = [col(s.code, "v") for s in models.counted.sensitive]
        joined = exp.Join(this=scratch(names.values, "v"), on=equal(col("person", "v"), col("person", "c")))
        found = query(
            [*[col(key, "c") for key in keys], *codes, col("n", "v")],
            scratch(names.choices, "c"),
            joins=[joined],
        )
        rows = class_rows(subquery(found, "f"), list(keys), models)
        fails = exp.Not(this=exp.Paren(this=passes(names.sensitive, models, "x")))
        parts.append(query([col(key, "x") for key in keys], subquery(rows, "x"), where=fails))
    parts += [_too_alike(names, keys, one) for one in lower]
    return parts


def _too_alike(names: LinkedScratch, keys: Sequence[str], one: LowerDiversity) -> exp.Select:
    of_choice = query(
        [*[col(key, "c") for key in keys], named(exp.Count(this=exp.Star()), "n")],
        scratch(names.choices, "c"),
        group=[col(key, "c") for key in keys],
    )
    same = exp.Join(
        this=scratch(names.values_of(one.table), "v"), on=equal(col("person", "v"), col("person", "c"))
    )
    of_value = query(
        [*[col(key, "c") for key in keys], named(exp.Count(this=exp.Star()), "n")],
        scratch(names.choices, "c"),
        joins=[same],
        group=[*[col(key, "c") for key in keys], col("value", "v")],
    )
    joined = exp.Join(
        this=subquery(of_choice, "a"), on=every([equal(col(key, "a"), col(key, "b")) for key in keys])
    )
    many = exp.GT(this=exp.Mul(this=col("n", "b"), expression=number(int(one.l))), expression=col("n", "a"))
    return query(
        [col(key, "b") for key in keys], subquery(of_value, "b"), joins=[joined], where=many
    ).distinct()


def choices_of_trees(
    names: LinkedScratch, linked: LinkedPlan, words: Words, levels: Levels, knows: int | str
) -> exp.Create:
    """The choices of the persons and rows that are left."""
    gone = exp.Join(
        this=at(names, names.gone, "g"), on=equal(col("person", "g"), col("person", "r")), side="LEFT"
    )
    left = exp.Is(this=col("person", "g"), expression=exp.Null())
    pairs = knows == 2
    zero = cast(number(0), "int")
    none = [named(zero, "t2"), named(cast(number(0), "bigint"), "p2"), named(zero.copy(), "d")] * pairs
    path = named(sql.path_of(linked, words, linked.root, levels, "r"), "p")
    own = query(
        [named(zero.copy(), "t"), path, *none, col("person", "r")],
        at(names, names.rows(linked.root), "r"),
        joins=[gone],
        where=left,
    )
    parts: list[exp.Select] = [query([star("y")], subquery(own, "y"))]
    if knows:
        found = [col("t", "x"), col("p", "x"), *[one.copy() for one in none], col("person", "x")]
        parts.append(query(found, scratch(names.trees, "x")).distinct())
    if pairs:
        parts.append(sql.pairs(names.trees, ordered=True))
    return create_scratch(names.choices, union_all(parts))


def rows_left(names: LinkedScratch, linked: LinkedPlan) -> exp.Select:
    """Of each table below the persons', how many rows are left."""
    counts: list[exp.Expr] = []
    for one in linked.lower:
        of_table = exp.Where(this=equal(col("t", "x"), number(one.number)))
        counts.append(exp.Filter(this=exp.Count(this=exp.Star()), expression=of_table))
    return query(counts, scratch(names.trees, "x"))
