"""The next release has the owner, the grants, the indexes and the comments of the one before."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.acceptance.clinic import COLUMNS, IDENTIFIER, Clinic, complaint

NewRole = Callable[[], str]

GRANTS = """
select coalesce(a.attname, ''), x.grantee::regrole::text, x.privilege_type, x.is_grantable
from pg_class as c
left join pg_attribute as a on a.attrelid = c.oid and a.attacl is not null and not a.attisdropped
cross join lateral (
    select * from aclexplode(c.relacl) where a.attname is null
    union all select * from aclexplode(a.attacl)) as x
where c.oid = 'share.admissions'::regclass
union
select '', x.grantee::regrole::text, x.privilege_type, x.is_grantable
from pg_class as c cross join lateral aclexplode(c.relacl) as x where c.oid = 'share.admissions'::regclass
order by 1, 2, 3
"""
BELONGINGS = """
select pg_get_indexdef(i.indexrelid) from pg_index as i where i.indrelid = 'share.admissions'::regclass
union all
select format('%s %s', c.conname, pg_get_constraintdef(c.oid)) from pg_constraint as c
where c.conrelid = 'share.admissions'::regclass
union all
select pg_get_statisticsobjdef(s.oid) from pg_statistic_ext as s
where s.stxrelid = 'share.admissions'::regclass
union all
select format('%s: %s', a.attname, col_description(a.attrelid, a.attnum)) from pg_attribute as a
where a.attrelid = 'share.admissions'::regclass and a.attnum > 0
order by 1
"""
OWNER = "select c.relowner::regrole::text from pg_class as c where c.oid = 'share.admissions'::regclass"


def test_grants_and_owner_stay(clinic: Clinic, new_role: NewRole) -> None:
    owner, reader, grantor = new_role(), new_role(), new_role()
    clinic.has_released()
    clinic.execute(
        "grant create, usage on schema share to {owner}; alter table share.admissions owner to {owner};"
        "grant select on share.admissions to public; grant insert, update on share.admissions to {reader};"
        "grant select on share.admissions to {grantor} with grant option;"
        "grant select (age), references (zip, diagnosis) on share.admissions to {reader};"
        "grant update (age) on share.admissions to {grantor} with grant option",
        owner=owner,
        reader=reader,
        grantor=grantor,
    )
    before = clinic.execute(GRANTS)
    assert len(before) > 8
    clinic.publish()
    assert clinic.execute(GRANTS) == before
    assert clinic.execute(OWNER) == [(owner,)]


def test_a_grant_to_the_runner_on_anothers_release_stays(clinic: Clinic, new_role: NewRole) -> None:
    owner = new_role()
    clinic.has_released()
    clinic.execute(
        "grant create, usage on schema share to {owner}; alter table share.admissions owner to {owner};"
        "grant select on share.admissions to current_user",
        owner=owner,
    )
    before = clinic.execute(GRANTS)
    clinic.publish()
    assert clinic.execute(GRANTS) == before


def test_what_was_revoked_does_not_come_back_by_default_privileges(clinic: Clinic, new_role: NewRole) -> None:
    reader = new_role()
    clinic.execute(
        "alter default privileges in schema share grant select on tables to {reader}, public", reader=reader
    )
    clinic.has_released()
    assert reader in str(clinic.execute(GRANTS))
    clinic.execute("revoke select on share.admissions from {reader}, public", reader=reader)
    before = clinic.execute(GRANTS)
    clinic.has_released()
    assert clinic.execute(GRANTS) == before
    assert reader not in str(before)


def test_indexes_constraints_statistics_and_comments_stay(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute(
        "create index on share.admissions (age);"
        'create index "By zip; --" on share.admissions using hash (zip) where diagnosis is not null;'
        "create index by_length on share.admissions ((length(zip)) desc, diagnosis);"
        "alter table share.admissions add constraint zips_are_short check (length(zip) < 9);"
        "create statistics share.together on age, zip from share.admissions;"
        "comment on column share.admissions.age is 'in years, it''s \\ said';"
        "comment on column share.admissions.diagnosis is 'as coded'"
    )
    before = clinic.execute(BELONGINGS)
    assert len(before) == 8
    clinic.has_released()
    assert clinic.execute(BELONGINGS) == before


def test_the_comment_of_a_column_goes_with_the_column(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute("comment on column share.admissions.zip is 'of the home'")
    clinic.has_released(clinic.policy(COLUMNS | {"zip": IDENTIFIER}))
    assert clinic.execute(BELONGINGS) == [("age: ",), ("diagnosis: ",)]


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        ("index share.by_zip", "create index by_zip on share.admissions (age, zip)"),
        ("index share.by_zip", "create index by_zip on share.admissions (age) where zip is not null"),
        ("constraint zips", "alter table share.admissions add constraint zips check (zip <> '')"),
        ("statistics share.pair", "create statistics share.pair on age, zip from share.admissions"),
    ],
)
def test_what_hangs_on_a_column_that_vanishes_is_named_and_kept(
    clinic: Clinic, name: str, statement: str
) -> None:
    clinic.has_released()
    clinic.execute(statement)
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(COLUMNS | {"zip": IDENTIFIER})), 2)
    assert f"{name} cannot follow to the new release" in said


def test_a_constraint_that_the_new_rows_break_is_named_without_them(clinic: Clinic) -> None:
    clinic.execute("delete from hospital.admissions where age > 21")
    clinic.execute("update hospital.admissions set age = 20, zip = 'Z9070'")
    columns = COLUMNS | {"diagnosis": COLUMNS["zip"]}
    clinic.execute("update hospital.admissions set diagnosis = 'Hushosis'")
    clinic.has_released(clinic.policy(columns))
    clinic.execute("alter table share.admissions add constraint young check (age = '20')")
    clinic.execute("update hospital.admissions set age = 77")
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(columns)), 2)
    assert "the new rows break constraint young of share.admissions" in said
    assert "77" not in said
