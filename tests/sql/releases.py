"""A release and the one that takes its place: how tests make, swap and look at them."""

from __future__ import annotations

from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from anondb.db.connection import Connection

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


def make_fresh(connection: Connection, columns: LiteralString = "age text, zip text, stay int") -> None:
    connection.execute(sql.SQL("create table share.fresh ({})").format(sql.SQL(columns)))
    connection.execute("insert into share.fresh (age) values ('new'), ('newer')")


def swap(connection: Connection, name: str = "admissions", *, schema: str = "share") -> None:
    connection.execute("select anondb.swap_release('share.fresh', %s, %s)", [schema, name])


def ages(connection: Connection, relation: LiteralString = "share.admissions") -> set[object]:
    return {age for (age,) in connection.execute(sql.SQL("select age from {}").format(sql.SQL(relation)))}


def refused(connection: Connection) -> psycopg.Error:
    """What a swap says that is refused, and that changes nothing."""
    before = connection.execute(EVERYTHING).fetchall()
    with pytest.raises(psycopg.Error) as caught:
        swap(connection)
    assert connection.execute(EVERYTHING).fetchall() == before
    assert ages(connection) == {"old"}
    return caught.value
