"""The statements of a refresh that hang on columns: what differs from the ledger, and the next release's rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.releases.following import Following
from anondb.run.persons_sql import kept_value, with_keys_of_forms
from anondb.run.publish_sql import Chosen, classified, same_as
from anondb.run.shared_sql import typed_as
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
    string,
    subquery,
    table,
    union_all,
)
from anondb.sqltree.equality import own_form
from anondb.sqltree.tables import Relation, Scratch, SourceColumn

KEY, DELTA = "ledger_key", "ledger_delta"
PART, CELL, CODE, HELD, OUT = "ledger_part", "ledger_cell", "ledger_code", "ledger_held", "ledger_out"
NULL_VALUE = 0  # in the place of a hash, where there is no value to hash


def key_of(part: str) -> exp.Expr:
    """A key of the ledger: read once, before the rows, so that processes that share the rows all have it.

    A join with the temporary table would keep whatever is made of the key in the one process that can read it.
    """
    return exp.Subquery(this=query([col(part, "lk")], scratch(KEY, "lk")))


def class_hash(labels: Sequence[exp.Expr]) -> exp.Expr:
    """By what the ledger knows a class: its labels."""
    return call("anondb.row_number_of", key_of("class_seed"), texts(labels))


def row_hash(values: Sequence[exp.Expr]) -> exp.Expr:
    """By what the ledger knows what is released of a record besides its class."""
    return call("anondb.row_number_of", key_of("row_seed"), texts(values))


def value_hash(value: exp.Expr) -> exp.Expr:
    """By what the ledger knows a sensitive value."""
    hashed = call("anondb.row_number_of", key_of("row_seed"), cast(value, "text"))
    return call("coalesce", hashed, number(NULL_VALUE))


def record_mark(keys: Sequence[exp.Expr], values: Sequence[exp.Expr]) -> exp.Expr:
    """By what the ledger knows a record that has not changed: its key, and what is released as it is."""
    return call("anondb.keyed_number", key_of("mark_key"), texts([*keys, *values]))


def same_part() -> list[exp.Expr]:
    """The part that a row of the delta is in, if it may enter a class or move there with others."""
    return [
        exp.In(this=col("kind", "p"), expressions=[string("enter"), string("move")]),
        equal(col("cohort", "p"), call("coalesce", col("cohort", "d"), number(0))),
        equal(col("class", "p"), col("class", "d")),
    ]


def same_share() -> list[exp.Expr]:
    """The share that a row of the delta is in, where those who enter a class together are parted."""
    return [
        equal(col("kind", "p"), string("share")),
        equal(col("class", "p"), col("class", "d")),
        equal(col("share", "p"), col("share", "d")),
    ]


def free() -> exp.Expr:
    """It is a member already, or nothing is known of its person that would hold it back."""
    return exp.or_(
        exp.Not(this=exp.Is(this=col("spot", "d"), expression=null())),
        exp.Is(this=col("person", "h"), expression=null()),
    )


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
    """What is not as the ledger has it: a full join of the records' marks with those of the members.

    The marks are the dear part. They are made in a query of their own, which processes can share.
    """
    values: list[exp.Expr] = [kept_value(c, "s") for c in kept]
    keys: list[exp.Expr] = [col(c.name, "s") for c in following.key]
    mark = record_mark(keys, values)
    own = [f"q{i}" for i, _ in enumerate(chosen, 1)]
    carried = ["mark", "who", *[f"c{i}" for i, _ in enumerate(values, 1)]]
    marked: exp.Select = query(
        [
            *[named(own_form(c.quasi, "s"), q) for c, q in zip(chosen, own, strict=True)],
            named(mark, "mark"),
            named(texts(keys), "who"),
            *[named(value.copy(), f"c{i}") for i, value in enumerate(values, 1)],
        ],
        table(source.name, source.schema, "s"),
    )
    marked = with_keys_of_forms(marked, names, kept).offset(0)
    on = every([same_as(c, col(q, "o")) for c, q in zip(chosen, own, strict=True)])
    records: exp.Select = query(
        [named(col("hash", "v"), "class"), *[col(name, "o") for name in carried]],
        subquery(marked, "o"),
        joins=[exp.Join(this=scratch(names.combinations, "v"), on=on)],
    )
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
    person = call("anondb.person_hash", key_of("inner_key"), key_of("outer_key"), col("who", "s"))
    hashed = row_hash([col(f"c{i}", "s") for i, _ in enumerate(kept, 1)])
    found: list[exp.Expr] = [
        col("class", "s"),
        named(call("coalesce", col("mark", "s"), col("mark", "m")), "mark"),
        named(exp.Case().when(unknown, person).else_(col("person", "m")), "person"),
        named(exp.Case().when(unknown.copy(), hashed).else_(col("kept", "m")), "kept"),
        *[col(name, "m") for name in ("cohort", "was", "spot")],
        named(cast(null(), "int"), "share"),
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
        joins=[exp.Join(this=subquery(members, "m"), on=every(same), side="FULL")],
        where=changed,
    )
    return create_scratch(DELTA, rows)


def insert(fresh: Relation, rows: exp.Select) -> exp.Insert:
    """Writes such rows."""
    columns = [ident(column.alias_or_name) for column in rows.expressions]
    return exp.Insert(
        this=exp.Schema(this=table(fresh.name, fresh.schema), expressions=columns), expression=rows
    )


def released(
    names: Scratch,
    before: Relation | None,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
    made: Sequence[SourceColumn],
    *,
    typed: bool,
) -> exp.Select:
    """The rows of the last release without those that are out, and those who enter or move, in a keyed order.

    `columns` are the source's, with the forms that they are released in; `made` are those of the release,
    `typed` as a table needs them that is made of the rows.
    """
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
    found = [(c, col(places[c.name], "x")) for c in made]
    shown = [named(typed_as(value, c) if typed else value, c.name) for c, value in found]
    return query(shown, subquery(rows, "x")).order_by(col("of_class", "x"), col("of_row", "x"))


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
    ).offset(0)
    # the hashes are the dear part, and are made in a query of their own, which processes can share
    both = union_all([query([star("t")], subquery(there, "t")), entering])
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
    )
    total = exp.Sum(this=col("kept", "x"))
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


def texts(values: Sequence[exp.Expr]) -> exp.Expr:
    """Texts in an array are quoted, so that no two rows have the same; it is one piece, however many there are."""
    return cast(exp.Array(expressions=[cast(value.copy(), "text") for value in values]), "text")
