"""A fresh table takes the place of a release with other columns, and views show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql

from anondb.db.connection import Connection
from anondb.errors import UsageError
from tests.sql.releases import BELONGINGS, GRANTS, ages, make_fresh, refused, swap

NewRole = Callable[[], str]


def test_the_first_release_takes_its_name(release: Connection) -> None:
    swap(release, "first")
    assert ages(release, "share.first") == {"new", "newer"}
    assert ages(release) == {"old"}


def test_the_next_release_takes_the_place_of_the_old_one(release: Connection) -> None:
    swap(release)
    assert ages(release) == {"new", "newer"}
    tables = release.execute(
        "select c.relname from pg_class as c where c.relnamespace = 'share'::regnamespace"
    )
    assert [name for (name,) in tables] == ["admissions"]


def test_a_swap_that_is_rolled_back_never_was(release: Connection) -> None:
    release.execute("create view share.plain as select age from share.admissions")
    with release.transaction() as transaction:
        swap(release)
        raise psycopg.Rollback(transaction)
    assert ages(release) == ages(release, "share.plain") == {"old"}
    assert ages(release, "share.fresh") == {"new", "newer"}


@pytest.mark.parametrize(
    "name",
    ['Odd "name"; drop table x--', "select", "größe 🙂", "50 % %s %I", "ß" * 31 + "x", "a.b", "x'y\\z"],
)
def test_names_may_hold_anything_and_keep_their_63_bytes(release: Connection, name: str) -> None:
    odd = sql.Identifier(name)
    release.execute(
        sql.SQL(
            "create schema {0}; create table {0}.{0} ({0} text check ({0} <> 'x'));"
            "create view {0}.v as select {0} from {0}.{0} as {0}; create index on {0}.{0} ({0});"
            "comment on column {0}.{0}.{0} is 'it''s'; create table {0}.fresh ({0} text);"
            "insert into {0}.fresh values ('new')"
        ).format(odd)
    )
    swap(release, name, schema=name)
    assert release.execute(sql.SQL("select * from {}.v").format(odd)).fetchall() == [("new",)]
    kept = "select count(*) from pg_index as i join pg_class as c on c.oid = i.indrelid where c.relname = %s"
    assert release.execute(kept, [name]).fetchone() == (1,)


def test_all_stays_through_two_swaps_in_a_row(release: Connection, new_role: NewRole) -> None:
    role = sql.Identifier(new_role())
    release.execute(
        sql.SQL(
            "create view share.plain as select age from share.admissions;"
            "create index by_age on share.admissions (age); grant select on share.admissions to {}"
        ).format(role)
    )
    swap(release)
    first = release.execute(BELONGINGS).fetchall(), release.execute(GRANTS).fetchall()
    make_fresh(release)
    swap(release)
    assert (release.execute(BELONGINGS).fetchall(), release.execute(GRANTS).fetchall()) == first
    assert ages(release, "share.plain") == {"new", "newer"}


def test_views_follow_with_their_options_comments_grants_and_views_on_them(
    release: Connection, new_role: NewRole
) -> None:
    role = sql.Identifier(new_role())
    release.execute(
        sql.SQL(
            "create view share.plain (years) as select age from share.admissions;"
            'create view public."Barred" with (security_barrier) as select * from share.admissions;'
            "create view share.checked as select age from share.admissions where stay = 1"
            " with cascaded check option;"
            'create view share.nested as select p.years as age from share.plain as p, public."Barred";'
            "create view share.both as select p.years, a.zip from share.plain as p, share.admissions as a;"
            "create recursive view share.endless (age) as select age from share.admissions"
            " union select age || '+' from endless where length(age) < 5;"
            "comment on view share.plain is 'mine'; grant select on share.plain to {} with grant option"
        ).format(role)
    )
    facts = (
        "select c.oid, c.relname, c.reloptions, c.relacl::text, obj_description(c.oid), pg_get_viewdef(c.oid)"
        " from pg_class as c where c.relkind = 'v' and c.relname = any(%s) order by 1"
    )
    names = [["plain", "Barred", "checked", "nested", "both", "endless"]]
    before = release.execute(facts, names).fetchall()
    assert len(before) == 6
    swap(release)
    assert release.execute(facts, names).fetchall() == before
    assert ages(release, "share.nested") == {"new", "newer"}
    assert ages(release, "share.endless") == {"new", "new+", "new++", "newer"}


def test_a_view_of_another_owner_follows_if_that_owners_rights_are_ours(
    release: Connection, new_role: NewRole
) -> None:
    runner, analyst = new_role(), new_role()
    release.execute(
        sql.SQL(
            "grant create, usage on schema share to {0}, {1}; grant usage on schema anondb to {0};"
            "grant select, update on anondb.run to {0};"
            "alter table share.admissions owner to {0}; alter table share.fresh owner to {0};"
            "grant select on share.admissions to {1};"
            "create view share.theirs as select age from share.admissions; alter view share.theirs owner to {1}"
        ).format(sql.Identifier(runner), sql.Identifier(analyst))
    )
    release.execute(sql.SQL("set role {}").format(sql.Identifier(runner)))
    with pytest.raises(UsageError, match=r"in the way of the new release: view share\.theirs"):
        swap(release)
    release.execute(
        sql.SQL("reset role; grant {1} to {0}; set role {0}").format(
            sql.Identifier(runner), sql.Identifier(analyst)
        )
    )
    swap(release)
    release.execute("reset role")
    assert ages(release, "share.theirs") == {"new", "newer"}
    owner = "select c.relowner::regrole::text from pg_class as c where c.oid = 'share.theirs'::regclass"
    assert release.execute(owner).fetchone() == (analyst,)


def test_a_view_where_we_may_make_none_is_named(release: Connection, new_role: NewRole) -> None:
    runner = sql.Identifier(new_role())
    release.execute(
        sql.SQL(
            "grant create, usage on schema share to {0}; grant usage on schema anondb to {0};"
            "grant select, update on anondb.run to {0};"
            "alter table share.admissions owner to {0}; alter table share.fresh owner to {0};"
            "create schema closed; create view closed.v as select age from share.admissions;"
            "grant create on schema closed to {0}; alter view closed.v owner to {0};"
            "revoke create on schema closed from {0}; set role {0}"
        ).format(runner)
    )
    with pytest.raises(UsageError, match=r"^view closed\.v cannot follow to the new release"):
        swap(release)
    release.execute("reset role")
    assert ages(release) == ages(release, "closed.v") == {"old"}


@pytest.mark.parametrize(
    "columns", ["age text, stay int", "age text, zip varchar(9), stay int", "age text, zip text, stay text"]
)
def test_views_whose_columns_change_are_named_and_the_others_are_not(
    release: Connection, columns: LiteralString
) -> None:
    release.execute(
        "create view share.of_age as select age from share.admissions;"
        "create view share.all as select * from share.admissions;"
        "drop table share.fresh"
    )
    make_fresh(release, columns)
    error = refused(release)
    assert error.message == 'in the way of the new release: view share."all"'
    release.execute('drop view share."all"')
    swap(release)
    assert ages(release, "share.of_age") == {"new", "newer"}


def test_a_release_belongs_to_its_run_from_the_moment_it_can_be_read(release: Connection) -> None:
    release.execute("insert into anondb.policy (sha256, body) values ('x', '')")
    [(run,)] = release.execute(
        "insert into anondb.run (policy, source, target, algorithm, status, package)"
        " values ('x', 's', 't', 'datafly', 'running', '0') returning id"
    ).fetchall()
    release.execute("select anondb.own_release(%s, '{share,share}', '{admissions,fresh}')", [run])
    owned = (
        "select r.release_oids = array['share.admissions'::regclass::oid, 'share.fresh'::regclass]"
        " from anondb.run as r where r.id = %s"
    )
    assert release.execute(owned, [run]).fetchone() == (True,)
