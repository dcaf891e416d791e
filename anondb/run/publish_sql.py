"""Publish: from the source's rows to the released ones.

The classes are known by the codes of their labels. Where the first pass has counted whole rows, each is
released as often as it was counted. Elsewhere a second and last pass over the source finds the class of
every record by its own values: one join for all quasi-identifiers, which a suppressed record does not pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from anondb.models.sql import Models, class_rows, judged_rows
from anondb.run.chosen_sql import Chosen as Chosen
from anondb.run.encode_sql import with_dictionaries
from anondb.run.keyed_sql import Key, keyed_rank, row_order, with_keys
from anondb.run.persons_sql import kept_value
from anondb.run.shuffled_sql import exchanged
from anondb.sqltree.build import (
    call,
    cast,
    col,
    concat,
    create_scratch,
    ident,
    left_join,
    named_type,
    number,
    scratch,
    string,
    table,
)
from anondb.sqltree.equality import own_form
from anondb.sqltree.released import Shuffled
from anondb.sqltree.tables import TEMPORARY, Relation, Scratch, SourceColumn


def classes(
    names: Scratch,
    chosen: Sequence[Chosen],
    models: Models,
    *,
    mask: bool,
    hashed: Callable[[Sequence[exp.Expr]], exp.Expr] | None = None,
) -> exp.Create:
    """All classes, judged, with their numbers and labels; masked ones take the roots' labels and one number.

    `hashed` makes of the labels what the ledger knows a class by.
    """
    below = _below_root(chosen)
    rows = class_rows(scratch(names.freq, "f"), [c.key for c in below], models)
    # where nothing is masked, what is left out changes what t-closeness compares with: that is seen to later
    judged = judged_rows(names, models, rows, reference=mask)
    rank = keyed_rank(Key.ORDER, [col(c.key, "x") for c in below]) if below else number(1)
    labels = [c.shown() for c in chosen]
    if mask:
        rank = exp.Case().when(col("ok", "x"), rank).else_(number(0))
        labels = [
            exp.Case().when(col("ok", "x"), label).else_(string(c.quasi.root))
            for c, label in zip(chosen, labels, strict=True)
        ]
    query = exp.select(
        exp.Column(this=exp.Star(), table=ident("x")),
        exp.alias_(rank, "class", quoted=True),
        *[exp.alias_(label, c.label, quoted=True) for c, label in zip(chosen, labels, strict=True)],
    ).from_(judged.subquery("x"))
    query = with_keys(query, names)
    if hashed is not None:
        query = query.select(exp.alias_(hashed(labels), "hash", quoted=True))
        query.append("joins", exp.Join(this=scratch("ledger_key", "lk"), kind="CROSS"))
    for c in below:
        same = exp.EQ(this=col("code", c.label), expression=col(c.key, "x"))
        query = left_join(query, labels_at(names, c).subquery(c.label), same)
    return create_scratch(names.classes, query)


def leave_out(names: Scratch) -> exp.Delete:
    """Classes that do not pass are not released."""
    passed = exp.Is(this=col("ok", "x"), expression=exp.true())
    return exp.Delete(this=scratch(names.classes, "x"), where=exp.Where(this=exp.Not(this=passed)))


def combinations(names: Scratch, chosen: Sequence[Chosen], *, repeated: bool) -> exp.Create:
    """Each combination of values that is released, for the source's rows to be joined with.

    `repeated` where the first pass has told apart more than these values.
    """
    labels = [col(name, "k") for name in ("class", *shown_in(chosen).values())]
    query = exp.select(*[col(c.quasi.raw, "r") for c in chosen], *labels)
    query = classified(query.distinct() if repeated else query, names, chosen)
    return create_scratch(names.combinations, query)


def create_release(fresh: Relation, columns: Sequence[SourceColumn], *, unlogged: bool = False) -> exp.Create:
    """The empty release; unlogged, where its rows go on to another table before anybody sees it."""
    definitions = [
        exp.ColumnDef(this=ident(c.name), kind=named_type(c.type), constraints=collation(c)) for c in columns
    ]
    schema = exp.Schema(this=table(fresh.name, fresh.schema), expressions=definitions)
    properties = exp.Properties(expressions=[exp.UnloggedProperty()]) if unlogged else None
    return exp.Create(this=schema, kind="TABLE", properties=properties)


def insert_rows(
    names: Scratch, fresh: Relation, columns: Sequence[SourceColumn], chosen: Sequence[Chosen]
) -> exp.Insert:
    """Every row that the first pass has counted and that has a released class, as often as it was counted."""
    kept = [col(f"c{position}", "r") for position, _ in enumerate(kept_columns(columns, chosen), 1)]
    rows = ordered(chosen, kept, "k")
    rows = rows.select(exp.alias_(call("generate_series", number(1), col("n", "r")), "copy", quoted=True))
    return insert_ordered(fresh, columns, chosen, with_keys(classified(rows, names, chosen), names))


def insert_records(
    names: Scratch,
    source: Relation,
    fresh: Relation,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
) -> exp.Insert:
    """The second pass over the source: every record whose combination of values is released."""
    kept = [kept_value(column, "s") for column in kept_columns(columns, chosen)]
    rows = released_rows(chosen, kept, "v").from_(table(source.name, source.schema, "s"))
    rows = rows.join(scratch(names.combinations, "v"), on=exp.and_(*map(same_value, chosen)))
    rows = in_their_classes(rows, names, columns, chosen)
    insert = insert_ordered(fresh, columns, chosen, rows)
    # at the top, where no server that has the rows in parts could sort each part alone
    insert.set("expression", insert.expression.order_by(place_in_order(rows), copy=False))
    return insert


def in_their_classes(
    rows: exp.Select,
    names: Scratch,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
    schema: str = TEMPORARY,
) -> exp.Select:
    """Rows of the source with the run's keys; values that are to be exchanged in their class, exchanged."""
    kept = kept_columns(columns, chosen)
    shuffled = [place for place, column in enumerate(kept, 1) if isinstance(column.form, Shuffled)]
    if not shuffled:
        return with_keys(rows, names, schema)
    return exchanged(rows, names, list(shown_in(chosen).values()), len(kept), shuffled, schema)


def all_rows(release: Relation, limit: int | None = None) -> exp.Select:
    query = exp.select(exp.Star()).from_(table(release.name, release.schema))
    return query if limit is None else query.limit(number(limit))


def class_sizes(release: Relation, quasi_names: Sequence[str]) -> exp.Select:
    """The class sizes `n` of a release, counted from its own rows; NULL counts as a value."""
    query = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True))
    query = query.from_(table(release.name, release.schema, "t"))
    return query.group_by(*[col(name, "t") for name in quasi_names])


def class_figures(sizes: exp.Select) -> exp.Select:
    """Rows, classes, the smallest and the largest class, and the sum of squared sizes."""
    n = col("n", "c")
    square = cast(exp.Mul(this=n.copy(), expression=n.copy()), "numeric")
    return (
        exp.select(cast(call("coalesce", exp.Sum(this=n), number(0)), "bigint"))
        .select(exp.Count(this=exp.Star()))
        .select(call("coalesce", exp.Min(this=n.copy()), number(0)))
        .select(call("coalesce", exp.Max(this=n.copy()), number(0)))
        .select(call("coalesce", exp.Sum(this=square), number(0)))
        .from_(sizes.subquery("c"))
    )


def comment(release: Relation, text: str) -> exp.Comment:
    return exp.Comment(this=table(release.name, release.schema), kind="TABLE", expression=string(text))


def own(tables: Sequence[Relation], run: int) -> exp.Select:
    """Notes that the tables that now stand at these places are this run's."""
    schemas, names = (
        cast(exp.Array(expressions=[string(part) for part in parts]), "name[]")
        for parts in ([t.schema for t in tables], [t.name for t in tables])
    )
    return exp.select(call("anondb.own_release", number(run), schemas, names))


def _below_root(chosen: Sequence[Chosen]) -> list[Chosen]:
    """All have the same value at the root, so that a column there tells no class from another."""
    return [c for c in chosen if not c.at_root]


def labels_at(names: Scratch, chosen: Chosen) -> exp.Select:
    """The codes of a column at its level with their labels; NULL has neither."""
    return (
        exp.select(exp.alias_(chosen.code("d"), "code", quoted=True))
        .select(exp.alias_(exp.Max(this=chosen.label_in("d")), "label", quoted=True))
        .from_(scratch(names.dictionary(chosen.quasi), "d"))
        .where(exp.GT(this=col("leaf", "d"), expression=number(0)))
        .group_by(number(1))
    )


def kept_columns(columns: Sequence[SourceColumn], chosen: Sequence[Chosen]) -> list[SourceColumn]:
    generalized = {c.quasi.name for c in chosen}
    return [column for column in columns if column.name not in generalized]


def classified(query: exp.Select, names: Scratch, chosen: Sequence[Chosen]) -> exp.Select:
    """Gives the query the raw values `r` and their released classes `k`.

    OFFSET 0 keeps the planner from joining the classes before all codes are known: by a few of them,
    a row has many.
    """
    below = _below_root(chosen)
    codes = [call("coalesce", c.code(c.quasi.code), c.missing) for c in below]
    coded = exp.select(
        exp.Column(this=exp.Star(), table=ident("r")),
        *[exp.alias_(code, c.key, quoted=True) for c, code in zip(below, codes, strict=True)],
    ).from_(scratch(names.raw, "r"))
    coded = with_dictionaries(coded, names, [c.quasi for c in below]).offset(number(0))
    same = [exp.EQ(this=col(c.key, "k"), expression=col(c.key, "r")) for c in below]
    on = exp.and_(*same) if same else exp.true()
    return query.from_(coded.subquery(ident("r"))).join(scratch(names.classes, "k"), on=on)


def values_with_classes(names: Scratch, chosen: Sequence[Chosen]) -> exp.Select:
    """The raw values `r` with their counts, and their released classes `k`."""
    return classified(exp.select(), names, chosen)


def same_value(chosen: Chosen) -> exp.Expr:
    """A record's value is the combination's; inside an array NULL equals NULL, and the join can still hash."""
    return same_as(chosen, own_form(chosen.quasi, "s"))


def same_as(chosen: Chosen, value: exp.Expr) -> exp.Expr:
    """The same, where the record's value has been made already."""
    sides = [value, col(chosen.quasi.raw, "v")]
    if chosen.has_null:
        sides = [exp.Array(expressions=[side]) for side in sides]
    return exp.EQ(this=sides[0], expression=sides[1])


def ordered(chosen: Sequence[Chosen], kept: Sequence[exp.Expr], classified: str) -> exp.Select:
    """Released values that the run has counted, sorted before copies are made of them."""
    return released_rows(chosen, kept, classified).order_by(number(1), number(2))


def released_rows(chosen: Sequence[Chosen], kept: Sequence[exp.Expr], classified: str) -> exp.Select:
    """Released values with what they are sorted by: their class, and in a class a keyed hash of the kept ones.

    The order of the source (by name, by admission) would link the records of a class to persons; an
    order by released values alone gives nothing away, and is the same for the same data. What is
    sorted by comes first: behind columns of any length it would be slow to find in a row.
    """
    order = row_order(kept) if kept else number(0)
    keys = [col("class", classified), exp.alias_(order, "order", quoted=True)]
    return (
        exp.select(*keys)
        .select(*[col(name, classified) for name in shown_in(chosen).values()])
        .select(*[exp.alias_(value, f"c{position}", quoted=True) for position, value in enumerate(kept, 1)])
    )


def place_in_order(rows: exp.Select) -> exp.Expr:
    """What rows `x` are sorted by at the top of a statement: one value, most of which are told apart by 8 bytes."""
    [order] = [part for part in rows.expressions if part.alias_or_name == "order"]
    if isinstance(order.unalias(), exp.Literal):  # nothing is kept, and rows of a class are alike
        return col("class", "x")
    return concat([call("int4send", col("class", "x")), col("order", "x")])


def insert_ordered(
    fresh: Relation, columns: Sequence[SourceColumn], chosen: Sequence[Chosen], rows: exp.Select
) -> exp.Insert:
    """Writes the columns of the release from such rows."""
    released = released_as(columns, chosen)
    names = [name for column in columns for name in column.shown]
    query = exp.select(*[col(released[name], "x") for name in names]).from_(rows.subquery("x"))
    target = exp.Schema(this=table(fresh.name, fresh.schema), expressions=[ident(name) for name in names])
    return exp.Insert(this=target, expression=query)


def released_as(columns: Sequence[SourceColumn], chosen: Sequence[Chosen]) -> dict[str, str]:
    """What each column of the release is called among the rows of `released_rows`."""
    return shown_in(chosen) | {
        c.name: f"c{position}" for position, c in enumerate(kept_columns(columns, chosen), 1)
    }


def shown_in(chosen: Sequence[Chosen]) -> dict[str, str]:
    """The columns of the release that tell of quasi-identifiers, and what they are called in the classes."""
    return {name: place for c in chosen for name, place in c.written.items()}


def collation(column: SourceColumn) -> list[exp.ColumnConstraint]:
    if column.collation is None:
        return []
    return [exp.ColumnConstraint(kind=exp.CollateColumnConstraint(this=named_type(column.collation)))]
