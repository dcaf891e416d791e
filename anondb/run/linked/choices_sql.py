"""What may be known of a person, and who matches it: the choices of a node, from which persons are left out.

A choice is a path of labels, from a person's own row to a row below: `t` is the table where it ends and `p` says which
labels. With two rows known it is two paths and the depth `d` of the last row that they share; with all, a whole tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.run.encode_sql import dense_rank
from anondb.run.linked.places_sql import at, create
from anondb.run.linked.plan import LinkedPlan, LinkedScratch, TablePlan
from anondb.run.linked.rows_sql import Place, Words
from anondb.sqltree.build import (
    call,
    cast,
    col,
    create_scratch,
    equal,
    every,
    ident,
    left_join,
    named,
    number,
    query,
    scratch,
    star,
    subquery,
    union_all,
)

Levels = Sequence[int]
"""One for each quasi-identifier, in the order of the plan."""
KEYS = ("t", "p")
PAIR_KEYS = ("t", "p", "t2", "p2", "d")
_BITS = 63


def is_packed(linked: LinkedPlan, words: Words, one: TablePlan, levels: Levels) -> bool:
    """Whether the labels of a row and of those above it fit side by side into a number, the same in every query."""
    return sum(place.bits for place in _places(linked, words, one, levels)) <= _BITS


def _places(linked: LinkedPlan, words: Words, one: TablePlan, levels: Levels) -> list[Place]:
    return [
        place
        for above in linked.path(one)
        for q in above.plan.quasi
        if (place := words.place(q.number, levels[q.number - 1])) is not None
    ]


def path_of(linked: LinkedPlan, words: Words, one: TablePlan, levels: Levels, of: str) -> exp.Expr:
    """Which labels a row and those above it have at a node, as a number: of a table, one for each combination."""
    places = _places(linked, words, one, levels)
    if not places:
        return cast(number(0), "bigint")
    if not is_packed(linked, words, one, levels):
        return dense_rank([place.code(of) for place in places])
    used, parts = 0, []
    for place in places:
        parts.append(
            exp.Paren(this=exp.BitwiseLeftShift(this=cast(place.code(of), "bigint"), expression=number(used)))
        )
        used += place.bits
    whole: exp.Expr = parts[0]
    for part in parts[1:]:
        whole = exp.BitwiseOr(this=whole, expression=part)
    return whole


def rare_rows(
    names: LinkedScratch, linked: LinkedPlan, words: Words, one: TablePlan, levels: Levels, k: int
) -> exp.Select:
    """How many rows of a table have a path that fewer than k rows have: quick, and at most of so many persons."""
    grouped = query(
        [named(exp.Count(this=exp.Star()), "n")],
        subquery(
            query([named(path_of(linked, words, one, levels, "r"), "p")], at(names, names.rows(one), "r")),
            "x",
        ),
        group=[col("p", "x")],
    )
    rare = exp.LT(this=col("n", "g"), expression=number(k))
    total = cast(call("coalesce", exp.Sum(this=col("n", "g")), number(0)), "bigint")
    return query([total], subquery(grouped, "g"), where=rare)


def single_choices(
    names: LinkedScratch, linked: LinkedPlan, words: Words, levels: Levels, knows: int
) -> exp.Create:
    """Own rows, and with `knows` 1 each row with its ancestors; each choice and person once."""
    tables = linked.tables if knows else linked.tables[:1]
    queries = []
    for one in tables:
        path = named(path_of(linked, words, one, levels, "r"), "p")
        rows = query(
            [named(cast(number(one.number), "int"), "t"), path, col("person", "r")],
            at(names, names.rows(one), "r"),
        )
        queries.append(rows if one.parent is None else query([star("y")], subquery(rows, "y")).distinct())
    return create_scratch(names.choices, union_all(queries))


def trees(names: LinkedScratch, linked: LinkedPlan, words: Words, levels: Levels) -> exp.Create:
    """All rows below the persons' with their paths, their depth and the rows above them, themselves included."""
    queries = []
    for one in linked.lower:
        path = linked.path(one)[1:]
        rows = query([], at(names, names.rows(one), "r"))
        above: list[exp.Expr] = [col("rid", "r")]
        below = "r"
        for ancestor in reversed(path[:-1]):
            alias = f"a{ancestor.number}"
            rows = rows.join(
                at(names, names.rows(ancestor), alias),
                on=equal(col("rid", alias), col("parent", below)),
                copy=False,
            )
            above.insert(0, col("rid", alias))
            below = alias
        rows = rows.select(
            named(cast(number(one.number), "int"), "t"),
            named(path_of(linked, words, one, levels, "r"), "p"),
            col("person", "r"),
            col("rid", "r"),
            named(cast(exp.Array(expressions=above), "int[]"), "above"),
            named(
                cast(exp.Array(expressions=[number(step.number) for step in path]), "int[]"),
                "tables",
            ),
            copy=False,
        )
        queries.append(rows)
    return create_scratch(names.trees, union_all(queries))


def pair_choices(names: LinkedScratch, linked: LinkedPlan, words: Words, levels: Levels) -> exp.Create:
    """Every choice of at most two rows: own rows, rows, and pairs of rows of which none is above the other."""
    zero = cast(number(0), "int")
    singles = []
    for one in linked.tables:
        path = named(path_of(linked, words, one, levels, "r"), "p")
        found = [named(cast(number(one.number), "int"), "t"), path]
        found += [named(zero.copy(), "t2"), named(cast(number(0), "bigint"), "p2"), named(zero.copy(), "d")]
        rows = query([*found, col("person", "r")], at(names, names.rows(one), "r"))
        singles.append(query([star("y")], subquery(rows, "y")).distinct())
    return create_scratch(names.choices, union_all([*singles, pairs(names.trees, ordered=True)]))


def pairs(trees_: str, *, ordered: bool, rows: bool = False) -> exp.Select:
    """Pairs of rows of a person that share `d` rows above them and part then; each choice and person once.

    With `rows` the row numbers of both, to leave rows out.
    """
    shared = call(
        "anondb.shared_rows", col("above", "a"), col("tables", "a"), col("above", "b"), col("tables", "b")
    )
    first = exp.or_(
        exp.LT(this=col("t", "a"), expression=col("t", "b")),
        exp.and_(equal(col("t", "a"), col("t", "b")), exp.LT(this=col("p", "a"), expression=col("p", "b"))),
        exp.and_(
            equal(col("t", "a"), col("t", "b")),
            equal(col("p", "a"), col("p", "b")),
            exp.LT(this=col("rid", "a"), expression=col("rid", "b")),
        ),
    )
    both = query(
        [
            *[named(col(key, "a"), key) for key in ("t", "p")],
            named(col("t", "b"), "t2"),
            named(col("p", "b"), "p2"),
            named(shared, "d"),
            named(call("cardinality", col("above", "a")), "da"),
            named(call("cardinality", col("above", "b")), "db"),
            col("person", "a"),
            *([named(col("rid", "a"), "r1"), named(col("rid", "b"), "r2")] if rows else []),
        ],
        scratch(trees_, "a"),
        joins=[
            exp.Join(
                this=scratch(trees_, "b"), on=exp.and_(equal(col("person", "a"), col("person", "b")), first)
            )
        ],
    )
    parted = exp.LT(this=col("d", "x"), expression=call("least", col("da", "x"), col("db", "x")))
    found = [col(name, "x") for name in (*PAIR_KEYS, "person", *(("r1", "r2") if rows else ()))]
    parted_pairs = query(found, subquery(both, "x"), where=parted)
    return parted_pairs if rows else parted_pairs.distinct()


def codes(
    names: LinkedScratch, linked: LinkedPlan, words: Words, levels: Levels, one: TablePlan, of: dict[int, str]
) -> exp.Create:
    """Of each row of a table a number for the tree that hangs on it: equal trees have one; `of` are the children's."""
    own = [
        place.code("r")
        for q in one.plan.quasi
        if (place := words.place(q.number, levels[q.number - 1])) is not None
    ]
    rows = query([], at(names, names.rows(one), "r"))
    kids: list[exp.Expr] = []
    for child in linked.children(one):
        alias = f"k{child.number}"
        ordered = exp.Order(this=col("code", "c"), expressions=[exp.Ordered(this=col("code", "c"))])
        listed = query(
            [col("parent", "c"), named(call("array_agg", ordered), "kids")],
            scratch(of[child.number], "c"),
            group=[col("parent", "c")],
        )
        rows = left_join(rows, subquery(listed, alias), equal(col("parent", alias), col("rid", "r")))
        kids.append(col("kids", alias))
    code = dense_rank([*own, *kids]) if own or kids else cast(number(1), "bigint")
    above = col("rid", "r") if one.parent is None else col("parent", "r")
    return create_scratch(
        of[one.number],
        rows.select(col("person", "r"), named(above, "parent"), named(code, "code"), copy=False),
    )


def tree_choices(names: LinkedScratch, of: str) -> exp.Create:
    """With everything known a choice is the tree of a person."""
    found = [named(cast(number(0), "int"), "t"), named(col("code", "c"), "p"), col("person", "c")]
    return create_scratch(names.choices, query(found, scratch(of, "c")))


def pair_work(names: LinkedScratch, linked: LinkedPlan) -> exp.Select:
    """How many pairs of rows there are."""
    of_tables = [
        query([col("person", "r"), named(exp.Count(this=exp.Star()), "n")], at(names, names.rows(one), "r"),
              group=[col("person", "r")])
        for one in linked.lower
    ]  # fmt: skip
    each = query(
        [named(exp.Sum(this=col("n", "x")), "n")],
        subquery(union_all(of_tables), "x"),
        group=[col("person", "x")],
    )
    less = exp.Paren(this=exp.Sub(this=col("n", "y"), expression=number(1)))
    product = exp.Mul(this=col("n", "y"), expression=less)
    total = exp.Div(this=exp.Sum(this=product), expression=number(2))
    return query([cast(call("coalesce", total, number(0)), "bigint")], subquery(each, "y"))


def nobody(names: LinkedScratch) -> exp.Create:
    """A table for the persons who are left out."""
    rows = query(
        [named(cast(number(0), "int"), "person")], at(names, names.keys.keys, "k"), where=exp.false()
    )
    return create(names, names.gone, rows)


def touched(names: LinkedScratch, keys: Sequence[str]) -> exp.Create:
    """The choices that have lost persons in the last round: only these can fail now."""
    joined = exp.Join(this=at(names, names.last, "g"), on=equal(col("person", "g"), col("person", "c")))
    found = query([col(key, "c") for key in keys], scratch(names.choices, "c"), joins=[joined])
    return create_scratch(names.touched, found.distinct())


def rare_choices(
    names: LinkedScratch, keys: Sequence[str], k: int, *, touched_only: bool = False
) -> exp.Select:
    """The choices that fewer than k persons match."""
    found = [col(key, "c") for key in keys]
    rows = query(found, scratch(names.choices, "c"), group=[col(key, "c") for key in keys])
    if touched_only:
        same = every([equal(col(key, "b"), col(key, "c")) for key in keys])
        rows.append("joins", exp.Join(this=scratch(names.touched, "b"), on=same))
    rows.set("having", exp.Having(this=exp.LT(this=exp.Count(this=exp.Star()), expression=number(k))))
    return rows


def failing(names: LinkedScratch, keys: Sequence[str], parts: Sequence[exp.Select]) -> exp.Create:
    """The choices that fail any demand."""
    found: exp.Query = parts[0]
    for further in parts[1:]:
        found = exp.union(found, further, distinct=True)
    return create_scratch(names.failing, found)


def failing_persons(names: LinkedScratch, keys: Sequence[str], *, own: bool = False) -> exp.Create:
    """The persons of whom a failing choice can be known; `own` where rows below are left out instead."""
    same = [equal(col(key, "b"), col(key, "c")) for key in keys]
    same += [equal(col("t", "b"), number(0))] * own
    joined = exp.Join(this=scratch(names.failing, "b"), on=every(same))
    found = query([col("person", "c")], scratch(names.choices, "c"), joins=[joined]).distinct()
    return create(names, names.last, found)


def note_persons(names: LinkedScratch) -> exp.Insert:
    return exp.Insert(
        this=at(names, names.gone), expression=query([col("person", "g")], at(names, names.last, "g"))
    )


def without_persons(names: LinkedScratch, table_: str) -> exp.Delete:
    """Rows of a scratch table without those of the persons whom the last round has found."""
    known = subquery(query([col("person", "g")], at(names, names.last, "g")))
    there = exp.In(this=col("person", "x"), query=known)
    return exp.Delete(this=scratch(table_, "x"), where=exp.Where(this=there))


def failing_rows(names: LinkedScratch, keys: Sequence[str]) -> exp.Create:
    """The rows below the persons' that a failing choice is made of; of a pair both."""
    alone = [equal(col("t", "b"), col("t", "x")), equal(col("p", "b"), col("p", "x"))]
    if len(keys) > len(KEYS):
        alone.append(equal(col("t2", "b"), number(0)))
    found = [col("t", "x"), col("rid", "x")]
    joined = exp.Join(this=scratch(names.failing, "b"), on=every(alone))
    rows: exp.Query = query(found, scratch(names.trees, "x"), joins=[joined])
    if len(keys) > len(KEYS):
        same = every([equal(col(key, "b"), col(key, "y")) for key in keys])
        for t, rid in (("t", "r1"), ("t2", "r2")):
            both = query(
                [col(t, "y"), col(rid, "y")],
                subquery(pairs(names.trees, ordered=True, rows=True), "y"),
                joins=[exp.Join(this=scratch(names.failing, "b"), on=same.copy())],
            )
            rows = exp.union(rows, both, distinct=True)
    return create_scratch(names.last_rows, rows)


def without_rows(names: LinkedScratch) -> exp.Delete:
    """Rows that are left out, and all below them."""
    steps = exp.Unnest(
        expressions=[col("above", "y"), col("tables", "y")],
        alias=exp.TableAlias(this=ident("u"), columns=[ident("rid"), ident("t")]),
    )
    same = every([equal(col("t", "g"), col("t", "u")), equal(col("rid", "g"), col("rid", "u"))])
    below = query(
        [col("t", "y"), col("rid", "y")],
        scratch(names.trees, "y"),
        joins=[exp.Join(this=steps, kind="CROSS"), exp.Join(this=scratch(names.last_rows, "g"), on=same)],
    )
    found = exp.In(this=exp.Tuple(expressions=[col("t", "x"), col("rid", "x")]), query=subquery(below))
    return exp.Delete(this=scratch(names.trees, "x"), where=exp.Where(this=found))
