"""Releases over time, through the command line: who waits, what is refused and proven, and what goes wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.clinic import COLUMNS, IDENTIFIER, Clinic, quasi

WARDS = """
create table hospital.wards (id int primary key, age int, zip text, diagnosis text);
insert into hospital.wards
select i, 20 + i % 30, 'Z' || i % 2, (array['Secretitis', 'Hushosis', 'Mumpox'])[1 + i % 3]
from generate_series(1, 120) as i;
"""
OF_WARDS = {
    "id": IDENTIFIER,
    "age": '{ role = "quasi", hierarchy = { start = 0, widths = [10, 50] }, min_level = 1, max_level = 1 }',
    "zip": quasi('{ mask = "all" }'),
    "diagnosis": '{ role = "sensitive" }',
}
ROWS = (
    "select a.age, a.zip, a.diagnosis, count(*) from share.admissions as a group by 1, 2, 3 order by 1, 2, 3"
)


@pytest.fixture(autouse=True)
def unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a policy does not say is as for users."""
    monkeypatch.delenv("ANONDB_CHANGES")


@pytest.fixture
def wards(clinic: Clinic) -> Clinic:
    clinic.execute(WARDS)
    return clinic


def policy(wards: Clinic, changes: str | None = None, **said: str) -> Any:
    said = {"privacy": "k = 4\nsuppression = 0.1", "source": "hospital.wards"} | said
    return wards.policy(OF_WARDS, changes=changes, **said)


def complaint(wards: Clinic, code: int, *arguments: Any) -> str:
    done = wards.cli(*arguments)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_one_who_joins_waits_until_there_are_k(wards: Clinic) -> None:
    first = wards.publish(policy(wards))
    before = wards.execute(ROWS)
    assert first["series"] | {"persons": 0, "stirred": 0} == {
        "release": 1, "changes": "hold", "fewest": first["series"]["fewest"], "entered": 120, "left": 0, "moved": 0,
        "waiting": 0, "departed": 0, "withheld": 0, "failed": 0, "persons": 0, "stirred": 0,
    }  # fmt: skip
    wards.execute("insert into hospital.wards values (1001, 25, 'Z0', 'Secretitis')")
    second = wards.publish(policy(wards))
    assert (second["series"]["waiting"], second["released"]) == (1, 120)
    assert second["levels"] == first["levels"]
    assert wards.execute(ROWS) == before
    wards.execute(
        "insert into hospital.wards select 1001 + i, 26, 'Z0', 'Mumpox' from generate_series(1, 3) as i"
    )
    third = wards.publish(policy(wards))
    assert (third["series"]["waiting"], third["series"]["entered"], third["released"]) == (0, 4, 124)


def test_who_leaves_stays_until_k_have_left_together(wards: Clinic) -> None:
    wards.publish(policy(wards))
    before = wards.execute(ROWS)
    wards.execute(
        "delete from hospital.wards where id in (select id from hospital.wards where age < 30 limit 3)"
    )
    assert wards.publish(policy(wards))["series"]["departed"] == 3
    assert wards.execute(ROWS) == before
    wards.execute("delete from hospital.wards where age < 30")
    gone = wards.publish(policy(wards))
    assert gone["series"]["left"] == 40
    assert wards.execute("select count(*) from share.admissions as a where a.age like '[20%'") == [(0,)]


def test_where_leavers_are_dropped_their_cohort_goes_with_them(wards: Clinic) -> None:
    dropping = 'k = 4\nsuppression = 0.1\nleavers = "drop"'
    wards.publish(policy(wards, privacy=dropping))
    wards.execute("delete from hospital.wards where id = 1")
    done = wards.publish(policy(wards, privacy=dropping))
    assert 4 <= done["series"]["left"] < 8
    later = wards.publish(policy(wards, privacy=dropping))
    assert later["series"]["withheld"] == done["series"]["left"] - 1
    assert later["released"] == done["released"]


def test_a_value_that_changes_is_not_published_again(wards: Clinic) -> None:
    wards.publish(policy(wards))
    before = wards.execute(ROWS)
    wards.execute("update hospital.wards set diagnosis = 'Newitis' where id = 1")
    done = wards.publish(policy(wards))
    assert (done["series"]["departed"], done["series"]["withheld"]) == (1, 1)
    assert wards.execute(ROWS) == before


def test_k_who_move_together_are_a_cohort_where_they_come_to(wards: Clinic) -> None:
    wards.publish(policy(wards))
    wards.execute("update hospital.wards set age = age + 10 where age < 24")
    done = wards.publish(policy(wards))
    assert done["series"]["moved"] > 0
    assert done["released"] == 120


def test_refuse_says_how_many_classes_and_persons(wards: Clinic) -> None:
    wards.publish(policy(wards, "refuse"))
    wards.execute("delete from hospital.wards where id = 1")
    with wards.unchanged():
        said = complaint(wards, 3, "run", policy(wards, "refuse"))
    assert "1 persons in 1 classes" in said
    assert "hold" in said


def test_free_says_what_is_exposed(wards: Clinic) -> None:
    wards.publish(policy(wards, "free"))
    wards.execute("insert into hospital.wards values (1001, 25, 'Z0', 'Secretitis')")
    done = wards.cli("run", policy(wards, "free"))
    assert done.returncode == 0
    assert "warning: changes are free: 1 rows are new and 0 are gone, in 1 classes" in done.stdout


def test_without_a_key_the_next_release_must_be_the_last_one(clinic: Clinic) -> None:
    first = clinic.publish(clinic.policy(changes=None))
    assert "nothing names a person" in first["warnings"][0]
    clinic.publish(clinic.policy(changes=None))
    clinic.execute("delete from hospital.admissions where age < 26")
    assert "1" in complaint(clinic, 3, "run", clinic.policy(changes=None))
    clinic.publish(clinic.policy(changes=None), "--restart")


def test_a_method_that_cannot_hold_says_so(clinic: Clinic) -> None:
    said = complaint(clinic, 2, "run", clinic.policy(method='algorithm = "mondrian"', changes="hold"))
    assert "mondrian cannot hold changes back" in said


@pytest.mark.parametrize(
    ("spoil", "told"),
    [("update hospital.admissions set name = null", "NULL in 24"), ("select 1", None)],
)
def test_a_key_that_is_null_or_not_unique_is_refused(clinic: Clinic, spoil: str, told: str | None) -> None:
    clinic.execute(spoil)
    text = clinic.policy(COLUMNS, changes=None).read_text()
    with_key = clinic.folder / "key.toml"
    with_key.write_text('key = "name"\n' + text)
    if told is None:
        clinic.publish(with_key)
        clinic.execute("insert into hospital.admissions select * from hospital.admissions limit 1")
        told = "not unique: 1 of its values"
    assert told in complaint(clinic, 2, "run", with_key)


def test_a_release_that_was_changed_by_hand_is_not_followed(wards: Clinic) -> None:
    wards.publish(policy(wards))
    wards.execute("update share.admissions set diagnosis = 'Hushosis' where diagnosis = 'Mumpox'")
    with wards.unchanged():
        said = complaint(wards, 2, "run", policy(wards))
    assert "restored from a backup" in said
    assert wards.cli("verify", "share.admissions").returncode == 3
    wards.publish(policy(wards), "--restart")
    assert wards.cli("verify", "share.admissions").returncode == 0


def test_a_ledger_older_than_the_release_is_found(wards: Clinic) -> None:
    wards.publish(policy(wards))
    wards.execute("create table hospital.old as select * from anondb.member")
    wards.execute(
        "insert into hospital.wards select 2000 + i, 25, 'Z0', 'Mumpox' from generate_series(1, 9) as i"
    )
    assert wards.publish(policy(wards))["series"]["entered"] == 9
    wards.execute("delete from anondb.member; delete from anondb.cohort where since > 1")
    wards.execute(
        "insert into anondb.member select * from hospital.old; update anondb.series set release = 1"
    )
    assert "restored from a backup" in complaint(wards, 2, "run", policy(wards))


def test_a_target_dropped_by_hand_is_not_made_anew(wards: Clinic) -> None:
    wards.publish(policy(wards))
    wards.execute("drop table share.admissions")
    said = complaint(wards, 2, "run", policy(wards))
    assert "is gone, and the ledger knows" in said
    wards.publish(policy(wards), "--restart")


def test_a_ledger_of_an_older_version_is_refused(wards: Clinic) -> None:
    wards.publish(policy(wards))
    wards.execute("update anondb.series set version = 0")
    assert "of an older version" in complaint(wards, 2, "run", policy(wards))


def test_two_sources_cannot_have_one_target(wards: Clinic) -> None:
    wards.publish(policy(wards))
    wards.execute("create table hospital.others (like hospital.wards including all)")
    wards.execute("insert into hospital.others select * from hospital.wards")
    said = complaint(wards, 2, "run", policy(wards, source="hospital.others"))
    assert "belongs to a series of releases of hospital.wards" in said


def test_a_clock_that_goes_backwards_changes_nothing(wards: Clinic) -> None:
    wards.publish(policy(wards))
    wards.execute("update anondb.series_release set released_at = now() + interval '1 year'")
    assert wards.publish(policy(wards))["series"]["release"] == 2
    listed = json.loads(wards.cli("releases", "share.admissions", "--json").stdout)
    assert [release["release"] for release in listed] == [2, 1]


def test_another_policy_searches_again_and_follows_the_rule(wards: Clinic) -> None:
    wards.publish(policy(wards))
    done = wards.publish(policy(wards, privacy="k = 5\nsuppression = 0.2"))
    assert done["series"]["release"] == 2
    assert done["series"]["fewest"] >= 5
    assert wards.cli("verify", "share.admissions").returncode == 0


def test_joiners_with_one_value_are_withheld_and_tell_nothing_later(wards: Clinic) -> None:
    diverse = policy(wards, privacy='k = 3\nl_diversity = { column = "diagnosis", l = 2 }')
    wards.publish(diverse)
    [(batch,)] = wards.execute("select s.batch from anondb.series as s")
    join = "insert into hospital.wards select {} + i, 25, 'Z0', '{}' from generate_series(1, {}) as i"
    wards.execute(join.format(1000, "Mumpox", batch))
    before = wards.execute(ROWS)
    second = wards.publish(diverse)
    assert (second["series"]["failed"], second["series"]["waiting"]) == (batch, 0)
    wards.execute(join.format(2000, "Hushosis", 1))
    third = wards.publish(diverse)
    # with another beside them they would meet the model, and it would be known which value they have
    assert (third["series"]["withheld"], third["series"]["waiting"]) == (batch, 1)
    assert wards.execute(ROWS) == before
    assert wards.cli("verify", "share.admissions").returncode == 0
    wards.execute(
        "update anondb.cohort set persons = persons - 1, began_with = began_with - 1 where since = 2"
    )
    assert wards.cli("verify", "share.admissions").returncode == 3


def test_the_ledger_holds_no_value_of_the_data(wards: Clinic) -> None:
    wards.publish(policy(wards, privacy='k = 4\nl_diversity = { column = "diagnosis", l = 2 }'))
    kept = wards.execute(
        "select s::text from anondb.series as s union all select c::text from anondb.cohort as c"
        " union all select m::text from anondb.member as m"
    )
    text = " ".join(line for (line,) in kept)
    assert "Mumpox" not in text
    assert "[20" not in text


def test_a_release_is_listed_proven_and_forgotten(wards: Clinic) -> None:
    wards.publish(policy(wards, privacy='k = 4\nl_diversity = { column = "diagnosis", l = 2 }'))
    proof = json.loads(wards.cli("verify", "share.admissions", "--json").stdout)
    assert proof["holds"]
    assert {condition["holds"] for condition in proof["conditions"]} == {True}
    assert len(proof["conditions"]) >= 6
    assert "120" in wards.cli("releases").stdout
    assert "forgotten" in wards.cli("releases", "forget", "share.admissions", "--all", "--yes").stdout
    assert json.loads(wards.cli("releases", "--json").stdout) == []
    assert wards.cli("verify", "share.admissions").returncode == 2


@pytest.mark.parametrize(
    "spoil",
    [
        "delete from share.admissions where ctid in (select ctid from share.admissions limit 1)",
        "update anondb.cohort set persons = 1, records = 1",
        "delete from anondb.member where ctid in (select ctid from anondb.member limit 1)",
    ],
)
def test_a_proof_finds_what_was_spoiled(wards: Clinic, spoil: str) -> None:
    wards.publish(policy(wards))
    wards.execute(spoil)
    assert wards.cli("verify", "share.admissions").returncode == 3
