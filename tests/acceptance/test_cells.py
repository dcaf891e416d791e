"""The worked example of suppressed cells in docs/policy.md, by the command line; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from psycopg import sql

from anondb.api import Database
from tests.conftest import Cli
from tests.documentation import rows

pytestmark = pytest.mark.once  # another server version would say the same

POLICY = """
source = "clinic.staff"
target = "clinic.released"
[privacy]
k = 2
suppression = 1
suppress = "cells"
[method]
algorithm = "datafly"
[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { csv = "age.csv" } }
zip = { role = "quasi", hierarchy = { csv = "zip.csv" } }
job = { role = "quasi", hierarchy = { csv = "job.csv" } }
"""


@pytest.fixture
def staff(db: Database, tmp_path: Path) -> list[list[str]]:
    """The table of the documentation, each column with a hierarchy that has nothing but a root."""
    documented = [row for row in rows("docs/policy.md", "Suppressed cells") if row[0].startswith("[")]
    db.connection.execute("create schema clinic")
    db.connection.execute("create table clinic.staff (name int, age text, zip text, job text)")
    with db.connection.cursor() as cursor:
        insert = sql.SQL("insert into clinic.staff values (%s, %s, %s, %s)")
        cursor.executemany(insert, [(number, *row[:3]) for number, row in enumerate(documented)])
    for place, name in enumerate(("age", "zip", "job")):
        lines = [f"{value};*" for value in dict.fromkeys(row[place] for row in documented)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return documented


def test_the_documented_cells_are_suppressed(
    db: Database, cli: Cli, tmp_path: Path, staff: list[list[str]]
) -> None:
    (tmp_path / "staff.toml").write_text(POLICY)
    done = cli("run", "staff.toml", "--json", "--report", "staff.html")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["levels"] == {"age": 0, "zip": 0, "job": 0}
    assert found["suppressed_cells"] == {
        "records": 2,
        "cells": 2,
        "by_column": {"age": 2, "zip": 0, "job": 0},
    }
    assert (found["released"], found["suppressed"], found["classes"], found["k"]) == (4, 1, 2, 2)
    released = db.connection.execute("select age, zip, job from clinic.released").fetchall()
    expected = [tuple(row[3].rsplit(", ", 2)) for row in staff if row[3] != "left out"]
    assert sorted(released) == sorted(expected)
    [k] = db.connection.execute(
        "select anondb.k_anonymity('clinic.released', '{age,zip,job}')"
    ).fetchone() or [None]
    assert k == 2
    report = (tmp_path / "staff.html").read_text()
    assert "2 records are released with some of their cells suppressed." in report
    said = cli("run", "staff.toml")
    assert "2 cells of 2 records are suppressed: age 2" in said.stdout


def test_columns_of_more_weight_are_suppressed_later(
    db: Database, cli: Cli, tmp_path: Path, staff: list[list[str]]
) -> None:
    (tmp_path / "staff.toml").write_text(POLICY.replace('"datafly"', '"datafly"\nweights = { age = 3 }'))
    found = json.loads(cli("run", "staff.toml", "--json").stdout)
    assert found["suppressed_cells"]["by_column"] == {"age": 0, "zip": 2, "job": 2}
    assert found["suppressed"] == 1


def test_persons_are_not_counted_where_cells_are_suppressed(cli: Cli, tmp_path: Path, staff: object) -> None:
    (tmp_path / "staff.toml").write_text(POLICY.replace("k = 2", 'k = 2\nunit = "name"'))
    done = cli("run", "staff.toml")
    assert done.returncode == 2
    assert "counts records, and a person may have several" in done.stderr
    assert 'suppress = "remove"' in done.stderr


def test_a_plan_shows_how_cells_are_suppressed(cli: Cli, tmp_path: Path, staff: object) -> None:
    (tmp_path / "staff.toml").write_text(POLICY)
    done = cli("plan", "staff.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "-- search: small classes" in done.stdout
