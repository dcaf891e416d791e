"""What belongs to a release goes over to the next one: grants, owner, indexes, constraints, comments."""

from __future__ import annotations

from collections.abc import Callable
from typing import LiteralString

import pytest
from psycopg import sql

from anondb.db.connection import Connection
from tests.sql.releases import BELONGINGS, GRANTS, make_fresh, refused, swap

NewRole = Callable[[], str]


def test_grants_on_table_and_columns_stay_with_their_grant_options(
    release: Connection, new_role: NewRole
) -> None:
    reader, curator = new_role(), new_role()
    release.execute(
        sql.SQL(
            "grant select on share.admissions to public;"
            "grant select, insert on share.admissions to {0};"
            "grant select on share.admissions to {1} with grant option;"
            "grant update (age), references (zip) on share.admissions to {0};"
            "grant select (stay) on share.admissions to {1} with grant option;"
            "grant select (zip) on share.admissions to public;"
            "revoke delete, truncate on share.admissions from current_user"
        ).format(sql.Identifier(reader), sql.Identifier(curator))
    )
    before = release.execute(GRANTS).fetchall()
    swap(release)
    assert sorted(release.execute(GRANTS).fetchall()) == sorted(before)


def test_a_grant_made_by_a_grantee_stays(release: Connection, new_role: NewRole) -> None:
    curator, reader = sql.Identifier(new_role()), sql.Identifier(new_role())
    release.execute(
        sql.SQL(
            "grant usage on schema share to {0}; grant select on share.admissions to {0} with grant option;"
            "set role {0}; grant select on share.admissions to {1}; reset role"
        ).format(curator, reader)
    )
    before = release.execute(GRANTS).fetchall()
    swap(release)
    assert sorted(release.execute(GRANTS).fetchall()) == sorted(before)


def test_column_grants_go_with_their_columns(release: Connection, new_role: NewRole) -> None:
    reader = sql.Identifier(new_role())
    release.execute(sql.SQL("grant select (age, zip) on share.admissions to {}").format(reader))
    release.execute("drop table share.fresh")
    make_fresh(release, "age text, stay int")
    swap(release)
    granted = release.execute(GRANTS).fetchall()
    assert [row[0] for row in granted if row[0]] == ["age"]


def test_default_privileges_give_the_next_release_nothing_that_the_old_one_had_not(
    release: Connection, new_role: NewRole
) -> None:
    reader = sql.Identifier(new_role())
    release.execute(
        sql.SQL(
            "alter default privileges in schema share grant all on tables to {}, public; drop table share.fresh"
        ).format(reader)
    )
    make_fresh(release)
    before = release.execute(GRANTS).fetchall()
    swap(release)
    owner = release.execute("select c.relowner from pg_class as c where c.oid = 'share.admissions'::regclass")
    [(oid,)] = owner.fetchall()
    assert [row for row in release.execute(GRANTS).fetchall() if row[1] != oid] == before == []


def test_the_owner_stays(release: Connection, new_role: NewRole) -> None:
    owner = new_role()
    release.execute(
        sql.SQL(
            "grant create on schema share to {0}; alter table share.admissions owner to {0};"
            "grant select on share.admissions to current_user; create index by_age on share.admissions (age)"
        ).format(sql.Identifier(owner))
    )
    before = release.execute(GRANTS).fetchall()
    swap(release)
    owners = release.execute(
        "select distinct c.relowner::regrole::text from pg_class as c where c.relname in ('admissions', 'by_age')"
    )
    assert owners.fetchall() == [(owner,)]
    assert sorted(release.execute(GRANTS).fetchall()) == sorted(before)


def test_indexes_constraints_statistics_and_column_comments_stay(release: Connection) -> None:
    release.execute(
        "create table share.wards (zip text primary key); insert into share.wards values ('*');"
        "create index on share.admissions (lower(age) desc) where stay > 0;"
        "create unique index on share.admissions (age) include (zip);"
        'create index "Odd index" on share.admissions using hash (zip);'
        "alter table share.admissions add constraint known check (age <> 'x'),"
        " add constraint one_age unique (age, stay) deferrable, add primary key (age),"
        " add constraint of_ward foreign key (zip) references share.wards,"
        " add constraint apart exclude using gist (int4range(stay, stay, '[]') with &&);"
        "alter table share.admissions add constraint some_day check (stay < 1000) not valid,"
        " alter column age set not null;"
        "create statistics share.correlated on age, zip from share.admissions;"
        "comment on column share.admissions.age is 'in years''';"
        "comment on column share.admissions.stay is E'in days\\n\\\\'"
    )
    release.execute("update share.fresh set stay = length(age)")
    before = release.execute(BELONGINGS).fetchall()
    assert len(before) == 16
    swap(release)
    assert release.execute(BELONGINGS).fetchall() == before


def test_not_null_goes_with_its_column(release: Connection) -> None:
    release.execute(
        "alter table share.admissions alter column age set not null, alter column zip set not null;"
        "drop table share.fresh"
    )
    make_fresh(release, "age text, stay int")
    swap(release)
    nulls = (
        "select a.attname, a.attnotnull from pg_attribute as a "
        "where a.attrelid = 'share.admissions'::regclass and a.attnum > 0 order by a.attnum"
    )
    assert release.execute(nulls).fetchall() == [("age", True), ("stay", False)]


@pytest.mark.parametrize(
    ("thing", "statement"),
    [
        ("constraint old_only", "alter table share.admissions add constraint old_only check (age = 'old')"),
        ("constraint one", "alter table share.admissions add constraint one unique (zip)"),
        ("index share.one", "create unique index one on share.admissions (coalesce(zip, ''))"),
        ("not null of zip", "alter table share.admissions alter column zip set not null"),
    ],
)
def test_what_the_new_rows_break_is_named_without_the_rows(
    release: Connection, thing: str, statement: LiteralString
) -> None:
    release.execute("update share.fresh set zip = 'secret'")
    if thing.startswith("not"):
        release.execute("update share.fresh set zip = null")
    release.execute(statement)
    error = refused(release)
    assert error.message == f"{thing} cannot follow to the new release"
    assert "secret" not in str(error)
