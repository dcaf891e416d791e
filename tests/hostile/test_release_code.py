"""Code that somebody has hung on a release never runs with the rights of whoever publishes the next one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.errors import UsageError
from anondb.policy.load import parse

POLICY = """
source = "hospital.persons"
target = "share.persons"
privacy = { k = 2 }
method = { algorithm = "datafly" }
[columns]
age = { role = "quasi", hierarchy = { start = 0, widths = [10] } }
stay = { role = "other" }
"""
# They count their calls, also those that are rolled back, and say that they are immutable.
HOSPITAL = """
create schema hospital; create schema share; create schema lair;
create table hospital.persons as select 20 + i % 10 as age, i % 3 as stay from generate_series(1, 20) as i;
create sequence lair.calls;
create function lair.spy(int) returns int language plpgsql immutable as
$$ begin perform nextval('lair.calls'); return $1; end $$;
create function lair.spy(text) returns text language plpgsql immutable as
$$ begin perform nextval('lair.calls'); return $1; end $$;
create function lair.no_spy(int, int) returns boolean language plpgsql immutable as
$$ begin perform nextval('lair.calls'); return $1 = $2; end $$;
create function lair.diff(int, int) returns float8 language plpgsql immutable as
$$ begin perform nextval('lair.calls'); return $1 - $2; end $$;
create function lair.told() returns trigger language plpgsql as
$$ begin perform nextval('lair.calls'); return new; end $$;
create operator lair.=== (leftarg = int, rightarg = int, function = lair.no_spy);
create type lair.span as range (subtype = int, subtype_diff = lair.diff);
create domain lair.years as text check (lair.spy(value) is not null);
grant usage on schema lair, share to public; grant usage on sequence lair.calls to public;
"""
PLANTED = {
    "constraint odd": "add constraint odd check (lair.spy(stay) is not null)",
    "constraint same": "add constraint same check (stay operator(lair.===) stay)",
    "constraint domain": "add constraint domain check (age::lair.years <> 'x')",
    "constraint volatile": "add constraint volatile check (set_config('lair.x', '1', true) is not null)",
    "constraint stable": "add constraint stable check (current_setting('server_version') <> '')",
    "constraint who": "add constraint who check (current_user <> 'x')",
    "default of column stay": "alter column stay set default lair.spy(1)",
    "index share.by_stay": "create index by_stay on share.persons (lair.spy(stay))",
    "index share.part": "create index part on share.persons (stay) where lair.spy(stay) > 0",
    "index share.constant": "create index constant on share.persons (stay) where lair.spy(1) > 0",
    "constraint constant": "add constraint constant check (lair.spy(1) > 0)",
    "index share.spans": "create index spans on share.persons using gist (lair.span(stay, stay, '[]'))",
    "statistics share.pair": "create statistics share.pair on (lair.spy(stay)), age from share.persons",
    "trigger tell": "create trigger tell before insert on share.persons for each row execute function lair.told()",
    "rule tell": "create rule tell as on insert to share.persons do also select lair.spy(1)",
    "forced row-level security persons": "force row level security",
    "foreign key follows on lair.visits": "add unique (stay, age); create table lair.visits"
    " (stay int, age text, constraint follows foreign key (stay, age) references share.persons (stay, age))",
}


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("reshaped", [False, True])
def test_code_on_a_release_is_named_and_not_run(
    connection: Connection, db: Database, name: str, reshaped: bool
) -> None:
    connection.execute(HOSPITAL)
    db.run(parse(POLICY))
    statement = PLANTED[name]
    if "unique" in statement:
        connection.execute(
            "create temporary table k as select distinct * from share.persons; truncate share.persons;"
        )
        connection.execute("insert into share.persons table k")
    text = statement if statement.startswith("create") else f"alter table share.persons {statement}"
    connection.execute(text.encode())
    connection.execute("alter sequence lair.calls restart")
    policy = (
        POLICY.replace('stay = { role = "other" }', 'stay = { role = "identifier" }') if reshaped else POLICY
    )
    with pytest.raises(UsageError) as refused:
        db.run(parse(policy))
    wanted = name.removeprefix("forced ") if reshaped else name
    assert refused.value.message.startswith("in the way of the new release: ")
    assert wanted in refused.value.message
    assert connection.execute("select is_called from lair.calls").fetchall() == [(False,)]


def test_built_in_code_on_a_release_is_no_obstacle(connection: Connection, db: Database) -> None:
    connection.execute(HOSPITAL)
    db.run(parse(POLICY))
    connection.execute(
        "alter table share.persons add constraint sane check (length(age) < 20 and stay in (0, 1, 2)"
        "  and coalesce(age, '') is distinct from 'x' and greatest(stay, 1) < 9 and (stay, 1) < (9, 9)"
        "  and case when stay > 1 then true else not stay::text = '7' end and age collate \"C\" <> 'y');"
        "alter table share.persons alter column stay set default 7;"
        "create index on share.persons (lower(age), (stay + 1)) where stay between 0 and 5;"
        "create statistics share.pair on (stay % 2), age from share.persons"
    )
    assert db.run(parse(POLICY)).result.released == 20


def test_a_table_with_the_comment_of_a_release_is_not_ours(connection: Connection, db: Database) -> None:
    connection.execute(HOSPITAL)
    db.run(parse(POLICY))
    [(said,)] = connection.execute("select obj_description('share.persons'::regclass)").fetchall()
    connection.execute("drop table share.persons; create table share.persons (age text, stay int)")
    connection.execute(f"comment on table share.persons is '{said}'".encode())
    with pytest.raises(UsageError, match="was not made by anondb"):
        db.run(parse(POLICY))


def test_a_foreign_key_of_a_release_leads_to_no_code_of_another_role(
    connection: Connection, db: Database, new_role: Callable[[], str]
) -> None:
    """The server looks a key up as the owner of the table that it refers to, in the session of the runner: what
    that one's functions set there stays."""
    connection.execute(HOSPITAL)
    db.run(parse(POLICY))
    other = new_role()
    connection.execute(
        "create table lair.stays (id int primary key, seen boolean);"
        "insert into lair.stays select i, true from generate_series(0, 2) as i;"
        "create function lair.turn(int) returns int language plpgsql immutable as"
        " $$ begin perform nextval('lair.calls'), set_config('search_path', 'lair', false); return $1; end $$;"
        "create index on lair.stays (seen) where lair.turn(1) > 0;"
        "alter table share.persons add constraint known foreign key (stay) references lair.stays"
    )
    connection.execute(
        f"alter table lair.stays owner to {other}; grant usage on schema lair to {other}".encode()
    )
    connection.execute("alter sequence lair.calls restart")
    with pytest.raises(UsageError, match=r"in the way of the new release: foreign key known to lair\.stays"):
        db.run(parse(POLICY))
    assert connection.execute("select is_called from lair.calls").fetchall() == [(False,)]


def test_a_proof_runs_no_code_of_a_release(connection: Connection, db: Database) -> None:
    connection.execute(HOSPITAL)
    connection.execute(
        "alter table hospital.persons add column id int generated always as identity primary key"
    )
    db.run(
        parse(POLICY.replace("{ k = 2 }", '{ k = 2, changes = "hold" }') + 'id = { role = "identifier" }\n')
    )
    connection.execute(
        "create type lair.box as (v int); create function lair.boxed(lair.box) returns text language sql as"
        " $$ select lair.spy(($1).v)::text $$; create cast (lair.box as text) with function lair.boxed(lair.box);"
        "alter table share.persons alter column stay type lair.box using row(stay)::lair.box"
    )
    connection.execute("alter sequence lair.calls restart")
    proof = connection.execute("select v.holds, v.detail from anondb.verify_release('share.persons') as v")
    assert proof.fetchall() == [(False, "a column becomes text by a function of somebody")]
    assert connection.execute("select is_called from lair.calls").fetchall() == [(False,)]
