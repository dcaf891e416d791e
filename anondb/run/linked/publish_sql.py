"""The released rows of linked tables: those of the persons, and the rows, that are left."""

from __future__ import annotations

from sqlglot import exp

from anondb.run.linked.choices_sql import Levels, path_of
from anondb.run.linked.places_sql import at, create
from anondb.run.linked.plan import LinkedPlan, LinkedScratch, TablePlan
from anondb.run.linked.rows_sql import Words, kept_columns
from anondb.run.shared_sql import typed_as
from anondb.sqltree.build import (
    col,
    equal,
    every,
    ident,
    left_join,
    named,
    number,
    query,
    scratch,
    string,
    subquery,
    table,
)
from anondb.sqltree.equality import as_text
from anondb.sqltree.released import Pseudonym
from anondb.sqltree.tables import Quasi, Relation, Scratch


def labels(names: LinkedScratch, q: Quasi, of_column: Scratch, level: int) -> exp.Create:
    """The codes of a column at its level with their labels."""
    code = col("leaf" if level == 0 else f"l{level}", "d")
    rows = query(
        [named(code, "code"), named(exp.Max(this=col(f"g{level}", "d")), "label")],
        scratch(of_column.dictionary(q), "d"),
        where=exp.GT(this=col("leaf", "d"), expression=number(0)),
        group=[code.copy()],
    )
    return create(names, names.labels(q), rows)


def released_rows(
    names: LinkedScratch,
    linked: LinkedPlan,
    words: Words,
    levels: Levels,
    one: TablePlan,
    *,
    by_rows: bool,
    typed: bool = False,
) -> exp.Select:
    """Every row that is left, in an order that released values alone decide, pseudonyms first."""
    rows = query([], at(names, names.rows(one), "r"))
    gone = exp.Is(this=col("person", "g"), expression=exp.Null())
    if by_rows and one.parent is not None:
        left = every([equal(col("t", "x"), number(one.number)), equal(col("rid", "x"), col("rid", "r"))])
        rows = rows.join(scratch(names.trees, "x"), on=left, copy=False)
    else:
        rows = left_join(rows, at(names, names.gone, "g"), equal(col("person", "g"), col("person", "r")))
        rows = rows.where(gone, copy=False)
    released: dict[str, exp.Expr] = {}
    for declared in one.plan.quasi:
        q, level = words.quasi[declared.number], levels[declared.number - 1]
        place = words.place(q.number, level)
        if place is None:
            released[q.name] = string(q.root)
            continue
        alias = f"l{q.number}"
        rows = left_join(rows, at(names, names.labels(q), alias), equal(col("code", alias), place.code("r")))
        released[q.name] = col("label", alias)
    kept = kept_columns(one)
    for number_, column in enumerate(kept, 1):
        released[column.name] = col(f"c{number_}", "r")
    first = [released[c.name] for c in kept if isinstance(c.form, Pseudonym)]
    others = [path_of(linked, words, one, levels, "r")]
    others += [as_text(released[c.name].copy()) for c in kept if not isinstance(c.form, Pseudonym)]
    columns = one.plan.columns
    made = {c.name: c for c in one.plan.places[0].columns}
    shown = [
        named(typed_as(released[c.name], made[c.name]) if typed else released[c.name], c.name)
        for c in columns
    ]
    rows = rows.select(*shown, copy=False)
    return rows.order_by(*[value.copy() for value in (*first, *others)], copy=False)


def insert(one: TablePlan, fresh: Relation, rows: exp.Select) -> exp.Insert:
    names = [ident(c.name) for c in one.plan.columns]
    return exp.Insert(
        this=exp.Schema(this=table(fresh.name, fresh.schema), expressions=names), expression=rows
    )


def rows_of_keys(one: TablePlan, written: Relation) -> exp.Select:
    """The same where rows hang on the persons' own: written in the order of their keys, they are soon counted."""
    keys = [col(mine.name, "t") for mine, _ in one.key]
    counted = query(
        [named(exp.Count(this=exp.Star()), "n")], table(written.name, written.schema, "t"), group=keys
    )
    return query(
        [col("n", "c"), exp.Count(this=exp.Star())], subquery(counted, "c"), group=[col("n", "c")]
    ).order_by(number(1))


def rows_of_persons(names: LinkedScratch, one: TablePlan, *, by_rows: bool) -> exp.Select:
    """How many released persons have how many rows in a table, of those who have any."""
    if by_rows:
        here = equal(col("t", "r"), number(one.number))
        counted = [col("person", "r"), named(exp.Count(this=exp.Star()), "n")]
        rows = query(counted, scratch(names.trees, "r"), where=here, group=[col("person", "r")])
    else:
        gone = exp.Join(
            this=at(names, names.gone, "g"), on=equal(col("person", "g"), col("person", "r")), side="LEFT"
        )
        left = exp.Is(this=col("person", "g"), expression=exp.Null())
        counted = [col("person", "r"), named(exp.Count(this=exp.Star()), "n")]
        rows = query(
            counted, at(names, names.rows(one), "r"), joins=[gone], where=left, group=[col("person", "r")]
        )
    found: list[exp.Expr] = [col("n", "c"), exp.Count(this=exp.Star())]
    return query(found, subquery(rows, "c"), group=[col("n", "c")]).order_by(number(1))
