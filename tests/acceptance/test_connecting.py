"""Which database: --dsn, ANONDB_DSN, libpq's variables and service file; and what is said when there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.acceptance.clinic import complaint
from tests.conftest import Cli

NOWHERE = "host=/nowhere dbname=x"


@pytest.fixture(autouse=True)
def no_other_database(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE", "PGUSER"):
        monkeypatch.delenv(variable, raising=False)


def variables(dsn: str) -> dict[str, str]:
    names = {
        "host": "PGHOST",
        "port": "PGPORT",
        "user": "PGUSER",
        "dbname": "PGDATABASE",
        "password": "PGPASSWORD",
    }
    return {names[key]: str(value) for key, value in conninfo_to_dict(dsn).items() if key in names}


def test_the_option_comes_before_the_variable(cli: Cli, dsn: str) -> None:
    assert cli("db", "status", "--dsn", dsn, ANONDB_DSN=NOWHERE).returncode == 0
    complaint(cli("db", "status", "--dsn", NOWHERE), 4)


def test_libpqs_variables_name_a_database(cli: Cli, dsn: str) -> None:
    assert "current" in cli("db", "status", ANONDB_DSN="", **variables(dsn)).stdout


def test_a_service_file_names_a_database(cli: Cli, dsn: str, tmp_path: Path) -> None:
    parts = "".join(f"{key}={value}\n" for key, value in conninfo_to_dict(dsn).items())
    (tmp_path / "services").write_text(f"[clinic]\n{parts}")
    named = {"PGSERVICEFILE": str(tmp_path / "services")}
    assert "current" in cli("db", "status", ANONDB_DSN="", PGSERVICE="clinic", **named).stdout
    assert "current" in cli("db", "status", "--dsn", "service=clinic", **named).stdout
    assert "definition of service" in complaint(cli("db", "status", "--dsn", "service=other", **named), 4)


@pytest.mark.parametrize(
    ("dsn", "said"),
    [
        ("host=/nowhere dbname=x", "No such file or directory"),
        ("postgresql://localhost:1/x", "refused"),
        ("postgresql://no-such-host.invalid/x", "no-such-host.invalid"),
    ],
)
def test_a_server_that_does_not_answer_is_told(cli: Cli, dsn: str, said: str) -> None:
    assert said in complaint(cli("vgh", "list", ANONDB_DSN=dsn), 4)


def test_a_database_that_does_not_exist_is_told(cli: Cli, dsn: str) -> None:
    said = complaint(cli("vgh", "list", ANONDB_DSN=make_conninfo(dsn, dbname="no such")), 4)
    assert 'database "no such" does not exist' in said


@pytest.mark.parametrize("dsn", ["postgresql//anna:sesame@localhost/x", "host=localhost sesame", "a=sesame"])
def test_what_is_no_connection_string_is_told_without_it(cli: Cli, dsn: str) -> None:
    said = complaint(cli("vgh", "list", ANONDB_DSN=dsn), 2)
    assert "connection string" in said
    assert "sesame" not in said


def test_a_password_is_never_shown(cli: Cli, dsn: str) -> None:
    secret = make_conninfo(dsn, password="sesame", host="/nowhere")
    assert "sesame" not in complaint(cli("vgh", "list", ANONDB_DSN=secret), 4)


@pytest.mark.parametrize(
    "dsn",
    ["postgresql://anna:hunter2@/x?host=/nowhere", "host=/nowhere dbname=x user=anna password=hunter2"],
    ids=["url", "keywords"],
)
def test_a_password_on_the_command_line_is_warned_about_once_and_not_repeated(cli: Cli, dsn: str) -> None:
    said = cli("vgh", "list", "--dsn", dsn).stderr
    assert said.startswith("warning: ")
    assert said.count("warning: ") == 1
    assert "PGPASSFILE" in said
    assert "hunter2" not in said
    line, _ = cli("--log-format", "json", "vgh", "list", "--dsn", dsn).stderr.splitlines()
    assert json.loads(line)["level"] == "warning"


def test_a_password_that_is_not_on_the_command_line_is_no_news(cli: Cli) -> None:
    for arguments, variables in (
        ((), {"ANONDB_DSN": "host=/nowhere dbname=x user=anna password=hunter2"}),
        (("--dsn", NOWHERE), {"PGPASSWORD": "hunter2"}),
        (("--dsn", "host=/nowhere password=''"), {}),
        (("--dsn", "this is no connection string"), {}),
    ):
        assert "warning" not in cli("vgh", "list", *arguments, **variables).stderr
