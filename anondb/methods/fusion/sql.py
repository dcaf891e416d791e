"""Record fusion in integers: the values of each column by their meaning, tuples of them, and how similar they are.

Tuples are as similar as the sum over their values. Everything here reads
the frequency set; what is published are values of the data, in the spelling that is most frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from anondb.hierarchies.forms import Meaning
from anondb.run.keyed_sql import Key, keyed_rank, with_keys
from anondb.run.linked_sql import temporary
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    every,
    ident,
    named,
    null,
    number,
    query,
    scratch,
    string,
    subquery,
    union_all,
)
from anondb.sqltree.tables import Quasi, Scratch


@dataclass(frozen=True)
class Fusion:
    """What the statements of a fusion have in common."""

    names: Scratch
    quasi: Sequence[Quasi]
    k: int
    variant: str
    measure: str
    seed: int
    whole: int  # parts of a similarity of 1
    turn: int = 0  # how often classes were judged, and those that failed fused again

    def values(self, quasi: Quasi) -> str:
        """Each value by its leaf: the `code` that it shares with those that mean the same, and their `spelling`."""
        return f"r{self.names.run}_{quasi.code}_value"

    @property
    def tuples(self) -> str:
        """The different combinations of codes c1 … by number, and their records n."""
        return f"r{self.names.run}_tuple"

    @property
    def alike(self) -> str:
        """Of column d, the codes a and b that have something in common, and how much."""
        return f"r{self.names.run}_alike"

    @property
    def likeness(self) -> str:
        """Of a code by its place, how similar all codes of its column are to it."""
        return f"r{self.names.run}_likeness"

    @property
    def codes(self) -> str:
        """The codes of the columns d, and the place of each among all of them."""
        return f"r{self.names.run}_code"

    @property
    def meanings(self) -> str:
        """Of column i, the label of each value and its concept, NULL for what no ontology knows."""
        return f"r{self.names.run}_meaning"

    @property
    def fused(self) -> str:
        """Which tuple takes the values of which, in rounds, and as which one it is released."""
        return f"r{self.names.run}_fused{self.turn or ''}"

    @property
    def again(self) -> str:
        """The same of the turn that comes next, before the two are one."""
        return f"r{self.names.run}_again{self.turn + 1}"

    @property
    def judged(self) -> str:
        """Of each tuple that is left, its records now, and whether it fails a model."""
        return f"r{self.names.run}_judged{self.turn or ''}"


def values(f: Fusion, quasi: Quasi) -> exp.Create:
    """The values of a column by their meaning, or each for itself."""
    entries = scratch(f.names.dictionary(quasi), "e")
    counts = _grouped(
        [named(col(quasi.code, "s"), "leaf"), named(cast(exp.Sum(this=col("n", "s")), "bigint"), "n")],
        scratch(f.names.freq, "s"),
        1,
    )
    counted = exp.Join(this=subquery(counts, "c"), on=equal(cast(col("leaf", "c"), "int"), col("leaf", "e")))
    if not isinstance(quasi.hierarchy, Meaning):
        rare = exp.and_(
            exp.LT(this=col("n", "c"), expression=number(f.k)),
            exp.Not(this=exp.Is(this=col("raw", "e"), expression=null())),
        )
        columns = [
            col("leaf", "e"),
            named(col("leaf", "e"), "code"),
            named(cast(null(), "int"), "concept"),
            named(exp.Case().when(rare, string(quasi.root)).else_(col("raw", "e")), "spelling"),
            named(rare.copy(), "is_rare"),
            col("n", "c"),
        ]
        return create_scratch(f.values(quasi), query(columns, entries, joins=[counted]))
    arrays = [
        named(array(column, col("leaf", "e")), name)
        for name, column in (
            ("leaves", col("leaf", "e")),
            ("terms", col("raw", "e")),
            ("counts", col("n", "c")),
        )
    ]
    gathered = subquery(query(arrays, entries, joins=[counted]), "g")
    coded = call(
        "anondb.code_values",
        *[col(name, "g") for name in ("leaves", "terms", "counts")],
        cast(exp.Array(expressions=[string(name) for name in quasi.hierarchy.ontologies]), "text[]"),
        number(f.k),
    )
    columns = [col(name, "v") for name in ("leaf", "code", "concept", "spelling", "is_rare", "n")]
    return create_scratch(f.values(quasi), query(columns, gathered, joins=[_lateral(coded, "v")]))


def unknown(f: Fusion, quasi: Quasi) -> exp.Select:
    """Values of a column that its ontology does not know: how many, of how many records, of all how many."""
    is_unknown = exp.and_(
        exp.Is(this=col("concept", "v"), expression=null()),
        exp.GT(this=col("leaf", "v"), expression=number(0)),
    )
    only = exp.Where(this=is_unknown)
    records = exp.Sum(this=col("n", "v"))
    figures = [
        exp.Filter(this=exp.Count(this=exp.Star()), expression=only),
        call("coalesce", exp.Filter(this=records, expression=only.copy()), number(0)),
        call("coalesce", records.copy(), number(0)),
    ]
    return query([cast(figure, "bigint") for figure in figures], scratch(f.values(quasi), "v"))


def tuples(f: Fusion) -> exp.Create:
    """The different combinations, numbered by a keyed hash: whatever is drawn of them by number is then drawn."""
    codes = [named(col("code", f"v{q.number}"), code_of(q)) for q in f.quasi]
    total = named(cast(exp.Sum(this=col("n", "f")), "bigint"), "n")
    is_rare = exp.or_(*[col("is_rare", f"v{q.number}") for q in f.quasi])
    counted = query(
        [*codes, total, named(call("bool_or", is_rare), "is_rare")],
        scratch(f.names.freq, "f"),
        joins=_meant(f, "f"),
        group=[number(q.number) for q in f.quasi],
    )
    codes_of = [col(code_of(q), "x") for q in f.quasi]
    columns = [named(keyed_rank(Key.DRAW, codes_of), "tuple"), *codes_of, col("n", "x"), col("is_rare", "x")]
    return create_scratch(f.tuples, with_keys(query(columns, subquery(counted, "x")), f.names))


def figures(f: Fusion) -> exp.Select:
    """How many tuples there are, and how many of them are below k."""
    below = exp.LT(this=col("n", "t"), expression=number(f.k))
    every_one = exp.Count(this=exp.Star())
    return query(
        [every_one, exp.Filter(this=every_one.copy(), expression=exp.Where(this=below))],
        scratch(f.tuples, "t"),
    )


def fuse(f: Fusion, *, by_likeness: bool) -> exp.Create:
    """The rounds: all of them, or those of the classes that were judged to fail."""
    return create_scratch(f.fused, _rounds(f, by_likeness, None))


def fuse_again(f: Fusion, *, by_likeness: bool) -> exp.Create:
    return create_scratch(f.again, _rounds(f, by_likeness, f.judged))


def _rounds(f: Fusion, by_likeness: bool, judged: str | None) -> exp.Select:
    rare = query([array(col("is_rare", "t"), col("tuple", "t"))], scratch(f.tuples, "t"))
    counts = query([array(col("n", "t"), col("tuple", "t"))], scratch(f.tuples, "t"))
    further: list[exp.Expr] = []
    if judged is not None:
        same = equal(col("part", "j"), col("tuple", "t"))
        left = [exp.Join(this=scratch(judged, "j"), on=same, side="LEFT")]
        now = cast(call("coalesce", col("n", "j"), number(0)), "bigint")
        fails = call("coalesce", col("fails", "j"), exp.false())
        counts = query([array(now, col("tuple", "t"))], scratch(f.tuples, "t"), joins=left)
        failing = query([array(fails, col("tuple", "t"))], scratch(f.tuples, "t"), joins=left)
        further = [exp.Kwarg(this=ident("failing"), expression=subquery(failing))]
    rows: exp.Expr = string(temporary(f.likeness)) if by_likeness else null()
    of_tuples = [cast(subquery(asked), "int[]") for asked in (_places(f), _widths(f))] if by_likeness else []
    rounds = call(
        "anondb.fuse",
        subquery(counts),
        number(f.k),
        cast(rows, "regclass"),
        string(f.variant),
        number(f.seed),
        subquery(rare),
        *of_tuples,
        *([number(f.whole)] if by_likeness else []),
        *further,
    )
    columns = [col(name, "z") for name in ("round", "tuple", "partner", "released_as")]
    return query(columns, table_of(rounds, "z"))


def joined_rounds(f: Fusion) -> exp.Create:
    """All rounds so far and the further ones, each tuple with the one that it is released as in the end."""
    later = exp.Join(
        this=scratch(f.again, "a"), on=equal(col("tuple", "a"), col("released_as", "z")), side="LEFT"
    )
    end = named(call("coalesce", col("released_as", "a"), col("released_as", "z")), "released_as")
    before = query(
        [*[col(name, "z") for name in ("round", "tuple", "partner")], end],
        scratch(f.fused, "z"),
        joins=[later],
    )
    rounds = subquery(query([exp.Count(this=exp.Star())], scratch(f.fused, "z")))
    number_of = named(cast(exp.Add(this=col("round", "a"), expression=rounds), "int"), "round")
    after = query(
        [number_of, *[col(name, "a") for name in ("tuple", "partner", "released_as")]], scratch(f.again, "a")
    )
    return create_scratch(replace(f, turn=f.turn + 1).fused, union_all([before, after]))


def _places(f: Fusion) -> exp.Select:
    """The places of the codes of tuple 1, then of tuple 2, and so on."""
    found = []
    for q in f.quasi:
        same = every([equal(col("d", "k"), number(q.number)), equal(col("code", "k"), col(code_of(q), "t"))])
        columns = [col("tuple", "t"), col("d", "k"), col("place", "k")]
        found.append(
            query(columns, scratch(f.tuples, "t"), joins=[exp.Join(this=scratch(f.codes, "k"), on=same)])
        )
    order = [exp.Ordered(this=col(name, "p")) for name in ("tuple", "d")]
    gathered = call("array_agg", exp.Order(this=col("place", "p"), expressions=order))
    return query([gathered], subquery(union_all(found), "p"))


def _widths(f: Fusion) -> exp.Select:
    counted = _grouped([col("d", "k"), named(exp.Count(this=exp.Star()), "n")], scratch(f.codes, "k"), 1)
    return query([array(col("n", "w"), col("d", "w"))], subquery(counted, "w"))


def changed(f: Fusion) -> exp.Select:
    """How many records take the values of another tuple."""
    gone = exp.Join(this=scratch(f.fused, "z"), on=equal(col("tuple", "z"), col("tuple", "t")))
    total = cast(call("coalesce", exp.Sum(this=col("n", "t")), number(0)), "bigint")
    return query([total], scratch(f.tuples, "t"), joins=[gone])


def partitioned(f: Fusion) -> exp.Create:
    """The frequency set, each row with the tuple that it is released as."""
    part = call("coalesce", col("released_as", "z"), col("tuple", "t"))
    joins = fused_as(f)
    columns = [*[col(q.code, "f") for q in f.quasi], named(cast(col("n", "f"), "bigint"), "n")]
    return create_scratch(
        f.names.partitioned, query([*columns, named(part, "part")], scratch(f.names.freq, "f"), joins=joins)
    )


def classes(f: Fusion) -> exp.Create:
    """The tuples that are left, as classes with their labels: values of the data, NULL too."""
    spellings = [col("spelling", f"v{q.number}") for q in f.quasi]
    rank = named(keyed_rank(Key.ORDER, spellings), "class")
    labels = [named(spelling, f"g{q.number}") for q, spelling in zip(f.quasi, spellings, strict=True)]
    joins = spelt(f)
    joins.append(
        exp.Join(this=scratch(f.fused, "z"), on=equal(col("tuple", "z"), col("tuple", "t")), side="LEFT")
    )
    left = exp.Is(this=col("tuple", "z"), expression=null())
    columns = [named(col("tuple", "t"), "part"), rank, *labels]
    found = query(columns, scratch(f.tuples, "t"), joins=joins, where=left)
    return create_scratch(f.names.classes, with_keys(found, f.names))


def fused_as(f: Fusion) -> list[exp.Join]:
    """Joins to the frequency set its tuples, and those that they took the values of."""
    same = every([equal(col(code_of(q), "t"), col("code", f"v{q.number}")) for q in f.quasi])
    return [
        *_meant(f, "f"),
        exp.Join(this=scratch(f.tuples, "t"), on=same),
        exp.Join(this=scratch(f.fused, "z"), on=equal(col("tuple", "z"), col("tuple", "t")), side="LEFT"),
    ]


def spelt(f: Fusion) -> list[exp.Join]:
    """Joins to the tuples the spellings of their values."""
    return [
        exp.Join(this=scratch(f.values(q), f"v{q.number}"), on=equal(col("leaf", f"v{q.number}"), col(code_of(q), "t")))
        for q in f.quasi
    ]  # fmt: skip


def _meant(f: Fusion, rows: str) -> list[exp.Join]:
    """Joins to rows of the frequency set what their values mean."""
    return [
        exp.Join(
            this=scratch(f.values(q), f"v{q.number}"),
            on=equal(col("leaf", f"v{q.number}"), cast(col(q.code, rows), "int")),
        )
        for q in f.quasi
    ]


def array(value: exp.Expr, order: exp.Expr) -> exp.Expr:
    """The values as an array in this order."""
    return call("array_agg", exp.Order(this=value, expressions=[exp.Ordered(this=order.copy())]))


def _grouped(columns: Sequence[exp.Expr], source: exp.Expr, keys: int) -> exp.Select:
    return query(columns, source, group=[number(place) for place in range(1, keys + 1)])


def table_of(function: exp.Expr, alias: str) -> exp.Expr:
    return exp.Table(this=function, alias=exp.TableAlias(this=ident(alias)))


def _lateral(function: exp.Expr, alias: str) -> exp.Join:
    return exp.Join(this=exp.Lateral(this=function, alias=exp.TableAlias(this=ident(alias))), kind="CROSS")


def code_of(quasi: Quasi) -> str:
    """Its column among the tuples."""
    return f"c{quasi.number}"
