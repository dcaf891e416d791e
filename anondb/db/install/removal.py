"""What in the database is ours, who uses it, and how to drop it: for the removal and for each upgrade."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

import psycopg
from psycopg import errors
from psycopg.rows import args_row

from anondb.db.errors import translate
from anondb.db.install.trust import require_ours
from anondb.errors import BusyError, DatabaseError, UsageError
from anondb.run.snapshot import SCHEMAS

if TYPE_CHECKING:
    from anondb.db.connection import Connection

# A run's tables in anondb_work are named after the run; they are nobody's but ours.
_SCRATCH = re.compile(r"table anondb_work\.r\d+_\w+")

_LOCK_KEY = int.from_bytes(b"anondb")

_BEGIN = (
    # The first snapshot is taken by the statement that waits for the lock. Only at this level does the
    # next one see what the session before us has installed.
    "set transaction isolation level read committed",
    "set local search_path = pg_catalog, pg_temp",
    "set local check_function_bodies = on",
    "select set_config('lock_timeout', '60s', true) where current_setting('lock_timeout') = '0'",
)

_OWNER = """
select pg_get_userbyid(coalesce(
    (select c.relowner from pg_catalog.pg_class as c
     where c.relnamespace = n.oid and c.relname = 'install'), n.nspowner))
from pg_catalog.pg_namespace as n where n.nspname = 'anondb'
"""

_MAY_CREATE = """
select format('an administrator can allow it: grant create on database %I to %I;',
              current_database(), current_user)
"""

# Each object of a schema has a normal dependency on it. What also has an automatic or an internal one on
# something else (row types, the sequences of identity columns) is a part of that, and goes with it.
_THINGS = """
select o.classid, o.objid, format('%%s %%s', i.type, replace(i.identity, 'pg_catalog.', '')),
       format('drop %%s %%s', case when o.classid = 'pg_proc'::regclass then 'routine' else i.type end,
              i.identity)
from (select n.tableoid as classid, n.oid as objid
      from pg_namespace as n where n.nspname = any(%(schemas)s)
      union all
      select d.classid, d.objid
      from pg_namespace as n join pg_depend as d on d.refclassid = n.tableoid and d.refobjid = n.oid
      where n.nspname = any(%(schemas)s) and d.deptype = 'n' and not exists (
          select from pg_depend as p
          where p.classid = d.classid and p.objid = d.objid and p.deptype in ('a', 'i'))) as o
cross join lateral pg_identify_object(o.classid, o.objid, 0) as i
order by 3
"""

# DROP takes the parts of an object with it, and stops at a normal dependency of anything else. This says
# beforehand what it would stop at: `used` and `user` are positions in the given list; `user` is null for an
# object that is not in it. A view's dependencies are those of its rule.
_USES = """
with recursive part(thing, classid, objid) as (
    select t.thing, t.classid, t.objid
    from unnest(%(classids)s::oid[], %(objids)s::oid[]) with ordinality as t(classid, objid, thing)
    union
    select p.thing, d.classid, d.objid
    from part as p join pg_depend as d on d.refclassid = p.classid and d.refobjid = p.objid
    where d.deptype in ('a', 'i', 'P', 'S')
)
select distinct p.thing - 1, u.thing - 1, p.classid = 'pg_namespace'::regclass,
       format('%%s %%s', i.type, replace(i.identity, 'pg_catalog.', ''))
from part as p
join pg_depend as d on d.refclassid = p.classid and d.refobjid = p.objid and d.deptype = 'n'
left join part as u on u.classid = d.classid and u.objid = d.objid
left join pg_rewrite as r on d.classid = r.tableoid and d.objid = r.oid
cross join lateral pg_identify_object(
    case when r.oid is null then d.classid else 'pg_class'::regclass end,
    coalesce(r.ev_class, d.objid), d.objsubid) as i
where u.thing is distinct from p.thing
order by 4, 1
"""

_INSTALL_EXISTS = """
select from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = 'anondb' and c.relname = 'install'
"""


@dataclass(frozen=True)
class Thing:
    """An object of the database that can be dropped by itself."""

    classid: int
    objid: int
    name: str  # as PostgreSQL identifies it: function anondb.k_anonymity(regclass,name[])
    drop: str


class Use(NamedTuple):
    """A thing that something depends on; positions in a list of things."""

    used: int
    user: int | None  # None: not in the list
    used_is_schema: bool
    user_name: str


class Recorded(NamedTuple):
    """The names of what the installation made: `objects` by the files of sql/, `tables` by migrations."""

    objects: Sequence[str] = ()
    tables: Sequence[str] = ()


@contextmanager
def exclusively(connection: Connection, doing: str) -> Iterator[None]:
    """One transaction that no other upgrade or removal overlaps, with pinned settings and our errors."""
    try:
        with connection.transaction():
            for statement in _BEGIN:
                connection.execute(statement)
            connection.execute("select pg_advisory_xact_lock(%s)", [_LOCK_KEY])
            yield
    except errors.InsufficientPrivilege as error:
        raise DatabaseError(f"{error.diag.message_primary} ({doing})", hint=_who_may(connection)) from None
    except errors.LockNotAvailable:
        raise BusyError(
            f"another session holds what is needed ({doing})",
            hint="a run or an upgrade is under way; try again when it has ended",
        ) from None
    except psycopg.Error as error:
        raise translate(error, doing) from None


def is_installed(connection: Connection) -> bool:
    return connection.execute(_INSTALL_EXISTS).fetchone() is not None


def recorded(connection: Connection) -> Recorded:
    """What the installation in the database says that it made."""
    if not is_installed(connection):
        return Recorded()
    with connection.cursor(row_factory=args_row(Recorded)) as cursor:
        return cursor.execute("select i.objects, i.tables from anondb.install as i").fetchone() or Recorded()


def things(connection: Connection) -> list[Thing]:
    """Our schemas and everything that lies in them, ours or not; inside `exclusively`."""
    with connection.cursor(row_factory=args_row(Thing)) as cursor:
        return cursor.execute(_THINGS, {"schemas": list(SCHEMAS)}).fetchall()


def drop(connection: Connection, victims: Sequence[Thing], *, hint: str) -> list[str]:
    """Drops exactly these, users before used; refuses, before touching any, if something else uses one."""
    keys = {"classids": [v.classid for v in victims], "objids": [v.objid for v in victims]}
    with connection.cursor(row_factory=args_row(Use)) as cursor:
        uses = cursor.execute(_USES, keys).fetchall()
    users: dict[int, set[int]] = {position: set() for position in range(len(victims))}
    strangers = []
    for use in uses:
        if use.user is None:
            verb = "lies in" if use.used_is_schema else "uses"
            strangers.append(f"{use.user_name} {verb} {victims[use.used].name}")
        else:
            users[use.used].add(use.user)
    if strangers:
        raise UsageError("\n".join(strangers), hint=hint)
    order = [victims[position] for position in TopologicalSorter(users).static_order()]
    for victim in order:
        connection.execute(victim.drop.encode())
    return [victim.name for victim in order]


def remove(connection: Connection, *, owner: str | None = None) -> list[str]:
    """Takes away everything that is ours and only that; returns the names of what was dropped."""
    with exclusively(connection, "removing anondb"):
        require_ours(connection, owner)
        made = recorded(connection)
        ours = {*made.objects, *made.tables}
        victims = [t for t in things(connection) if t.name in ours or (ours and _SCRATCH.fullmatch(t.name))]
        return drop(connection, victims, hint="nothing was removed; drop or move these first")


def owner(connection: Connection) -> str | None:
    """The role that anondb belongs to in this database."""
    row = connection.execute(_OWNER).fetchone()
    return None if row is None else str(row[0])


def _who_may(connection: Connection) -> str:
    role = owner(connection)
    if role is not None:
        return f"anondb belongs to role {role} in this database: connect as that role"
    (grant,) = connection.execute(_MAY_CREATE).fetchone() or ("",)
    return str(grant)
