"""anondb check: policies before they run, alone and against their tables; what has drifted; empty [columns]."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anondb.policy.schema import FILE
from tests.acceptance.clinic import COLUMNS, IDENTIFIER, OTHER, SENSITIVE, Clinic, quasi
from tests.conftest import Cli

NOWHERE = {"ANONDB_DSN": "", "PGHOST": "", "PGSERVICE": ""}


def checked(clinic: Clinic, *arguments: str | Path, code: int = 0) -> Any:
    ended = clinic.cli("check", *arguments, "--json")
    assert ended.returncode == code, ended.stderr
    [answer] = json.loads(ended.stdout)
    return answer


def test_a_policy_that_runs_is_right_alone_and_on_its_tables(clinic: Clinic) -> None:
    policy = clinic.policy()
    alone = clinic.cli("check", policy, **NOWHERE)
    assert (alone.returncode, alone.stderr) == (0, "")
    assert "the file is right" in alone.stdout
    with clinic.unchanged(None):
        assert "fits its tables" in clinic.cli("check", policy).stdout
    assert checked(clinic, policy)["database"] is True
    assert checked(clinic, policy, "--offline")["database"] is False


def test_what_is_wrong_in_a_file_is_told_without_a_database(clinic: Clinic, tmp_path: Path) -> None:
    policy = clinic.policy(privacy="k = 1")
    ended = clinic.cli("check", policy, **NOWHERE)
    assert ended.returncode == 2
    assert "k = 1 protects nobody" in ended.stderr
    (tmp_path / "job.csv").write_text("a;b;*\na;c;*\n")
    broken = clinic.policy(COLUMNS | {"zip": quasi('{ csv = "job.csv" }')})
    ended = clinic.cli("check", broken, **NOWHERE)
    assert ended.returncode == 2
    assert "job.csv" in ended.stderr


def test_several_policies_are_checked_at_once(clinic: Clinic, tmp_path: Path) -> None:
    (tmp_path / "no.toml").write_text("")
    ended = clinic.cli("check", clinic.policy(), "no.toml", **NOWHERE)
    assert ended.returncode == 2
    assert "the file is right" in ended.stdout
    assert "no.toml" in ended.stderr


def test_a_policy_that_does_not_fit_its_tables_is_told_by_the_database_alone(clinic: Clinic) -> None:
    policy = clinic.policy(COLUMNS | {"zip": quasi("{ widths = [5, 10] }")})
    assert clinic.cli("check", policy, **NOWHERE).returncode == 0
    answer = checked(clinic, policy, code=2)
    assert "ranges" in answer["problems"][0]["message"] or "numeric" in answer["problems"][0]["message"]


def test_new_columns_and_lost_ones_are_drift(clinic: Clinic) -> None:
    policy = clinic.policy()
    clinic.publish(policy)
    assert clinic.cli("check", policy, "--drift").returncode == 0
    clinic.execute("alter table hospital.admissions add column email text")
    clinic.execute("alter table hospital.admissions rename column zip to zip_code")
    answer = checked(clinic, policy, "--drift", code=2)
    told = " ".join(problem["message"] for problem in answer["problems"])
    assert all(f'"{name}"' in told for name in ("email", "zip_code", "zip"))
    assert policy.name in clinic.cli("check", policy, "--drift").stderr


def test_changed_types_are_drift(clinic: Clinic) -> None:
    policy = clinic.policy()
    clinic.publish(policy)
    clinic.execute("drop view hospital.gated")
    clinic.execute("alter table hospital.admissions alter column diagnosis type varchar(40)")
    clinic.execute("alter table hospital.admissions alter column age type text")
    answer = checked(clinic, policy, "--drift", code=2)
    told = " ".join(problem["message"] for problem in answer["problems"])
    assert "character varying(40)" in told
    assert '"age"' in told


def test_warnings_tell_kept_columns_that_are_nearly_unique_and_persons_who_repeat(clinic: Clinic) -> None:
    clinic.execute(
        "create table hospital.visits as select 1 + i % 50 as patient_id, 20 + i % 30 as age, i as receipt,"
        " (array['flu', 'gout'])[1 + i % 2] as diagnosis from generate_series(1, 300) as i"
    )
    clinic.execute("analyze hospital.visits")
    columns = {
        "patient_id": IDENTIFIER,
        "age": quasi("{ widths = [5, 10] }"),
        "receipt": OTHER,
        "diagnosis": SENSITIVE,
    }
    policy = clinic.policy(columns, source="hospital.visits")
    answer = checked(clinic, policy)
    told = [warning["message"] for warning in answer["warnings"]]
    assert len(told) == 2
    assert any('"receipt" is nearly unique' in one for one in told)
    assert any('"patient_id" repeats' in one for one in told)
    with_unit = clinic.policy(
        columns | {"receipt": IDENTIFIER}, source="hospital.visits", privacy='k = 3\nunit = "patient_id"'
    )
    assert checked(clinic, with_unit)["warnings"] == []


@pytest.mark.parametrize("command", ["run", "plan", "check"])
def test_an_empty_table_of_columns_is_answered_with_those_of_the_table(clinic: Clinic, command: str) -> None:
    policy = clinic.policy()
    text = policy.read_text()
    policy.write_text(text[: text.index("[columns]")] + "[columns]\n")
    ended = clinic.cli(command, policy)
    assert ended.returncode == 2
    assert "age = {" in ended.stderr
    assert "# integer" in ended.stderr
    assert "anondb draft hospital.admissions" in ended.stderr


def test_the_schema_is_printed_and_written(cli: Cli, tmp_path: Path) -> None:
    assert cli("schema").stdout == FILE.read_text()
    assert cli("schema", "--out", "s.json").returncode == 0
    assert (tmp_path / "s.json").read_text() == FILE.read_text()
