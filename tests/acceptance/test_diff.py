"""anondb diff: what two releases tell together, of runs, of kept copies, and of tables that anybody has made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anondb.api import Database
from tests.acceptance.clinic import IDENTIFIER, Clinic, quasi
from tests.conftest import Cli
from tests.documentation import blocks

WARDS = """
create table hospital.wards (id int primary key, age int, zip text, diagnosis text);
insert into hospital.wards
select i, 20 + i % 30, 'Z' || i % 4, (array['Secretitis', 'Hushosis', 'Mumpox'])[1 + i / 30 % 3]
from generate_series(1, 120) as i;
"""
AGES = quasi("{ start = 0, widths = [10, 50] }")
OF_WARDS = {
    "id": IDENTIFIER,
    "age": AGES,
    "zip": quasi('{ mask = "all" }'),
    "diagnosis": '{ role = "sensitive" }',
}


@pytest.fixture
def wards(clinic: Clinic) -> Clinic:
    clinic.execute(WARDS)
    return clinic


def policy(wards: Clinic, target: str = "share.wards") -> Path:
    return wards.policy(OF_WARDS, privacy="k = 4", source="hospital.wards", target=target, changes="free")


def told(wards: Clinic, code: int, *arguments: str) -> dict[Any, Any]:
    done = wards.cli("diff", *arguments, "--json")
    assert done.returncode == code, done.stderr
    found: dict[Any, Any] = json.loads(done.stdout)
    return found | {(f["name"], f["column"]): f["value"] for f in found["figures"]}


def test_one_added_row_is_told_by_a_kept_copy(wards: Clinic) -> None:
    wards.publish(policy(wards), "--levels", "1,0")
    wards.execute("create table share.kept as table share.wards")
    wards.execute("insert into hospital.wards values (1001, 25, 'Z0', 'Newitis')")
    second = wards.publish(policy(wards), "--levels", "1,0")
    found = told(wards, 3, "share.kept", "last")
    assert found["entered_below_k", None] == found["entered_certain", "diagnosis"] == 1
    assert found["records_left", None] == 0
    assert found["k"] == 4
    assert found["after"]["run"] == second["run"]
    assert "Newitis" not in json.dumps({str(key): value for key, value in found.items()})


def test_releases_that_are_the_same_tell_nothing_together(wards: Clinic) -> None:
    wards.publish(policy(wards), "--levels", "1,0")
    wards.execute("create table share.kept as table share.wards")
    done = wards.cli("diff", "share.kept", "last")
    assert done.returncode == 0
    assert "no value is certain" in done.stdout


def test_where_the_rows_of_a_run_are_gone_the_ledger_says_what_it_knows(wards: Clinic) -> None:
    first, second = wards.publish(policy(wards)), wards.publish(policy(wards))
    names = (str(first["run"]), str(second["run"]))
    found = told(wards, 0, *names)
    assert (found["compared"], found["exposes"]) == (False, None)
    assert found["before"]["replaced_by"] == second["run"]
    assert [release["run"] for release in found["between"]] == [second["run"], first["run"]]
    done = wards.cli("diff", *names)
    assert f"replaced by run {second['run']}" in done.stdout
    assert "kept copy" in done.stdout


def test_releases_of_one_source_at_different_levels_are_intersected(wards: Clinic) -> None:
    wards.publish(policy(wards, "share.by_age"), "--levels", "0,1")
    wards.publish(policy(wards, "share.by_zip"), "--levels", "1,0")
    # two values each, and one of them in both
    wards.execute("delete from share.by_age where age = '20' and diagnosis = 'Secretitis'")
    wards.execute("delete from share.by_zip where age = '[20, 30)' and zip = 'Z0' and diagnosis = 'Mumpox'")
    runs = wards.execute("select max(r.id) - 1, max(r.id) from anondb.run as r")[0]
    found = told(wards, 3, *map(str, runs), "--source", "hospital.wards")
    assert found["both_certain", "diagnosis"] > 0
    assert found["persons_certain", "diagnosis"] > 0
    assert found["quasi"] == ["age", "zip"]


def test_an_extract_with_other_columns_is_compared_by_those_in_common(wards: Clinic) -> None:
    wards.publish(policy(wards), "--levels", "1,0")
    wards.execute("create table share.extract as select w.age, w.diagnosis from hospital.wards as w")
    found = told(wards, 3, "share.extract", "share.wards", "--quasi", "age,zip", "--sensitive", "diagnosis",
                 "--source", "hospital.wards", "--unit", "id", "--k", "4")  # fmt: skip
    assert found["persons", None] == 120
    # four persons of each age, of two zip codes
    assert found["persons_below_k", None] == 120


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("share.wards", "share.nothing", "--quasi", "age"), "does not exist"),
        (("share.wards", "share.wards"), "no quasi-identifier is named"),
        (("share.wards", "share.other", "--quasi", "age"), "no quasi-identifier in common"),
        (("share.wards", "share.wards", "--quasi", "agee"), 'neither release has a column "agee"'),
        (("share.wards", "share.apart", "--quasi", "age"), "no label of age"),
        (("999", "last"), "run 999 is not in the history"),
        (("share.wards", "share.wards", "--quasi", "age", "--vgh", "age=nothing"), "no hierarchy"),
    ],
)
def test_what_cannot_be_compared_is_told(wards: Clinic, arguments: tuple[str, ...], said: str) -> None:
    wards.publish(policy(wards))
    wards.execute("create table share.other (zip text); create table share.apart (age text)")
    wards.execute("insert into share.apart values ('young')")
    done = wards.cli("diff", *arguments)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr


def test_a_type_of_somebody_is_not_cast(wards: Clinic) -> None:
    wards.execute(
        "create type hospital.secret as (n int);"
        "create function hospital.leak(hospital.secret) returns text language sql as $$ select 'x' $$;"
        "create cast (hospital.secret as text) with function hospital.leak(hospital.secret);"
        "create table share.theirs (age hospital.secret)"
    )
    wards.publish(policy(wards))
    done = wards.cli("diff", "share.wards", "share.theirs", "--quasi", "age")
    assert done.returncode != 0
    assert "by a function of somebody" in done.stderr


def test_the_documented_example_gives_the_documented_figures(db: Database, cli: Cli) -> None:
    db.tables.load("builtin:adult", "adult")
    before, between, *_ = blocks("docs/releases.md", "sql")
    [policy, *_] = [text for text in blocks("docs/releases.md", "toml") if "census" in text]
    db.connection.execute(before.encode())
    db.run(policy)
    db.connection.execute(between.encode())
    db.run(policy)
    done = cli("diff", "share.march", "last")
    assert done.returncode == 3
    [shown] = [text for text in blocks("docs/releases.md", "text") if text.startswith("What changed")]
    assert done.stdout.split() == shown.split()
