"""Publish: from the source's rows to the released ones.

The classes are known by the codes of their labels. Where the first pass has counted whole rows, each is
released as often as it was counted. Elsewhere a second and last pass over the source finds the class of
every record by its own values: one join for all quasi-identifiers, which a suppressed record does not pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.sqlgen.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    ident,
    named_type,
    number,
    scratch,
    string,
    table,
)
from anondb.sqlgen.encode import dense_rank, grouping_value, with_dictionaries
from anondb.sqlgen.render import render
from anondb.sqlgen.shape import Quasi, Relation, Scratch, SourceColumn


@dataclass(frozen=True)
class Chosen:
    """A quasi-identifier at the level that the search chose for it."""

    quasi: Quasi
    level: int
    has_null: bool

    @property
    def at_root(self) -> bool:
        return self.level == self.quasi.height


def classes(names: Scratch, chosen: Sequence[Chosen], k: int, *, mask: bool) -> exp.Create:
    """The released classes; masked ones take the roots' labels, and with them one class number."""
    codes = [col(_l(c), "x") for c in _below_root(chosen)]
    large = exp.GTE(this=col("n", "x"), expression=number(k))
    rank: exp.Expr = cast(dense_rank(codes), "int") if codes else number(1)
    labels: list[exp.Expr] = [string(c.quasi.root) if c.at_root else col(_g(c), "x") for c in chosen]
    if mask:
        rank = exp.Case().when(large.copy(), rank).else_(number(0))
        labels = [
            exp.Case().when(large.copy(), label).else_(string(c.quasi.root))
            for c, label in zip(chosen, labels, strict=True)
        ]
    shown = [exp.alias_(label, _g(c), quoted=True) for c, label in zip(chosen, labels, strict=True)]
    query = exp.select(*codes, exp.alias_(rank, "class", quoted=True), *shown)
    query = query.from_(_sized(names, _below_root(chosen)).subquery("x"))
    return create_scratch(names.classes, query if mask else query.where(large))


def combinations(names: Scratch, chosen: Sequence[Chosen]) -> exp.Create:
    """Each combination of values that is released, for the source's rows to be joined with."""
    labels = [col(name, "k") for name in ("class", *map(_g, chosen))]
    values = [col(_v(c), "r") for c in chosen]
    return create_scratch(names.combinations, _classified(exp.select(*values, *labels), names, chosen))


def create_release(fresh: Relation, columns: Sequence[SourceColumn], quasi: Sequence[Quasi]) -> exp.Create:
    """The empty release: quasi-identifiers as text, all other columns in their own type."""
    generalized = {q.name for q in quasi}
    definitions = [
        exp.ColumnDef(this=ident(c.name), kind=named_type("text"))
        if c.name in generalized
        else exp.ColumnDef(this=ident(c.name), kind=named_type(c.type), constraints=_collation(c))
        for c in columns
    ]
    schema = exp.Schema(this=table(fresh.name, fresh.schema), expressions=definitions)
    return exp.Create(this=schema, kind="TABLE")


def insert_rows(
    names: Scratch, fresh: Relation, columns: Sequence[SourceColumn], chosen: Sequence[Chosen]
) -> exp.Insert:
    """Every row that the first pass has counted and that has a released class, as often as it was counted."""
    kept = [col(f"c{position}", "r") for position, _ in enumerate(_kept(columns, chosen), 1)]
    rows = ordered(chosen, kept, "k")
    rows = rows.select(exp.alias_(call("generate_series", number(1), col("n", "r")), "copy", quoted=True))
    return insert_ordered(fresh, columns, chosen, _classified(rows, names, chosen))


def insert_records(
    names: Scratch,
    source: Relation,
    fresh: Relation,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
) -> exp.Insert:
    """The second pass over the source: every record whose combination of values is released."""
    kept = [col(column.name, "s") for column in _kept(columns, chosen)]
    rows = ordered(chosen, kept, "v").from_(table(source.name, source.schema, "s"))
    rows = rows.join(scratch(names.combinations, "v"), on=exp.and_(*map(_same_value, chosen)))
    return insert_ordered(fresh, columns, chosen, rows)


def all_rows(release: Relation, limit: int | None = None) -> exp.Select:
    query = exp.select(exp.Star()).from_(table(release.name, release.schema))
    return query if limit is None else query.limit(number(limit))


def class_sizes(release: Relation, quasi_names: Sequence[str]) -> exp.Select:
    """The class sizes `n` of a release, counted from its own rows; NULL counts as a value."""
    query = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n", quoted=True))
    query = query.from_(table(release.name, release.schema, "t"))
    return query.group_by(*[col(name, "t") for name in quasi_names])


def class_figures(release: Relation, quasi_names: Sequence[str]) -> exp.Select:
    """Rows, classes, the smallest and the largest class, and the sum of squared sizes."""
    n = col("n", "c")
    square = cast(exp.Mul(this=n.copy(), expression=n.copy()), "numeric")
    return (
        exp.select(cast(exp.func("coalesce", exp.Sum(this=n), number(0)), "bigint"))
        .select(exp.Count(this=exp.Star()))
        .select(exp.func("coalesce", exp.Min(this=n.copy()), number(0)))
        .select(exp.func("coalesce", exp.Max(this=n.copy()), number(0)))
        .select(exp.func("coalesce", exp.Sum(this=square), number(0)))
        .from_(class_sizes(release, quasi_names).subquery("c"))
    )


def comment(release: Relation, text: str) -> exp.Comment:
    return exp.Comment(this=table(release.name, release.schema), kind="TABLE", expression=string(text))


def swap(fresh: Relation, target: Relation) -> exp.Select:
    """Puts the fresh release in the target's place."""
    return exp.select(
        call(
            "anondb.swap_release",
            cast(string(render(table(fresh.name, fresh.schema))), "regclass"),
            string(target.schema),
            string(target.name),
        )
    )


def own(target: Relation, run: int) -> exp.Select:
    """Notes that the release that now stands at the target is this run's."""
    return exp.select(call("anondb.own_release", number(run), string(target.schema), string(target.name)))


def _below_root(chosen: Sequence[Chosen]) -> list[Chosen]:
    """All have the same value at the root, so that a column there tells no class from another."""
    return [c for c in chosen if not c.at_root]


def _sized(names: Scratch, chosen: Sequence[Chosen]) -> exp.Select:
    """Codes and labels of all classes, with their sizes n."""
    keys: list[exp.Expr] = []
    for c in chosen:
        entry = f"d{c.quasi.number}"
        is_null = exp.EQ(this=col("leaf", entry), expression=number(0))
        code = exp.Case().when(is_null, number(0)).else_(col(f"l{c.level}", entry))
        keys += (
            exp.alias_(code, _l(c), quoted=True),
            exp.alias_(col(f"g{c.level}", entry), _g(c), quoted=True),
        )
    size = exp.alias_(exp.Sum(this=col("n", "f")), "n", quoted=True)
    query = exp.select(*keys, size).from_(scratch(names.freq, "f"))
    query = query.group_by(*[number(position) for position, _ in enumerate(keys, 1)])
    for c in chosen:
        entry = f"d{c.quasi.number}"
        on = exp.EQ(this=col("leaf", entry), expression=col(f"q{c.quasi.number}", "f"))
        query.append("joins", exp.Join(this=scratch(names.dictionary(c.quasi), entry), on=on))
    return query


def _kept(columns: Sequence[SourceColumn], chosen: Sequence[Chosen]) -> list[SourceColumn]:
    generalized = {c.quasi.name for c in chosen}
    return [column for column in columns if column.name not in generalized]


def _classified(query: exp.Select, names: Scratch, chosen: Sequence[Chosen]) -> exp.Select:
    """Gives the query the raw values `r` and their released classes `k`.

    OFFSET 0 keeps the planner from joining the classes before all codes are known: by a few of them,
    a row has many.
    """
    below = _below_root(chosen)
    codes = [exp.func("coalesce", col(f"l{c.level}", f"d{c.quasi.number}"), number(0)) for c in below]
    coded = exp.select(
        exp.Column(this=exp.Star(), table=ident("r")),
        *[exp.alias_(code, _l(c), quoted=True) for c, code in zip(below, codes, strict=True)],
    ).from_(scratch(names.raw, "r"))
    coded = with_dictionaries(coded, names, [c.quasi for c in below]).offset(number(0))
    same = [exp.EQ(this=col(_l(c), "k"), expression=col(_l(c), "r")) for c in below]
    on = exp.and_(*same) if same else exp.true()
    return query.from_(coded.subquery(ident("r"))).join(scratch(names.classes, "k"), on=on)


def _same_value(chosen: Chosen) -> exp.Expr:
    """A record's value is the combination's; inside an array NULL equals NULL, and the join can still hash."""
    sides = [grouping_value(chosen.quasi.column, "s"), col(_v(chosen), "v")]
    if chosen.has_null:
        sides = [exp.Array(expressions=[side]) for side in sides]
    return exp.EQ(this=sides[0], expression=sides[1])


def ordered(chosen: Sequence[Chosen], kept: Sequence[exp.Expr], classified: str) -> exp.Select:
    """Released values in the order of their classes, and in a class in that of a hash of the kept ones.

    The order of the source (by name, by admission) would link the records of a class to persons; an
    order by released values alone gives nothing away, and is the same for the same data. What is
    sorted by comes first: behind columns of any length it would be slow to find in a row.
    """
    keys = [col("class", classified), exp.alias_(digest(kept), "order", quoted=True)]
    return (
        exp.select(*keys)
        .select(*[col(_g(c), classified) for c in chosen])
        .select(*[exp.alias_(value, f"c{position}", quoted=True) for position, value in enumerate(kept, 1)])
        .order_by(number(1), number(2))
    )


def digest(kept: Sequence[exp.Expr]) -> exp.Expr:
    """A hash of the kept values."""
    hashed: exp.Expr = number(0)
    for value in kept:
        text = exp.func("coalesce", cast(value.copy(), "text"), string("\\N"))
        hashed = call("hashtextextended", collate_c(text), hashed)
    return cast(hashed, "bigint")


def insert_ordered(
    fresh: Relation, columns: Sequence[SourceColumn], chosen: Sequence[Chosen], rows: exp.Select
) -> exp.Insert:
    """Writes the rows that `ordered` has put in order."""
    released = {c.quasi.name: _g(c) for c in chosen}
    released |= {c.name: f"c{position}" for position, c in enumerate(_kept(columns, chosen), 1)}
    query = exp.select(*[col(released[column.name], "x") for column in columns]).from_(rows.subquery("x"))
    target = exp.Schema(this=table(fresh.name, fresh.schema), expressions=[ident(c.name) for c in columns])
    return exp.Insert(this=target, expression=query)


def _collation(column: SourceColumn) -> list[exp.ColumnConstraint]:
    if column.collation is None:
        return []
    return [exp.ColumnConstraint(kind=exp.CollateColumnConstraint(this=named_type(column.collation)))]


def _v(chosen: Chosen) -> str:
    return f"v{chosen.quasi.number}"


def _l(chosen: Chosen) -> str:
    return f"l{chosen.quasi.number}"


def _g(chosen: Chosen) -> str:
    return f"g{chosen.quasi.number}"
