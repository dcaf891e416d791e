"""Two tables over time: a release that was changed by hand, or a ledger of another day, is not followed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.clinic import IDENTIFIER, Clinic

BEDS = """
create table hospital.beds (id int primary key, age int, diagnosis text);
insert into hospital.beds
select i, 20 + i % 30, (array['Secretitis', 'Hushosis', 'Mumpox', 'Whisperia'])[1 + i % 4]
from generate_series(1, 120) as i;
"""
COLUMNS = {
    "id": IDENTIFIER,
    "age": '{ role = "quasi" }',
    "diagnosis": '{ role = "sensitive", hierarchy = { mask = "all" } }',
}
DEMANDED = 'le_diversity = { column = "diagnosis", l = 2, e = 0 }'


@pytest.fixture
def beds(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    monkeypatch.delenv("ANONDB_CHANGES")
    clinic.execute(BEDS)
    return clinic


def policy(beds: Clinic, privacy: str = DEMANDED, source: str = "hospital.beds") -> Any:
    return beds.policy(
        COLUMNS, changes=None, privacy=privacy, source=source, method='algorithm = "le_diversity"'
    )


def told(beds: Clinic, code: int, *arguments: str, **said: str) -> str:
    done = beds.cli("run", policy(beds, **said), *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (
            "update share.admissions_sensitive set diagnosis = 'Mumpox' where diagnosis = 'Hushosis'",
            "restored from a backup",
        ),
        ("update share.admissions_quasi set age = age + 1 where age = 25", "restored from a backup"),
        (
            "delete from anondb.member where ctid in (select m.ctid from anondb.member as m limit 1)",
            "restored from a backup",
        ),
        ("drop table share.admissions_sensitive", "--restart"),
        ("update anondb.series set version = 0", "of an older version"),
    ],
)
def test_what_was_spoiled_is_not_followed(beds: Clinic, spoil: str, found: str) -> None:
    beds.publish(policy(beds))
    beds.execute(spoil)
    beds.execute("insert into hospital.beds values (1001, 25, 'Mumpox')")
    assert found in told(beds, 2)
    told(beds, 0, "--restart")
    assert beds.cli("verify", "share.admissions_quasi").returncode == 0


def test_a_key_that_is_null_or_repeated_is_refused(beds: Clinic) -> None:
    beds.execute("alter table hospital.beds drop constraint beds_pkey, alter id drop not null")
    beds.execute("create view hospital.seen as select b.* from hospital.beds as b")
    with_key = beds.folder / "key.toml"
    with_key.write_text('key = "id"\n' + policy(beds).read_text())
    beds.execute("insert into hospital.beds values (null, 25, 'Mumpox')")
    assert "NULL in 1 record" in beds.cli("run", with_key).stderr
    beds.execute("update hospital.beds set id = 1 where id is null")
    assert "not unique: 1 of its values" in beds.cli("run", with_key).stderr


def test_a_plan_shows_what_a_refresh_does(beds: Clinic) -> None:
    for _ in range(2):
        with beds.unchanged(None):
            shown = beds.cli("plan", policy(beds))
        assert shown.returncode == 0, shown.stderr
        assert "ledger_apart(" in shown.stdout
        assert "ledger_apart_enter(" in shown.stdout
        beds.publish(policy(beds))


def test_refuse_publishes_only_what_nobody_waits_for(beds: Clinic) -> None:
    refusing = policy(beds, privacy=f'changes = "refuse"\n{DEMANDED}')
    beds.publish(refusing)
    beds.publish(refusing)
    beds.execute("delete from hospital.beds where id = 1")
    assert "1 persons in 1 classes" in beds.cli("run", refusing).stderr
