"""Releases over time: a ledger that was spoiled, bypassed or misled lets no single person through."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.clinic import IDENTIFIER, Clinic

STAYS = (
    "create table hospital.stays (row_ int primary key, person int not null, age int, diagnosis text);"
    " insert into hospital.stays select i, i / 2, 20 + i % 30, (array['Mumpox', 'Hushosis'])[1 + i / 2 % 2]"
    " from generate_series(0, 119) as i"
)
AGE = '{ role = "quasi", hierarchy = { start = 0, widths = [10, 50] }, min_level = 1, max_level = 1 }'
SENSITIVE = '{ role = "sensitive" }'
JOINS = "insert into hospital.stays values (1001, 1001, 25, 'Secretitis')"
OF_STAYS = {"row_": IDENTIFIER, "person": IDENTIFIER, "age": AGE, "diagnosis": SENSITIVE}


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANONDB_CHANGES")


@pytest.fixture
def stays(clinic: Clinic) -> Clinic:
    clinic.execute(STAYS)
    return clinic


def policy(stays: Clinic, privacy: str = "k = 3", changes: str | None = None) -> Any:
    return stays.policy(OF_STAYS, changes=changes, privacy=privacy, source="hospital.stays")


def refused(stays: Clinic, policy: Any, code: int, *arguments: str) -> str:
    with stays.unchanged():
        done = stays.cli("run", policy, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "spoil",
    [
        "delete from anondb.member",
        "delete from anondb.member where ctid in (select m.ctid from anondb.member as m limit 5)",
        "update anondb.member set person = gen_random_uuid(), mark = mark + 1, kept = kept + 1",
    ],
)
def test_members_of_another_day_than_their_cohorts_are_found(stays: Clinic, spoil: str) -> None:
    stays.publish(policy(stays))
    stays.execute(spoil)
    assert "restored from a backup" in refused(stays, policy(stays), 2)


@pytest.mark.parametrize("leavers", ["delay", "drop"])
def test_equal_records_of_a_person_in_two_classes_stay_where_they_are(stays: Clinic, leavers: str) -> None:
    stays.execute("update hospital.stays set age = 25 + row_ % 2 * 10")
    said = policy(stays, f'k = 3\nunit = "person"\nleavers = "{leavers}"')
    stays.publish(said)
    # the same rows in another order
    stays.execute("create table hospital.old as select * from hospital.stays; truncate hospital.stays")
    stays.execute("insert into hospital.stays select * from hospital.old order by row_ % 2 desc, row_ desc")
    second = stays.publish(said)
    assert (second["series"]["persons"], second["released"]) == (0, 120)


def test_a_proof_holds_after_k_has_been_raised(stays: Clinic) -> None:
    stays.execute("delete from hospital.stays where age between 30 and 39 and row_ >= 40")
    stays.publish(policy(stays, "k = 3\nsuppression = 0.5"))
    stays.execute(
        "insert into hospital.stays select 1000 + i, 1000 + i, 25, 'Mumpox' from generate_series(1, 3) as i"
    )
    stays.publish(policy(stays, "k = 3\nsuppression = 0.5"))
    done = stays.publish(policy(stays, "k = 4\nsuppression = 0.5"))
    assert done["series"]["left"] == 3
    proof = json.loads(stays.cli("verify", "share.admissions", "--json").stdout)
    assert proof["holds"], proof


def test_without_a_key_a_dropped_target_is_not_made_anew(clinic: Clinic) -> None:
    clinic.publish(clinic.policy(changes=None))
    clinic.execute("delete from hospital.admissions where age < 26; drop table share.admissions")
    assert "is gone" in refused(clinic, clinic.policy(changes=None), 2)
    clinic.publish(clinic.policy(changes=None), "--restart")


def test_a_key_that_comes_later_does_not_let_through_what_was_refused(stays: Clinic) -> None:
    stays.execute("alter table hospital.stays drop constraint stays_pkey")
    stays.publish(policy(stays))
    stays.execute(JOINS)
    refused(stays, policy(stays), 3)
    stays.execute("alter table hospital.stays add primary key (row_)")
    refused(stays, policy(stays), 3)
    stays.execute("delete from hospital.stays where row_ = 1001")
    assert stays.publish(policy(stays))["series"]["entered"] == 120
