"""The stage: rows of a release as workers have made them, spread as the release will be, and not yet in order.

Sorted while rows travel between workers, an insert would bring all of them to the coordinator. So they are written
twice: as they come, and from there, within each shard, in order. What they are spread by, the surrogate, is a keyed
hash of the whole row of the source: without the key it says nothing, and it is not the source's own column, which may
name a person. Rows that are equal get numbers of their own, or they would all lie on one shard and be known as equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anondb.run.citus.layout import SHARD
from anondb.run.keyed_sql import Key, with_keys
from anondb.run.persons_sql import kept_value, key_of
from anondb.run.publish_sql import Chosen, collation, kept_columns, released_as, released_rows, same_value
from anondb.sqltree.build import (
    call,
    cast,
    col,
    concat,
    divided,
    ident,
    named,
    named_type,
    number,
    plus,
    query,
    scratch,
    star,
    string,
    subquery,
    table,
)
from anondb.sqltree.equality import own_value
from anondb.sqltree.render import render
from anondb.sqltree.tables import SHARED, Relation, Scratch, SourceColumn

PERSON, COPIES = "u", "n"
MOST_PARTS = 64
"""Equal rows that were counted together go to so many places at most."""
_RECORD, _COPY = "record", "nth"


def create(stage: Relation, columns: Sequence[SourceColumn], *, person: bool, counted: bool) -> exp.Create:
    """The empty stage: r1 … are the columns of the release."""
    own = [("class", "integer"), ("hash", "bytea")]
    last = [(SHARD.name, SHARD.type), *([(PERSON, "bigint")] if person else [])]
    last += [(COPIES, "bigint")] if counted else []
    definitions = [exp.ColumnDef(this=ident(name), kind=named_type(type_)) for name, type_ in own]
    definitions += [
        exp.ColumnDef(this=ident(f"r{i}"), kind=named_type(c.type), constraints=collation(c))
        for i, c in enumerate(columns, 1)
    ]
    definitions += [exp.ColumnDef(this=ident(name), kind=named_type(type_)) for name, type_ in last]
    return _unlogged(stage, definitions)


def distribute(relation: Relation, column: str, *, beside: Relation | None, shards: int) -> exp.Select:
    """Spreads an empty table over the workers, its shards beside those of another one or on their own."""
    arguments: list[exp.Expr] = [string(_text(relation)), string(column)]
    if beside is not None:
        arguments.append(exp.PropertyEQ(this=ident("colocate_with"), expression=string(_text(beside))))
    else:
        arguments.append(exp.PropertyEQ(this=ident("colocate_with"), expression=string("none")))
        arguments.append(exp.PropertyEQ(this=ident("shard_count"), expression=number(shards)))
    return exp.select(call("create_distributed_table", *arguments))


def insert_records(
    names: Scratch,
    source: Relation,
    stage: Relation,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
    *,
    numbered_by: str | None,
    unit: SourceColumn | None,
) -> exp.Insert:
    """Every record of the source that is released. `numbered_by`, where equal records may occur: by what these
    lie apart, so that each worker can number its own."""
    kept = kept_columns(columns, chosen)
    rows = released_rows(chosen, [kept_value(column, "s") for column in kept], "v")
    record = keyed_bytes([call("row", cast(string("shard"), "text"), star("s"))])
    rows = rows.select(named(record, _RECORD))
    if numbered_by is not None:
        copy = exp.Window(this=call("row_number"), partition_by=[col(numbered_by, "s"), record.copy()])
        rows = rows.select(named(copy, _COPY))
    if unit is not None:
        person = exp.Array(expressions=[own_value(unit, "s")])
        texts = [string("person"), cast(person, "text")]
        rows = rows.select(named(first_bytes(keyed_bytes(texts)), PERSON))
    rows = rows.from_(table(source.name, source.schema, "s"))
    rows = rows.join(scratch(names.combinations, "v"), on=exp.and_(*map(same_value, chosen)))
    rows = with_keys(rows, names)
    copies = [] if numbered_by is None else [call("int8send", col(_COPY, "x"))]
    shard = first_bytes(call("sha256", concat([col(_RECORD, "x"), *copies])))
    more = {SHARD.name: shard} | ({PERSON: col(PERSON, "x")} if unit is not None else {})
    return _into_stage(stage, columns, chosen, rows, more)


def insert_counted(
    names: Scratch,
    stage: Relation,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
    insert: exp.Expr,
) -> exp.Insert:
    """Rows that were counted as a whole, each count in as many parts as places that its copies go to.

    `insert` is what would write them here: of rows in order, with a column `copy` that makes copies of them.
    """
    found = insert.find(exp.Subquery)
    assert found is not None
    rows = found.this.copy()
    rows.set("order", None)
    [copies] = [part for part in rows.expressions if part.alias_or_name == "copy"]
    times = copies.unalias().expressions[1]
    copies.replace(named(cast(times.copy(), "bigint"), COPIES))
    parts = exp.Least(this=col(COPIES, "y"), expressions=[number(MOST_PARTS)])
    series = exp.Table(
        this=call("generate_series", number(1), parts),
        alias=exp.TableAlias(this=ident("b"), columns=[ident("part")]),
    )
    each = divided(col(COPIES, "y"), exp.paren(parts.copy()))
    rest = exp.Mod(this=col(COPIES, "y"), expression=exp.paren(parts.copy()))
    one_more = exp.Case().when(exp.LTE(this=col("part", "b"), expression=rest), number(1)).else_(number(0))
    values = [cast(col(place, "y"), "text") for place in dict.fromkeys(released_as(columns, chosen).values())]
    texts: list[exp.Expr] = [string("shard"), *values, cast(col("part", "b"), "text")]
    spread = exp.select(star("y"), named(plus(each, one_more), "parts"))
    spread = spread.select(named(first_bytes(keyed_bytes(texts)), SHARD.name)).from_(subquery(rows, "y"))
    spread.append("joins", exp.Join(this=series, kind="CROSS"))
    more = {SHARD.name: col(SHARD.name, "x"), COPIES: col("parts", "x")}
    return _into_stage(stage, columns, chosen, with_keys(spread, names), more, rows)


def keyed_bytes(values: Sequence[exp.Expr]) -> exp.Expr:
    """A keyed hash, by functions of the server's own, as workers have these."""
    inner, outer = key_of(Key.RECORD.name.lower())
    one = values[0] if len(values) == 1 else exp.Array(expressions=[cast(v, "text") for v in values])
    message = call("convert_to", cast(one, "text"), call("getdatabaseencoding"))
    return call("sha256", concat([outer, call("sha256", concat([inner, message]))]))


def first_bytes(hashed: exp.Expr) -> exp.Expr:
    """Eight bytes of a hash, as a number."""
    digits = call("substr", call("encode", hashed, string("hex")), number(1), number(16))
    return cast(cast(exp.paren(concat([string("x"), digits])), "bit(64)"), "bigint")


def release(
    stage: Relation, fresh: Relation, columns: Sequence[SourceColumn], *, spread: bool, counted: bool
) -> exp.Insert:
    """The rows of the stage in order, as the release has them: in each shard its own, if the release is spread."""
    written = [ident(c.name) for c in columns]
    values: list[exp.Expr] = [col(f"r{i}", "t") for i, _ in enumerate(columns, 1)]
    if spread:
        written.append(ident(SHARD.name))
        values.append(col(SHARD.name, "t"))
    rows = exp.select(*values).from_(table(stage.name, stage.schema, "t"))
    if counted:
        copies = call("generate_series", number(1), col(COPIES, "t"))
        series = exp.Table(this=copies, alias=exp.TableAlias(this=ident("b"), columns=[ident("copy")]))
        rows.append("joins", exp.Join(this=series, kind="CROSS"))
    rows = rows.order_by(concat([call("int4send", col("class", "t")), col("hash", "t")]))
    return exp.Insert(this=_columns(fresh, written), expression=rows)


def create_persons(persons: Relation) -> exp.Create:
    kinds = (("class", "integer"), (PERSON, "bigint"))
    return _unlogged(persons, [exp.ColumnDef(this=ident(n), kind=named_type(t)) for n, t in kinds])


def insert_persons(stage: Relation, persons: Relation) -> exp.Insert:
    """Each row's person and class, spread by the person: the workers can count persons from here on."""
    rows = exp.select(col("class", "t"), col(PERSON, "t")).from_(table(stage.name, stage.schema, "t"))
    return exp.Insert(this=_columns(persons, [ident("class"), ident(PERSON)]), expression=rows)


def fewest_persons(persons: Relation) -> exp.Select:
    """The smallest number of persons in a class that was written, if there is one."""
    count = exp.Count(this=exp.Distinct(expressions=[col(PERSON, "t")]))
    each = query([named(count, "p")], table(persons.name, persons.schema, "t"), group=[col("class", "t")])
    return each.order_by(number(1)).limit(number(1))


def drop(relation: Relation) -> exp.Drop:
    return exp.Drop(tables=[table(relation.name, relation.schema)], kind="TABLE")


def stage_of(names: Scratch) -> Relation:
    return Relation(SHARED, f"r{names.run}{names.part}_stage")


def persons_of(names: Scratch) -> Relation:
    return Relation(SHARED, f"r{names.run}{names.part}_stage_person")


def _into_stage(
    stage: Relation,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
    rows: exp.Select,
    more: Mapping[str, exp.Expr],
    shape: exp.Select | None = None,
) -> exp.Insert:
    released = released_as(columns, chosen)
    places = [released[name] for column in columns for name in column.shown]
    has_order = not any(
        part.alias_or_name == "order" and isinstance(part.unalias(), exp.Literal)
        for part in (shape or rows).expressions
    )
    order = col("order", "x") if has_order else cast(string(""), "bytea")
    values: list[exp.Expr] = [col("class", "x"), order, *[col(place, "x") for place in places]]
    values += more.values()
    written = ["class", "hash", *[f"r{i}" for i, _ in enumerate(places, 1)], *more]
    return exp.Insert(
        this=_columns(stage, [ident(name) for name in written]),
        expression=exp.select(*values).from_(subquery(rows, "x")),
    )


def _columns(relation: Relation, names: Sequence[exp.Identifier]) -> exp.Schema:
    return exp.Schema(this=table(relation.name, relation.schema), expressions=list(names))


def _unlogged(relation: Relation, definitions: Sequence[exp.ColumnDef]) -> exp.Create:
    schema = exp.Schema(this=table(relation.name, relation.schema), expressions=list(definitions))
    properties = exp.Properties(expressions=[exp.UnloggedProperty()])
    return exp.Create(this=schema, kind="TABLE", properties=properties)


def _text(relation: Relation) -> str:
    return render(table(relation.name, relation.schema))
