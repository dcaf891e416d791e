"""What does not fit is refused with one clear error, and the old release stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.clinic import COLUMNS, IDENTIFIER, OTHER, Clinic, complaint, quasi
from tests.conftest import Cli


def test_a_policy_that_does_not_exist_is_told(cli: Cli) -> None:
    assert "nowhere.toml: there is no such file" in complaint(cli("run", "nowhere.toml"), 2)


def test_a_policy_that_is_not_toml_is_told_with_its_line(cli: Cli, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('source = "a"\ntarget = b\n')
    assert "policy.toml line 2: this is not TOML" in complaint(cli("run", policy), 2)


def test_all_mistakes_of_a_policy_are_told_at_once(cli: Cli, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'source = "a.b.c"\n[privacy]\nk = 1\nsuppresion = 0.1\n[method]\nalgorithm = "datafli"\n'
        '[columns]\nage = { role = "quazi" }\nzip = { role = "quasi", hierarchy = { mask = "up" } }\n'
    )
    said = complaint(cli("run", policy), 2)
    for mistake in ("3 parts", "target is missing", "at least 2", "suppresion", "datafly", "quazi", "mask"):
        assert mistake in said
    assert said.count("hint: ") >= 7


def test_all_that_does_not_fit_the_database_is_told_at_once(clinic: Clinic) -> None:
    clinic.has_released()
    policy = clinic.policy(
        {"age": COLUMNS["age"], "zipp": COLUMNS["zip"], "diagnosis": quasi('"nowhere"')}, target="nope.t"
    )
    with clinic.unchanged():
        said = complaint(clinic.cli("run", policy), 2)
    assert 'hospital.admissions has no column "zipp"' in said
    assert 'did you mean "zip"?' in said
    assert 'column "name" of hospital.admissions is not named' in said
    assert 'there is no stored hierarchy "nowhere"' in said
    assert "the schema of target nope.t does not exist" in said


def test_a_table_that_does_not_exist_is_told_with_the_closest_name(clinic: Clinic) -> None:
    clinic.has_released()
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(source="hospital.admission")), 2)
    assert "source hospital.admission does not exist" in said
    assert 'did you mean "admissions"?' in said


def test_what_is_no_table_is_no_source(clinic: Clinic) -> None:
    clinic.execute("create sequence hospital.counter")
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(source="hospital.counter")), 2)
    assert "is not a table" in said


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (quasi("{ start = 0, widths = [5] }"), "intervals need a numeric column"),
        (quasi("{ dates = true }"), "dates need a date or timestamp column"),
    ],
)
def test_a_hierarchy_of_another_type_is_refused(clinic: Clinic, column: str, message: str) -> None:
    with clinic.unchanged():
        assert message in complaint(clinic.cli("run", clinic.policy(COLUMNS | {"zip": column})), 2)


@pytest.mark.parametrize("stored", [True, False])
def test_values_outside_a_hierarchy_are_counted_and_shown_only_on_demand(
    clinic: Clinic, stored: bool
) -> None:
    (clinic.folder / "zip.csv").write_text("Z9070;*\nZ9071;*\n")
    clinic.has_released()
    if stored:
        assert clinic.cli("vgh", "load", "zip", clinic.folder / "zip.csv").returncode == 0
    policy = clinic.policy(COLUMNS | {"zip": quasi('"zip"' if stored else '{ csv = "zip.csv" }')})
    with clinic.unchanged():
        said = complaint(clinic.cli("run", policy), 2)
    assert 'column "zip": 2 distinct values in 12 records are outside the hierarchy' in said
    assert "--show-values" in said
    assert "Z907" not in said
    with clinic.unchanged():
        assert "'Z9072', 'Z9073'" in complaint(clinic.cli("run", policy, "--show-values"), 2)
    assert "Z907" not in clinic.history()


def test_a_value_that_no_range_holds_is_outside(clinic: Clinic) -> None:
    clinic.execute(
        "create table hospital.doses as select d from unnest('{1, 2, NaN, Infinity}'::float8[]) as d"
    )
    policy = clinic.policy({"d": quasi("{ widths = [5] }")}, source="hospital.doses", privacy="k = 2")
    with clinic.unchanged():
        assert 'column "d": 2 distinct values in 2 records' in complaint(clinic.cli("run", policy), 2)


def test_k_larger_than_the_table_can_be_met_by_no_release(clinic: Clinic) -> None:
    clinic.has_released()
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(privacy="k = 25")), 3)
    assert "k = 25 is larger than the table: 24 records" in said
    assert clinic.publish(clinic.policy(privacy="k = 24"))["k"] == 24


def test_an_empty_table_is_refused_unless_it_is_asked_for(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute("delete from hospital.admissions")
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy()), 2)
    assert "source hospital.admissions is empty" in said
    assert "--allow-empty" in said
    result = clinic.publish(None, "--allow-empty")
    assert (result["records"], result["released"], result["classes"], result["k"]) == (0, 0, 0, 0)
    assert clinic.dump() == b""


def test_a_release_without_a_record_is_refused_unless_it_is_asked_for(clinic: Clinic) -> None:
    clinic.has_released()
    columns = dict.fromkeys(COLUMNS, OTHER) | {"name": quasi('{ mask = "all" }')}
    policy = clinic.policy(columns, privacy="k = 2\nsuppression = 1")
    with clinic.unchanged():
        assert "every record would be suppressed" in complaint(clinic.cli("run", policy), 3)
    assert clinic.publish(policy, "--allow-empty")["released"] == 0


def test_a_database_without_anondb_is_told_the_command(clinic: Clinic) -> None:
    assert clinic.cli("db", "remove", "--yes").returncode == 0
    assert "hint: run: anondb db upgrade" in complaint(clinic.cli("run", clinic.policy()), 4)


def test_an_identifier_is_never_in_the_release(clinic: Clinic) -> None:
    clinic.publish(clinic.policy(COLUMNS | {"diagnosis": IDENTIFIER}))
    columns = clinic.execute(
        "select a.attname from pg_attribute as a where a.attrelid = 'share.admissions'::regclass and attnum > 0"
    )
    assert columns == [("age",), ("zip",)]
