"""Publish by several processes at once: the release as a new table, made of a query that they share.

An INSERT cannot be planned for more than one process, and temporary tables are read by one alone. So what is looked up
is copied to where all processes of the run can read it, for as long as the rows are written: nobody else ever sees it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.run.persons_sql import kept_value
from anondb.run.publish_sql import (
    Chosen,
    in_their_classes,
    kept_columns,
    place_in_order,
    released_as,
    released_rows,
    same_value,
)
from anondb.sqltree.build import (
    call,
    cast,
    col,
    every,
    ident,
    named,
    named_type,
    number,
    query,
    scratch,
    star,
    string,
    subquery,
    table,
)
from anondb.sqltree.equality import own_form
from anondb.sqltree.tables import SHARED, Relation, Scratch, SourceColumn

# Types of which a value that is cast and collated is all that a column of them is; and how format_type() spells them.
_PLAIN_TYPES = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "numeric": "numeric",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
    "uuid": "uuid",
    "text": "text",
    "varchar": "character varying",
    "bpchar": "character",
}
_ROW_BYTES = 64  # of a row of the source, at the least


def can_make(columns: Sequence[SourceColumn]) -> bool:
    """Whether casts make these columns what they are: types of the server's own, no domain and nobody's extension."""
    return all(
        c.base in _PLAIN_TYPES and c.type.split("(")[0].split(" with")[0] == _PLAIN_TYPES[c.base]
        for c in columns
    )


def gains(names: Scratch) -> exp.Select:
    """Whether the server would share out so many rows among processes, and this role may put down what they share."""
    total = subquery(query([exp.Sum(this=col("n", "r"))], scratch(names.raw, "r")))
    size = exp.Mul(this=total, expression=number(_ROW_BYTES))
    workers = cast(call("current_setting", string("max_parallel_workers_per_gather")), "int")
    least = call("pg_size_bytes", call("current_setting", string("min_parallel_table_scan_size")))
    conditions = [
        exp.GTE(this=size, expression=least),
        exp.GT(this=workers, expression=number(0)),
        call("has_schema_privilege", string(SHARED), string("create")),
    ]
    return exp.select(named(call("coalesce", every(conditions), exp.false()), "gains"))


def keys(names: Scratch) -> exp.Create:
    return _unlogged(Relation(SHARED, names.keys), query([star("k")], scratch(names.keys, "k")))


def combinations(names: Scratch, chosen: Sequence[Chosen]) -> exp.Create:
    """With a hash of all values: the planner knows how many of them there are, and so which side to look up."""
    values = [col(c.quasi.raw, "v") for c in chosen]
    rows = query([star("v"), named(_hash(values), "hash")], scratch(names.combinations, "v"))
    return _unlogged(Relation(SHARED, names.combinations), rows)


def analyze(name: str) -> exp.Analyze:
    return exp.Analyze(tables=[table(name, SHARED)])


def forget(names: Scratch) -> exp.Drop:
    shared = [table(name, SHARED) for name in (names.keys, names.combinations)]
    return exp.Drop(tables=shared, kind="TABLE")


def drop(relation: Relation) -> exp.Drop:
    return exp.Drop(tables=[table(relation.name, relation.schema)], kind="TABLE")


def release(
    names: Scratch,
    source: Relation,
    fresh: Relation,
    columns: Sequence[SourceColumn],
    chosen: Sequence[Chosen],
    made: Sequence[SourceColumn],
    *,
    unlogged: bool,
) -> exp.Create:
    """The second pass over the source: every record whose combination of values is released.

    `columns` are the source's, with the forms that they are released in; `made` are those of the release.
    """
    kept = [kept_value(column, "s") for column in kept_columns(columns, chosen)]
    rows = released_rows(chosen, kept, "v").from_(table(source.name, source.schema, "s"))
    hashed = exp.EQ(this=_hash([own_form(c.quasi, "s") for c in chosen]), expression=col("hash", "v"))
    # a case is no key of a hash join, but a condition on what the hash has found
    same = exp.Case().when(every(list(map(same_value, chosen))), exp.true())
    rows = rows.join(table(names.combinations, SHARED, "v"), on=exp.and_(hashed, same))
    released = released_as(columns, chosen)
    typed = [named(typed_as(col(released[c.name], "x"), c), c.name) for c in made]
    placed = in_their_classes(rows, names, columns, chosen, SHARED)
    select = exp.select(*typed).from_(placed.subquery("x")).order_by(place_in_order(placed))
    return made_of(fresh, select, unlogged=unlogged)


def made_of(fresh: Relation, rows: exp.Query, *, unlogged: bool) -> exp.Create:
    """The release of rows that have its columns and types; what they are ordered by stands at their top."""
    return _unlogged(fresh, rows) if unlogged else _create(fresh, rows)


def _hash(values: Sequence[exp.Expr]) -> exp.Expr:
    return call("hash_record_extended", call("row", *values), number(0))


def typed_as(value: exp.Expr, column: SourceColumn) -> exp.Expr:
    """A value as its column is declared."""
    typed = cast(value, column.type)
    if not column.is_text:
        return typed
    own = exp.Dot(this=ident("pg_catalog"), expression=ident("default"))
    return exp.Collate(
        this=exp.paren(typed), expression=named_type(column.collation) if column.collation else own
    )


def _create(relation: Relation, rows: exp.Query) -> exp.Create:
    return exp.Create(this=table(relation.name, relation.schema), kind="TABLE", expression=rows)


def _unlogged(relation: Relation, rows: exp.Query) -> exp.Create:
    made = _create(relation, rows)
    made.set("properties", exp.Properties(expressions=[exp.UnloggedProperty()]))
    return made
