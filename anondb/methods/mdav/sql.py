"""Sets of texts at the two edges: the source's records with their texts, and the release of synthetic sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anondb.methods.mdav.mdav import SET_TYPE
from anondb.run.keyed_sql import Key, keyed, with_keys
from anondb.run.persons_sql import kept_value, with_keys_of_forms
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
    number,
    query,
    scratch,
    string,
    subquery,
    table,
)
from anondb.sqltree.render import render
from anondb.sqltree.tables import ItemRows, Quasi, Relation, Scratch, SourceColumn

TEXTS = "mdav_text"
PHRASES = "mdav_phrase"
CLASSES = "mdav_class"
NOT_RELEASED = "*"  # no set is written so


def records(
    names: Scratch, source: Relation, kept: Sequence[SourceColumn], sets: Quasi, items: ItemRows | None
) -> exp.Create:
    """Every record with a number, in the order of its values: the same for the same data, however it lies."""
    own = col(sets.name if items is None else items.key, "s")
    values = [kept_value(column, "s") for column in kept]
    keys = [collate_c(cast(value.copy(), "text")) for value in (own, *values)]
    order = exp.Order(expressions=[exp.Ordered(this=key, nulls_first=True) for key in keys])
    rid = cast(exp.Window(this=call("row_number"), order=order), "int")
    texts = named(cast(own, SET_TYPE), "texts") if items is None else named(own, "key")
    columns = [named(value, f"c{place}") for place, value in enumerate(values, 1)]
    rows = query([named(rid, "rid"), texts, *columns], table(source.name, source.schema, "s"))
    return create_scratch(names.records, with_keys_of_forms(rows, names, kept))


def texts(names: Scratch, items: ItemRows | None) -> exp.Create:
    """Each text of each record once; a NULL is no text."""
    record = scratch(names.records, "r")
    if items is None:
        rows = query([col("rid", "r"), named(call("unnest", col("texts", "r")), "text")], record)
    else:
        other = table(items.relation.name, items.relation.schema, "t")
        join = exp.Join(this=other, on=equal(col(items.key, "t"), col("key", "r")))
        rows = query(
            [col("rid", "r"), named(cast(col(items.item, "t"), "text"), "text")], record, joins=[join]
        )
    text = col("text", "x")
    known = exp.Not(this=exp.Is(this=text.copy(), expression=exp.Null()))
    columns: list[exp.Expr] = [named(col("rid", "x"), "record"), named(collate_c(text), "text")]
    return create_scratch(TEXTS, query(columns, subquery(rows, "x"), where=known).distinct())


def counts(names: Scratch) -> exp.Select:
    """How many records there are."""
    return query([exp.Count(this=exp.Star())], scratch(names.records, "r"))


def insert_release(
    names: Scratch,
    fresh: Relation,
    columns: Sequence[SourceColumn],
    sets: Quasi,
    beside: Sequence[Quasi],
    *,
    with_concepts: bool,
    without: bool,
) -> exp.Insert:
    """Synthetic sets with what is kept of their records, in the order of a keyed hash of what is released."""
    told = {quasi.name: col("told", f"b{quasi.number}") for quasi in beside}
    kept = [c for c in columns if c.name != sets.name and c.name not in told]
    values: list[exp.Expr] = [col(f"c{place}", "r") for place, _ in enumerate(kept, 1)]
    empty = cast(string("{}"), SET_TYPE)
    terms = call("coalesce", col("terms", "m"), empty)
    released = {sets.name: terms} | told | dict(zip([c.name for c in kept], values, strict=True))
    rows = query(
        [released[c.name].copy() for c in columns],
        scratch(names.records, "r"),
        joins=[
            _of_record(scratch("mdav_synthetic", "m"), "m", col("rid", "r")),
            _of_record(scratch(CLASSES, "c"), "c", col("rid", "r")),
            *(_told(quasi) for quasi in beside),
        ],
        where=_is_released(with_concepts=with_concepts, without=without),
    )
    target = exp.Schema(this=table(fresh.name, fresh.schema), expressions=[ident(c.name) for c in columns])
    return exp.Insert(
        this=target,
        expression=with_keys(rows, names).order_by(keyed(Key.ORDER, [terms, *told.values(), *values])),
    )


def linked(
    names: Scratch,
    sets: Quasi,
    beside: Mapping[str, Quasi],
    sensitive: Sequence[str],
    *,
    by_text: bool,
    with_concepts: bool,
    without: bool,
) -> exp.Create:
    """Each record with its texts (o1) and what it is released with (r1), both as one text, and its sensitive values.

    So with what is beside the set; `beside` has our names of those columns.
    """
    released = _is_released(with_concepts=with_concepts, without=without)
    empty = string("{}")
    members = cast(col("terms", "m"), "text") if by_text else col("members", "m")
    looks = exp.Case().when(released.copy(), call("coalesce", members, empty)).else_(string(NOT_RELEASED))
    columns = [
        named(call("coalesce", col("members", "t"), empty.copy()), f"o{sets.number}"),
        named(looks, f"r{sets.number}"),
        named(released, "released"),
        named(number(1), "n"),
        *(col(column, "r") for column in sensitive),
    ]
    for column, quasi in beside.items():
        told = exp.Case().when(released.copy(), col("told", f"b{quasi.number}")).else_(string(NOT_RELEASED))
        columns.append(named(cast(col(column, "r"), "text"), f"o{quasi.number}"))
        columns.append(named(told, f"r{quasi.number}"))
    joins = [
        _of_record(_members(TEXTS, "text", "t"), "t", col("rid", "r")),
        _of_record(scratch(CLASSES, "c"), "c", col("rid", "r")),
        _of_record(scratch("mdav_synthetic", "m"), "m", col("rid", "r"))
        if by_text
        else _of_record(_members("mdav_centroid", "concept", "m"), "m", col("centroid", "c")),
        *(_told(quasi) for quasi in beside.values()),
    ]
    return create_scratch(names.linked, query(columns, scratch(names.records, "r"), joins=joins))


def _members(of: str, column: str, alias: str) -> exp.Subquery:
    """The set of each record, as a text that equal sets have alone."""
    member = col(column, "i")
    listed = exp.ArrayAgg(this=exp.Order(this=member, expressions=[exp.Ordered(this=member.copy())]))
    record = col("record", "i")
    return subquery(
        query([record, named(cast(listed, "text"), "members")], scratch(of, "i"), group=[record.copy()]),
        alias,
    )


def _told(quasi: Quasi) -> exp.Join:
    """What a record is released with in a column beside the set."""
    alias = f"b{quasi.number}"
    same = [equal(col("record", alias), col("rid", "r")), equal(col("place", alias), number(quasi.number))]
    return exp.Join(this=scratch("mdav_told", alias), on=every(same), side="left")


def _of_record(joined: exp.Expr, alias: str, record: exp.Expr) -> exp.Join:
    return exp.Join(this=joined, on=equal(col("record", alias), record), side="left")


def _is_released(*, with_concepts: bool, without: bool) -> exp.Expr:
    """Of a record and its class `c`: records without concepts have none."""
    unknown = exp.Is(this=col("record", "c"), expression=exp.Null())
    if with_concepts == without:
        return exp.true() if without else exp.false()
    return exp.Not(this=unknown) if with_concepts else unknown


def class_figures(fresh: Relation, sets: Quasi, ontologies: Sequence[str]) -> exp.Select:
    """Rows, classes of equal concepts, the smallest and the largest, and the sum of squared sizes."""
    sizes, size = _sizes(fresh, sets.name, ontologies), col("size", "s")
    square = cast(exp.Mul(this=size.copy(), expression=size.copy()), "numeric")
    return query(
        [
            cast(call("coalesce", exp.Sum(this=size), number(0)), "bigint"),
            exp.Count(this=exp.Star()),
            call("coalesce", exp.Min(this=size.copy()), number(0)),
            call("coalesce", exp.Max(this=size.copy()), number(0)),
            call("coalesce", exp.Sum(this=square), number(0)),
        ],
        sizes,
    )


def class_sizes(release: Relation, column: str, ontologies: Sequence[str]) -> exp.Select:
    """The number of records of each class of equal concepts."""
    size = col("size", "s")
    return query([named(size, "n")], _sizes(release, column, ontologies)).order_by(size.copy())


def rare_terms(fresh: Relation, sets: Quasi, k: int, ontologies: Sequence[str]) -> exp.Select:
    """How many released terms fewer than k records stand behind."""
    found_in = map(string, ontologies)
    rare = call("anondb.mdav_rare_terms", _named(fresh), string(sets.name), number(k), *found_in)
    return exp.select(rare)


def _named(release: Relation) -> exp.Expr:
    return cast(string(render(table(release.name, release.schema))), "regclass")


def _sizes(release: Relation, column: str, ontologies: Sequence[str]) -> exp.Table:
    sizes = call("anondb.concept_set_sizes", _named(release), string(column), *map(string, ontologies))
    return exp.Table(this=sizes, alias=exp.TableAlias(this=ident("s")))
