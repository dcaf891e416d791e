"""A source that Citus has distributed: which tables, by which column, and what their shards know of themselves.

The coordinator's own statistics of such a table are those of an empty one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import psycopg
from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import DatabaseError, UsageError
from anondb.run.snapshot import Distribution, SourceInfo
from anondb.sqltree.tables import Relation

_HERE = "select exists (select from pg_catalog.pg_extension as e where e.extname = 'citus')"
_IS_WORKER = "select l.groupid <> 0 from pg_catalog.pg_dist_local_group as l"
_TABLES = """
with recursive below as (
    select c.oid, c.relkind
    from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = %(schema)s and c.relname = %(table)s
    union
    select t.oid, t.relkind
    from below as b
    join pg_catalog.pg_rewrite as r on r.ev_class = b.oid and b.relkind = 'v'
    join pg_catalog.pg_depend as d
        on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = r.oid
        and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    join pg_catalog.pg_class as t on t.oid = d.refobjid
)
select n.nspname, c.relname, pg_catalog.column_to_column_name(p.logicalrelid, p.partkey),
       (select count(*) from pg_catalog.pg_dist_shard as s where s.logicalrelid = p.logicalrelid),
       p.logicalrelid::oid::bigint
from below as b
join pg_catalog.pg_dist_partition as p on p.logicalrelid = b.oid and p.partmethod = 'h'
join pg_catalog.pg_class as c on c.oid = b.oid join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
order by 1, 2
"""
_NAMES = """
select a.attname from pg_catalog.pg_attribute as a
join pg_catalog.pg_class as c on c.oid = a.attrelid join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = %(schema)s and c.relname = %(table)s and a.attnum > 0 and not a.attisdropped
"""
# in every shard, whose name Citus puts in the place of its mark
_STATISTICS = """
select pg_catalog.json_build_object('rows', greatest(c.reltuples, 0), 'distinct', (
    select pg_catalog.json_object_agg(s.attname, s.n_distinct) from pg_catalog.pg_stats as s
    join pg_catalog.pg_namespace as n on n.nspname = s.schemaname
    where n.oid = c.relnamespace and s.tablename = c.relname))
from pg_catalog.pg_class as c where c.oid = '%s'::pg_catalog.regclass
"""
_ON_SHARDS = sql.SQL("select r.success, r.result from pg_catalog.run_command_on_shards({}, {}) as r")
_EXPLAIN = sql.SQL("explain (format json, costs off) select {} from {} group by {}")
_WINDOW = sql.SQL("explain (format json, costs off) select row_number() over (partition by {}) from {}")
_OURS = """
select r.nodename || ':' || r.nodeport from pg_catalog.run_command_on_workers(
    $cmd$select count(*) from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
         where n.nspname = 'anondb' and p.proname in ('noisy', 'rounded')$cmd$) as r
where not r.success or r.result::int < 2
"""
DEAD = "start it again, or take it out of the cluster (citus_remove_node); nothing was changed"


def is_here(connection: Connection) -> bool:
    """Whether this database belongs to a cluster."""
    with translated("reading the catalogue"):
        [(here,)] = connection.execute(_HERE).fetchall()
    return bool(here)


def require_coordinator(connection: Connection) -> None:
    """Raises at a worker: what it knows of a cluster is its own part."""
    if not is_here(connection):
        return
    with translated("reading the catalogue of Citus"):
        [(is_worker,)] = connection.execute(_IS_WORKER).fetchall()
    if is_worker:
        raise UsageError(
            "this is a worker of a Citus cluster, and a run starts at the coordinator",
            hint="give the coordinator's address in --dsn",
        )


def with_distribution(connection: Connection, source: SourceInfo) -> SourceInfo:
    """A source with how it is distributed, if it is, and with the statistics of its shards."""
    if not is_here(connection):
        return source
    place = {"schema": source.relation.schema, "table": source.relation.name}
    with translated("reading the catalogue of Citus"):
        found: list[tuple[Any, ...]] = connection.execute(_TABLES, place).fetchall()
        if not found:
            return source
    tables = tuple(Relation(schema, name) for schema, name, *_ in found)
    statistics = [_statistics(connection, table) for table in tables]
    column = _column(connection, source.relation, {name for _, _, name, *_ in found})
    distribution = Distribution(
        column,
        max(int(shards) for *_, shards, _ in found),
        tables,
        tuple(int(oid) for *_, oid in found),
    )
    if tables != (source.relation,):
        rows = max(sum(one["rows"] for one in shards) for shards in statistics)
        return replace(source, rows=max(source.rows, rows), distribution=distribution)
    [shards] = statistics
    columns = tuple(
        replace(one, distinct=_distinct(shards, one.name, apart=one.name == column)) for one in source.columns
    )
    return replace(
        source, columns=columns, rows=sum(one["rows"] for one in shards), distribution=distribution
    )


def require_shared_out(connection: Connection, source: SourceInfo) -> None:
    """Raises, in the words of Citus, where a count of the source would not be made where its rows lie."""
    if source.distribution is None:
        return
    names = [sql.Identifier("s", column.name) for column in source.columns if column.compared_as is not None]
    table = sql.SQL("{} as s").format(_name(source.relation))
    places = sql.SQL(", ").join(sql.SQL(str(place)) for place, _ in enumerate(names, 1))
    statement = _EXPLAIN.format(sql.SQL(", ").join([*names, sql.SQL("count(*)")]), table, places)
    plan = _plan(connection, statement, "looking at how the source is read")
    if pulled(plan):
        raise UsageError(
            f"Citus would bring all rows of {source.relation.schema}.{source.relation.name} to the coordinator",
            hint="make the source a table, or a view that joins by the distribution column, without "
            "LIMIT, DISTINCT or windows over all rows",
        )


def require_functions(connection: Connection) -> None:
    """Raises where workers lack the functions that released values are made with."""
    with translated("looking up functions on the workers"):
        lacking = [str(node) for (node,) in connection.execute(_OURS)]
    if lacking:
        raise DatabaseError(
            f"workers lack functions of anondb, or do not answer: {', '.join(sorted(lacking))}",
            hint="run anondb db upgrade on the coordinator while all workers answer",
        )


def pulled(plan: Any) -> bool:
    """Whether a plan of Citus reads distributed rows in a part of its own, whose answer it then spreads again."""
    if isinstance(plan, list):
        return any(map(pulled, plan))
    if not isinstance(plan, dict):
        return False
    parts = plan.get("Subplans", [])
    return any(_is_distributed(part) for part in parts) or any(map(pulled, plan.values()))


def _is_distributed(plan: Any) -> bool:
    if isinstance(plan, list):
        return any(map(_is_distributed, plan))
    return isinstance(plan, dict) and (
        "Distributed Query" in plan or any(map(_is_distributed, plan.values()))
    )


def _column(connection: Connection, source: Relation, names: set[str]) -> str | None:
    """The column by which the rows of the source, a table or a view, lie apart: a window by it needs no exchange."""
    place = {"schema": source.schema, "table": source.name}
    with translated("reading the catalogue"):
        there = {name for (name,) in connection.execute(_NAMES, place)}
    for name in sorted(names & there):
        statement = _WINDOW.format(sql.Identifier(name), _name(source))
        try:
            plan = _plan(connection, statement, "looking at the distribution column")
        except UsageError:
            continue
        if not pulled(plan) and plan[0]["Plan"].get("Node Type") == "Custom Scan":
            return name
    return None


def _plan(connection: Connection, statement: sql.Composed, doing: str) -> Any:
    try:
        with connection.transaction():
            [(plan,)] = connection.execute(statement).fetchall()
    except psycopg.errors.OperationalError as error:
        if error.sqlstate is None or error.sqlstate.startswith(("08", "57")):
            with translated(doing):
                raise
        raise _in_its_words(error) from None
    except (psycopg.errors.InternalError, psycopg.errors.NotSupportedError) as error:
        raise _in_its_words(error) from None
    return json.loads(plan) if isinstance(plan, str) else plan


def _in_its_words(error: psycopg.Error) -> UsageError:
    """What Citus says of a statement that it only planned: it has seen no row."""
    said = error.diag.message_primary or "it gives no reason"
    hint = (
        error.diag.message_hint or "make the source a table, or a view that joins by the distribution column"
    )
    return UsageError(f"Citus cannot read this source where its rows lie: {said}", hint=hint)


def _statistics(connection: Connection, table: Relation) -> Sequence[Mapping[str, Any]]:
    name = _name(table).as_string(connection)
    ask = _ON_SHARDS.format(sql.Literal(name), sql.Literal(_STATISTICS))
    try:
        with translated("asking the shards of the source"):
            answers = connection.execute(ask).fetchall()
    except DatabaseError as error:
        raise DatabaseError(f"a worker of the cluster does not answer: {error.message}", hint=DEAD) from None
    if not all(success for success, _ in answers):
        raise DatabaseError("not all workers of the cluster answer", hint=DEAD)
    return [json.loads(str(result)) for _, result in answers]


def _distinct(shards: Sequence[Mapping[str, Any]], name: str, *, apart: bool) -> float | None:
    """How many values a column has: values of different shards may be the same, unless rows lie apart by it."""
    counts: list[float] = []
    several = apart
    for shard in shards:
        if not shard["rows"]:
            continue
        count = (shard["distinct"] or {}).get(name)
        if count is None:
            return None
        several = several or count < 0
        counts.append(-count * shard["rows"] if count < 0 else count)
    if not counts:
        return None
    return float(sum(counts) if several else max(counts))


def _name(table: Relation) -> sql.Identifier:
    return sql.Identifier(table.schema, table.name)
