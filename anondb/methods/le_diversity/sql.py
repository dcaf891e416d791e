"""Record by record: the source is copied once, and its records are put into classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from anondb.models.le_diversity_sql import path_of
from anondb.run.encode_sql import measured, raw_frequencies
from anondb.run.keyed_sql import Key, keyed, with_keys
from anondb.run.persons_sql import kept_value
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    ident,
    named,
    null,
    number,
    parameter,
    query,
    scratch,
    star,
    string,
    subquery,
    table,
)
from anondb.sqltree.equality import as_text, counted_value, grouping_value, with_entry
from anondb.sqltree.render import render
from anondb.sqltree.tables import DATE_TYPES, Quasi, Relation, Scratch, Sensitive, SourceColumn


@dataclass(frozen=True)
class RecordScratch(Scratch):
    """The temporary tables of a run that works on records."""

    @property
    def copy(self) -> str:
        """The records of the source: its released columns as x1 …, and a keyed hash of them all."""
        return f"r{self.run}_copy"

    @property
    def numbered(self) -> str:
        """The same with `rid`, the code `value` of the sensitive value, and what distances are made of."""
        return f"r{self.run}_numbered"

    @property
    def rec(self) -> str:
        """The same with `class`; NULL for a record that has found none."""
        return f"r{self.run}_rec"

    @property
    def paths(self) -> str:
        """The sensitive values, by code, with their labels up to the root."""
        return f"r{self.run}_path"

    @property
    def counts(self) -> str:
        """How often each sensitive value occurs, by code, in the records that are without a class."""
        return f"r{self.run}_count"

    @property
    def buckets(self) -> str:
        """The sensitive values with their buckets; NULL for those that are set aside."""
        return f"r{self.run}_bucket"

    @property
    def rest(self) -> str:
        """The records that have found no class."""
        return f"r{self.run}_rest"


def copied(column: SourceColumn, columns: Sequence[SourceColumn]) -> SourceColumn:
    """A column as the copy of the source knows it."""
    return replace(column, name=f"x{columns.index(column) + 1}")


def copy(
    names: RecordScratch,
    source: Relation,
    columns: Sequence[SourceColumn],
    marks: Callable[[list[exp.Expr]], list[exp.Expr]] | None = None,
) -> exp.Create:
    """The one pass over the source; `marks` are what a ledger knows of a record with these values."""
    values: list[exp.Expr] = [kept_value(c, "s") for c in columns]
    kept = [named(value, copied(c, columns).name) for value, c in zip(values, columns, strict=True)]
    hashed = named(keyed(Key.RECORD, values), "hash")
    known = [] if marks is None else marks(values)
    rows = query([*kept, hashed, *known], table(source.name, source.schema, "s"))
    return create_scratch(names.copy, with_keys(rows, names))


def leave_out_nulls(
    names: RecordScratch, columns: Sequence[SourceColumn], quasi: Sequence[Quasi]
) -> exp.Delete:
    """Takes records with a NULL in a quasi-identifier out of the copy."""
    nulls = [exp.Is(this=col(copied(q.column, columns).name, "r"), expression=null()) for q in quasi]
    return exp.Delete(this=scratch(names.copy, "r"), where=exp.Where(this=exp.or_(*nulls)))


def frequencies(
    names: RecordScratch, columns: Sequence[SourceColumn], quasi: Sequence[Quasi], sensitive: Sensitive
) -> exp.Create:
    """The combinations of values in the copy, from which the dictionaries are made."""
    found = [replace(q, column=copied(q.column, columns)) for q in quasi]
    counted = [copied(sensitive.column, columns)]
    return raw_frequencies(names, Relation("pg_temp", names.copy), found, counted)


def paths(names: RecordScratch, sensitive: Sensitive) -> exp.Create:
    """The values that occur, with their labels from the leaf to the root; NULL hangs from the root."""
    found = query(
        [named(col("leaf", "d"), "value"), named(path_of(sensitive), "path")],
        scratch(names.dictionary(sensitive), "d"),
    )
    return create_scratch(names.paths, found)


def numbered(
    names: RecordScratch,
    columns: Sequence[SourceColumn],
    quasi: Sequence[Quasi],
    sensitive: Sensitive,
    marks: Sequence[str] = (),
) -> exp.Create:
    """Records in the order of their keyed hashes: whatever is drawn of them by number is then drawn.

    By numbers that others can find out, they could try which sensitive value of a class is whose: only one way
    round would give the same release. Nor do the numbers tell anything of the order in the source.
    """
    order = exp.Order(expressions=[exp.Ordered(this=col("hash", "r"))])
    rid = exp.Window(this=call("row_number"), order=order)
    value = call("coalesce", col("leaf", sensitive.code), number(0))
    found = query(
        [
            named(rid, "rid"),
            *[col(copied(c, columns).name, "r") for c in columns],
            *[col(mark, "r") for mark in marks],
            named(value, "value"),
            *[named(col(part, q.code), f"{q.code}_{part}") for q in quasi for part in _parts(q)],
        ],
        scratch(names.copy, "r"),
    )
    for coded in (sensitive, *quasi):
        value_of = grouping_value if isinstance(coded, Quasi) else counted_value
        text = as_text(value_of(copied(coded.column, columns), "r"))
        entries = None
        if isinstance(coded, Quasi) and coded.is_ranged:
            entries = subquery(_places(names, coded), coded.code)
        found = with_entry(found, names, coded, text, entries)
    return create_scratch(names.numbered, found)


def distance(quasi: Sequence[Quasi]) -> str:
    """The mean distance of two records o and r over the quasi-identifiers, each between 0 and 1.

    Numbers and dates: their difference by the span of the column. Others: the share of the levels of the
    hierarchy, below its root, at which the two still differ.
    """
    parts: list[exp.Expr] = []
    for q in quasi:
        names = [f"{q.code}_{part}" for part in _parts(q)]
        apart = [_apart(q, name) for name in names]
        parts.append(exp.paren(exp.Div(this=exp.paren(_sum(apart)), expression=_float(len(names)))))
    return render(exp.Div(this=exp.paren(_sum(parts)), expression=_float(len(parts))))


def counts(names: RecordScratch, records: str, *, rest: bool = False) -> exp.Create:
    """How often each sensitive value occurs among records, or among the rest that has no class."""
    without = exp.Is(this=col("class", "r"), expression=null()) if rest else None
    found: list[exp.Expr] = [col("value", "r"), named(exp.Count(this=exp.Star()), "n")]
    rows = query(found, scratch(records, "r"), where=without, group=[col("value", "r")])
    return create_scratch(names.counts, rows)


def first_left(names: RecordScratch) -> exp.Select:
    """How many classes there would be, and the records that they leave: with l, e and the portion as $1 to $3."""
    return all_of(call("anondb.le_first_left", *_of_counts(names)))


def buckets(names: RecordScratch) -> exp.Create:
    """The values that share a bucket: with l, e and the records of a portion as $1, $2 and $3."""
    return create_scratch(names.buckets, all_of(call("anondb.le_buckets", *_of_counts(names))))


def feasible(names: RecordScratch) -> exp.Select:
    """The largest l and e that would leave few enough: with l, e, k and what may be left as $1 to $4."""
    return all_of(call("anondb.le_feasible", *_of_counts(names, "int", "float8", "bigint", "bigint")))


def _of_counts(names: RecordScratch, *types: str) -> list[exp.Expr]:
    types = types or ("int", "float8", "int")
    given = [cast(parameter(place), type_) for place, type_ in enumerate(types, 1)]
    return [_regclass(names.paths), _regclass(names.counts), *given]


def first_classes(names: RecordScratch) -> exp.Create:
    """Maximal bucket first: with l, the records of a portion, and the seed as $1, $2 and $3."""
    joined = exp.Join(this=_classes_of(names, names.numbered), on=equal(col("rid", "f"), col("rid", "r")))
    every = exp.Column(this=exp.Star(), table=ident("r"))
    return create_scratch(
        names.rec, query([every, col("class", "f")], scratch(names.numbered, "r"), joins=[joined])
    )


def rest(names: RecordScratch) -> exp.Create:
    """The records without a class, from which there may be further classes."""
    found: list[exp.Expr] = [col("rid", "r"), col("value", "r")]
    without = exp.Is(this=col("class", "r"), expression=null())
    return create_scratch(names.rest, query(found, scratch(names.rec, "r"), where=without))


def further_classes(names: RecordScratch) -> exp.Update:
    """Puts the rest into classes of its own, after $4 others; the other parameters are those of the first ones."""
    found = query([star("f")], _classes_of(names, names.rest))
    found = found.where(exp.Not(this=exp.Is(this=col("class", "f"), expression=null())))
    after = exp.Add(this=col("class", "f"), expression=cast(parameter(4), "bigint"))
    return exp.Update(
        this=scratch(names.rec, "r"),
        expressions=[equal(col("class"), after)],
        from_=exp.From(this=subquery(found, "f")),
        where=exp.Where(this=equal(col("rid", "f"), col("rid", "r"))),
    )


def _classes_of(names: RecordScratch, records: str) -> exp.Table:
    made = call(
        "anondb.le_first_classes",
        _regclass(records),
        _regclass(names.buckets),
        cast(parameter(1), "int"),
        cast(parameter(2), "int"),
        cast(parameter(3), "bigint"),
    )
    return exp.Table(this=made, alias=exp.TableAlias(this=ident("f")))


def left_over(names: RecordScratch) -> exp.Select:
    """Classes, records without one, and how many of these may still find one; e is $1."""
    open_values = call(
        "anondb.le_open_values", _regclass(names.rec), _regclass(names.paths), cast(parameter(1), "float8")
    )
    remaining = query(
        [exp.Sum(this=col("remaining", "v"))],
        exp.Table(this=open_values, alias=exp.TableAlias(this=ident("v"))),
    )
    without = exp.Is(this=col("class", "r"), expression=null())
    return query(
        [
            # numbered from 0, without gaps
            call("coalesce", exp.Add(this=exp.Max(this=col("class", "r")), expression=number(1)), number(0)),
            exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=without)),
            cast(call("coalesce", subquery(remaining), number(0)), "bigint"),
        ],
        scratch(names.rec, "r"),
    )


def index(names: RecordScratch, column: str) -> exp.Create:
    keys = exp.IndexParameters(columns=[exp.Ordered(this=col(column))])
    made = exp.Index(this=ident(f"{names.rec}_{column}"), table=scratch(names.rec), params=keys)
    return exp.Create(this=made, kind="INDEX")


def join_nearest(names: RecordScratch, quasi: Sequence[Quasi]) -> exp.Select:
    """The rest joins the nearest classes that stay diverse: with l, e and the seed as $1, $2 and $3."""
    joined = call(
        "anondb.le_join_nearest",
        _regclass(names.rec),
        _regclass(names.paths),
        cast(parameter(1), "int"),
        cast(parameter(2), "float8"),
        string(distance(quasi)),
        cast(parameter(3), "bigint"),
    )
    return exp.select(joined)


def _parts(q: Quasi) -> list[str]:
    """What the distance of two values is made of: a place on a line, or the codes at every level."""
    return ["place"] if q.is_ranged else [f"l{level}" for level in range(q.height)]


def _places(names: RecordScratch, q: Quasi) -> exp.Select:
    """Values on a line from 0 to 1; NULL has no place."""
    point = measured(q, col("raw", "d"))
    if q.column.base in DATE_TYPES:
        point = call("date_part", string("epoch"), point)
    least, most = (exp.Window(this=of(this=cast(point.copy(), "float8"))) for of in (exp.Min, exp.Max))
    span = call("nullif", exp.Sub(this=most, expression=least.copy()), number(0))
    place = exp.Div(this=exp.paren(exp.Sub(this=cast(point, "float8"), expression=least)), expression=span)
    known = exp.Case().when(
        exp.Not(this=exp.Is(this=col("raw", "d"), expression=null())), call("coalesce", place, number(0))
    )
    return query([col("raw", "d"), named(known, "place")], scratch(names.dictionary(q), "d"))


def _apart(q: Quasi, name: str) -> exp.Expr:
    """0 for the same, NULL also; 1 for NULL and a value."""
    one, other = col(name, "o"), col(name, "r")
    same = exp.NullSafeEQ(this=one, expression=other)
    if not q.is_ranged:
        return exp.Case().when(same, number(0)).else_(number(1))
    difference = exp.Abs(this=exp.Sub(this=one.copy(), expression=other.copy()))
    return exp.Case().when(same, number(0)).else_(call("coalesce", difference, number(1)))


def _sum(parts: Sequence[exp.Expr]) -> exp.Expr:
    return reduce(lambda left, right: exp.Add(this=left, expression=right), parts)


def _float(value: int) -> exp.Expr:
    return cast(number(value), "float8")


def _regclass(name: str) -> exp.Expr:
    return cast(string(render(scratch(name))), "regclass")


def all_of(function: exp.Expr) -> exp.Select:
    """What a function returns, as a query."""
    return query([exp.Star()], exp.Table(this=function, alias=exp.TableAlias(this=ident("f"))))
