"""anondb load, show and export: a file becomes a table, a release is looked at and becomes a file."""

from __future__ import annotations

import csv
import json
import stat
from pathlib import Path

import pytest

from anondb.api import Database
from anondb.cli import tables as commands
from anondb.errors import UsageError
from anondb.exchange.csv_table import Wishes
from tests import adult
from tests.acceptance.clinic import Clinic
from tests.conftest import Cli

pytestmark = pytest.mark.once  # another server version would say the same

SECRET = "Secretia"
PEOPLE = """\
name;zip;born;weight;seen;paid
Zoë;01234;31.12.1980;72,5;2024-01-02 10:00;true
"A;B";47102;1.1.1990;;2024-01-03 11:30;false
"""


def people(folder: Path, text: str = PEOPLE, encoding: str = "utf-8") -> Path:
    file = folder / "people.csv"
    file.write_bytes(text.encode(encoding))
    return file


def output(cli: Cli, *arguments: str | Path) -> str:
    done = cli(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def types(db: Database, table: str) -> dict[str, str]:
    query = """
    select a.attname, format_type(a.atttypid, a.atttypmod) from pg_attribute as a
    where a.attrelid = %s::regclass and a.attnum > 0 order by a.attnum
    """
    return dict(db.connection.execute(query, (table,)).fetchall())  # type: ignore[arg-type]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_becomes_a_table_with_its_types(cli: Cli, db: Database, tmp_path: Path, encoding: str) -> None:
    told = output(cli, "load", people(tmp_path, encoding=encoding), "--table", "people")
    assert told.startswith(f"public.people: 2 records from {tmp_path / 'people.csv'} (UTF-")
    assert types(db, "public.people") == {
        "name": "text",
        "zip": "text",
        "born": "date",
        "weight": "numeric",
        "seen": "timestamp without time zone",
        "paid": "boolean",
    }
    query = "select p::text from public.people as p"
    assert db.connection.execute(query).fetchall() == [
        ('(Zoë,01234,1980-12-31,72.5,"2024-01-02 10:00:00",t)',),
        ('(A;B,47102,1990-01-01,,"2024-01-03 11:30:00",f)',),
    ]


def test_a_built_in_table_is_loaded_by_its_name(cli: Cli) -> None:
    told = output(cli, "load", "builtin:adult", "--table", "adult")
    assert told.startswith("public.adult: 30,162 records from builtin:adult (UTF-8, separated by semicolons)")
    missing = cli("load", "builtin:adlt", "--table", "adlt")
    assert (missing.returncode, 'did you mean "adult"?' in missing.stderr) == (2, True)


def test_machines_are_told_the_types_and_the_doubts(cli: Cli, tmp_path: Path) -> None:
    file = people(tmp_path, "born,sex\n01/02/1990,f\n")
    done = cli("load", file, "--table", "public.people", "--json")
    assert json.loads(done.stdout) == {
        "table": "public.people",
        "records": 1,
        "encoding": "utf-8",
        "delimiter": ",",
        "columns": {"born": "text", "sex": "text"},
        "doubts": {"born": "its dates may have the day first or the month: date:dmy or date:mdy"},
    }
    told = cli("load", file, "--table", "others").stderr
    assert told.startswith("born is text: its dates may have the day first or the month")


def test_every_cell_of_a_large_file_arrives(db: Database, tmp_path: Path) -> None:
    file = people(tmp_path, adult.text().decode())
    loaded = db.tables.load(file, "adult")
    assert (loaded.table, loaded.records) == ("public.adult", adult.RECORDS)
    assert types(db, "public.adult")["age"] == "integer"
    columns = adult.text().decode().splitlines()[0].split(";")
    rows = db.connection.execute("select * from public.adult").fetchall()
    assert sorted(tuple(map(str, row)) for row in rows) == sorted(adult.records())
    assert columns == list(types(db, "public.adult"))


def test_a_table_that_was_loaded_is_replaced_and_no_other(cli: Cli, db: Database, tmp_path: Path) -> None:
    file = people(tmp_path)
    output(cli, "load", file, "--table", "people")
    again = cli("load", file, "--table", "people")
    assert (again.returncode, again.stderr.count("--replace")) == (2, 1)
    output(cli, "load", people(tmp_path, "a,b\n1,2\n"), "--table", "people", "--replace")
    assert list(types(db, "public.people")) == ["a", "b"]
    db.connection.execute("create table public.mine (a int); create view public.seen as select 1 as a")
    for taken in ("mine", "seen"):
        refused = cli("load", file, "--table", taken, "--replace")
        assert (refused.returncode, "was not made by anondb load" in refused.stderr) == (2, True)
    db.connection.execute("create view public.on_people as select p.a from public.people as p")
    kept = cli("load", file, "--table", "people", "--replace")  # what hangs on it is not dropped
    assert kept.returncode == 4
    assert list(types(db, "public.people")) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("name,age\n" + "Ann,3\n" * 5000 + f"{SECRET}\n", "line 5002: 1 cell, and the header has 2"),
        (f'name,age\nAnn,3\n"{SECRET},4\n', "line 3: a quote that opens here is never closed"),
        (f"name,name\n{SECRET},{SECRET}\n", "columns 1 and 2 have the same name"),
        (f"name,age\n{SECRET}\0,3\n", "line 2: holds a NUL character"),
    ],
)
def test_a_file_with_anything_wrong_makes_no_table(
    cli: Cli, db: Database, tmp_path: Path, text: str, told: str
) -> None:
    done = cli("load", people(tmp_path, text), "--table", "people")
    assert (done.returncode, told in done.stderr, "hint: " in done.stderr) == (2, True, True)
    assert SECRET not in done.stderr
    assert db.connection.execute("select to_regclass('public.people')").fetchall() == [(None,)]


def test_a_header_alone_makes_an_empty_table_and_1600_columns_a_wide_one(cli: Cli, tmp_path: Path) -> None:
    output(cli, "load", people(tmp_path, "name,age\n"), "--table", "nobody")
    assert "all 0 rows" in output(cli, "show", "nobody")
    wide = ",".join(f"c{i}" for i in range(1600)) + "\n" + ",".join("1" * 1600) + "\n"
    assert (
        json.loads(output(cli, "load", people(tmp_path, wide), "--table", "wide", "--json"))["records"] == 1
    )


def test_names_with_quotes_are_names_and_nothing_else(db: Database, tmp_path: Path) -> None:
    odd = ['a"b', "x); drop table public.t; --", "{}", "%s", "größe"]
    text = ";".join('"' + name.replace('"', '""') + '"' for name in odd) + "\n" + ";".join("xxxxx") + "\n"
    db.tables.load(people(tmp_path, text), 'public."a ""table"""', wishes=Wishes(header=True))
    assert list(types(db, 'public."a ""table"""')) == odd


def test_a_release_is_shown_with_the_run_that_made_it(clinic: Clinic) -> None:
    run = clinic.has_released()["run"]
    told = output(clinic.cli, "show", "share.admissions", "--limit", "3").splitlines()
    assert told[0].split() == ["age", "zip", "diagnosis"]
    assert told[-1] == f"share.admissions, released by run {run}; the first 3 rows"
    shown = json.loads(output(clinic.cli, "show", "share.admissions", "--json"))
    assert (shown["run"], shown["has_more"], len(shown["rows"])) == (run, True, 20)
    assert list(shown["rows"][0]) == shown["columns"] == ["age", "zip", "diagnosis"]
    whole = output(clinic.cli, "show", "hospital.admissions", "--limit", "50")
    assert "hospital.admissions, no release: its rows as they are; all 24 rows" in whole


def test_a_release_is_exported_for_its_owner_alone(clinic: Clinic) -> None:
    clinic.has_released()
    file = clinic.folder / "release.csv"
    told = output(clinic.cli, "export", "share.admissions", file)
    assert told == f"{file}: 24 records of share.admissions\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with file.open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    there = clinic.execute("select a.age, a.zip, a.diagnosis from share.admissions as a")
    assert header == ["age", "zip", "diagnosis"]
    assert [tuple(row) for row in rows] == there


def test_a_table_that_is_no_release_is_exported_only_if_that_is_meant(clinic: Clinic) -> None:
    clinic.has_released()
    file = clinic.folder / "rows.csv"
    refused = clinic.cli("export", "hospital.admissions", file)
    assert (refused.returncode, "is no release" in refused.stderr, file.exists()) == (2, True, False)
    # a table that was dropped and made again under its name is none either
    clinic.execute("drop table share.admissions; create table share.admissions as table hospital.admissions")
    assert clinic.cli("export", "share.admissions", file).returncode == 2
    output(clinic.cli, "export", "hospital.admissions", file, "--not-a-release")
    assert len(file.read_text(encoding="utf-8").splitlines()) == 25


def test_what_cannot_be_read_or_written_is_told(clinic: Clinic) -> None:
    clinic.has_released()
    nowhere = clinic.cli("export", "share.admissions", clinic.folder / "no" / "release.csv")
    assert (nowhere.returncode, "cannot be written" in nowhere.stderr) == (2, True)
    missing = clinic.cli("show", "share.admission")
    assert (missing.returncode, 'did you mean "admissions"?' in missing.stderr) == (2, True)
    assert clinic.cli("export", "share.nothing", clinic.folder / "x.csv").returncode == 2
    assert not (clinic.folder / "x.csv").exists()


def test_the_types_that_are_asked_for_are_read_from_the_call() -> None:
    assert commands._types(["a=b=text", "zip=text"]) == {"a=b": "text", "zip": "text"}
    for wrong in ("zip", "=text", "zip="):
        with pytest.raises(UsageError, match="--types names a column"):
            commands._types([wrong])
