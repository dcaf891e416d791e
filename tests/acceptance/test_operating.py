"""What an operator asks: how the releases are, what became of runs, and who is told."""

from __future__ import annotations

import json
import re
import uuid

import psycopg
import pytest
from psycopg import sql

from anondb.errors import UnsatisfiableError
from tests.acceptance.clinic import Clinic
from tests.conftest import Cli

AGED = """
update anondb.run
set started_at = started_at - interval '100 days', finished_at = finished_at - interval '100 days'
"""


@pytest.fixture
def nights(clinic: Clinic) -> Clinic:
    """A run that published, and two that failed since."""
    clinic.has_released()
    for _ in range(2):
        with pytest.raises(UnsatisfiableError):
            clinic.has_released(clinic.policy(privacy="k = 100000"))
    return clinic


def test_the_health_of_a_release_is_told_in_sql(nights: Clinic) -> None:
    [row] = nights.execute(
        "select h.target, h.last_success is not null, h.age < interval '1 hour', h.last_outcome, h.failures_in_a_row,"
        " h.running, h.released = (select count(*) from share.admissions) from anondb.release_health as h"
    )
    assert row == ("share.admissions", True, True, "failed", 2, 0, True)
    assert nights.execute("select h.target from anondb.health('share.nothing') as h") == []


def test_a_run_whose_session_is_gone_is_lost_to_whoever_looks(nights: Clinic) -> None:
    nights.execute("update anondb.run set status = 'running', finished_at = null where id = 3")
    [row] = nights.execute("select h.last_outcome, h.failures_in_a_row, h.running from anondb.health() as h")
    assert row == ("lost", 2, 0)


def test_status_is_for_people_and_for_machines(nights: Clinic, cli: Cli) -> None:
    shown = cli("status")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "share.admissions" in re.sub(r"\s", "", shown.stdout)
    [one] = json.loads(cli("status", "share.admissions", "--json").stdout)
    assert (one["failures_in_a_row"], one["last_outcome"], one["waiting"]) == (2, "failed", None)
    assert one["age"] >= 0
    lines = cli("status", "--prometheus").stdout.splitlines()
    assert 'anondb_release_failures{target="share.admissions"} 2' in lines
    assert all(re.fullmatch(r'# (HELP|TYPE) \w+ .+|\w+\{target="[^"]*"\} [0-9.e+-]+', line) for line in lines)
    assert cli("status", "--json", "--prometheus").returncode == 2


def test_a_name_cannot_break_out_of_the_format_for_machines(clinic: Clinic, cli: Cli) -> None:
    clinic.execute('create schema "a""b\\c"')
    clinic.has_released(clinic.policy(target='"a""b\\c".t'))
    lines = cli("status", "--prometheus").stdout.splitlines()
    [records] = [line for line in lines if line.startswith("anondb_release_records")]
    assert re.fullmatch(r'anondb_release_records\{target="(?:[^"\\\n]|\\["\\n])*"\} \d+', records)


def test_the_history_is_listed_newest_first(nights: Clinic, cli: Cli) -> None:
    listed = json.loads(cli("history", "share.admissions", "--json").stdout)
    assert [(run["run"], run["status"]) for run in listed] == [(3, "failed"), (2, "failed"), (1, "done")]
    assert json.loads(cli("history", "--limit", "1", "--json").stdout) == listed[:1]
    assert "failed" in cli("history").stdout
    assert cli("history", "share.nothing").stdout == "no run is in the history\n"


def test_trimming_forgets_old_runs_but_what_tells_a_release_from_a_stranger(nights: Clinic, cli: Cli) -> None:
    nights.execute(AGED)
    assert json.loads(cli("history", "trim", "--keep", "101d", "--json").stdout) == {"forgotten": 0}
    assert cli("history", "trim", "--keep", "90d").stdout == "2 runs are forgotten\n"
    assert [status for status, _ in nights.runs()] == ["done"]
    assert nights.execute("select count(*) from anondb.policy") == [(1,)]
    nights.has_released()  # still ours


@pytest.mark.parametrize("age", ["90", "d", "-1d", "1y", "90 days", ""])
def test_an_age_that_is_none_is_told(cli: Cli, age: str) -> None:
    told = cli("history", "trim", "--keep", age)
    assert told.returncode == 2
    assert "hint" in told.stderr


def test_who_only_runs_policies_cannot_trim(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute(AGED)
    name = f"anondb_op_{uuid.uuid4().hex[:8]}"
    clinic.execute("create role {name} login", name=name)
    try:
        clinic.execute("grant usage on schema anondb to {name}", name=name)
        clinic.execute("grant select on all tables in schema anondb to {name}", name=name)
        with psycopg.connect(clinic.dsn, autocommit=True) as theirs:
            theirs.execute(sql.SQL("set role {}").format(sql.Identifier(name)))
            assert theirs.execute("select count(*) from anondb.release_health").fetchall() == [(0,)]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                theirs.execute("delete from anondb.run")
    finally:
        clinic.execute("drop owned by {name}; drop role {name}", name=name)


def test_whoever_listens_hears_of_a_run_once_it_is_over(clinic: Clinic) -> None:
    with psycopg.connect(clinic.dsn, autocommit=True) as listening:
        listening.execute("listen anondb_run")
        clinic.has_released()
        with pytest.raises(UnsatisfiableError):
            clinic.has_released(clinic.policy(privacy="k = 100000"))
        heard = [json.loads(note.payload) for note in listening.notifies(timeout=5, stop_after=2)]
    assert heard == [
        {"run": 1, "target": "share.admissions", "outcome": "done"},
        {"run": 2, "target": "share.admissions", "outcome": "failed"},
    ]
