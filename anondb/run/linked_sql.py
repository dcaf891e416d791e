"""The link between originals and released records, which a release does not have: for measures, inside a run."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import TableVgh
from anondb.run.publish_sql import Chosen
from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    concat,
    create_scratch,
    divided,
    equal,
    every,
    named,
    null,
    number,
    query,
    scratch,
    subquery,
    table,
    union_all,
)
from anondb.sqltree.equality import as_text
from anondb.sqltree.render import render
from anondb.sqltree.tables import Quasi, Relation, Scratch

_PLACES = 2**20  # that a hash can take, of which a sample keeps some


def of_levels(names: Scratch, chosen: Sequence[Chosen]) -> exp.Create:
    """Combinations of the frequency set with the labels of their classes; what is masked is not released."""
    below = [c for c in chosen if not c.at_root]
    keys = sorted({c.quasi.code for c in chosen} | {c.key for c in below})
    same = every([equal(col(c.key, "k"), col(c.key, "f")) for c in below])
    classes = exp.Join(this=scratch(names.classes, "k"), on=same, side="LEFT")
    released = call("coalesce", col("ok", "k"), exp.false())
    return _linked(names, [c.quasi for c in chosen], _counted(names.freq, keys), classes, released)


def of_classes(names: Scratch, quasi: Sequence[Quasi]) -> exp.Create:
    """Combinations of partitions with their labels."""
    cells = _counted(names.partitioned, [*[q.code for q in quasi], "part"])
    classes = exp.Join(this=scratch(names.classes, "k"), on=equal(col("part", "k"), col("part", "f")))
    return _linked(names, quasi, cells, classes, exp.true())


def with_nulls(names: Scratch, quasi: Sequence[Quasi]) -> exp.Insert:
    """Records that a NULL leaves out are originals of which nothing is released."""
    originals = [as_text(col(q.raw, "a")) for q in quasi]
    nothing = [cast(null(), "text") for _ in quasi]
    total = cast(exp.Sum(this=col("n", "a")), "bigint")
    rows = query(
        [*originals, *nothing, exp.false(), total],
        scratch(names.aside, "a"),
        group=[number(q.number) for q in quasi],
    )
    return exp.Insert(this=scratch(names.linked), expression=rows)


def take_nulls_back(names: Scratch) -> exp.Insert:
    """All originals again, once the search and the release are done."""
    rows = exp.select(exp.Star()).from_(scratch(names.aside, "a"))
    return exp.Insert(this=scratch(names.raw), expression=rows)


def risen(names: Scratch, chosen: Sequence[Chosen]) -> exp.Select:
    """Of each column, the mean share of its hierarchy's height that a cell rose.

    What is released as it is, a NULL too, has not risen; what is suppressed is at the root.
    """

    def share(c: Chosen) -> exp.Expr:
        original, label = col(f"o{c.quasi.number}", "l"), col(f"r{c.quasi.number}", "l")
        rose = divided(cast(number(c.level), "float8"), number(c.quasi.height))
        of_cell = exp.Case().when(exp.Not(this=col("released", "l")), number(1))
        if not c.at_root:
            of_cell = of_cell.when(exp.NullSafeEQ(this=label, expression=original), number(0))
        weighted = exp.Sum(this=exp.Mul(this=col("n", "l"), expression=exp.paren(of_cell.else_(rose))))
        return divided(weighted, exp.Sum(this=col("n", "l")))

    return query([share(c) for c in chosen], scratch(names.linked, "l"))


def ladder(names: Scratch, quasi: Sequence[Quasi]) -> exp.Create | None:
    """The hierarchies from files as the measures read them; None where there are none."""
    rungs = [
        query(
            [
                named(number(q.number), "i"),
                named(col("g0", "h"), "leaf"),
                named(number(level), "level"),
                named(col(f"g{level}", "h"), "label"),
            ],
            scratch(names.leaves(q), "h"),
        )
        for q in quasi
        if isinstance(q.hierarchy, TableVgh)
        for level in range(q.height + 1)
    ]
    return create_scratch(names.ladder, union_all(rungs)) if rungs else None


def query_of(names: Scratch) -> str:
    """The linked records as a query, which the measures take as text."""
    return render(exp.select(exp.Star()).from_(scratch(names.linked)))


def sampled(names: Scratch, quasi: Sequence[Quasi], share: float) -> str:
    """The same with about this share of the released combinations; all others are originals alone."""
    labels = [call("quote_nullable", col(f"r{q.number}", "l")) for q in quasi]
    place = exp.BitwiseAnd(
        this=call("hashtextextended", collate_c(concat(labels)), number(0)), expression=number(_PLACES - 1)
    )
    chosen = exp.LT(this=exp.paren(place), expression=number(round(share * _PLACES)))
    keep = exp.and_(col("released", "l"), chosen)
    columns: list[exp.Expr] = [col(f"o{q.number}", "l") for q in quasi]
    for q in quasi:
        label = exp.Case().when(keep.copy(), col(f"r{q.number}", "l"))
        columns.append(named(label, f"r{q.number}"))
    return render(query([*columns, named(keep, "released"), col("n", "l")], scratch(names.linked, "l")))


def relation_text(relation: Relation) -> str:
    """A relation's name as a regclass is written."""
    return render(exp.Table(this=_quoted(relation.name), db=_quoted(relation.schema)))


def temporary(name: str) -> str:
    return relation_text(Relation("pg_temp", name))


def persons(
    name: str, original: Relation, release: Relation, key: str, unit: str, quasi: Sequence[str]
) -> exp.Create:
    """Each row of a release with the person that the original names for it."""
    columns = [*[col(column, "r") for column in quasi], col(unit, "o")]
    same = equal(cast(col(key, "o"), "text"), cast(col(key, "r"), "text"))
    join = exp.Join(this=table(original.name, original.schema, "o"), on=same)
    return create_scratch(name, query(columns, table(release.name, release.schema, "r"), joins=[join]))


def different(names: Scratch, quasi: Sequence[Quasi]) -> exp.Select:
    """How many different originals, and different released combinations, there are."""

    def counted(side: str) -> exp.Subquery:
        columns = [col(f"{side}{q.number}", "l") for q in quasi]
        rows = query(columns, scratch(names.linked, "l"), group=[column.copy() for column in columns])
        return subquery(query([exp.Count(this=exp.Star())], subquery(rows, "d")))

    return exp.select(counted("o"), counted("r"))


def _linked(
    names: Scratch, quasi: Sequence[Quasi], cells: exp.Select, classes: exp.Join, released: exp.Expr
) -> exp.Create:
    labels = [
        named(exp.Case().when(released.copy(), col(f"g{q.number}", "k")), f"r{q.number}") for q in quasi
    ]
    columns = [*[col(q.code, "f") for q in quasi], *labels, named(released, "released"), col("n", "f")]
    # OFFSET 0 keeps the planner from joining piece by piece: by a few codes, a combination has many classes
    rows = query(columns, subquery(cells, "f"), joins=[classes]).offset(number(0))
    entries = [
        exp.Join(this=scratch(names.dictionary(q), q.code), on=equal(col("leaf", q.code), col(q.code, "x")))
        for q in quasi
    ]
    originals = [named(col("raw", q.code), f"o{q.number}") for q in quasi]
    released_as = [col(f"r{q.number}", "x") for q in quasi]
    columns = [*originals, *released_as, col("released", "x"), col("n", "x")]
    return create_scratch(names.linked, query(columns, subquery(rows, "x"), joins=entries))


def _counted(source: str, keys: Sequence[str]) -> exp.Select:
    total = named(cast(exp.Sum(this=col("n", "s")), "bigint"), "n")
    return query(
        [*[col(key, "s") for key in keys], total], scratch(source, "s"), group=[col(k, "s") for k in keys]
    )


def _quoted(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)
