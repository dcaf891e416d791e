"""Audit of linked tables: the sensitive values of those who match what may be known, from the written rows."""

from __future__ import annotations

from sqlglot import exp

from anondb.models import sql as model
from anondb.models.sql import Judged, Models, class_rows
from anondb.run.frequency_sql import Counted
from anondb.run.linked.plan import LinkedScratch
from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    ident,
    named,
    number,
    query,
    scratch,
    string,
    subquery,
    table,
)
from anondb.sqltree.equality import with_entry
from anondb.sqltree.tables import Relation, Sensitive

CHOICE, VALUE = "choice", "value"


def count(release: Relation) -> exp.Select:
    return query([exp.Count(this=exp.Star())], table(release.name, release.schema, "t"))


def analyze(release: Relation) -> exp.Analyze:
    """So that the planner knows how many labels there are."""
    return exp.Analyze(tables=[table(release.name, release.schema)])


def known(
    names: LinkedScratch, described: str, knows: str, of_table: str, sensitive: Sensitive, null_code: int
) -> exp.Create:
    """Each choice with every person who matches it, and the person's value, as it is and as the run has coded it."""
    asked = call(
        "anondb.known_values",
        cast(string(described), "jsonb"),
        string(knows),
        string(of_table),
        string(sensitive.name),
    )
    values = exp.Table(this=asked, alias=exp.TableAlias(this=ident("v")))
    rows = query([col(CHOICE, "v"), col(VALUE, "v")], values)
    rows = with_entry(rows, names.sensitive, sensitive, collate_c(col(VALUE, "v")))
    code = call("coalesce", call("nullif", col("leaf", sensitive.code), number(0)), number(null_code))
    rows = rows.select(
        named(cast(code, "int"), sensitive.code), named(cast(number(1), "bigint"), "n"), copy=False
    )
    return create_scratch(names.known, rows)


def worst(names: LinkedScratch, judged: Judged) -> exp.Select:
    """The most that a choice reaches of a model, compared with the persons who are left."""
    sensitive = judged.sensitive
    counted = Counted((), (sensitive,), counts="bigint")
    rows = class_rows(scratch(names.known, "f"), [CHOICE], Models(counted, 1, (judged,)))
    reference = model.whole_reference(names.sensitive, sensitive)
    reached = judged.model.reached(model.class_histogram(names.sensitive, sensitive, "x"), reference)
    return query([call("coalesce", exp.Max(this=reached), number(0))], subquery(rows, "x"))
