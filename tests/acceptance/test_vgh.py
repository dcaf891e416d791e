"""anondb vgh: hierarchies are stored, shown, exported and dropped; wrong ones are refused as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anondb.api import Database
from tests.acceptance.clinic import COLUMNS, Clinic, complaint, quasi
from tests.conftest import Cli

pytestmark = pytest.mark.once  # another server version would say the same

JOBS = "Nurse;Health;*\nSurgeon#2;Health;*\nWelder;Metal;*\n"


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS)
    return path


def test_a_hierarchy_is_stored_listed_shown_exported_and_dropped(cli: Cli, jobs: Path) -> None:
    assert "no hierarchies are stored" in cli("vgh", "list").stdout
    assert cli("vgh", "load", "job", jobs).stdout == "job: 3 leaves, 6 nodes, height 2\n"
    listed = json.loads(cli("vgh", "list", "--json").stdout)
    assert listed == [{"name": "job", "height": 2, "leaves": 3, "nodes": 6, "ontology": "wordnet"}]
    assert "job" in cli("vgh", "list").stdout
    assert cli("vgh", "show", "job").stdout.splitlines() == [
        "*",
        "├─ Health",
        "│  ├─ Nurse",
        "│  └─ Surgeon#2",
        "└─ Metal",
        "   └─ Welder",
    ]
    assert cli("vgh", "export", "job").stdout == JOBS
    assert cli("vgh", "export", "job", jobs.with_name("out.csv")).stdout == ""
    assert jobs.with_name("out.csv").read_text() == JOBS
    assert cli("vgh", "drop", "job").returncode == 0
    assert json.loads(cli("vgh", "list", "--json").stdout) == []


def test_a_stored_hierarchy_is_replaced_only_when_asked_for(cli: Cli, jobs: Path) -> None:
    cli("vgh", "load", "job", jobs)
    jobs.write_text("Baker;*\n")
    said = complaint(cli("vgh", "load", "job", jobs), 2)
    assert 'hierarchy "job" exists' in said
    assert "--replace" in said
    assert cli("vgh", "export", "job").stdout == JOBS
    assert cli("vgh", "load", "job", jobs, "--replace").returncode == 0
    assert cli("vgh", "export", "job").stdout == "Baker;*\n"


def test_a_file_with_mistakes_is_told_with_all_of_them_and_stores_nothing(
    cli: Cli, db: Database, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a;x;*\nb;x;all\na;x;*\nc;;*\n")
    said = complaint(cli("vgh", "load", "wrong", wrong), 2)
    for mistake in ("line 2: two roots", 'line 3: the leaf "a" is in line 1', 'line 4: the cell after "c"'):
        assert mistake in said
    assert "cannot be read" in complaint(cli("vgh", "load", "none", tmp_path / "none.csv"), 2)
    assert db.hierarchies.list() == []


@pytest.mark.parametrize("command", ["show", "export", "drop"])
def test_a_hierarchy_that_is_not_stored_is_told_with_close_names(
    cli: Cli, db: Database, jobs: Path, command: str
) -> None:
    db.hierarchies.load("occupation", jobs)
    said = complaint(cli("vgh", command, "ocupation"), 2)
    assert 'there is no hierarchy "ocupation"' in said
    assert '"occupation"' in said


def test_a_hierarchy_may_have_any_name(cli: Cli, jobs: Path) -> None:
    name = "[/bold] 漢字; drop --%s"
    for command in (["load", name, jobs], ["list"], ["show", name], ["drop", name]):
        done = cli("vgh", *command)
        assert (done.returncode, done.stderr) == (0, "")
    assert "[/bold]" in done.stdout


def test_an_export_that_cannot_be_written_is_told(cli: Cli, db: Database, jobs: Path) -> None:
    db.hierarchies.load("job", jobs)
    assert "cannot be written" in complaint(cli("vgh", "export", "job", jobs.parent), 2)


def test_a_stored_hierarchy_generalizes_and_its_senses_are_not_released(clinic: Clinic) -> None:
    path = clinic.folder / "zip.csv"
    path.write_text("Z9070#2;east#1;town#3\nZ9071;east#1;town#3\nZ9072;west;town#3\nZ9073;west;town#3\n")
    assert clinic.cli("vgh", "load", "zip", path).returncode == 0
    columns = COLUMNS | {"zip": quasi('"zip"'), "age": quasi('{ mask = "all" }')}
    released = set()
    for k in (6, 12, 24):
        clinic.has_released(clinic.policy(columns, privacy=f"k = {k}"))
        released |= {label for (label,) in clinic.execute("select zip from share.admissions")}
    assert released == {"Z9070", "Z9071", "Z9072", "Z9073", "east", "west", "town"}
