"""The privacy models on the classes of a node: what is counted of each class, and which classes pass.

A class is known by its keys. Of each sensitive column that a model looks at, its values are counted first,
so that a class has every value once; the functions on such histograms are those that measure any table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from anondb.models.model import ClassModel
from anondb.run.frequency_sql import Counted, persons
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    every,
    ident,
    named,
    number,
    query,
    scratch,
    star,
    string,
    subquery,
    table,
)
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation, Scratch, Sensitive

PARTS = ("distinct", "entropy", "counts", "values")
Part = Callable[[str], exp.Expr]


@dataclass(frozen=True)
class Histogram:
    """The sensitive values of a class, and how often each occurs."""

    names: Scratch
    sensitive: Sensitive
    part: Part
    """distinct, entropy, counts, values: as columns of class rows, or as aggregates of a grouped histogram."""


@dataclass(frozen=True)
class Judged:
    """A model of the policy on its column as the run has coded it."""

    model: ClassModel
    sensitive: Sensitive

    def holds(self, names: Scratch, of: str, reference: exp.Expr | None = None) -> exp.Expr:
        """Whether a class row satisfies the model."""
        return self.model.holds(class_histogram(names, self.sensitive, of), reference)


@dataclass(frozen=True)
class Models:
    """All that a class must satisfy."""

    counted: Counted
    k: int
    judged: tuple[Judged, ...] = ()

    @property
    def absolute(self) -> tuple[Judged, ...]:
        """Models that look at a class alone."""
        return tuple(one for one in self.judged if not one.model.is_relative)

    @property
    def relative(self) -> tuple[Judged, ...]:
        """Models that compare a class with all released rows."""
        return tuple(one for one in self.judged if one.model.is_relative)

    @property
    def are_monotone(self) -> bool:
        """A record in a class that fails is in one that fails wherever classes are smaller."""
        return all(one.model.is_monotone for one in self.judged)

    @property
    def are_additive(self) -> bool:
        """Two classes that satisfy them are one that does."""
        return all(one.model.is_additive for one in self.judged)

    @property
    def only_records(self) -> bool:
        """All that is asked of a class is a number of records."""
        return not (self.judged or self.counted.unit)

    def parts(self, sensitive: Sensitive) -> frozenset[str]:
        """What the models need of a sensitive column in a class."""
        none: frozenset[str] = frozenset()
        return none.union(*(one.model.parts for one in self.judged if one.sensitive == sensitive))


def totals(names: Scratch, sensitive: Sensitive) -> exp.Create:
    """How often each sensitive value occurs, by its code; what t-closeness compares with."""
    found = [named(col(sensitive.code, "f"), "code"), _total("f", "bigint")]
    rows = query(found, scratch(names.freq, "f"), group=[col(sensitive.code, "f")])
    return create_scratch(names.totals(sensitive), rows)


def ancestors(names: Scratch, sensitive: Sensitive, null_code: int) -> exp.Create:
    """The node above each sensitive value at each level; NULL is alone up to the root."""

    def unless_null(value: exp.Expr, instead: int) -> exp.Expr:
        is_null = equal(col("leaf", "d"), number(0))
        return exp.Case().when(is_null, number(instead)).else_(value)

    levels = [
        query(
            [
                named(number(level), "level"),
                named(unless_null(col("leaf", "d"), null_code), "code"),
                named(unless_null(col(f"l{level}", "d"), 0), "node"),
            ],
            scratch(names.dictionary(sensitive), "d"),
        )
        for level in range(sensitive.height)
    ]
    rows: exp.Query = levels[0]
    for further in levels[1:]:
        rows = exp.union(rows, further, distinct=False)
    return create_scratch(names.ancestors(sensitive), rows)


def class_rows(source: exp.Expr, keys: Sequence[str], models: Models) -> exp.Select:
    """The classes of a frequency set `f`: their keys, n records, and what the models need of each."""
    counted = models.counted
    parts = [(s.code, _histograms(source, keys, s, models)) for s in counted.sensitive if models.parts(s)]
    if counted.unit or not parts:
        parts.insert(0, ("b", _sizes(source, keys, models)))
    (first, rows), *others = parts
    if not others:
        return rows
    found: list[exp.Expr] = [star(first)]
    joins = []
    for alias, part in others:
        same = every([equal(col(key, alias), col(key, first)) for key in keys])
        joins.append(exp.Join(this=subquery(part, alias), on=same))
        found += [col(name, alias) for name in part.named_selects if name not in (*keys, "n")]
    return query(found, subquery(rows, first), joins=joins)


def passes(names: Scratch, models: Models, of: str, *, reference: bool = True) -> exp.Expr:
    """Whether a class satisfies every model; without `reference` only those that look at it alone."""
    tests = [_enough_records(models, of), *[one.holds(names, of) for one in models.absolute]]
    if reference:
        tests += [one.holds(names, of, whole_reference(names, one.sensitive)) for one in models.relative]
    return every(tests)


def passes_monotone(names: Scratch, models: Models, of: str) -> exp.Expr:
    """Whether a class satisfies the models that no part of a failing class satisfies."""
    monotone = [one.holds(names, of) for one in models.judged if one.model.is_monotone]
    return every([_enough_records(models, of), *monotone])


def judgement(names: Scratch, models: Models, of: str, *, reference: bool) -> list[exp.Expr]:
    """`ok`: the class satisfies every model. `sure`: and those of which finer classes fail wherever it fails."""
    return [
        named(passes(names, models, of, reference=reference), "ok"),
        named(passes_monotone(names, models, of), "sure"),
    ]


def judged_rows(names: Scratch, models: Models, rows: exp.Select, *, reference: bool) -> exp.Select:
    """Class rows, each with its judgement."""
    return query([star("x"), *judgement(names, models, "x", reference=reference)], subquery(rows, "x"))


def class_histogram(names: Scratch, sensitive: Sensitive, of: str) -> Histogram:
    """The histogram of a class row."""
    return Histogram(names, sensitive, lambda part: col(f"{sensitive.code}_{part}", of))


def grouped_holds(names: Scratch, one: Judged, value: exp.Expr, n: exp.Expr) -> exp.Expr:
    """A model as a condition on a grouped histogram, of its values and their counts; all records are the reference."""
    reference = whole_reference(names, one.sensitive) if one.model.is_relative else None
    return one.model.holds(Histogram(names, one.sensitive, partial(_part, value, n)), reference)


def at_least(value: exp.Expr, least: float, tolerance: float | None = None) -> exp.Expr:
    limit = number(least)
    if tolerance is not None:
        limit = exp.Sub(this=limit, expression=number(tolerance))
    return exp.GTE(this=value, expression=limit)


def at_most(value: exp.Expr, most: float, tolerance: float) -> exp.Expr:
    limit = exp.Add(this=number(most), expression=number(tolerance))
    return exp.LTE(this=value, expression=limit)


def below(value: exp.Expr, limit: float) -> exp.Expr:
    return exp.LT(this=value, expression=number(limit))


def once(value: exp.Expr) -> exp.Expr:
    """A subquery of its own, which runs once in a statement."""
    return subquery(exp.Select(expressions=[value]))


def tree(of: Histogram) -> list[exp.Expr]:
    """The nodes above all values, level by level, and the number of levels."""
    in_order = [col("level", "a"), col("code", "a")]
    nodes = array_of(scratch(of.names.ancestors(of.sensitive), "a"), col("node", "a"), in_order)
    return [nodes, number(of.sensitive.height)]


def ask(
    function: str, release: Relation, quasi_names: Sequence[str], column: str, *further: exp.Expr
) -> exp.Select:
    """What a release reaches, by a public function of relation, quasi-identifiers and sensitive column."""
    arguments = [
        cast(string(render(table(release.name, release.schema))), "regclass"),
        cast(exp.Array(expressions=[string(name) for name in quasi_names]), "name[]"),
        cast(string(column), "name"),
    ]
    return exp.select(call(function, *arguments, *further))


def whole_reference(names: Scratch, sensitive: Sensitive) -> exp.Expr:
    """The distribution of a sensitive column over all records that the search knows."""
    records = cast(col("n", "t"), "float8")
    return array_of(scratch(names.totals(sensitive), "t"), records, [col("code", "t")])


def released_reference(names: Scratch, sensitive: Sensitive, classes: str) -> exp.Expr:
    """The distribution of a sensitive column over the classes that still pass."""
    code = sensitive.code
    counts = exp.Unnest(
        expressions=[col(f"{code}_values", "k"), col(f"{code}_counts", "k")],
        alias=exp.TableAlias(this=ident("h"), columns=[ident("code"), ident("n")]),
    )
    released = query(
        [col("code", "h"), _total("h", "bigint")],
        scratch(classes, "k"),
        joins=[exp.Join(this=counts, kind="CROSS")],
        where=col("ok", "k"),
        group=[col("code", "h")],
    )
    return reference_of(names, sensitive, released)


def reference_of(names: Scratch, sensitive: Sensitive, released: exp.Select) -> exp.Expr:
    """Counts n by code as an array with an entry for every value, also for those that do not occur."""
    records = cast(call("coalesce", col("n", "r"), number(0)), "float8")
    same = equal(col("code", "r"), col("code", "t"))
    return subquery(
        query(
            [_array_agg(records, [col("code", "t")])],
            scratch(names.totals(sensitive), "t"),
            joins=[exp.Join(this=subquery(released, "r"), on=same, side="LEFT")],
        )
    )


def array_of(
    source: exp.Expr, value: exp.Expr, order: Sequence[exp.Expr], where: exp.Expr | None = None
) -> exp.Subquery:
    """Values as an array; computed once in a statement, and read in it without being unpacked."""
    return subquery(query([_array_agg(value, order)], source, where=where))


def _array_agg(value: exp.Expr, order: Sequence[exp.Expr] = ()) -> exp.Expr:
    ordered = exp.Order(this=value, expressions=[exp.Ordered(this=key) for key in order]) if order else value
    return call("array_agg", ordered)


def _sizes(source: exp.Expr, keys: Sequence[str], models: Models) -> exp.Select:
    counted = models.counted
    if not counted.unit:
        return _grouped(source, "f", keys, [_total("f", "bigint")])
    each = [_total("f", counted.counts), persons(counted.counts)]
    of_persons = _grouped(source, "f", [*keys, "u"], each)
    together = [_total("h", "bigint"), named(exp.Sum(this=col("p", "h")), "p")]
    return _grouped(subquery(of_persons, "h"), "h", keys, together)


def _histograms(source: exp.Expr, keys: Sequence[str], sensitive: Sensitive, models: Models) -> exp.Select:
    """Of each class the size, and of one sensitive column what the models on it need."""
    code, needed = sensitive.code, models.parts(sensitive)
    values = _grouped(source, "f", [*keys, code], [_total("f", models.counted.counts)])
    columns: list[exp.Expr] = [_total("h", "bigint")]
    for part in PARTS:
        if part in needed:
            columns.append(named(_part(col(code, "h"), col("n", "h"), part), f"{code}_{part}"))
    return _grouped(subquery(values, "h"), "h", keys, columns)


def _part(value: exp.Expr, n: exp.Expr, part: str) -> exp.Expr:
    """A part of a histogram, from its values and their counts."""
    match part:
        case "distinct":
            return exp.Count(this=exp.Star())
        case "entropy":
            return _exp_entropy(n.copy())
        case "counts":
            return _array_agg(cast(n.copy(), "bigint"))
    return _array_agg(cast(value.copy(), "int"))


def _exp_entropy(n: exp.Expr) -> exp.Expr:
    """exp(ln(N) - Σ n·ln(n) / N): the number of equally frequent values that are as diverse."""
    count = cast(n, "float8")
    weighted = exp.Sum(this=exp.Mul(this=count, expression=call("ln", count.copy())))
    total = cast(exp.Sum(this=n.copy()), "float8")
    mean = exp.Div(this=weighted, expression=total)
    return call("exp", exp.Sub(this=call("ln", total.copy()), expression=mean))


def _enough_records(models: Models, of: str) -> exp.Expr:
    return exp.GTE(this=col("p" if models.counted.unit else "n", of), expression=number(models.k))


def _grouped(source: exp.Expr, of: str, keys: Sequence[str], found: Sequence[exp.Expr]) -> exp.Select:
    columns = [*[col(key, of) for key in keys], *found]
    return query(columns, source.copy(), group=[col(key, of) for key in keys])


def _total(of: str, type_: str) -> exp.Expr:
    return named(cast(exp.Sum(this=col("n", of)), type_), "n")
