"""What a run reads is held before its snapshot is taken: a load that is under way is waited for, and then seen.

A snapshot that is older than the lock would show a table that was truncated and filled meanwhile as empty, and a
partitioned one as a part of itself. LOCK TABLE takes no snapshot, and holds partitions and the tables below a view.
It refuses materialized views, foreign tables and whoever may read some columns only. These are held by the other
connection until the run has its snapshot and has read them itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.db.execute import Executor
from anondb.errors import DatabaseError, UsageError
from anondb.run.statement import Statement
from anondb.sqltree.tables import Relation

# Whether LOCK TABLE holds a table and all that is read with it.
_CAN_BE_LOCKED = """
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
select not exists (select from below as b where b.relkind in ('m', 'f'))
       and (select pg_catalog.has_table_privilege(c.oid, 'select')
            from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
            where n.nspname = %(schema)s and c.relname = %(table)s)
"""

_LOCK = sql.SQL("lock table {} in access share mode")
_LOCK_ALONE = sql.SQL("lock table {} in share mode")
# Reads nothing, but the planner cannot know it, and locks every partition.
_READ = sql.SQL("select from {} where pg_catalog.pg_backend_pid() = 0")
_WAIT = sql.SQL("set local lock_timeout = {}")

_SNAPSHOT = "select pg_catalog.pg_current_snapshot()::text"
# The snapshot of this transaction against one that was taken when the locks were held: whatever had ended by then
# has ended here too. The first statement that has a snapshot.
_IS_NEWER = """
select pg_catalog.pg_snapshot_xmax(o.mine) >= pg_catalog.pg_snapshot_xmax(o.other)
       and not exists (
           select from pg_catalog.pg_snapshot_xip(o.mine) as x
           where x < pg_catalog.pg_snapshot_xmax(o.other)
             and x not in (select y from pg_catalog.pg_snapshot_xip(o.other) as y))
from (select pg_catalog.pg_current_snapshot() as mine, $1::pg_catalog.pg_snapshot as other) as o
"""
# The table that has the name now, and its partitions: are they what this session holds?
_IS_HELD = """
with recursive held as (
    select c.oid
    from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = $2
    union all
    select i.inhrelid from held as h join pg_catalog.pg_inherits as i on i.inhparent = h.oid
)
select count(*) > 0 and count(*) = count(*) filter (where exists (
    select from pg_catalog.pg_locks as l
    where l.locktype = 'relation' and l.pid = pg_catalog.pg_backend_pid() and l.granted and l.relation = h.oid))
from held as h
"""


def hold_source(
    db: Executor, beside: Connection, tables: Sequence[Relation], seconds: float, *, alone: bool = False
) -> None:
    """Comes first in the run's transaction: locks what the run will read, and only then takes its snapshot.

    `alone`: against writers, too. Sessions on several servers have no snapshot in common.
    """
    wait = _WAIT.format(sql.Literal(round(seconds * 1000)))
    db.run(Statement("wait", _text(db, wait)))
    others = [table for table in tables if not can_be_locked(beside, table)]
    if alone and others:
        raise UsageError(
            f"{others[0].schema}.{others[0].name} cannot be locked against writers",
            hint="leave --lock-source out, or read a table, or a view of tables, on which the role has SELECT",
        )
    lock = _LOCK_ALONE if alone else _LOCK
    for table in tables:
        if table not in others:
            db.run(Statement("lock source", _text(db, lock.format(_name(table)))))
    with _held(beside, others, wait) as snapshot:
        [is_newer] = db.one(Statement("snapshot", _IS_NEWER, (snapshot,)))
        for table in others:
            db.run(Statement("hold source", _text(db, _READ.format(_name(table)))))
    held = [db.one(Statement("source is held", _IS_HELD, (table.schema, table.name)))[0] for table in tables]
    if not (is_newer and all(held)):
        raise DatabaseError(
            "the source was changed while the run began", hint="nothing was read; run again in a moment"
        )


def can_be_locked(connection: Connection, table: Relation) -> bool:
    """Whether LOCK TABLE holds a table and all that is read with it."""
    with translated("looking up the source"):
        row = connection.execute(_CAN_BE_LOCKED, {"schema": table.schema, "table": table.name}).fetchone()
    return row is not None and bool(row[0])


@contextmanager
def _held(connection: Connection, tables: Sequence[Relation], wait: sql.Composed) -> Iterator[Any]:
    """Holds tables on another connection; gives a snapshot that was taken afterwards."""
    with translated("locking the source"), connection.transaction():
        connection.execute(wait)
        for table in tables:
            connection.execute(_READ.format(_name(table)))
        [(snapshot,)] = connection.execute(_SNAPSHOT).fetchall()
        yield snapshot


def _name(table: Relation) -> sql.Identifier:
    return sql.Identifier(table.schema, table.name)


def _text(db: Executor, statement: sql.Composed) -> str:
    return statement.as_string(db.connection)
