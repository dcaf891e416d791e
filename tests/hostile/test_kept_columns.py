"""A recipient who looks for records by the columns that were released as they are."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import pytest
from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.errors import UsageError
from tests.conftest import Cli

ROWS = 400
VALUES = {
    "primary key": ("int primary key", "i"),
    "e-mail": ("text", "'anna.' || i || '@example.org'"),
    "e-mail of a few": (
        "text",
        "case when i % 6 = 0 then 'a' || i || '@b.org' else 'none given ' || i % 50 end",
    ),
    "phone": ("text", "'+353 87 555 ' || lpad((i % 90 + 1000)::text, 4, '0')"),
    "local phone": ("text", "'(087) 555-' || lpad((i % 90)::text, 4, '0')"),
    "uuid": ("uuid", "gen_random_uuid()"),
    "time": ("timestamptz", "timestamptz '2024-01-01 00:00Z' + i * interval '37 seconds'"),
    "IP address": ("inet", "'10.0.0.0'::inet + i"),
    "free text": ("text", "'came in on day ' || i || ' with a broken leg and a very bad cold'"),
    "number that few share": ("text", "'C' || i - (i % 6) / 5"),
    "document": ("jsonb", "jsonb_build_object('number', i)"),
    "name for most": ("varchar(40)", "case when i % 5 > 0 then 'Name ' || i end"),
    "all but a constant": ("text", "case when i % 2 = 0 then 'unknown' else 'Name ' || i end"),
}
HARMLESS = {
    "flag": ("boolean", "i % 2 = 0"),
    "constant": ("text", "'anna@example.org'"),
    "nothing": ("text", "null"),
    "code": ("text", "'E' || i % 60"),
    "age": ("int", "20 + i % 70"),
    "day of a year": ("date", "date '2024-01-01' + i % 365"),
    "day as text": ("text", "(date '2024-01-01' + i % 300)::text"),
    "diagnosis": ("text", "'Injury of the lower leg, ' || i % 40"),
    "range": ("text", "(1000 * (i % 20)) || '-' || (1000 * (i % 20) + 999)"),
}


def policy(folder: Path, column: str) -> Path:
    file = folder / "policy.toml"
    file.write_text(
        f"""
        source = "people"
        target = "share"
        [privacy]
        k = 5
        [method]
        algorithm = "datafly"
        [columns]
        zip = {{ role = "quasi", hierarchy = {{ mask = "right" }} }}
        it = {column}
        """
    )
    return file


def people(connection: Connection, type_: str, value: str, rows: int = ROWS) -> None:
    connection.execute(sql.SQL("create table people (zip text, it {})").format(sql.SQL(type_)))
    insert = sql.SQL("insert into people select (10000 + i % 8)::text, {} from generate_series(1, {}) as i")
    connection.execute(insert.format(sql.SQL(value), sql.Literal(rows)))


@pytest.mark.parametrize("what", VALUES)
def test_a_kept_column_that_tells_persons_apart_is_refused(
    what: str, connection: Connection, db: Database, tmp_path: Path
) -> None:
    people(connection, *VALUES[what])
    with pytest.raises(UsageError) as refused:
        db.run(policy(tmp_path, '{ role = "other" }'))
    assert '[columns.it]: other column "it" would be released as it is' in refused.value.message
    assert 'keep = "identifying"' in refused.value.message
    [(there,)] = connection.execute("select to_regclass('share') is not null").fetchall()
    assert not there


def test_a_record_with_an_empty_field_is_a_value(
    connection: Connection, db: Database, tmp_path: Path
) -> None:
    connection.execute("create type full_name as (first text, middle text, last text)")
    people(connection, "full_name", "('Anna', null, 'Number ' || i)::full_name")
    with pytest.raises(UsageError, match='other column "it" would be released as it is'):
        db.run(policy(tmp_path, '{ role = "other" }'))


@pytest.mark.parametrize("what", HARMLESS)
@pytest.mark.parametrize("rows", [20, ROWS])
def test_lists_flags_and_constants_are_kept(
    what: str, rows: int, connection: Connection, db: Database, tmp_path: Path
) -> None:
    people(connection, *HARMLESS[what], rows=rows)
    assert db.run(policy(tmp_path, '{ role = "other" }')).result.kept == ()


@pytest.mark.parametrize(("rows", "refused"), [(29, False), (30, True)])
def test_from_thirty_values_on_a_list_would_repeat(
    rows: int, refused: bool, connection: Connection, db: Database, tmp_path: Path
) -> None:
    people(connection, "text", "'C' || i", rows=rows)
    connection.execute("update people set zip = '1'")
    if refused:
        with pytest.raises(UsageError, match='other column "it" would be released as it is'):
            db.run(policy(tmp_path, '{ role = "other" }'))
    else:
        assert db.run(policy(tmp_path, '{ role = "other" }')).result.kept == ()


def test_what_identifies_is_kept_where_the_policy_says_so_and_everyone_is_told(
    connection: Connection, cli: Cli, tmp_path: Path
) -> None:
    people(connection, *VALUES["e-mail"])
    file = policy(tmp_path, '{ role = "other", keep = "identifying" }')
    ran = cli("run", file, "--report", "it.html")
    assert ran.returncode == 0, ran.stderr
    told = "its values are 100% distinct and hold e-mail addresses"
    assert told in ran.stdout
    assert told in (tmp_path / "it.html").read_text()
    assert '"it" tells records apart' in cli("evaluate", "last").stdout
    found = json.loads(cli("run", file, "--json").stdout)
    assert found["kept"] == [
        {
            "column": "it",
            "role": "other",
            "verdict": "accepted",
            "share": 1.0,
            "reasons": ["unique", "e-mail"],
        }
    ]
    assert '"it" tells records apart' in found["notes"]["prosecutor_max"]


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("text", "'C' || i"),
        ("uuid", "gen_random_uuid()"),
        ("cidr", "('10.1.' || i / 250 || '.' || i % 250)::cidr"),
    ],
)
def test_a_sensitive_column_of_texts_or_addresses_is_refused_as_any_other(
    type_: str, value: str, connection: Connection, db: Database, tmp_path: Path
) -> None:
    people(connection, type_, value)
    with pytest.raises(UsageError, match='sensitive column "it" would be released as it is'):
        db.run(policy(tmp_path, '{ role = "sensitive" }'))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("numeric", "i * 1.37"),
        ("timestamp", "timestamp '2024-01-01' + i * interval '7 s'"),
        ("money", "i::money"),
    ],
)
def test_of_sensitive_numbers_and_times_there_is_a_warning(
    type_: str, value: str, connection: Connection, db: Database, tmp_path: Path
) -> None:
    people(connection, type_, value)
    release = db.run(policy(tmp_path, '{ role = "sensitive" }'), report=tmp_path / "it.html")
    [kept] = release.result.kept
    assert kept.verdict == "distinct"
    assert kept.sentence.startswith('The values of the sensitive column "it" are 100% distinct')
    assert escape(kept.sentence) in (tmp_path / "it.html").read_text().replace("&#34;", "&quot;")


def test_a_trial_tells_what_a_run_would_refuse(connection: Connection, cli: Cli, tmp_path: Path) -> None:
    people(connection, *VALUES["primary key"])
    ran = cli("compare", policy(tmp_path, '{ role = "other" }'), "--algorithms", "datafly,mondrian")
    assert ran.returncode == 0, ran.stderr
    assert 'A run would refuse to release "it" as it is: its values are 100% distinct' in ran.stdout


def test_the_person_is_not_released_by_mistake(connection: Connection, cli: Cli, tmp_path: Path) -> None:
    people(connection, "int", "i % 40")
    file = policy(tmp_path, '{ role = "other" }')
    file.write_text(file.read_text().replace("k = 5", 'k = 5\nunit = "it"'))
    ran = cli("run", file)
    assert ran.returncode == 2
    assert 'unit "it" names the persons, and as other it would be released as it is' in ran.stderr
    file.write_text(file.read_text().replace('"other"', '"other", keep = "identifying"'))
    assert cli("run", file).returncode == 0


def test_an_upgrade_lists_the_policies_that_a_run_refuses_now(
    connection: Connection, cli: Cli, tmp_path: Path
) -> None:
    people(connection, *VALUES["e-mail"])
    assert cli("run", policy(tmp_path, '{ role = "other", keep = "identifying" }')).returncode == 0
    assert "refuses now" not in cli("db", "upgrade").stdout
    # as a version without the key has kept it
    connection.execute("""
        alter table anondb.policy disable trigger user;
        update anondb.policy set body = replace(body, ', keep = "identifying"', '')""")
    upgraded = cli("db", "upgrade")
    assert upgraded.returncode == 0, upgraded.stderr
    assert 'run 1, public.share: "it"' in upgraded.stdout
