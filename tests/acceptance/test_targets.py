"""What users have hung on a release follows to the next one, or is named and kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.acceptance.clinic import COLUMNS, IDENTIFIER, Clinic, complaint


def test_a_table_that_is_not_ours_is_overwritten_only_when_asked_for(clinic: Clinic) -> None:
    clinic.execute("create table share.admissions as select 'precious' as treasure")
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy()), 2)
    assert "target share.admissions exists and was not made by anondb" in said
    assert "--replace" in said
    clinic.publish(None, "--replace")
    assert b"precious" not in clinic.dump()
    clinic.publish()


def test_a_table_that_took_the_name_of_a_release_is_not_ours(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute("drop table share.admissions; create table share.admissions (n int)")
    with clinic.unchanged():
        assert "was not made by anondb" in complaint(clinic.cli("run", clinic.policy()), 2)


@pytest.mark.parametrize("kind", ["view", "materialized view"])
def test_what_is_no_table_is_no_target_even_when_asked_for(clinic: Clinic, kind: str) -> None:
    clinic.execute(f"create {kind} share.admissions as select 1 as n")
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(), "--replace"), 2)
    assert "exists and is not a table" in said


def test_the_source_is_no_target(clinic: Clinic) -> None:
    clinic.connection.execute("set search_path to hospital")
    with clinic.unchanged(None):
        policy = clinic.policy(target="hospital.admissions")
        assert "target is the source itself" in complaint(clinic.cli("run", policy, "--replace"), 2)


def test_the_release_tells_its_run_its_policy_and_its_k(clinic: Clinic) -> None:
    result = clinic.publish()
    [(comment, hash_)] = clinic.execute(
        "select obj_description('share.admissions'::regclass), p.sha256 from anondb.policy as p"
    )
    assert comment == f"anondb run {result['run']}, policy {hash_}, k = 3"


def test_views_on_a_release_show_the_next_one(clinic: Clinic, new_role: Callable[[], str]) -> None:
    reader = new_role()
    clinic.has_released()
    clinic.execute(
        "create view share.plain as select * from share.admissions;"
        'create view share."Barred; view" with (security_barrier, check_option = local) as'
        " select a.age, a.zip from share.admissions as a where a.age is not null;"
        "create view hospital.nested as select p.age, count(*) as n from share.plain as p"
        ' join share."Barred; view" as b on b.age = p.age group by p.age;'
        "grant select on share.plain to {reader}; comment on view share.plain is 'mine'",
        reader=reader,
    )
    clinic.execute("delete from hospital.admissions where age < 26")
    clinic.publish()
    assert clinic.execute("select count(*) from share.plain") == [(12,)]
    assert clinic.execute('select count(*) from share."Barred; view"') == [(12,)]
    assert clinic.execute("select sum(n)::int from hospital.nested") == [(80,)]
    [(comment, grants)] = clinic.execute(
        "select obj_description(c.oid), c.relacl::text from pg_class as c where c.oid = 'share.plain'::regclass"
    )
    assert comment == "mine"
    assert f"{reader}=r/" in grants
    [(options,)] = clinic.execute(
        "select c.reloptions from pg_class as c where c.oid = 'share.\"Barred; view\"'::regclass"
    )
    assert sorted(options) == ["check_option=local", "security_barrier=true"]


def test_a_view_whose_columns_vanish_is_named_and_kept(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute(
        "create view share.of_zip as select a.zip from share.admissions as a;"
        "create view share.of_age as select a.age from share.admissions as a"
    )
    policy = clinic.policy(COLUMNS | {"zip": IDENTIFIER})
    with clinic.unchanged():
        said = complaint(clinic.cli("run", policy), 2)
    assert "in the way of the new release: view share.of_zip\n" in said
    clinic.execute("drop view share.of_zip")
    clinic.publish(policy)
    assert clinic.execute("select count(*) from share.of_age") == [(24,)]


def test_a_view_of_whole_rows_is_named_and_kept(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute("create view share.whole as select a from share.admissions as a")
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(COLUMNS | {"zip": IDENTIFIER})), 2)
    assert "view share.whole" in said


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        (
            "materialized view share.counted",
            "create materialized view share.counted as select count(*) from share.admissions",
        ),
        ("rule quiet", "create rule quiet as on delete to share.admissions do instead nothing"),
        ("row-level security admissions", "alter table share.admissions enable row level security"),
        ("inheriting table share.child", "create table share.child () inherits (share.admissions)"),
        (
            "function share.counted()",
            "create function share.counted() returns bigint language sql"
            " begin atomic select count(*) from share.admissions; end",
        ),
        (
            "trigger tell",
            "create trigger tell before delete on share.admissions"
            " execute function suppress_redundant_updates_trigger()",
        ),
    ],
)
def test_what_cannot_follow_to_other_columns_is_named_and_kept(
    clinic: Clinic, name: str, statement: str
) -> None:
    clinic.has_released()
    clinic.execute(statement)
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(COLUMNS | {"zip": IDENTIFIER})), 2)
    assert f"in the way of the new release: {name}\n" in said


def test_a_release_that_was_restored_from_a_dump_is_not_ours(clinic: Clinic) -> None:
    """It has another oid; and whoever can make a table can give it any comment."""
    clinic.has_released()
    clinic.execute(
        "do $$ declare v_said text := obj_description('share.admissions'::regclass); begin"
        " create table share.restored as table share.admissions; drop table share.admissions;"
        " alter table share.restored rename to admissions;"
        " execute format('comment on table share.admissions is %L', v_said); end $$"
    )
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy()), 2)
    assert "was not made by anondb" in said
    assert "restored from a dump" in said
    clinic.publish(None, "--replace")
    clinic.publish()


def test_a_release_that_was_given_another_name_is_not_ours_there(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute("alter table share.admissions rename to precious")
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(target="share.precious")), 2)
    assert "was not made by anondb" in said
