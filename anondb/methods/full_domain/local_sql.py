"""Local recoding: the classes of one round after the other, and in the end of each class its lowest common labels.

What is left of the frequency set lies in one of two tables that take turns. Cells of released classes are put aside
with the number of their part; parts of the same labels are one class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from anondb.methods.full_domain.grid import Node
from anondb.models import sql as model
from anondb.models.sql import Models, class_rows
from anondb.run.encode_sql import with_dictionaries
from anondb.run.frequency_sql import Counted, key_names
from anondb.run.keyed_sql import Key, keyed_rank, with_keys
from anondb.run.publish_sql import Chosen, insert_ordered, kept_columns, ordered
from anondb.sqltree.build import (
    call,
    cast,
    col,
    collate_c,
    create_scratch,
    equal,
    every,
    ident,
    named,
    null,
    number,
    query,
    scratch,
    star,
    string,
    subquery,
    union_all,
)
from anondb.sqltree.tables import Quasi, Relation, Scratch, SourceColumn

_GRAINS = 10**9
"""Of a record's loss: sums of whole numbers are the same in any order."""


@dataclass(frozen=True)
class Rounds(Scratch):
    """The temporary tables of a run that recodes locally."""

    def rest(self, turn: int) -> str:
        """The frequency set without what earlier rounds have released: at first, all of it."""
        return self.freq if turn == 0 else f"r{self.run}_rest{turn % 2}"

    @property
    def taken(self) -> str:
        """The classes of a round: their codes, how many records `n`, and the number of their `part`."""
        return f"r{self.run}_taken"


def nothing_yet(names: Rounds, counted: Counted) -> exp.Create:
    """The cells of what is released, each with its part and round: none."""
    rows = query(
        [*_cell(counted, "f"), named(number(0), "part"), named(number(0), "round")],
        scratch(names.freq, "f"),
        where=exp.false(),
    )
    return create_scratch(names.partitioned, rows)


def take(
    names: Rounds, turn: int, models: Models, levels: Node, parts: int, *, reference: bool
) -> exp.Create:
    """The classes of what is left that satisfy the policy; so many parts have been taken before.

    With `reference`, models that compare compare with all records; without, not yet.
    """
    keys = key_names(models.counted.quasi, levels)
    rows = class_rows(scratch(names.rest(turn), "f"), keys, models)
    place = exp.Window(this=call("row_number"))
    part = cast(exp.Add(this=place, expression=number(parts)), "int")
    found = [*[col(key, "x") for key in keys], col("n", "x"), named(part, "part")]
    where = model.passes(names, models, "x", reference=reference)
    return create_scratch(names.taken, query(found, subquery(rows, "x"), where=where))


def taken(names: Rounds) -> exp.Select:
    """How many classes a round has, and how many records are in them."""
    records = cast(call("coalesce", exp.Sum(this=col("n", "k")), number(0)), "bigint")
    return query(
        [named(exp.Count(this=exp.Star()), "classes"), named(records, "records")], scratch(names.taken, "k")
    )


def put_aside(names: Rounds, turn: int, counted: Counted, levels: Node, place: int) -> exp.Insert:
    """The cells of the classes that a round has taken."""
    rows = query(
        [*_cell(counted, "f"), col("part", "k"), number(place)],
        scratch(names.rest(turn), "f"),
        joins=[exp.Join(this=scratch(names.taken, "k"), on=_same_class(counted, levels))],
    )
    return exp.Insert(this=scratch(names.partitioned), expression=rows)


def left_over(names: Rounds, turn: int, counted: Counted, levels: Node) -> exp.Create:
    """What the next round starts from."""
    known = exp.Join(this=scratch(names.taken, "k"), on=_same_class(counted, levels), side="LEFT")
    where = exp.Is(this=col("part", "k"), expression=null())
    return create_scratch(
        names.rest(turn + 1), query([star("f")], scratch(names.rest(turn), "f"), joins=[known], where=where)
    )


def suppressed(names: Rounds, turn: int, counted: Counted) -> exp.Insert:
    """What no round has released: cells of part 0, which is no class."""
    rows = query([*_cell(counted, "f"), number(0), number(0)], scratch(names.rest(turn), "f"))
    return exp.Insert(this=scratch(names.partitioned), expression=rows)


def classes(names: Rounds, quasi: Sequence[Quasi], weights: Sequence[float]) -> exp.Create:
    """Of each part the labels that its records have in common, their loss, and the class: parts of the same labels."""
    by_column = [_common(names, q) for q in quasi]
    labels = [named(_of_column(exp.Max(this=collate_c(col("label", "x"))), q), _label(q)) for q in quasi]
    cost: exp.Expr = number(0)
    for q, weight in zip(quasi, weights, strict=True):
        loss = call("coalesce", _of_column(exp.Max(this=col("cost", "k")), q), number(0))
        cost = exp.Add(this=cost, expression=exp.Mul(this=number(weight), expression=loss))
    same = [
        equal(col(one, "k"), col(other, "x"))
        for one, other in (("quasi", "d"), ("level", "level"), ("code", "code"))
    ]
    costs = exp.Join(this=scratch(names.costs, "k"), on=every(same), side="LEFT")
    grains = cast(
        call("round", exp.Mul(this=cast(exp.paren(cost), "numeric"), expression=number(_GRAINS))), "bigint"
    )
    labelled = query(
        [col("part", "x"), *labels, named(grains, "loss")],
        subquery(union_all(by_column), "x"),
        joins=[costs],
        group=[col("part", "x")],
    )
    released = [col(_label(q), "y") for q in quasi]
    rank = named(keyed_rank(Key.ORDER, released), "class")
    rows = query(
        [col("part", "y"), rank, *[name.copy() for name in released], col("loss", "y")],
        subquery(labelled, "y"),
    )
    return create_scratch(names.classes, with_keys(rows, names))


def judged(names: Rounds, models: Models) -> exp.Create:
    """The classes as they would be released, judged; what they are compared with is seen to later."""
    inside = exp.Join(this=scratch(names.classes, "l"), on=equal(col("part", "l"), col("part", "c")))
    cells = query(
        [col("class", "l"), *[col(s.code, "c") for s in models.counted.sensitive], col("n", "c")],
        scratch(names.partitioned, "c"),
        joins=[inside],
    )
    rows = class_rows(subquery(cells, "f"), ["class"], models)
    return create_scratch(names.node, model.judged_rows(names, models, rows, reference=False))


def leave_out(names: Rounds) -> exp.Delete:
    """Classes that fail as they would be released are not."""
    fails = query([col("class", "x")], scratch(names.node, "x"), where=exp.Not(this=col("ok", "x")))
    return exp.Delete(
        this=scratch(names.classes, "l"),
        where=exp.Where(this=exp.In(this=col("class", "l"), query=subquery(fails))),
    )


def figures(names: Rounds) -> exp.Select:
    """Of each round, the records that are released of it and their summed loss."""
    records = cast(exp.Sum(this=col("n", "c")), "bigint")
    loss = exp.Sum(this=exp.Mul(this=cast(col("n", "c"), "numeric"), expression=col("loss", "l")))
    inside = exp.Join(this=scratch(names.classes, "l"), on=equal(col("part", "l"), col("part", "c")))
    return query(
        [
            col("round", "c"),
            named(records, "records"),
            named(exp.Div(this=cast(loss, "float8"), expression=number(_GRAINS)), "loss"),
        ],
        scratch(names.partitioned, "c"),
        joins=[inside],
        group=[col("round", "c")],
    ).order_by(number(1))


def combinations(names: Rounds, chosen: Sequence[Chosen], *, repeated: bool) -> exp.Create:
    """Each combination of values that is released, for the source's rows to be joined with."""
    released = [col(name, "k") for name in ("class", *[c.label for c in chosen])]
    rows = exp.select(*[col(c.quasi.raw, "r") for c in chosen], *released)
    return create_scratch(
        names.combinations, _classified(rows.distinct() if repeated else rows, names, chosen)
    )


def insert_rows(
    names: Rounds, fresh: Relation, columns: Sequence[SourceColumn], chosen: Sequence[Chosen]
) -> exp.Insert:
    """Every row that the first pass has counted and that has a released class, as often as it was counted."""
    kept = [col(f"c{position}", "r") for position, _ in enumerate(kept_columns(columns, chosen), 1)]
    rows = ordered(chosen, kept, "k")
    rows = rows.select(named(call("generate_series", number(1), col("n", "r")), "copy"))
    return insert_ordered(fresh, columns, chosen, with_keys(_classified(rows, names, chosen), names))


def _classified(rows: exp.Select, names: Rounds, chosen: Sequence[Chosen]) -> exp.Select:
    """Gives the query the raw values `r` and their released classes `k`, found by all leaves at once."""
    codes = [named(call("coalesce", col("leaf", c.quasi.code), number(0)), c.quasi.code) for c in chosen]
    coded = exp.select(exp.Column(this=exp.Star(), table=ident("r")), *codes).from_(scratch(names.raw, "r"))
    coded = with_dictionaries(coded, names, [c.quasi for c in chosen]).offset(number(0))
    inside = exp.Join(this=scratch(names.classes, "l"), on=equal(col("part", "l"), col("part", "c")))
    cells = query(
        [*[col(c.quasi.code, "c") for c in chosen], col("class", "l"), *[col(c.label, "l") for c in chosen]],
        scratch(names.partitioned, "c"),
        joins=[inside],
    )
    same = [equal(col(c.quasi.code, "k"), col(c.quasi.code, "r")) for c in chosen]
    found = subquery(cells.distinct().offset(number(0)), "k")
    return rows.from_(coded.subquery(ident("r"))).join(found, on=every(same))


def _cell(counted: Counted, of: str) -> list[exp.Expr]:
    return [col(name, of) for name in (*[q.code for q in counted.quasi], *counted.apart, "n")]


def _same_class(counted: Counted, levels: Node) -> exp.Expr:
    keys = key_names(counted.quasi, levels)
    return every([equal(col(key, "k"), col(key, "f")) for key in keys]) if keys else exp.true()


def _common(names: Rounds, quasi: Quasi) -> exp.Select:
    """Of each part the lowest level where all its records have one label, with the label and its code."""
    values = exp.select(col("part", "c"), named(col(quasi.code, "c"), "leaf")).distinct()
    values = values.from_(scratch(names.partitioned, "c")).where(
        exp.GT(this=col("part", "c"), expression=number(0))
    )
    codes = {level: col("leaf" if level == 0 else f"l{level}", "e") for level in range(quasi.height + 1)}
    level, code, label = exp.Case(), exp.Case(), exp.Case()
    for lower in range(quasi.min_level, quasi.height):
        is_one = equal(exp.Min(this=codes[lower].copy()), exp.Max(this=codes[lower].copy()))
        level = level.when(is_one, number(lower))
        code = code.when(is_one.copy(), exp.Min(this=codes[lower].copy()))
        label = label.when(is_one.copy(), exp.Max(this=collate_c(col(f"g{lower}", "e"))))
    top = exp.Min(this=codes[quasi.height].copy())
    columns = {
        "d": number(quasi.number),
        "level": level.else_(number(quasi.height)) if level.args.get("ifs") else number(quasi.height),
        "code": code.else_(top) if code.args.get("ifs") else top,
        "label": label.else_(string(quasi.root)) if label.args.get("ifs") else string(quasi.root),
    }
    entry = exp.Join(this=scratch(names.dictionary(quasi), "e"), on=equal(col("leaf", "e"), col("leaf", "v")))
    return query(
        [col("part", "v"), *[named(value, name) for name, value in columns.items()]],
        subquery(values, "v"),
        joins=[entry],
        group=[col("part", "v")],
    )


def _of_column(aggregate: exp.Expr, quasi: Quasi) -> exp.Expr:
    here = equal(col("d", "x"), number(quasi.number))
    return exp.Filter(this=aggregate, expression=exp.Where(this=here))


def _label(quasi: Quasi) -> str:
    return f"g{quasi.number}"
