"""The worked example of suppressed cells in docs/policy.md, by the command line; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from psycopg import sql

from anondb.api import Database
from anondb.errors import UsageError
from anondb.methods.full_domain import suppress
from anondb.policy.load import parse
from anondb.run import verify
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
MATCHING = POLICY.replace('"cells"', '"cells"\nstars = "match"')


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


def test_the_documented_stars_match(db: Database, cli: Cli, tmp_path: Path, staff: list[list[str]]) -> None:
    documented = [row for row in rows("docs/policy.md", "Stars that match") if row[0].startswith("[")]
    assert [row[:3] for row in documented] == [row[:3] for row in staff]
    (tmp_path / "staff.toml").write_text(MATCHING)
    done = cli("run", "staff.toml", "--json", "--report", "staff.html")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["suppressed_cells"] == {
        "records": 3,
        "cells": 4,
        "by_column": {"age": 2, "zip": 1, "job": 1},
        "stars": "match",
    }
    released = db.connection.execute("select age, zip, job from clinic.released").fetchall()
    assert sorted(released) == sorted(tuple(row[3].rsplit(", ", 2)) for row in documented)
    frequencies = [
        sum(all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True)) for other in released)
        for one in released
    ]
    assert sorted(frequencies) == sorted(int(row[4]) for row in documented)
    assert found["metrics"]["star_matches_min"] == min(frequencies) == 2
    [k] = db.connection.execute(
        "select anondb.k_anonymity('clinic.released', '{age,zip,job}')"
    ).fetchone() or [None]
    assert (found["k"], found["suppressed"], k) == (1, 0, 1)
    printed = cli("run", "staff.toml")
    for told in (printed.stdout, (tmp_path / "staff.html").read_text()):
        words = " ".join(told.split())
        assert "This is not k-anonymity." in words
        assert "anondb.k_anonymity of the release is 1." in words
        assert "looks like at least" not in words
    [proven] = db.connection.execute(
        "select v.holds from anondb.verify_release('clinic.released') as v where v.name like '%k records'"
    ).fetchone() or [True]
    assert proven is None


@pytest.mark.parametrize(
    ("privacy", "said"),
    [
        ('stars = "match"', "no cells are suppressed"),
        ('stars = "value"\nsuppress = "mask"', "no cells are suppressed"),
        ('stars = "any"\nsuppress = "cells"', "stars"),
        ('stars = "match"\nsuppress = "cells"\nl_diversity = { column = "name", l = 2 }', "is in no class"),
        ('stars = "match"\nsuppress = "cells"\nt_closeness = { column = "name", t = 0.5 }', "is in no class"),
    ],
)
def test_stars_that_mean_nothing_or_too_little_are_refused(
    cli: Cli, tmp_path: Path, staff: object, privacy: str, said: str
) -> None:
    text = POLICY.replace('suppress = "cells"', privacy).replace('role = "identifier"', 'role = "sensitive"')
    (tmp_path / "staff.toml").write_text(text)
    done = cli("run", "staff.toml")
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(("module", "said"), [(suppress, "sets of columns"), (verify, "sets of stars")])
def test_too_many_matches_are_refused_with_the_figure(
    db: Database, tmp_path: Path, staff: object, monkeypatch: pytest.MonkeyPatch, module: object, said: str
) -> None:
    monkeypatch.setattr(module, "MOST_COMPARED", 3)
    with pytest.raises(UsageError, match=said):
        db.run(parse(MATCHING, base=tmp_path))


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
