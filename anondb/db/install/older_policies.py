"""Policies of the last releases that a run would refuse now, as far as their releases tell."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import psycopg

from anondb.db.connection import Connection
from anondb.errors import PolicyError
from anondb.policy.load import part_as_written

# A view, a table's policies and even its indexes run what their owner has put into them, once they are read: only
# tables of this role itself and of the installation's owner, whom it trusts.
_LAST = """
select distinct on (r.target) r.id, r.target, p.body, c.oid::bigint
from anondb.run as r
join anondb.policy as p on p.sha256 = r.policy and p.added_by = r.started_by
join pg_catalog.pg_class as c on c.oid = r.release_oid and c.relkind = 'r'
where r.status = 'done'
  and (c.relowner = (select o.relowner from pg_catalog.pg_class as o where o.oid = 'anondb.run'::pg_catalog.regclass)
       or pg_catalog.pg_get_userbyid(c.relowner) = current_user)
order by r.target, r.id desc
"""
_IDENTIFYING = """
select i.of_column::text, i.kind, i.share from anondb.identifying_columns(%s::oid::regclass) as i
where pg_catalog.cardinality(i.reasons) > 0
"""
_NATURAL = ("number", "date", "time")


def refused_now(connection: Connection) -> list[str]:
    """A line for each such release; what cannot be read is passed over."""
    refused: list[str] = []
    last: list[tuple[Any, ...]] = []
    with suppress(psycopg.Error), connection.transaction():
        last = connection.execute(_LAST).fetchall()
    for run, target, body, oid in last:
        with suppress(psycopg.Error, PolicyError), connection.transaction():
            columns = part_as_written(body, "columns")
            rows: list[tuple[Any, ...]] = connection.execute(_IDENTIFYING, (oid,)).fetchall()
            columns_refused = [f'"{name}"' for name, kind, _ in rows if _refused(columns.get(name), kind)]
            if columns_refused:
                refused.append(f"run {run}, {target}: {', '.join(columns_refused)}")
    return refused


def _refused(column: object, kind: str) -> bool:
    if not isinstance(column, dict) or "keep" in column:
        return False
    role = column.get("role")
    return role == "other" or (role == "sensitive" and kind not in _NATURAL)
