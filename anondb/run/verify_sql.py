"""Audit: what a written release reaches, counted from its own rows; verification compares it with the policy."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.models import sql as model
from anondb.models.sql import Judged, Models, class_rows
from anondb.run.frequency_sql import Counted
from anondb.run.publish_sql import Chosen, classified, shown_in
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    named,
    number,
    query,
    scratch,
    table,
)
from anondb.sqltree.equality import as_text, counted_value, with_entry
from anondb.sqltree.tables import Relation, Scratch, Sensitive


def written(names: Scratch, release: Relation, quasi: Sequence[str], sensitive: Sequence[str]) -> exp.Create:
    """The rows of the release, counted by their classes and sensitive values: one look for all that asks for these."""
    columns = [named(col(name, "t"), f"g{i}") for i, name in enumerate(quasi, 1)]
    columns += [named(as_text(col(name, "t")), f"s{i}") for i, name in enumerate(sensitive, 1)]
    keys = [number(place) for place, _ in enumerate(columns, 1)]
    counted = [*columns, named(exp.Count(this=exp.Star()), "n")]
    return create_scratch(names.written, query(counted, table(release.name, release.schema, "t"), group=keys))


def written_sizes(names: Scratch, quasi: Sequence[str]) -> exp.Select:
    """The sizes `n` of the classes that were counted."""
    total = named(cast(exp.Sum(this=col("n", "t")), "bigint"), "n")
    keys: list[exp.Expr] = [col(f"g{i}", "t") for i, _ in enumerate(quasi, 1)]
    return query([total], scratch(names.written, "t"), group=keys)


def coded_release(
    names: Scratch, release: Relation, quasi_names: Sequence[str], sensitive: Sensitive, null_code: int
) -> exp.Create:
    """The release's classes with the codes of their sensitive values, counted."""
    value = as_text(counted_value(sensitive.column, "t"))
    code = call("coalesce", col("leaf", "d"), number(null_code))
    rows = exp.select(
        *[exp.alias_(col(name, "t"), f"g{i}", quoted=True) for i, name in enumerate(quasi_names, 1)],
        exp.alias_(code, sensitive.code, quoted=True),
        exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True),
    ).from_(table(release.name, release.schema, "t"))
    rows = with_entry(rows, names, sensitive, value, scratch(names.dictionary(sensitive), "d"))
    rows = rows.group_by(*[number(i) for i in range(1, len(quasi_names) + 2)])
    return create_scratch(names.audit, rows)


def farthest(names: Scratch, quasi_names: Sequence[str], judged: Judged) -> exp.Select:
    """The most that a class of the release reaches of a model, compared with the whole release."""
    sensitive = judged.sensitive
    counted = Counted((), (sensitive,), counts="bigint")
    keys = [f"g{i}" for i, _ in enumerate(quasi_names, 1)]
    rows = class_rows(scratch(names.audit, "f"), keys, Models(counted, 1, (judged,)))
    released = query(
        [named(col(sensitive.code, "a"), "code"), named(exp.Sum(this=col("n", "a")), "n")],
        scratch(names.audit, "a"),
        group=[col(sensitive.code, "a")],
    )
    reference = model.reference_of(names, sensitive, released)
    of_class = model.class_histogram(names, sensitive, "x")
    most = exp.Max(this=judged.model.reached(of_class, reference))
    return exp.select(call("coalesce", most, number(0))).from_(rows.subquery("x"))


def fewest_persons(names: Scratch, chosen: Sequence[Chosen]) -> exp.Select:
    """The smallest number of persons in a released class, from the source's values as they were counted."""
    persons = classified(exp.select(col("class", "k"), col("u", "r")).distinct(), names, chosen)
    each = exp.select(exp.alias_(exp.Count(this=exp.Star()), "p", quoted=True))
    each = each.from_(persons.subquery("x")).group_by(col("class", "x"))
    return exp.select(call("coalesce", exp.Min(this=col("p", "c")), number(0))).from_(each.subquery("c"))


def persons(names: Scratch, chosen: Sequence[Chosen]) -> exp.Create:
    """Each person `u` with the labels g1 … of each class that it was released in."""
    labels = [col(c.label, "k") for c in chosen]
    return create_scratch(
        names.persons, classified(exp.select(*labels, col("u", "r")).distinct(), names, chosen)
    )


def other_classes(names: Scratch, release: Relation, chosen: Sequence[Chosen]) -> exp.Select:
    """How many classes of the release are not those, by label and size, that its persons were counted in."""
    released = exp.select(
        *[col(name, "t") for name in shown_in(chosen)],
        exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True),
    ).from_(table(release.name, release.schema, "t"))
    released = released.group_by(*[col(name, "t") for name in shown_in(chosen)])
    known = exp.select(
        *[col(place, "k") for place in shown_in(chosen).values()],
        exp.alias_(cast(exp.Sum(this=col("n", "k")), "bigint"), "n", quoted=True),
    ).from_(scratch(names.classes, "k"))
    known = known.group_by(*[col(place, "k") for place in shown_in(chosen).values()])
    return exp.select(exp.Count(this=exp.Star())).from_(
        exp.except_(released, known, distinct=False).subquery("e")
    )
