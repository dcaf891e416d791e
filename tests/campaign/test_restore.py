"""A database that comes back from a dump, in another cluster: everything works, or says what to do."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from anondb.db.embedded.programs import binaries
from anondb.db.embedded.system_user import server_user
from tests.campaign.cases import RUNS
from tests.campaign.ground import Ground
from tests.campaign.strike import Target
from tests.commands import WIDTH, Commands
from tests.servers import new_database

pytestmark = [pytest.mark.campaign, pytest.mark.once]

JOINERS = """
insert into hospital.patients
select p.id + 5000, 'Joiner' || p.id, p.age, p.zip, p.reason, p.disease from hospital.patients as p where p.id > 1000
"""
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def dump(ground: Ground, commands: Commands) -> bytes:
    """A database with a release that has a ledger, as pg_dump writes it."""
    target = Target(ground, commands, next(case for case in RUNS if case.name == "refresh"))
    with target.copy() as dsn:
        return _program("pg_dump", "--format=custom", f"--dbname={dsn}")


@pytest.fixture
def restored(dump: bytes, server: str, commands: Commands, tmp_path: Path) -> Iterator[tuple[Run, str]]:
    """The command line on the dump, in another cluster."""
    case = next(case for case in RUNS if case.name == "refresh")
    for name, text in case.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with new_database(server) as dsn:
        _program("pg_restore", f"--dbname={dsn}", given=dump)
        environment = os.environ | WIDTH | {"ANONDB_DSN": dsn, "ANONDB_CHANGES": "hold"}
        yield lambda *words: commands.run(words, environment, tmp_path, timeout=120), dsn


def test_a_restored_release_is_told_what_it_needs_and_goes_on(restored: tuple[Run, str]) -> None:
    run, dsn = restored
    told = run("run", "policy.toml")
    assert told.returncode == 4
    assert "anondb db upgrade" in told.stderr
    assert run("db", "upgrade").returncode == 0

    # the table has come back as another one: nothing that is not ours becomes ours, and a ledger that there are
    # two copies of does not go on
    for options in ((), ("--replace",)):
        refused = run("run", "policy.toml", *options)
        assert refused.returncode == 2
        assert "restored from a dump" in refused.stderr
        assert "--restart" in refused.stderr
    assert run("verify", "share.patients").returncode == 2

    assert run("secret", "renew", "--yes").returncode == 0
    published = run("run", "policy.toml", "--replace", "--restart", "--json")
    assert published.returncode == 0, published.stderr
    assert json.loads(published.stdout)["k"] >= 3
    assert run("verify", "share.patients").returncode == 0
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(JOINERS)
        series = connection.execute("select s.ended_at is null from anondb.series as s order by s.id")
        assert series.fetchall() == [(False,), (True,)]
    assert run("run", "policy.toml").returncode == 0
    assert run("verify", "share.patients").returncode == 0


def _program(name: str, *arguments: str, given: bytes = b"") -> bytes:
    programs, _ = binaries(server_user())
    done = subprocess.run([programs / name, *arguments], input=given, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
