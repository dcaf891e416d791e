"""How similar the values of a fusion are, column by column, and what is left of the meaning of its records."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import Meaning, Values
from anondb.methods.fusion.sql import Fusion, array, code_of, table_of
from anondb.methods.mondrian.sql import Partitioning, places
from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    divided,
    equal,
    every,
    ident,
    named,
    null,
    number,
    query,
    scratch,
    scratch_name,
    string,
    subquery,
    union_all,
)
from anondb.sqltree.tables import Quasi


def alike(f: Fusion) -> list[exp.Create]:
    """The similarities of different values of each column; values that are not there have none.

    Concepts by the measure, numbers and dates by their distance in the column's range, others by the tree of
    their hierarchy, in which Wu and Palmer's similarity of two leaves is 1 - level of what is above both / height.
    """
    found = [pairs for q in f.quasi if (pairs := _pairs(f, q)) is not None]
    nothing = query([named(number(0), name) for name in ("d", "a", "b", "likeness")], _one_row())
    pairs = union_all([nothing.limit(number(0)) if not found else found[0], *found[1:]])
    statements = [create_scratch(f.alike, pairs)]
    if any(q.is_ranged for q in f.quasi):
        statements.insert(0, places(Partitioning(f.names, f.quasi, f.k)))
    return statements


def has_pairs(f: Fusion, quasi: Quasi) -> bool:
    """Whether more is known of its values than which are equal."""
    return _pairs(f, quasi) is not None


def places_of_codes(f: Fusion) -> exp.Create:
    """The codes of all columns, counted on from column to column."""
    found = [
        query(
            [named(number(q.number), "d"), named(col(code_of(q), "t"), "code")], scratch(f.tuples, "t")
        ).distinct()
        for q in f.quasi
    ]
    place = exp.Window(
        this=call("row_number"),
        order=exp.Order(expressions=[exp.Ordered(this=col(name, "k")) for name in ("d", "code")]),
    )
    codes = query(
        [col("d", "k"), col("code", "k"), named(cast(place, "int"), "place")], subquery(union_all(found), "k")
    )
    return create_scratch(f.codes, codes)


def likeness(f: Fusion) -> exp.Create:
    """Of each code, its likeness to all codes of its column; of columns of which nothing is known there is none."""
    known = [number(q.number) for q in f.quasi if has_pairs(f, q)] or [number(0)]
    same = equal(col("place", "x"), col("place", "y"))
    value = exp.Case().when(same, number(f.whole)).else_(call("coalesce", col("likeness", "a"), number(0)))
    joins = [
        exp.Join(this=scratch(f.codes, "y"), on=equal(col("d", "y"), col("d", "x"))),
        exp.Join(
            this=scratch(f.alike, "a"),
            on=every(
                [
                    equal(col("d", "a"), col("d", "x")),
                    equal(col("a", "a"), col("code", "x")),
                    equal(col("b", "a"), col("code", "y")),
                ]
            ),
            side="LEFT",
        ),
    ]
    rows = query(
        [named(col("place", "x"), "tuple"), named(array(value, col("place", "y")), "likeness")],
        scratch(f.codes, "x"),
        joins=joins,
        where=exp.In(this=col("d", "x"), expressions=known),
        group=[col("place", "x")],
    )
    return create_scratch(f.likeness, rows)


def index_likeness(f: Fusion) -> exp.Create:
    """A round asks for the rows of one tuple."""
    columns = [exp.Ordered(this=col("tuple"))]
    index = exp.Index(table=scratch_name(f.likeness), params=exp.IndexParameters(columns=columns))
    return exp.Create(this=index, kind="INDEX", unique=True)


def _pairs(f: Fusion, quasi: Quasi) -> exp.Query | None:
    if isinstance(quasi.hierarchy, Meaning):
        return _pairs_of_concepts(f, quasi)
    if quasi.is_ranged:
        return _pairs_of_points(f, quasi)
    if isinstance(quasi.hierarchy, Values | None) or quasi.height < 2:
        return None  # nothing is known of the values but whether they are equal
    return _pairs_of_leaves(f, quasi)


def _pairs_of_concepts(f: Fusion, quasi: Quasi) -> exp.Select:
    known = query(
        [col("code", "v"), col("concept", "v")],
        scratch(f.values(quasi), "v"),
        where=exp.Not(this=exp.Is(this=col("concept", "v"), expression=null())),
    ).distinct()
    codes, concepts = (
        subquery(query([array(col(name, "k"), col("code", "k"))], subquery(known.copy(), "k")))
        for name in ("code", "concept")
    )
    found = call("anondb.concept_likeness", codes, concepts, string(f.measure), number(f.whole))
    return query(
        [named(number(quasi.number), "d"), *[col(name, "l") for name in ("a", "b", "likeness")]],
        table_of(found, "l"),
    )


def _pairs_of_points(f: Fusion, quasi: Quasi) -> exp.Select:
    apart = exp.Abs(this=exp.Sub(this=col("value", "x"), expression=col("value", "y")))
    near = exp.Sub(this=number(1), expression=divided(apart, col("span", "x")))
    likeness = cast(exp.Round(this=exp.Mul(this=number(f.whole), expression=exp.paren(near))), "int")
    conditions = [
        equal(col("d", "y"), col("d", "x")),
        exp.NEQ(this=col("leaf", "y"), expression=col("leaf", "x")),
        exp.GT(this=col("leaf", "y"), expression=number(0)),
    ]
    of_column = [
        equal(col("d", "x"), number(quasi.number)),
        exp.GT(this=col("leaf", "x"), expression=number(0)),
    ]
    return query(
        _pair(quasi, "x", "y", likeness),
        scratch(f.names.places, "x"),
        joins=[exp.Join(this=scratch(f.names.places, "y"), on=every(conditions))],
        where=every(of_column),
    )


def _pairs_of_leaves(f: Fusion, quasi: Quasi) -> exp.Select:
    height = quasi.height
    likeness = exp.Case()
    for level in range(1, height):
        same = equal(col(f"l{level}", "x"), col(f"l{level}", "y"))
        likeness = likeness.when(same, number(f.whole * (height - level) // height))
    conditions = [
        equal(col(f"l{height - 1}", "y"), col(f"l{height - 1}", "x")),
        exp.NEQ(this=col("leaf", "y"), expression=col("leaf", "x")),
        exp.GT(this=col("leaf", "y"), expression=number(0)),
    ]
    entries = f.names.dictionary(quasi)
    return query(
        _pair(quasi, "x", "y", likeness),
        scratch(entries, "x"),
        joins=[exp.Join(this=scratch(entries, "y"), on=every(conditions))],
        where=exp.GT(this=col("leaf", "x"), expression=number(0)),
    )


def _pair(quasi: Quasi, x: str, y: str, likeness: exp.Expr) -> list[exp.Expr]:
    found = {"d": number(quasi.number), "a": col("leaf", x), "b": col("leaf", y), "likeness": likeness}
    return [named(value, name) for name, value in found.items()]


def _one_row() -> exp.Expr:
    return subquery(exp.select(named(number(1), "one")), "o")


def distances(f: Fusion, columns: Sequence[Quasi]) -> exp.Select:
    """Of each column with concepts, the mean distance of original and released value, and of how many cells.

    Then the sum over the records of the squared mean of their distances. A value without a concept has no
    distance; of what is not released, nothing of the meaning is left.
    """
    joins: list[exp.Join] = []
    apart = []
    for q in columns:
        o, r, a = (f"{side}{q.number}" for side in "ora")
        for side in (o, r):
            joins.append(
                exp.Join(
                    this=subquery(_concepts(f, q), side),
                    on=equal(col("raw", side), col(side, "l")),
                    side="LEFT",
                )
            )
        same = every(
            [
                equal(col("d", a), number(q.number)),
                equal(col("a", a), col("code", o)),
                equal(col("b", a), col("code", r)),
            ]
        )
        joins.append(exp.Join(this=scratch(f.alike, a), on=same, side="LEFT"))
        apart.append(named(_distance(f, q), f"d{q.number}"))
    cells = subquery(query([col("n", "l"), *apart], scratch(f.names.linked, "l"), joins=joins), "x")
    found: list[exp.Expr] = []
    for q in columns:
        distance = col(f"d{q.number}", "x")
        known = exp.Where(this=exp.Not(this=exp.Is(this=distance.copy(), expression=null())))
        total = exp.Sum(this=exp.Mul(this=col("n", "x"), expression=distance))
        records = exp.Filter(this=exp.Sum(this=col("n", "x")), expression=known)
        found += [
            cast(divided(total, records), "float8"),
            cast(call("coalesce", records.copy(), number(0)), "bigint"),
        ]
    listed = exp.Array(expressions=[col(f"d{q.number}", "x") for q in columns])
    mean = subquery(query([exp.Avg(this=col("d", "u"))], _unnested(listed)))
    square = exp.Pow(this=exp.paren(mean), expression=number(2))
    sse = cast(exp.Sum(this=exp.Mul(this=col("n", "x"), expression=square)), "float8")
    return query([*found, sse], cells)


def meanings(f: Fusion, columns: Sequence[Quasi]) -> exp.Create:
    """The concepts of all texts, in the form that measures of any release take."""
    found = [
        query(
            [named(number(q.number), "i"), named(col("raw", "m"), "label"), col("concept", "m")],
            subquery(_concepts(f, q), "m"),
        )
        for q in columns
    ]
    return create_scratch(f.meanings, union_all(found))


def _distance(f: Fusion, quasi: Quasi) -> exp.Expr:
    o, r, a = (f"{side}{quasi.number}" for side in "ora")
    gone = exp.or_(exp.Not(this=col("released", "l")), exp.Is(this=col(r, "l"), expression=null()))
    alike = exp.Div(
        this=cast(call("coalesce", col("likeness", a), number(0)), "float8"),
        expression=number(f.whole),
        typed=True,
    )
    return (
        exp.Case()
        .when(exp.Is(this=col("concept", o), expression=null()), cast(null(), "float8"))
        .when(gone, number(1))
        .when(exp.Is(this=col("concept", r), expression=null()), cast(null(), "float8"))
        .when(equal(col("code", o), col("code", r)), number(0))
        .else_(exp.Sub(this=number(1), expression=alike))
    )


def _concepts(f: Fusion, quasi: Quasi) -> exp.Select:
    """Each text with its code and concept; and each label that is released for a rare one, if it is no text itself."""
    entry = exp.Join(this=scratch(f.values(quasi), "v"), on=equal(col("leaf", "v"), col("leaf", "e")))
    columns = [named(collate_c(col("raw", "e")), "raw"), col("code", "v"), col("concept", "v")]
    texts = query(columns, scratch(f.names.dictionary(quasi), "e"), joins=[entry])
    label = collate_c(col("spelling", "v"))
    same = equal(collate_c(col("raw", "e")), label.copy())
    is_new = exp.and_(
        col("is_rare", "v"),
        exp.Not(this=exp.Is(this=col("concept", "v"), expression=null())),
        exp.Is(this=col("leaf", "e"), expression=null()),
    )
    labels = query(
        [named(label, "raw"), exp.Min(this=col("code", "v")), exp.Min(this=col("concept", "v"))],
        scratch(f.values(quasi), "v"),
        joins=[exp.Join(this=scratch(f.names.dictionary(quasi), "e"), on=same, side="LEFT")],
        where=is_new,
        group=[number(1)],
    )
    return query(
        [col(name, "y") for name in ("raw", "code", "concept")], union_all([texts, labels]).subquery("y")
    )


def _unnested(values: exp.Expr) -> exp.Expr:
    return exp.Table(this=call("unnest", values), alias=exp.TableAlias(this=ident("u"), columns=[ident("d")]))
