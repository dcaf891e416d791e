"""Procedures that refresh releases: where they stand, whose they are, and which are of another version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.db.source_locks import can_be_locked
from anondb.errors import DatabaseError, UsageError
from anondb.releases.procedure.frame import TITLE
from anondb.sqltree.tables import Relation

_AT = """
select p.oid::bigint, p.prokind::text, p.pronargs::int, p.prosrc,
       pg_catalog.pg_has_role(p.proowner, 'USAGE'), pg_catalog.pg_get_userbyid(p.proowner)::text
from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
where n.nspname = %s and p.proname = %s
order by p.pronargs, p.oid
"""
_OURS = """
select pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(p.proname), p.prosrc
from pg_catalog.pg_proc as p join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
where p.prokind = 'p' and p.pronargs = 0 and pg_catalog.starts_with(p.prosrc, %s)
order by 1
"""
_SCHEMA = "select exists (select from pg_catalog.pg_namespace as n where n.nspname = %s)"
_MAY_READ = (
    "select pg_catalog.has_table_privilege(pg_catalog.format('%%I.%%I', %s::text, %s::text), 'select')"
)
_HEIGHTS = """
select r.result -> 'report' -> 'columns', r.result -> 'heights'
from anondb.run as r where r.id = %s and r.status = 'done'
"""
_REVOKE = "select pg_catalog.format('revoke all on procedure %%I.%%I() from public', %s::text, %s::text)"
_CRON = "select exists (select from pg_catalog.pg_extension as e where e.extname = 'pg_cron')"
# the one database of the server that has pg_cron, where somebody has said which
_HOME = "select pg_catalog.current_setting('cron.database_name', true), pg_catalog.current_database()::text"
_SCHEDULE = "select cron.schedule(%s::text, %s::text, %s::text)"
_FUNCTIONS = re.compile(r"functions ([0-9a-f]{64})")


@dataclass(frozen=True)
class There:
    """A procedure of ours that stands at a name."""

    oid: int
    source: str


def there(connection: Connection, name: Relation) -> There | None:
    """What stands at a name; raises where that is something else, or another's."""
    with translated("looking up the procedure"):
        [(has_schema,)] = connection.execute(_SCHEMA, (name.schema,)).fetchall()
        rows: list[tuple[Any, ...]] = connection.execute(_AT, (name.schema, name.name)).fetchall()
    shown = f"{name.schema}.{name.name}"
    if not has_schema:
        raise UsageError(f"there is no schema {name.schema}", hint="make it, or choose another name")
    for oid, kind, arguments, source, may, owner in rows:
        if kind != "p" or arguments or not source.lstrip("\n").startswith(TITLE):
            raise UsageError(
                f"{shown} is the name of something else, and is not overwritten",
                hint="choose another name: --name SCHEMA.NAME",
            )
        if not may:
            raise UsageError(
                f"{shown} is a procedure of role {owner}, and is not overwritten",
                hint="write it as that role, or choose another name",
            )
        return There(oid, source)
    return None


def create(connection: Connection, name: Relation, statement: str) -> None:
    """Writes the procedure; the caller owns it, and nobody else may call it unless he says so."""
    with translated("writing the procedure"), connection.transaction():
        connection.execute(statement.encode())
        revokes: list[tuple[Any, ...]] = connection.execute(_REVOKE, (name.schema, name.name)).fetchall()
        connection.execute(revokes[0][0].encode())


def outdated(connection: Connection, functions: str) -> list[str]:
    """Procedures that were written for other functions than these."""
    with translated("looking for procedures"):
        rows: list[tuple[Any, ...]] = connection.execute(_OURS, (f"\n{TITLE}",)).fetchall()
    found = ((str(name), _FUNCTIONS.search(source.splitlines()[1])) for name, source in rows)
    return [name for name, match in found if match is None or match[1] != functions]


def heights(connection: Connection, run: int | None, names: list[str]) -> tuple[int, ...]:
    """The heights of the quasi-identifiers' hierarchies in the last release."""
    with translated("reading the history"):
        row: tuple[Any, ...] | None = connection.execute(_HEIGHTS, (run,)).fetchone()
    of_columns = (row[1] if row is not None else None) or {}
    if row is not None and not of_columns:
        of_columns = {c["name"]: c["height"] for c in row[0] or () if c.get("height") is not None}
    if any(name not in of_columns for name in names):
        raise UsageError(
            "the history does not have the last release of this policy",
            hint="run it again: anondb run POLICY",
        )
    return tuple(of_columns[name] for name in names)


def require_readable(connection: Connection, source: Relation) -> None:
    """Raises unless the caller may read the source, and hold it while it is read."""
    with translated("looking up the source"):
        [(may,)] = connection.execute(_MAY_READ, (source.schema, source.name)).fetchall()
    if not may:
        raise DatabaseError(
            f"this role may not read {source.schema}.{source.name}", hint="ask its owner for: grant select"
        )
    if not can_be_locked(connection, source):
        raise UsageError(
            f"{source.schema}.{source.name} is a materialized view or a foreign table, or has one below it, and a "
            "procedure has no second connection to hold it",
            hint="release it from cron: anondb run POLICY; or copy it into a table",
        )


def cron_elsewhere(connection: Connection) -> tuple[str, str] | None:
    """The database of this server that has pg_cron, and this one; None where they are the same, or nothing is known."""
    with translated("looking for pg_cron"):
        homes: list[tuple[Any, ...]] = connection.execute(_HOME).fetchall()
    [(home, here)] = homes
    return (str(home), str(here)) if home and home != here else None


def schedule(connection: Connection, job: str, when: str, command: str) -> int:
    """Has pg_cron call it; the number of the job."""
    with translated("looking for pg_cron"):
        [(has_cron,)] = connection.execute(_CRON).fetchall()
    if not has_cron and (elsewhere := cron_elsewhere(connection)) is not None:
        raise DatabaseError(
            f"pg_cron of this server is in database {elsewhere[0]}",
            hint="leave --apply out, and run the call that is printed there",
        )
    if not has_cron:
        raise DatabaseError(
            "this database has no pg_cron",
            hint="its administrator installs it: create extension pg_cron; without it, print the call and run it where "
            "pg_cron is",
        )
    with translated("scheduling the procedure"):
        numbers: list[tuple[Any, ...]] = connection.execute(_SCHEDULE, (job, when, command)).fetchall()
    return int(numbers[0][0])
