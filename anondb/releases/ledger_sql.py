"""The statements of a refresh that hang on columns: what differs from the ledger, and the next release's rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.releases.following import Following
from anondb.run.persons_sql import kept_value, with_keys_of_forms
from anondb.run.publish_sql import Chosen, classified, same_value
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
    star,
    subquery,
    table,
    union_all,
)
from anondb.sqltree.tables import Relation, Scratch, SourceColumn

KEY, DELTA = "ledger_key", "ledger_delta"
PART, CELL, CODE, HELD, OUT = "ledger_part", "ledger_cell", "ledger_code", "ledger_held", "ledger_out"
NULL_VALUE = 0  # in the place of a hash, where there is no value to hash


def class_hash(labels: Sequence[exp.Expr], key: str = "lk") -> exp.Expr:
    """By what the ledger knows a class: its labels."""
    return call("anondb.row_number_of", col("class_seed", key), _texts(labels))


def row_hash(values: Sequence[exp.Expr], key: str = "lk") -> exp.Expr:
    """By what the ledger knows what is released of a record besides its class."""
    return call("anondb.row_number_of", col("row_seed", key), _texts(values))


def value_hash(value: exp.Expr, key: str = "lk") -> exp.Expr:
    """By what the ledger knows a sensitive value."""
    hashed = call("anondb.row_number_of", col("row_seed", key), cast(value, "text"))
    return call("coalesce", hashed, number(NULL_VALUE))


def same_part() -> list[exp.Expr]:
    """The part that a row of the delta is in, if it may enter a class or move there with others."""
    return [
        equal(col("cohort", "p"), call("coalesce", col("cohort", "d"), number(0))),
        equal(col("class", "p"), col("class", "d")),
    ]


def free() -> exp.Expr:
    """It is a member already, or nothing is known of its person that would hold it back."""
    return exp.or_(
        exp.Not(this=exp.Is(this=col("spot", "d"), expression=null())),
        exp.Is(this=col("person", "h"), expression=null()),
    )


def with_key() -> exp.Join:
    return exp.Join(this=scratch(KEY, "lk"), kind="CROSS")


def combinations(names: Scratch, chosen: Sequence[Chosen], *, repeated: bool) -> exp.Create:
    """Each combination of the source's own values with its class."""
    found = exp.select(*[col(c.quasi.raw, "r") for c in chosen], col("hash", "k"))
    return create_scratch(
        names.combinations, classified(found.distinct() if repeated else found, names, chosen)
    )


def delta(
    names: Scratch,
    source: Relation,
    kept: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
    following: Following,
) -> exp.Create:
    """What is not as the ledger has it: a full join of the records' marks with those of the members."""
    values: list[exp.Expr] = [kept_value(c, "s") for c in kept]
    keys: list[exp.Expr] = [col(c.name, "s") for c in following.key]
    who = _texts(keys)
    mark = call("anondb.keyed_number", col("mark_key", "lk"), _texts([*keys, *values]))
    columns: list[exp.Expr] = [
        named(col("hash", "v"), "class"),
        named(mark, "mark"),
        named(who, "who"),
        *[named(value.copy(), f"c{i}") for i, value in enumerate(values, 1)],
    ]
    on = every([same_value(c) for c in chosen])
    records: exp.Select = query(
        columns,
        table(source.name, source.schema, "s"),
        joins=[exp.Join(this=scratch(names.combinations, "v"), on=on), with_key()],
    )
    records = with_keys_of_forms(records, names, kept)
    members: exp.Select = query(
        [
            named(col("ctid", "m"), "spot"),
            *[col(name, "m") for name in ("cohort", "person", "kept", "mark")],
            named(col("class", "c"), "was"),
        ],
        table("member", "anondb", "m"),
        joins=[
            exp.Join(this=table("cohort", "anondb", "c"), on=equal(col("id", "c"), col("cohort", "m"))),
        ],
        where=equal(col("series", "m"), number(following.series)),
    )
    same = [equal(col("mark", "m"), col("mark", "s"))]
    if following.several:
        # a person may have the same record twice
        records, members = _numbered(records, "mark", "class"), _numbered(members, "mark", "was")
        same.append(equal(col("nth", "m"), col("nth", "s")))
    unknown = exp.Is(this=col("mark", "m"), expression=null())
    person = call("anondb.person_hash", col("inner_key", "lk"), col("outer_key", "lk"), col("who", "s"))
    hashed = row_hash([col(f"c{i}", "s") for i, _ in enumerate(kept, 1)])
    found: list[exp.Expr] = [
        col("class", "s"),
        named(call("coalesce", col("mark", "s"), col("mark", "m")), "mark"),
        named(exp.Case().when(unknown, person).else_(col("person", "m")), "person"),
        named(exp.Case().when(unknown.copy(), hashed).else_(col("kept", "m")), "kept"),
        *[col(name, "m") for name in ("cohort", "was", "spot")],
        *[col(f"c{i}", "s") for i, _ in enumerate(kept, 1)],
    ]
    changed = exp.or_(
        exp.Is(this=col("mark", "s"), expression=null()),
        unknown.copy(),
        exp.NullSafeNEQ(this=col("was", "m"), expression=col("class", "s")),
    )
    rows = query(
        found,
        subquery(records, "s"),
        joins=[
            exp.Join(this=subquery(members, "m"), on=every(same), side="FULL"),
            with_key(),
        ],
        where=changed,
    )
    return create_scratch(DELTA, rows)


def insert(
    names: Scratch,
    fresh: Relation,
    before: Relation | None,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
) -> exp.Insert:
    """The rows of the last release without those that are out, and those who enter or move, in a keyed order."""
    labels = {c.quasi.name: c.label for c in chosen}
    kept = [c for c in columns if c.name not in labels]
    places = labels | {c.name: f"c{i}" for i, c in enumerate(kept, 1)}
    joined = [
        exp.Join(
            this=scratch(PART, "p"),
            on=every([*same_part(), col("goes", "p")]),
        ),
        exp.Join(this=scratch(names.classes, "k"), on=equal(col("hash", "k"), col("class", "d"))),
        exp.Join(this=scratch(HELD, "h"), on=equal(col("person", "h"), col("person", "d")), side="LEFT"),
    ]
    entering = query(
        [
            named(col("class", "d"), "of_class"),
            named(col("kept", "d"), "of_row"),
            named(exp.true(), "enters"),
            *[col(c.label, "k") for c in chosen],
            *[col(f"c{i}", "d") for i, _ in enumerate(kept, 1)],
        ],
        scratch(DELTA, "d"),
        joins=joined,
        where=free(),
    )
    rows = entering if before is None else _without(before, entering, chosen, kept)
    ordered = query([col(places[c.name], "x") for c in columns], subquery(rows, "x")).order_by(
        col("of_class", "x"), col("of_row", "x")
    )
    target = exp.Schema(this=table(fresh.name, fresh.schema), expressions=[ident(c.name) for c in columns])
    return exp.Insert(this=target, expression=ordered)


def _without(
    before: Relation, entering: exp.Select, chosen: Sequence[Chosen], kept: Sequence[SourceColumn]
) -> exp.Select:
    """Equal rows are counted through, and as many of them as are out are left out: which ones does not matter."""
    there = query(
        [
            named(class_hash([col(c.quasi.name, "t") for c in chosen]), "of_class"),
            named(row_hash([col(c.name, "t") for c in kept]), "of_row"),
            named(exp.false(), "enters"),
            *[named(col(c.quasi.name, "t"), c.label) for c in chosen],
            *[named(col(c.name, "t"), f"c{i}") for i, c in enumerate(kept, 1)],
        ],
        table(before.name, before.schema, "t"),
        joins=[with_key()],
    )
    both = union_all([there, entering])
    out = exp.Join(
        this=scratch(OUT, "o"),
        on=every(
            [equal(col("class", "o"), col("of_class", "u")), equal(col("kept", "o"), col("of_row", "u"))]
        ),
        side="LEFT",
    )
    nth = exp.Window(
        this=call("row_number"),
        partition_by=[col("of_class", "u"), col("of_row", "u")],
        order=exp.Order(expressions=[exp.Ordered(this=col("enters", "u"))]),
    )
    counted = query(
        [star("u"), named(nth, "nth"), named(col("n", "o"), "gone")], subquery(both, "u"), joins=[out]
    )
    stays = exp.or_(
        col("enters", "y"),
        exp.GT(this=col("nth", "y"), expression=call("coalesce", col("gone", "y"), number(0))),
    )
    return query([star("y")], subquery(counted, "y"), where=stays)


def strange_classes(
    release: Relation, quasi: Sequence[str], kept: Sequence[SourceColumn], series: int
) -> exp.Select:
    """How many classes of a release have other rows than the ledger has entered, and how many rows it has."""
    rows = query(
        [
            named(class_hash([col(name, "t") for name in quasi]), "class"),
            named(row_hash([col(c.name, "t") for c in kept]), "kept"),
        ],
        table(release.name, release.schema, "t"),
        joins=[with_key()],
    )
    total = exp.Sum(this=cast(col("kept", "x"), "numeric"))
    there = query(
        [col("class", "x"), named(exp.Count(this=exp.Star()), "n"), named(total, "digest")],
        subquery(rows, "x"),
        group=[col("class", "x")],
    )
    known = exp.Table(
        this=call("anondb.ledger_classes", number(series)), alias=exp.TableAlias(this=ident("c"))
    )
    differs = exp.or_(
        exp.NullSafeNEQ(this=col("n", "f"), expression=col("records", "c")),
        exp.NullSafeNEQ(this=col("digest", "f"), expression=col("digest", "c")),
    )
    strange = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=differs))
    return query(
        [strange, cast(call("coalesce", exp.Sum(this=col("n", "f")), number(0)), "bigint")],
        subquery(there, "f"),
        joins=[exp.Join(this=known, on=equal(col("class", "c"), col("class", "f")), side="FULL")],
    )


def key_faults(source: Relation, key: Sequence[SourceColumn]) -> exp.Select:
    """Records without a key, and keys that several records have."""
    columns = [col(c.name, "s") for c in key]
    empty = exp.or_(*[exp.Is(this=c.copy(), expression=null()) for c in columns])
    each = query(
        [named(exp.Count(this=exp.Star()), "n"), named(empty, "empty")],
        table(source.name, source.schema, "s"),
        group=columns,
    )
    is_empty = exp.Filter(this=exp.Sum(this=col("n", "e")), expression=exp.Where(this=col("empty", "e")))
    more = exp.And(
        this=exp.GT(this=col("n", "e"), expression=number(1)), expression=exp.Not(this=col("empty", "e"))
    )
    repeated = exp.Filter(this=exp.Count(this=exp.Star()), expression=exp.Where(this=more))
    return query([cast(call("coalesce", is_empty, number(0)), "bigint"), repeated], subquery(each, "e"))


def _numbered(rows: exp.Select, key: str, place: str) -> exp.Select:
    """Equal records are counted through class by class: who stays where he is, has not moved."""
    by_class = exp.Order(expressions=[exp.Ordered(this=col(place, "z"))])
    nth = exp.Window(this=call("row_number"), partition_by=[col(key, "z")], order=by_class)
    return query([star("z"), named(nth, "nth")], subquery(rows, "z"))


def _texts(values: Sequence[exp.Expr]) -> exp.Expr:
    """Texts in an array are quoted, so that no two rows have the same; it is one piece, however many there are."""
    return cast(exp.Array(expressions=[cast(value.copy(), "text") for value in values]), "text")
