"""The privacy models on the classes of a node: what is counted of each class, and which classes pass.

A class is known by its keys. Of each sensitive column that a model looks at, its values are counted first,
so that a class has every value once; the functions on such histograms are those that measure any table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

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
    subquery,
)
from anondb.sqltree.tables import Scratch, Sensitive

TOLERANCE = "1e-9"
"""Entropies and distances are sums of rounded shares."""


@dataclass(frozen=True)
class Diversity:
    """l-diversity of a sensitive column: distinct, entropy or recursive."""

    sensitive: Sensitive
    l: float  # noqa: E741 - its name in the literature
    kind: str
    c: float | None = None

    @property
    def is_monotone(self) -> bool:
        """A record in a class that fails is in one that fails wherever classes are smaller."""
        return self.kind == "distinct"


@dataclass(frozen=True)
class Closeness:
    """t-closeness of a sensitive column, by the distance of its values."""

    sensitive: Sensitive
    t: float
    distance: str


@dataclass(frozen=True)
class Models:
    """All that a class must satisfy."""

    counted: Counted
    k: int
    diversity: tuple[Diversity, ...] = ()
    closeness: tuple[Closeness, ...] = ()

    @property
    def only_records(self) -> bool:
        """All that is asked of a class is a number of records."""
        return not (self.diversity or self.closeness or self.counted.unit)

    def kinds(self, sensitive: Sensitive) -> set[str]:
        found = {model.kind for model in self.diversity if model.sensitive == sensitive}
        return found | {"closeness" for model in self.closeness if model.sensitive == sensitive}


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
    parts = [(s.code, _histograms(source, keys, s, models)) for s in counted.sensitive if models.kinds(s)]
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
    """Whether a class satisfies every model; without `reference` all but t-closeness."""
    tests = [_enough_records(models, of), *[_is_diverse(model, of) for model in models.diversity]]
    if reference:
        tests += [is_close(names, model, of, whole_reference(names, model)) for model in models.closeness]
    return every(tests)


def passes_monotone(models: Models, of: str) -> exp.Expr:
    """Whether a class satisfies the models that no part of a failing class satisfies."""
    monotone = [_is_diverse(model, of) for model in models.diversity if model.is_monotone]
    return every([_enough_records(models, of), *monotone])


def is_close(names: Scratch, model: Closeness, of: str, reference: exp.Expr) -> exp.Expr:
    """Whether the values of a class are distributed almost as in the reference."""
    return exp.LTE(this=distance(names, model, of, reference), expression=_limit(model))


def distance(names: Scratch, model: Closeness, of: str, reference: exp.Expr) -> exp.Expr:
    """The earth mover's distance of a class's values from the reference: n by code."""
    code = model.sensitive.code
    return _moved(names, model, col(f"{code}_values", of), col(f"{code}_counts", of), reference)


def holds(names: Scratch, model: Diversity | Closeness, value: exp.Expr, n: exp.Expr) -> exp.Expr:
    """A model as a condition on a grouped histogram, of its values and their counts; all records are the reference."""
    counts = _array_agg(cast(n, "bigint"))
    if isinstance(model, Closeness):
        values = _array_agg(cast(value, "int"))
        moved = _moved(names, model, values, counts, whole_reference(names, model))
        return exp.LTE(this=moved, expression=_limit(model))
    match model.kind:
        case "recursive":
            return _is_recursive(model, counts)
        case "entropy":
            return exp.GTE(this=_exp_entropy(n), expression=_least(model))
    return exp.GTE(this=exp.Count(this=exp.Star()), expression=_least(model))


def _moved(
    names: Scratch, model: Closeness, values: exp.Expr, counts: exp.Expr, reference: exp.Expr
) -> exp.Expr:
    s = model.sensitive
    arguments = [values, counts, reference]
    tree: list[exp.Expr] = []
    if model.distance == "hierarchical":
        in_order = [col("level", "a"), col("code", "a")]
        nodes = array_of(scratch(names.ancestors(s), "a"), col("node", "a"), in_order)
        tree = [nodes, number(s.height)]
    # what depends on the reference alone is computed once in a statement, not once a class
    prepare = "anondb.sum_of" if model.distance == "equal" else f"anondb.{model.distance}_reference"
    prepared = call(prepare, reference.copy(), *[part.copy() for part in tree])
    return call(
        f"anondb.emd_{model.distance}", *arguments, *tree, subquery(exp.Select(expressions=[prepared]))
    )


def whole_reference(names: Scratch, model: Closeness) -> exp.Expr:
    """The distribution of a sensitive column over all records that the search knows."""
    records = cast(col("n", "t"), "float8")
    return array_of(scratch(names.totals(model.sensitive), "t"), records, [col("code", "t")])


def released_reference(names: Scratch, model: Closeness, classes: str) -> exp.Expr:
    """The distribution of a sensitive column over the classes that still pass."""
    code = model.sensitive.code
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
    return reference_of(names, model.sensitive, released)


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
    code, kinds = sensitive.code, models.kinds(sensitive)
    values = _grouped(source, "f", [*keys, code], [_total("f", models.counted.counts)])
    found: list[exp.Expr] = [_total("h", "bigint")]
    if "distinct" in kinds:
        found.append(named(exp.Count(this=exp.Star()), f"{code}_distinct"))
    if "entropy" in kinds:
        found.append(named(_exp_entropy(col("n", "h")), f"{code}_entropy"))
    if kinds & {"recursive", "closeness"}:
        found.append(named(_array_agg(cast(col("n", "h"), "bigint")), f"{code}_counts"))
    if "closeness" in kinds:
        found.append(named(_array_agg(cast(col(code, "h"), "int")), f"{code}_values"))
    return _grouped(subquery(values, "h"), "h", keys, found)


def _exp_entropy(n: exp.Expr) -> exp.Expr:
    """exp(ln(N) - Σ n·ln(n) / N): the number of equally frequent values that are as diverse."""
    count = cast(n, "float8")
    weighted = exp.Sum(this=exp.Mul(this=count, expression=call("ln", count.copy())))
    total = cast(exp.Sum(this=n.copy()), "float8")
    mean = exp.Div(this=weighted, expression=total)
    return call("exp", exp.Sub(this=call("ln", total.copy()), expression=mean))


def _enough_records(models: Models, of: str) -> exp.Expr:
    return exp.GTE(this=col("p" if models.counted.unit else "n", of), expression=number(models.k))


def _is_diverse(model: Diversity, of: str) -> exp.Expr:
    code = model.sensitive.code
    if model.kind == "recursive":
        return _is_recursive(model, col(f"{code}_counts", of))
    return exp.GTE(this=col(f"{code}_{model.kind}", of), expression=_least(model))


def _is_recursive(model: Diversity, counts: exp.Expr) -> exp.Expr:
    return call("anondb.is_recursive", counts, number(model.c), number(round(model.l)))


def _least(model: Diversity) -> exp.Expr:
    least = number(model.l)
    return exp.Sub(this=least, expression=number(TOLERANCE)) if model.kind == "entropy" else least


def _limit(model: Closeness) -> exp.Expr:
    return exp.Add(this=number(model.t), expression=number(TOLERANCE))


def _grouped(source: exp.Expr, of: str, keys: Sequence[str], found: Sequence[exp.Expr]) -> exp.Select:
    columns = [*[col(key, of) for key in keys], *found]
    return query(columns, source.copy(), group=[col(key, of) for key in keys])


def _total(of: str, type_: str) -> exp.Expr:
    return named(cast(exp.Sum(this=col("n", of)), type_), "n")
