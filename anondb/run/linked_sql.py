"""The link between originals and released records, which a release does not have: for measures, inside a run."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.hierarchies.forms import TableVgh
from anondb.run.covered_sql import matched
from anondb.run.encode_sql import dense_rank
from anondb.run.publish_sql import Chosen
from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    equal,
    every,
    named,
    null,
    number,
    query,
    scratch,
    string,
    subquery,
    table,
    union_all,
)
from anondb.sqltree.equality import as_text
from anondb.sqltree.render import render
from anondb.sqltree.tables import Quasi, Relation, Scratch

_PLACES = 2**20  # that a hash can take, of which a sample keeps some
_WITHHELD = -1  # in the place of a label's code, where nothing is released


def of_levels(
    names: Scratch, chosen: Sequence[Chosen], *, repeated: bool, covered: Sequence[Chosen] = ()
) -> exp.Create:
    """Combinations of the frequency set with the codes of their labels; what is masked is not released.

    `repeated` where the frequency set tells apart more than these combinations. Of columns that are `covered`
    also the code that the label has, or would have.
    """
    below = [c for c in chosen if not c.at_root]
    keys = sorted({c.quasi.code for c in chosen} | {c.key for c in below})
    counted = subquery(_counted(names.freq, keys), "f") if repeated else scratch(names.freq, "f")
    same = every([equal(col(c.key, "k"), col(c.key, "f")) for c in below])
    classes = exp.Join(this=scratch(names.classes, "k"), on=same, side="LEFT")
    released = call("coalesce", col("ok", "k"), exp.false())
    originals = [_code(col(c.quasi.code, "f"), "o", c.quasi) for c in chosen]
    labels = [_code(_if(released, number(0) if c.at_root else col(c.key, "f")), "r", c.quasi) for c in chosen]
    total = named(cast(col("n", "f"), "bigint"), "n")
    own = [named(cast(number(0) if c.at_root else col(c.key, "f"), "int"), matched(c)) for c in covered]
    found = [*originals, *labels, named(released.copy(), "released"), total, *own]
    rows = query(found, counted, joins=[classes])
    return create_scratch(names.link, rows)


def label_codes(names: Scratch, quasi: Sequence[Quasi]) -> exp.Create:
    """Of each partition, the labels with codes; NULL has none of its own."""
    columns: list[exp.Expr] = [col("part", "k")]
    for q in quasi:
        label = collate_c(col(f"g{q.number}", "k"))
        code = (
            exp.Case()
            .when(exp.Is(this=label.copy(), expression=null()), number(0))
            .else_(dense_rank([label]))
        )
        columns += [named(label.copy(), f"g{q.number}"), _code(code, "r", q)]
    return create_scratch(names.labels, query(columns, scratch(names.classes, "k")))


def of_classes(names: Scratch, quasi: Sequence[Quasi]) -> exp.Create:
    """Combinations of partitions with the codes of their labels; one that has no labels is not released."""
    cells = _counted(names.partitioned, [*[q.code for q in quasi], "part"])
    on = equal(col("part", "k"), col("part", "f"))
    labels = exp.Join(this=scratch(names.labels, "k"), on=on, side="LEFT")
    released = exp.Not(this=exp.Is(this=col("part", "k"), expression=null()))
    originals = [_code(col(q.code, "f"), "o", q) for q in quasi]
    codes = [
        named(call("coalesce", col(f"r{q.number}", "k"), number(_WITHHELD)), f"r{q.number}") for q in quasi
    ]
    rows = query(
        [*originals, *codes, named(released, "released"), col("n", "f")],
        subquery(cells, "f"),
        joins=[labels],
    )
    return create_scratch(names.link, rows)


def unseen(names: Scratch, quasi: Sequence[Quasi]) -> exp.Create:
    """Values of records that a NULL leaves out, which the dictionaries do not have; with codes above theirs."""
    by_column = []
    for q in quasi:
        value = as_text(col(q.raw, "a"))
        known = exp.Is(this=value.copy(), expression=null()).not_()
        values = query([named(value, "raw")], scratch(names.aside, "a"), where=known, group=[number(1)])
        most = call("coalesce", exp.Max(this=col("leaf", "m")), number(0))
        above = subquery(query([most], scratch(names.dictionary(q), "m")))
        code = exp.Add(this=above, expression=exp.Window(this=call("row_number"), order=_by(col("raw", "v"))))
        entry = exp.Join(
            this=scratch(names.dictionary(q), "d"), on=equal(col("raw", "d"), col("raw", "v")), side="LEFT"
        )
        columns = [named(number(q.number), "i"), named(cast(code, "int"), "leaf"), col("raw", "v")]
        new = exp.Is(this=col("leaf", "d"), expression=null())
        by_column.append(query(columns, subquery(values, "v"), joins=[entry], where=new))
    return create_scratch(names.unseen, union_all(by_column))


def with_nulls(names: Scratch, quasi: Sequence[Quasi]) -> exp.Insert:
    """Records that a NULL leaves out are originals of which nothing is released."""
    originals, joins = [], []
    for q in quasi:
        known, new = f"d{q.number}", f"u{q.number}"
        value = as_text(col(q.raw, "a"))
        ours = equal(col("i", new), number(q.number))
        joins += [
            exp.Join(
                this=scratch(names.dictionary(q), known), on=equal(col("raw", known), value), side="LEFT"
            ),
            exp.Join(
                this=scratch(names.unseen, new),
                on=every([ours, equal(col("raw", new), value.copy())]),
                side="LEFT",
            ),
        ]
        originals.append(call("coalesce", col("leaf", known), col("leaf", new), number(0)))
    nothing = [number(_WITHHELD) for _ in quasi]
    total = cast(exp.Sum(this=col("n", "a")), "bigint")
    rows = query(
        [*originals, *nothing, exp.false(), total],
        scratch(names.aside, "a"),
        joins=joins,
        group=[number(q.number) for q in quasi],
    )
    return exp.Insert(this=scratch(names.link), expression=rows)


def cells(
    names: Scratch,
    quasi: Sequence[Quasi],
    chosen: Sequence[Chosen] | None,
    *,
    nulls: bool,
    covered: Sequence[Chosen] = (),
    into: str | None = None,
) -> exp.Create:
    """Of each column, the pairs of an original value and what became of it: their codes, texts and records.

    A record that is released at a level has the label that its own value has there; `chosen` is None for partitions.
    Columns that are `covered` have none.
    """
    left_out = {c.quasi.number for c in covered}
    by_column = []
    for place, q in enumerate(quasi):
        original, label = col(f"o{q.number}", "l"), col(f"r{q.number}", "l")
        of_column = [named(original, "o_code"), named(label, "r_code"), col("released", "l")]
        total = named(cast(exp.Sum(this=col("n", "l")), "bigint"), "n")
        pairs = query([*of_column, total], scratch(names.link, "l"), group=[number(1), number(2), number(3)])
        value: exp.Expr = col("raw", "d")
        joins = [_left(scratch(names.dictionary(q), "d"), [("leaf", "o_code")])]
        if nulls:
            joins.append(_left(_new_values(names, q), [("leaf", "o_code")]))
            value = call("coalesce", value, col("raw", "u"))
        if chosen is None:
            known = exp.select(col(f"r{q.number}", "k"), col(f"g{q.number}", "k")).distinct()
            labels = subquery(known.from_(scratch(names.labels, "k")), "g")
            joins.append(_left(labels, [(f"r{q.number}", "r_code")]))
            became: exp.Expr = col(f"g{q.number}", "g")
        else:
            became = string(q.root) if chosen[place].at_root else col(f"g{chosen[place].level}", "d")
        columns = [
            named(number(q.number), "i"),
            named(collate_c(cast(value, "text")), "o"),
            named(collate_c(cast(_if(col("released", "c"), became, null()), "text")), "r"),
            *[col(name, "c") for name in ("o_code", "r_code", "released", "n")],
        ]
        where = exp.false() if q.number in left_out else None
        by_column.append(query(columns, subquery(pairs, "c"), joins=joins, where=where))
    return create_scratch(into or names.pairs, union_all(by_column))


def released(names: Scratch, quasi: Sequence[Quasi]) -> exp.Create:
    """The released combinations of labels, by their codes, with their records."""
    keys: list[exp.Expr] = [col(f"r{q.number}", "l") for q in quasi]
    total = named(cast(exp.Sum(this=col("n", "l")), "bigint"), "n")
    rows = query(
        [*keys, total], scratch(names.link, "l"), where=col("released", "l"), group=[k.copy() for k in keys]
    )
    return create_scratch(names.released, rows)


def in_texts(names: Scratch, quasi: Sequence[Quasi]) -> exp.Create:
    """The link with values and labels in the place of their codes, for what compares those of several columns."""
    columns, joins = [], []
    for side in ("o", "r"):
        for q in quasi:
            alias, code = f"{side}{q.number}", f"{side}_code"
            of_column = equal(col("i", "c"), number(q.number))
            texts = exp.select(col(side, "c"), col(code, "c")).distinct().from_(scratch(names.pairs, "c"))
            joins.append(
                exp.Join(
                    this=subquery(texts.where(of_column), alias),
                    on=equal(col(code, alias), col(alias, "l")),
                    side="LEFT",
                )
            )
            columns.append(named(col(side, alias), alias))
    rows = query([*columns, col("released", "l"), col("n", "l")], scratch(names.link, "l"), joins=joins)
    return create_scratch(names.linked, rows)


def cells_of_sample(names: Scratch) -> exp.Create:
    """The cells, and those of originals whose class is not in a sample."""
    every_one = exp.select(exp.Star()).from_(scratch(names.pairs, "c"))
    withheld = [
        *[col(name, "c") for name in ("i", "o")],
        cast(null(), "text"),
        col("o_code", "c"),
        number(_WITHHELD),
        exp.false(),
        cast(number(0), "bigint"),
    ]
    alone = exp.select(*withheld).distinct().from_(scratch(names.pairs, "c"))
    known = query(
        [col("i", "c"), col("o_code", "c")],
        scratch(names.pairs, "c"),
        where=exp.Not(this=col("released", "c")),
    )
    pair = exp.Tuple(expressions=[col("i", "c"), col("o_code", "c")])
    alone = alone.where(exp.Not(this=exp.In(this=pair, query=subquery(known))))
    return create_scratch(names.sampled, exp.union(every_one, alone, distinct=False))


def take_nulls_back(names: Scratch) -> exp.Insert:
    """All originals again, once the search and the release are done."""
    rows = exp.select(exp.Star()).from_(scratch(names.aside, "a"))
    return exp.Insert(this=scratch(names.raw), expression=rows)


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


def query_of(name: str) -> str:
    """All rows of a scratch table as a query, which the metrics take as text."""
    return render(exp.select(exp.Star()).from_(scratch(name)))


def sampled(names: Scratch, quasi: Sequence[Quasi], share: float) -> str:
    """The link with about this share of the released combinations; all others are originals alone."""
    labels = exp.Array(expressions=[col(f"r{q.number}", "l") for q in quasi])
    place = exp.BitwiseAnd(
        this=call("hashtextextended", collate_c(cast(labels, "text")), number(0)),
        expression=number(_PLACES - 1),
    )
    chosen = exp.LT(this=exp.paren(place), expression=number(round(share * _PLACES)))
    keep = exp.and_(col("released", "l"), chosen)
    columns: list[exp.Expr] = [col(f"o{q.number}", "l") for q in quasi]
    columns += [_code(_if(keep, col(f"r{q.number}", "l")), "r", q) for q in quasi]
    return render(query([*columns, named(keep.copy(), "released"), col("n", "l")], scratch(names.link, "l")))


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
    keys: list[exp.Expr] = [col(f"o{q.number}", "l") for q in quasi]
    originals = query(keys, scratch(names.link, "l"), group=[key.copy() for key in keys])
    return exp.select(
        subquery(query([exp.Count(this=exp.Star())], subquery(originals, "d"))),
        subquery(query([exp.Count(this=exp.Star())], scratch(names.released, "d"))),
    )


def _code(value: exp.Expr, side: str, quasi: Quasi) -> exp.Alias:
    return named(cast(value, "int"), f"{side}{quasi.number}")


def _if(condition: exp.Expr, value: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Case:
    return (
        exp.Case().when(condition.copy(), value).else_(number(_WITHHELD) if otherwise is None else otherwise)
    )


def _by(key: exp.Expr) -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=key)])


def _left(entries: exp.Expr, same: Sequence[tuple[str, str]]) -> exp.Join:
    """Entries of the pairs `c` of a column; a left join, which the planner never takes for a few rows."""
    on = every([equal(col(one, entries.alias), col(other, "c")) for one, other in same])
    return exp.Join(this=entries, on=on, side="LEFT")


def _new_values(names: Scratch, quasi: Quasi) -> exp.Subquery:
    ours = equal(col("i", "u"), number(quasi.number))
    return subquery(query([col("leaf", "u"), col("raw", "u")], scratch(names.unseen, "u"), where=ours), "u")


def _counted(source: str, keys: Sequence[str]) -> exp.Select:
    total = named(cast(exp.Sum(this=col("n", "s")), "bigint"), "n")
    return query(
        [*[col(key, "s") for key in keys], total], scratch(source, "s"), group=[col(k, "s") for k in keys]
    )


def _quoted(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)
