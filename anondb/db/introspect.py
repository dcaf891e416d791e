"""Reads what compiling needs from the catalogues of PostgreSQL and of anondb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from anondb.db import citus
from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.db.session import Session, user_path
from anondb.errors import UsageError, did_you_mean
from anondb.policy.model import Name, Policy
from anondb.policy.names import LONGEST
from anondb.run.snapshot import Snapshot, SourceInfo, StoredInfo, TargetInfo
from anondb.sqltree.tables import Relation, SourceColumn

SOURCE_KINDS = "rpvmf"  # tables, partitioned tables, views, materialized views, foreign tables

# A name without a schema is looked for where the user's search path would find it, and a connection that is not
# ours has that path still.
_RELATION = """
select n.nspname, c.relname, c.relkind::text
from pg_catalog.unnest(case when %(schema)s::text is not null then array[%(schema)s::text]
                            else coalesce(%(path)s::text[], pg_catalog.current_schemas(true)::text[]) end)
     with ordinality as p (schema, place)
join pg_catalog.pg_namespace as n
  on n.oid = case p.schema when 'pg_temp' then pg_catalog.pg_my_temp_schema()
                           else (select s.oid from pg_catalog.pg_namespace as s where s.nspname = p.schema) end
join pg_catalog.pg_class as c on c.relnamespace = n.oid and c.relname = %(table)s
order by p.place limit 1
"""

_COLUMNS = """
with recursive base as (
    select t.oid as type, t.oid, t.typbasetype, t.typname, t.typnamespace from pg_catalog.pg_type as t
    union all
    select b.type, t.oid, t.typbasetype, t.typname, t.typnamespace
    from base as b join pg_catalog.pg_type as t on t.oid = b.typbasetype
)
select a.attname,
       pg_catalog.format_type(a.atttypid, a.atttypmod),
       case when b.typnamespace = 'pg_catalog'::regnamespace then b.typname else 'user' end,
       case when a.attcollation <> t.typcollation
            then (select pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.collname)
                  from pg_catalog.pg_collation as c
                  join pg_catalog.pg_namespace as n on n.oid = c.collnamespace
                  where c.oid = a.attcollation) end,
       (select case when d.n_distinct < 0 then -d.n_distinct * r.reltuples else d.n_distinct end
        from pg_catalog.pg_stats as d
        where d.schemaname = s.nspname and d.tablename = r.relname and d.attname = a.attname
        order by d.inherited desc limit 1),
       -- an index of a table says nothing of the rows that it inherits
       a.attnotnull and (r.relkind = 'p' or not r.relhassubclass) and exists (
           select from pg_catalog.pg_index as i
           where i.indrelid = a.attrelid and i.indisunique and i.indimmediate and i.indisvalid
             and i.indpred is null and i.indnkeyatts = 1 and i.indkey[0] = a.attnum
             -- by the type's own equality: an index of texts tells apart what a citext takes for equal
             and i.indcollation[0] = a.attcollation and exists (
                 select from pg_catalog.pg_opclass as o
                 where o.oid = i.indclass[0] and o.opcdefault and (o.opcintype = b.oid or not exists (
                     select from pg_catalog.pg_opclass as d
                     where d.opcmethod = o.opcmethod and d.opcdefault and d.opcintype = b.oid)))),
       case when anondb.has_equality(b.oid) then pg_catalog.format_type(b.oid, -1) end,
       (select pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.collname)
        from pg_catalog.pg_collation as c
        join pg_catalog.pg_namespace as n on n.oid = c.collnamespace
        where c.oid = a.attcollation and not c.collisdeterministic)
from pg_catalog.pg_attribute as a
join pg_catalog.pg_type as t on t.oid = a.atttypid
join base as b on b.type = a.atttypid and b.typbasetype = 0
join pg_catalog.pg_class as r on r.oid = a.attrelid
join pg_catalog.pg_namespace as s on s.oid = r.relnamespace
where s.nspname = %(schema)s and r.relname = %(table)s and a.attnum > 0 and not a.attisdropped
order by a.attnum
"""

_CATEGORIES = """
select a.attname, t.typcategory::text
from pg_catalog.pg_attribute as a
join pg_catalog.pg_type as t on t.oid = a.atttypid
join pg_catalog.pg_class as c on c.oid = a.attrelid
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = %(schema)s and c.relname = %(table)s and a.attnum > 0 and not a.attisdropped
order by a.attnum
"""

_TARGET = """
select t.oid::bigint, t.kind::text, t.ours, t.may_replace
from anondb.release_at(%(schema)s, %(table)s, %(name)s) as t
"""

_ROWS = """
select greatest(c.reltuples, 0),
       case when c.relkind in ('r', 'm') then pg_catalog.pg_relation_size(c.oid) / 40.0 else 'infinity' end
from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = %(schema)s and c.relname = %(table)s
"""

# of a table that others inherit from, a key says nothing of their rows
_KEY = """
select a.attname
from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
join pg_catalog.pg_index as i on i.indrelid = c.oid and i.indisprimary and i.indimmediate and i.indisvalid
cross join lateral pg_catalog.unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum = k.attnum
where n.nspname = %(schema)s and c.relname = %(table)s and (c.relkind = 'p' or not c.relhassubclass)
order by k.place
"""

_SCHEMA = "select exists (select from pg_catalog.pg_namespace as n where n.nspname = %(schema)s)"

_NEIGHBOURS = """
select c.relname from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname = coalesce(%(schema)s, %(here)s, pg_catalog.current_schema())
"""

_HIERARCHIES = """
select v.name, v.id, v.height, anondb.label_without_sense(n.label)
from anondb.vgh as v
join anondb.vgh_node as n on n.vgh = v.id and n.parent is null
"""

_ONTOLOGIES = "select o.name from anondb.ontology as o order by o.name"


def resolve_source(connection: Connection, name: Name, role: str = "source") -> Relation:
    """A table that is read, with its schema, found as the search path finds it; errors tell its role."""
    with translated(f"looking up the {role}"):
        path = user_path(connection)
        rows = _rows(connection, _RELATION, schema=name.schema, table=name.table, path=path)
        if rows and rows[0][2] in SOURCE_KINDS:
            return Relation(*rows[0][:2])
        neighbours = [
            table for (table,) in _rows(connection, _NEIGHBOURS, schema=name.schema, here=_here(connection))
        ]
    what = "does not exist" if not rows else "is not a table, a view or a foreign table"
    raise UsageError(
        f"{role} {name} {what}",
        hint=did_you_mean(name.table, neighbours) or "names are taken as the catalogue spells them",
    )


def column_categories(connection: Connection, relation: Relation) -> dict[str, str]:
    """The columns of a table, and what PostgreSQL takes their types for: N numbers, D dates, S texts, …"""
    with translated("reading the catalogue"):
        return dict(_rows(connection, _CATEGORIES, schema=relation.schema, table=relation.name))


def resolve_target(connection: Connection, name: Name) -> Relation:
    """The target with its schema: the one it names, or the first of the search path."""
    if name.schema is not None:
        return Relation(name.schema, name.table)
    with translated("reading the search path"):
        schema = _here(connection)
    if schema is None:
        raise UsageError(
            f"target {name} names no schema, and the search path has none",
            hint="write target = 'schema.table'",
        )
    return Relation(schema, name.table)


def resolve_items(connection: Connection, policy: Policy) -> dict[str, Relation]:
    """The tables of items that a policy names, by the columns that are made of them."""
    named = {column.name: column.items for column in policy.columns if column.items is not None}
    return {name: resolve_source(connection, items.table, "table of items") for name, items in named.items()}


def snapshot(
    connection: Connection,
    source: Relation,
    target: Relation | TargetInfo,
    items: Mapping[str, Relation] | None = None,
    *,
    with_ontologies: bool = False,
    named: Relation | None = None,
) -> Snapshot:
    """The source, the target (unless all is known of it) and the stored hierarchies, as this role sees them.

    Ontologies are for policies that name one: others may be run by roles that cannot read them. `named` is the target
    in the history, where it is another.
    """
    with translated("reading the catalogue"):
        place = {"schema": source.schema, "table": source.name}
        [(rows, size)] = _rows(connection, _ROWS, **place)
        stored = {name: StoredInfo(*info) for name, *info in _rows(connection, _HIERARCHIES)}
        return Snapshot(
            citus.with_distribution(
                connection,
                SourceInfo(source, _columns(connection, source), rows, _key(connection, place), float(size)),
            ),
            target if isinstance(target, TargetInfo) else _target(connection, target, named),
            stored,
            {name: SourceInfo(there, _columns(connection, there)) for name, there in (items or {}).items()},
            ontologies=tuple(name for (name,) in _rows(connection, _ONTOLOGIES)) if with_ontologies else (),
        )


def columns(connection: Connection, relation: Relation) -> tuple[SourceColumn, ...]:
    """The columns of a table."""
    with translated("reading the catalogue"):
        return _columns(connection, relation)


def columns_of(connection: Connection, relation: Relation) -> tuple[SourceColumn, ...]:
    """The columns of a table in its order."""
    with translated("reading the catalogue"):
        return _columns(connection, relation)


def _columns(connection: Connection, relation: Relation) -> tuple[SourceColumn, ...]:
    rows = _rows(connection, _COLUMNS, schema=relation.schema, table=relation.name)
    return tuple(SourceColumn(*row) for row in rows)


def _key(connection: Connection, place: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for (name,) in _rows(connection, _KEY, **place))


def with_other_shapes(
    connection: Connection, catalogue: Snapshot, tables: Sequence[Relation], *, has_them: bool
) -> Snapshot:
    """The same with what stands at the names of a release of several tables; `has_them`: the new one is such.

    Of the shape that the new release does not have, what an earlier run left there outlives it.
    """
    target = catalogue.target
    with translated("reading the catalogue"):
        several = tuple(_target(connection, table, target.relation) for table in tables)
    others = (target,) if has_them else several
    catalogue = replace(catalogue, outlived=tuple(other for other in others if other.ours))
    if not has_them:
        return catalogue
    return replace(catalogue, target=TargetInfo(target.relation, target.schema_exists), tables=several)


def _target(connection: Connection, target: Relation, named: Relation | None = None) -> TargetInfo:
    """What stands at a place; `named` is the target in the history, where it is another."""
    place = {"schema": target.schema, "table": target.name}
    [(schema_exists,)] = _rows(connection, _SCHEMA, **place)
    # PostgreSQL would cut a name that is too long, and find another table by it
    is_possible = len(target.name.encode()) <= LONGEST
    rows = _rows(connection, _TARGET, name=target_text(named or target), **place) if is_possible else []
    if not rows:
        return TargetInfo(target, schema_exists)
    info = TargetInfo(target, schema_exists, *rows[0])
    return replace(info, columns=_columns(connection, target)) if info.ours else info


def target_text(relation: Relation) -> str:
    """How the history names a target."""
    return str(Name(relation.schema, relation.name))


def _here(connection: Connection) -> str | None:
    """The schema in which the user makes tables that have none."""
    if isinstance(connection, Session):
        return connection.user_schema
    [(schema,)] = _rows(connection, "select pg_catalog.current_schema()")
    return None if schema is None else str(schema)


def _rows(connection: Connection, query: str, **parameters: object) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode(), parameters).fetchall()
