"""From partitions to the release: what each says of its records, and which record lies in which.

A label is true of every record of its class: the value itself, a closed range of numbers or dates, the
lowest common ancestor in a hierarchy, or the set of the values. NULL stays NULL where it is alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import ROOT, Values
from anondb.methods.mondrian.sql import Partitioning
from anondb.run.encode_sql import measured, with_dictionaries
from anondb.run.keyed_sql import Key, keyed, keyed_rank, with_keys
from anondb.run.publish_sql import Chosen, insert_ordered, ordered, shown_in
from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    concat,
    create_scratch,
    ident,
    number,
    scratch,
    string,
    union_all,
)
from anondb.sqltree.tables import NUMERIC_TYPES, WHOLE_TYPES, Quasi, Relation, SourceColumn


def classes(p: Partitioning) -> exp.Create:
    """The label of each partition in each column, and its class: partitions of the same labels are one.

    Classes are numbered by a keyed hash of their labels, so that the order of a release says nothing.
    """
    by_column = [_range_labels(p, q) if q.is_ranged else _category_labels(p, q) for q in p.quasi]
    labels = [
        exp.Filter(
            this=exp.Max(this=collate_c(col("label", "x"))),
            expression=exp.Where(this=exp.EQ(this=col("d", "x"), expression=number(q.number))),
        )
        for q in p.quasi
    ]
    labelled = (
        exp.select(col("part", "x"))
        .select(*[exp.alias_(label, _g(q), quoted=True) for q, label in zip(p.quasi, labels, strict=True)])
        .from_(union_all(by_column).subquery("x"))
        .group_by(col("part", "x"))
    )
    names = [col(_g(q), "y") for q in p.quasi]
    number_of = exp.alias_(keyed_rank(Key.ORDER, names), "class", quoted=True)
    query = exp.select(col("part", "y"), number_of, *[name.copy() for name in names])
    query = with_keys(query.from_(labelled.subquery("y")), p.names)
    if any(q.is_ranged for q in p.quasi):
        query = query.with_(ident("bounds"), as_=_bounds(p))
    return create_scratch(p.names.classes, query)


def combinations(p: Partitioning) -> exp.Create:
    """Each combination of the source's values with its class, for the source's rows to be joined with."""
    values = [col(f"v{q.number}", "r") for q in p.quasi]
    released = [col(name, "k") for name in ("class", *shown_in(chosen_of(p)).values())]
    query = exp.select(*values, *released)
    if p.judged:  # the first pass has told sensitive values apart too
        query = query.distinct()
    return create_scratch(p.names.combinations, _classified(p, query, _coded(p)))


def insert_rows(
    p: Partitioning, fresh: Relation, columns: Sequence[SourceColumn], kept: Sequence[SourceColumn]
) -> exp.Insert:
    """Every row that the first pass has counted, as often as it was counted."""
    values = [_restored(column, position) for position, column in enumerate(kept, 1)]
    chosen = chosen_of(p)
    rows = ordered(chosen, values, "k")
    copies: exp.Expr = col("n", "r")
    if not p.strict:
        most = exp.Least(this=col("upto", "r"), expressions=[col("upto", "k")])
        least = exp.Greatest(this=col("before", "r"), expressions=[col("before", "k")])
        copies = cast(exp.Sub(this=most, expression=least), "bigint")
    rows = rows.select(exp.alias_(call("generate_series", number(1), copies), "copy", quoted=True))
    coded = _coded(p)
    if not p.strict:
        coded = with_keys(_dealt(p, coded, [keyed(Key.DRAW, values)]), p.names)
    return insert_ordered(fresh, columns, chosen, with_keys(_classified(p, rows, coded), p.names))


def classified(p: Partitioning) -> exp.Select:
    """The raw values with their counts, and the numbers of their classes; records of one value are never parted."""
    return _classified(p, exp.select(), _coded(p), ["class"])


def chosen_of(p: Partitioning, has_null: Sequence[bool] | None = None) -> list[Chosen]:
    """The columns as publishing knows them; there are no levels here."""
    nulls = has_null or [False] * len(p.quasi)
    return [Chosen(q, 0, null) for q, null in zip(p.quasi, nulls, strict=True)]


def _bounds(p: Partitioning) -> exp.Select:
    """The least and the greatest code of every partition in each column that has ranges."""
    extremes = [
        exp.alias_(of(this=col(f"q{q.number}", "c")), f"{name}{q.number}", quoted=True)
        for q in p.quasi
        if q.is_ranged
        for name, of in (("lo", exp.Min), ("hi", exp.Max))
    ]
    query = exp.select(col("part", "c"), *extremes).from_(scratch(p.names.partitioned, "c"))
    return query.group_by(col("part", "c"))


def _range_labels(p: Partitioning, quasi: Quasi) -> exp.Select:
    lo, hi = (col(f"{end}{quasi.number}", "b") for end in ("lo", "hi"))
    ends = col("raw", "lo"), col("raw", "hi")
    closed = _exact_range(*ends) if p.exact else _rounded_range(quasi, *ends)
    label = (
        exp.Case()
        .when(exp.EQ(this=lo, expression=hi), col("raw", "hi"))
        .when(exp.EQ(this=lo.copy(), expression=number(0)), string(ROOT))
        .else_(closed)
    )
    query = _labels(quasi, col("part", "b"), label)
    query = query.from_(exp.alias_(exp.Table(this=ident("bounds")), ident("b"), table=True))
    for end, code in (("lo", lo), ("hi", hi)):
        same = exp.EQ(this=col("leaf", end), expression=code.copy())
        query = query.join(scratch(p.names.dictionary(quasi), end), on=same)
    return query


def _exact_range(low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """As published: the least and the greatest value of the class, each of which a single record may have."""
    return concat([string("["), low, string(", "), high, string("]")])


def _rounded_range(quasi: Quasi, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    ends, base = (measured(quasi, low), measured(quasi, high)), quasi.column.base
    if base in NUMERIC_TYPES:
        return call("anondb.rounded_range", *ends, exp.Boolean(this=base in WHOLE_TYPES))
    return call("anondb.rounded_span", *ends, string(base))


def _category_labels(p: Partitioning, quasi: Quasi) -> exp.Select:
    values = (
        exp.select(col("part", "c"), exp.alias_(col(f"q{quasi.number}", "c"), "leaf", quoted=True))
        .distinct()
        .from_(scratch(p.names.partitioned, "c"))
    )
    label = _set(quasi) if isinstance(quasi.hierarchy, Values) else _lowest_common_ancestor(quasi)
    return (
        _labels(quasi, col("part", "v"), label)
        .from_(values.subquery("v"))
        .join(
            scratch(p.names.dictionary(quasi), "e"),
            on=exp.EQ(this=col("leaf", "e"), expression=col("leaf", "v")),
        )
        .group_by(col("part", "v"))
    )


def _labels(quasi: Quasi, part: exp.Expr, label: exp.Expr) -> exp.Select:
    columns = {"part": part, "d": number(quasi.number), "label": label}
    return exp.select(*[exp.alias_(node, name, quoted=True) for name, node in columns.items()])


def _set(quasi: Quasi) -> exp.Expr:
    """The values in their order; with a NULL among them, the root."""
    raw = col("raw", "e")
    in_order = exp.Order(this=string(", "), expressions=[exp.Ordered(this=col("leaf", "e"))])
    several = concat([string("{"), call("string_agg", raw, in_order), string("}")])
    alone = exp.EQ(this=exp.Count(this=exp.Star()), expression=number(1))
    with_null = exp.EQ(this=exp.Min(this=col("leaf", "e")), expression=number(0))
    value = exp.Max(this=raw.copy())
    return exp.Case().when(alone, value).when(with_null, string(quasi.root)).else_(several)


def _lowest_common_ancestor(quasi: Quasi) -> exp.Expr:
    """The label at the first level where all are one; NULL is another than all below the root."""
    label = exp.Case()
    for level in range(quasi.lowest, quasi.height):
        codes = [of(this=col(f"l{level}", "e")) for of in (exp.Min, exp.Max)]
        label = label.when(
            exp.EQ(this=codes[0], expression=codes[1]), exp.Max(this=collate_c(col(f"g{level}", "e")))
        )
    return label.else_(string(quasi.root))


def _coded(p: Partitioning) -> exp.Select:
    """The rows that the first pass has counted, with their codes."""
    missing = [(q, 0) for q in p.quasi] if p.strict else [*((q, 0) for q in p.quasi), *p.judged]
    codes = [
        exp.alias_(call("coalesce", col("leaf", c.code), number(null)), c.code, quoted=True)
        for c, null in missing
    ]
    coded = exp.select(exp.Column(this=exp.Star(), table=ident("r")), *codes)
    return with_dictionaries(coded.from_(scratch(p.names.raw, "r")), p.names, [c for c, _ in missing])


def _classified(
    p: Partitioning, query: exp.Select, coded: exp.Select, shown: Sequence[str] | None = None
) -> exp.Select:
    """Gives the query the rows `r` and the classes `k` of their combinations, with what is released of them.

    OFFSET 0 keeps the planner from joining piece by piece: it takes a match in all codes for far rarer than it is.
    """
    codes = _matched(p)
    cells = exp.select(*[col(name, "c") for name in codes])
    if p.strict and p.conditions:  # cells that differ in sensitive values only lie in one partition
        cells = cells.distinct()
    if not p.strict:
        cells = cells.select(col("n", "c"))
    names = ("class", *shown_in(chosen_of(p)).values()) if shown is None else shown
    released = [col(name, "l") for name in names]
    cells = (
        cells.select(*released)
        .from_(scratch(p.names.partitioned, "c"))
        .join(scratch(p.names.classes, "l"), on=exp.EQ(this=col("part", "l"), expression=col("part", "c")))
    )
    same: list[exp.Expr] = [exp.EQ(this=col(name, "k"), expression=col(name, "r")) for name in codes]
    if not p.strict:
        cells = exp.select(exp.Star()).from_(cells.subquery("r"))
        cells = _dealt(p, cells, [col("class", "r")])
        same += [
            exp.LT(this=col("before", one), expression=col("upto", other))
            for one, other in (("k", "r"), ("r", "k"))
        ]
    query = query.from_(coded.offset(number(0)).subquery("r"))
    return query.join(cells.offset(number(0)).subquery("k"), on=exp.and_(*same))


def _dealt(p: Partitioning, rows: exp.Select, order: Sequence[exp.Expr]) -> exp.Select:
    """Lays the records of each combination end to end: a row has those after `before`, up to `upto`."""
    upto = exp.Window(
        this=exp.Sum(this=col("n", "r")),
        partition_by=[col(name, "r") for name in _matched(p)],
        order=exp.Order(expressions=[exp.Ordered(this=key) for key in order]),
        spec=exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"),
    )
    before = exp.Sub(this=upto.copy(), expression=col("n", "r"))
    return exp.select(
        exp.Column(this=exp.Star(), table=ident("r")),
        exp.alias_(upto, "upto", quoted=True),
        exp.alias_(before, "before", quoted=True),
    ).from_(rows.subquery("r"))


def _matched(p: Partitioning) -> list[str]:
    """The codes by which a row finds its cells: strict, all cells of a combination lie in one partition."""
    return [f"q{q.number}" for q in p.quasi] if p.strict else p.codes


def _restored(column: SourceColumn, position: int) -> exp.Expr:
    """A kept value in its own type, also where it was counted by its text."""
    value = col(f"c{position}", "r")
    return value if column.equals_are_copies else cast(value, column.type)


def _g(quasi: Quasi) -> str:
    return f"g{quasi.number}"
