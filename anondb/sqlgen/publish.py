"""Publish: the second and last pass over the source, from its rows to the released ones.

A record finds its class by one key: the codes of its quasi-identifiers, each of a fixed width, side by
side. The class brings the released labels with it, and a suppressed class is simply not there.
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
    concat,
    create_scratch,
    ident,
    left_join,
    named_type,
    null,
    number,
    scratch,
    string,
    table,
)
from anondb.sqlgen.encode import dense_rank, text_value
from anondb.sqlgen.shape import Quasi, Relation, Scratch, SourceColumn

# A jsonb map answers in about 65 ns a row, a hash join in twice that; but a map is built and sent to
# the plan as one constant, so large ones are joined.
MAP_LIMIT = 5000


@dataclass(frozen=True)
class Chosen:
    """A quasi-identifier at the level that the search chose for it."""

    quasi: Quasi
    level: int
    nodes: int  # distinct labels at that level
    values: int  # distinct values of the source

    @property
    def at_root(self) -> bool:
        return self.level == self.quasi.height

    @property
    def width(self) -> int:
        """Characters of a code: hexadecimal digits of the largest."""
        return len(f"{self.nodes:x}")

    @property
    def code_of_null(self) -> exp.Literal:
        return string("-" * self.width)


def lookup(names: Scratch, chosen: Chosen) -> exp.Create:
    """For each value that occurs, the code and the label of its ancestor at the chosen level."""
    code = call("lpad", call("to_hex", col(f"l{chosen.level}", "d")), number(chosen.width), string("0"))
    is_null = exp.Is(this=col("raw", "d"), expression=null())
    query = (
        exp.select(col("leaf", "d"), col("raw", "d"))
        .select(exp.alias_(exp.Case().when(is_null, chosen.code_of_null).else_(code), "code", quoted=True))
        .select(exp.alias_(col(f"g{chosen.level}", "d"), "label", quoted=True))
        .from_(scratch(names.dictionary(chosen.quasi), "d"))
    )
    return create_scratch(names.lookup(chosen.quasi), query)


def classes(names: Scratch, chosen: Sequence[Chosen], k: int, *, mask: bool) -> exp.Create:
    """The released classes; masked ones take the roots' labels, and with them one class number."""
    sized = exp.select(
        exp.alias_(concat([col("code", _m(c)) for c in chosen if not c.at_root]), "key", quoted=True)
    )
    sized = sized.select(*[exp.alias_(col("label", _m(c)), _g(c), quoted=True) for c in chosen])
    sized = sized.select(exp.alias_(exp.Sum(this=col("n", "f")), "n", quoted=True))
    sized = sized.from_(scratch(names.freq, "f"))
    for c in chosen:
        on = exp.EQ(this=col("leaf", _m(c)), expression=col(f"q{c.quasi.number}", "f"))
        sized = sized.join(scratch(names.lookup(c.quasi), _m(c)), on=on)
        sized = sized.group_by(col("code", _m(c)), col("label", _m(c)))

    large = exp.GTE(this=col("n", "c"), expression=number(k))
    shown = exp.select(col("key", "c"))
    for c in chosen:
        label: exp.Expr = col(_g(c), "c")
        if mask:
            label = exp.Case().when(large.copy(), label).else_(string(c.quasi.root))
        shown = shown.select(exp.alias_(label, _g(c), quoted=True))
    shown = shown.from_(sized.subquery("c"))
    if not mask:
        shown = shown.where(large)

    numbered = exp.select(col("key", "x"), *[col(_g(c), "x") for c in chosen])
    rank = dense_rank([col(_g(c), "x") for c in chosen])
    numbered = numbered.select(exp.alias_(cast(rank, "int"), "class", quoted=True)).from_(shown.subquery("x"))
    return create_scratch(names.classes, numbered)


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


def insert_release(
    names: Scratch,
    source: Relation,
    fresh: Relation,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
) -> exp.Insert:
    """Every record that has a released class, in an order that tells nothing of the source's.

    `$1` is an array of maps from a value's text to its code, for the columns of `mapped`.
    """
    by_name = {c.quasi.name: c for c in chosen}
    kept = [column for column in columns if column.name not in by_name]
    rows = _keyed_rows(names, source, kept, chosen)
    query = exp.select(
        *[col(_g(by_name[c.name]), "c") if c.name in by_name else col(c.name, "s") for c in columns]
    )
    query = query.from_(rows.subquery(ident("s")))
    same_key = exp.EQ(this=col("key", "c"), expression=collate_c(col(_key_name(kept), "s")))
    query = query.join(scratch(names.classes, "c"), on=same_key)
    query = query.order_by(exp.Ordered(this=col("class", "c")), *_hidden_order(kept))
    return exp.Insert(
        this=exp.Schema(this=table(fresh.name, fresh.schema), expressions=[ident(c.name) for c in columns]),
        expression=query,
    )


def mapped(chosen: Sequence[Chosen]) -> list[Chosen]:
    """The columns that are looked up in a constant map; the others are joined or stand at their root."""
    return [c for c in chosen if not c.at_root and c.values <= MAP_LIMIT]


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
    qualified = ".".join(ident(part).sql(dialect="postgres") for part in (fresh.schema, fresh.name))
    return exp.select(
        call(
            "anondb.swap_release",
            cast(string(qualified), "regclass"),
            string(target.schema),
            string(target.name),
        )
    )


def own(target: Relation, run: int) -> exp.Select:
    """Notes that the release that now stands at the target is this run's."""
    return exp.select(call("anondb.own_release", number(run), string(target.schema), string(target.name)))


def _keyed_rows(
    names: Scratch, source: Relation, kept: Sequence[SourceColumn], chosen: Sequence[Chosen]
) -> exp.Select:
    """The source's rows that are kept, each with its class key.

    OFFSET 0 keeps the planner from pulling the key's expression up into the join, where it would be
    computed twice for each row (0.5 s of 2.5 s for a million rows). A distributed engine, which
    cannot push an OFFSET down, leaves it out.
    """
    maps = mapped(chosen)
    codes = []
    rows = exp.select(*[col(column.name, "s") for column in kept]).from_(
        table(source.name, source.schema, "s")
    )
    for c in chosen:
        if c.at_root:
            continue
        value = text_value(c.quasi.column, "s")
        code: exp.Expr
        if c in maps:
            this_map = exp.Bracket(
                this=exp.Parameter(this=number(1)), expressions=[number(maps.index(c) + 1)], offset=1
            )
            code = exp.JSONExtractScalar(this=this_map, expression=value, only_json_types=False)
        else:
            on = exp.EQ(this=col("raw", _m(c)), expression=value)
            rows = left_join(rows, scratch(names.lookup(c.quasi), _m(c)), on)
            code = col("code", _m(c))
        codes.append(exp.func("coalesce", code, c.code_of_null))
    return rows.select(exp.alias_(concat(codes), _key_name(kept), quoted=True)).offset(number(0))


def _key_name(kept: Sequence[SourceColumn]) -> str:
    """A name for the key that no column of the source has."""
    name = "class key"
    while name in {column.name for column in kept}:
        name += "_"
    return name


def _hidden_order(kept: Sequence[SourceColumn]) -> list[exp.Ordered]:
    """Within a class, rows come in the order of a hash of what is released of them.

    The order of the source (by name, by admission) would link the records of a class to persons; an
    order by released values alone gives nothing away, and is the same for the same data.
    """
    if not kept:
        return []
    digest: exp.Expr = number(0)
    for column in kept:
        text = exp.func("coalesce", cast(col(column.name, "s"), "text"), string("\\N"))
        digest = call("hashtextextended", collate_c(text), digest)
    return [exp.Ordered(this=digest)]


def _collation(column: SourceColumn) -> list[exp.ColumnConstraint]:
    if column.collation is None:
        return []
    return [exp.ColumnConstraint(kind=exp.CollateColumnConstraint(this=named_type(column.collation)))]


def _m(chosen: Chosen) -> str:
    return f"m{chosen.quasi.number}"


def _g(chosen: Chosen) -> str:
    return f"g{chosen.quasi.number}"
