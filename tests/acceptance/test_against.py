"""`against` in [privacy]: a release is judged together with others before it is published."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.clinic import IDENTIFIER, SENSITIVE, Clinic, quasi

WARDS = """
create schema partner;
create table hospital.wards (id int primary key, age int, zip text, diagnosis text);
insert into hospital.wards
select i, 20 + i % 30, 'Z' || i % 4, (array['Secretitis', 'Hushosis', 'Mumpox'])[1 + i / 30 % 3]
from generate_series(1, 240) as i;
"""
OF_WARDS = {
    "id": IDENTIFIER,
    "age": quasi("{ start = 0, widths = [10, 50] }"),
    "zip": quasi('{ mask = "all" }'),
    "diagnosis": SENSITIVE,
}


@pytest.fixture
def wards(clinic: Clinic) -> Clinic:
    clinic.execute(WARDS)
    return clinic


def policy(
    wards: Clinic,
    *against: str,
    target: str = "share.wards",
    privacy: str = "k = 5",
    changes: str = "free",
    **said: str,
) -> Path:
    listed = ", ".join(f'"{pattern}"' for pattern in against)
    privacy += f"\nagainst = [{listed}]" if against else ""
    return wards.policy(
        OF_WARDS, privacy=privacy, source="hospital.wards", target=target, changes=changes, **said
    )


def refused(wards: Clinic, code: int, *arguments: object, status: str | None = "failed") -> str:
    with wards.unchanged(status):
        done = wards.cli("run", *map(str, arguments))
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr


def test_two_targets_that_together_tell_persons_apart_are_refused(wards: Clinic) -> None:
    wards.publish(policy(wards, target="share.by_age"), "--levels", "0,1")
    said = refused(wards, 3, policy(wards, "share.*"), "--levels", "1,0")
    # eight of each age; four of them with each zip code
    assert "240 persons" in said
    assert "share.by_age" in said
    assert "--levels" in said


def test_a_release_at_the_levels_of_the_other_tells_nothing_more(wards: Clinic) -> None:
    wards.publish(policy(wards, target="share.by_age"), "--levels", "0,1")
    done = wards.publish(policy(wards, "share.*"), "--levels", "0,1")
    assert done["against"] == {"releases": ["share.by_age"], "joint_classes": 30, "fewest": 8}
    again = wards.publish(policy(wards, "share.*"), "--levels", "0,1")  # not against its own last release
    assert again["against"]["releases"] == ["share.by_age"]


def test_joint_classes_meet_the_models(wards: Clinic) -> None:
    # each release has classes with all three diagnoses, and who is in two of them has the same one
    wards.execute(
        "create table partner.extract as select w.age, '*' as zip from hospital.wards as w;"
        "update hospital.wards set diagnosis = case when id % 4 = 0 and age % 10 < 5 then 'Mumpox' else diagnosis end"
    )
    demanding = 'k = 2\nl_diversity = { column = "diagnosis", l = 2 }'
    wards.publish(policy(wards, privacy=demanding), "--levels", "1,0")
    said = refused(wards, 3, policy(wards, "partner.extract", privacy=demanding), "--levels", "1,0")
    assert "diagnosis" in said
    assert "together with partner.extract" in said


def test_a_table_made_elsewhere_is_compared_by_its_labels(wards: Clinic) -> None:
    wards.execute(
        "create table partner.coarse as select '[20, 35)' as age from hospital.wards as w where w.age < 35;"
        "create table partner.fine as select w.zip || '*' as zip, w.age / 5 * 5 as low,"
        " '[' || w.age / 5 * 5 || ', ' || w.age / 5 * 5 + 5 || ')' as age from hospital.wards as w"
    )
    wards.publish(policy(wards, "partner.coarse"), "--levels", "1,1")
    refused(wards, 3, policy(wards, "partner.fine", privacy="k = 11"), "--levels", "1,0")


def test_who_is_in_none_of_the_others_is_told_apart_too(wards: Clinic) -> None:
    wards.execute(
        "create table partner.extract as select '[21, 50)' as age from hospital.wards as w where w.age > 20"
    )
    wards.publish(policy(wards, "partner.extract", privacy="k = 8"), "--levels", "2,1")
    said = refused(wards, 3, policy(wards, "partner.extract", privacy="k = 9"), "--levels", "2,1")
    assert "can tell 8 persons apart" in said


def test_a_kept_copy_and_one_more_row_are_refused(wards: Clinic) -> None:
    wards.publish(policy(wards), "--levels", "1,0")
    wards.execute("create table share.kept as table share.wards")
    wards.publish(policy(wards, "share.kept"), "--levels", "1,0")
    wards.execute("insert into hospital.wards values (1001, 25, 'Z0', 'Newitis')")
    said = refused(wards, 3, policy(wards, "share.kept"), "--levels", "1,0")
    assert "1 records are in one of this release and share.kept alone" in said


def test_who_waits_here_and_is_published_elsewhere_is_told_apart(wards: Clinic) -> None:
    wards.publish(policy(wards, changes="hold"), "--levels", "1,0")
    wards.execute("insert into hospital.wards values (1001, 25, 'Z0', 'Mumpox')")
    wards.execute(
        "create table partner.extract as select '[20, 30)' as age, w.zip from hospital.wards as w where w.age < 30"
    )
    wards.publish(policy(wards, changes="hold"))
    said = refused(wards, 3, policy(wards, "partner.extract", changes="hold"))
    assert "1 persons" in said


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("partner.other", "no quasi-identifier of this release"),
        ("partner.*", "no quasi-identifier of this release"),
        ("partner.missing", "can read no such table"),
        ("partner.shown", "a view"),
        ("partner.strange", "no label of age"),
        ("other", "without its schema"),
    ],
)
def test_what_cannot_be_compared_is_not_published(wards: Clinic, pattern: str, said: str) -> None:
    wards.execute(
        "create table partner.strange (age text); insert into partner.strange values ('young');"
        "create table partner.other (name text); create view partner.shown as select 1 as age"
    )
    wards.publish(policy(wards, "nobody.*"))
    status = "failed" if "." in pattern else None  # of a policy that is wrong, no run begins
    assert said in refused(wards, 2, policy(wards, pattern), status=status)


def test_methods_whose_labels_stand_for_no_values_are_refused(wards: Clinic) -> None:
    fusing = 'algorithm = "fusion"'
    assert "by their labels" in refused(wards, 2, policy(wards, "share.*", method=fusing))


def test_mondrian_is_judged_too(wards: Clinic) -> None:
    wards.publish(policy(wards, target="share.by_age"), "--levels", "0,1")
    said = refused(wards, 3, policy(wards, "share.by_age", privacy="k = 6", method='algorithm = "mondrian"'))
    assert "persons apart" in said


def test_a_plan_shows_the_comparison(wards: Clinic) -> None:
    wards.publish(policy(wards, target="share.by_age"), "--levels", "0,1")
    done = wards.cli("plan", policy(wards, "share.*"))
    assert done.returncode == 0, done.stderr
    assert "-- verify: joint classes" in done.stdout
    assert "together_take" in done.stdout
