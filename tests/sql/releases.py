"""A release and the one that takes its place: how tests make, swap and look at them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import LiteralString, cast

import psycopg
import pytest
from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.execute import Executor
from anondb.errors import AnondbError
from anondb.run.engine import PostgresEngine
from anondb.run.plan import Options, Place, Plan
from anondb.run.swap import Replacement
from anondb.sqltree.tables import Relation, SourceColumn

GRANTS = """
select '' as of_column, a.grantee, a.privilege_type, a.is_grantable
from pg_class as t, aclexplode(t.relacl) as a where t.oid = 'share.admissions'::regclass
union
select c.attname, a.grantee, a.privilege_type, a.is_grantable
from pg_attribute as c, aclexplode(c.attacl) as a where c.attrelid = 'share.admissions'::regclass
"""
BELONGINGS = """
select pg_get_indexdef(i.indexrelid) from pg_index as i where i.indrelid = 'share.admissions'::regclass
union all
select format('%s %s', c.conname, pg_get_constraintdef(c.oid)) from pg_constraint as c
where c.conrelid = 'share.admissions'::regclass and c.contype <> 'n'
union all
select pg_get_statisticsobjdef(s.oid) from pg_statistic_ext as s
where s.stxrelid = 'share.admissions'::regclass
union all
select format('%s %s: %s', a.attname, a.attnotnull, col_description(a.attrelid, a.attnum))
from pg_attribute as a where a.attrelid = 'share.admissions'::regclass and a.attnum > 0
order by 1
"""
# What must be as it was after a swap that is refused.
EVERYTHING = """
select c.oid, c.relname, c.xmin::text, c.relacl::text, c.relowner from pg_class as c
where c.relnamespace in ('share'::regnamespace, 'public'::regnamespace) order by 1
"""

_PLACE = """
select (select c.oid::bigint from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = %s and c.relname = %s),
       (select json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod)) order by a.attnum)
        from pg_attribute as a join pg_class as c on c.oid = a.attrelid
        join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = %s and c.relname = 'fresh' and a.attnum > 0)
"""


def make_fresh(connection: Connection, columns: LiteralString = "age text, zip text, stay int") -> None:
    connection.execute(sql.SQL("create table share.fresh ({})").format(sql.SQL(columns)))
    connection.execute("insert into share.fresh (age) values ('new'), ('newer')")


def swap(connection: Connection, name: str = "admissions", *, schema: str = "share") -> None:
    """Puts the table `fresh` of a schema in the place of another one, or where none is, as a run does."""
    with psycopg.connect(connection.info.dsn, autocommit=True) as beside:
        role = connection.execute("select quote_ident(current_user)").fetchone()
        beside.execute(sql.SQL("set role {}").format(sql.SQL(cast(LiteralString, role[0] if role else ""))))
        beside.execute("set search_path = pg_catalog, pg_temp")
        found = connection.execute(_PLACE, [schema, name, schema]).fetchone()
        assert found is not None
        oid, columns = cast(tuple[int | None, list[list[str]]], found)
        fresh, target = Relation(schema, "fresh"), Relation(schema, name)
        place = Place(target, tuple(SourceColumn(column, type_, "") for column, type_ in columns), oid=oid)
        plan = cast(Plan, SimpleNamespace(places=(place,), target=target, policy=SimpleNamespace(sha256="x")))
        ours, others = (Executor(one, lambda step: None) for one in (connection, beside))
        with connection.transaction():
            connection.execute("set local search_path = pg_catalog, pg_temp")
            Replacement(PostgresEngine(ours, plan), ours, others, plan, fresh, Options(replace=True)).swap(
                1, "k = 1"
            )


def ages(connection: Connection, relation: LiteralString = "share.admissions") -> set[object]:
    return {age for (age,) in connection.execute(sql.SQL("select age from {}").format(sql.SQL(relation)))}


def refused(connection: Connection) -> AnondbError:
    """What a swap says that is refused, and that changes nothing."""
    before = connection.execute(EVERYTHING).fetchall()
    with pytest.raises(AnondbError) as caught:
        swap(connection)
    assert connection.execute(EVERYTHING).fetchall() == before
    assert ages(connection) == {"old"}
    return caught.value
