"""What the processes of a test run share is made once, and nothing of it stays."""

from __future__ import annotations

import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from anondb.db.connection import Connection
from tests.servers import drop_made, made_once, run_folder

# a run in a process of its own: says where its folder is, and stays until its input ends
RUN = """
import sys
from tests.servers import run_folder
with run_folder() as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""
DATABASES = "select d.datname from pg_database as d where starts_with(d.datname, %s)"


def test_the_folder_of_a_run_is_there_until_it_ends_or_was_killed_and_another_begins() -> None:
    top = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", RUN], cwd=top, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        other = Path(process.stdout.readline().strip())
        with run_folder() as folder:
            assert folder.is_dir()
            assert other.is_dir()
        assert not folder.exists()
        assert other.is_dir()
        process.kill()
    assert other.is_dir()
    with run_folder():
        assert not other.exists()


@pytest.fixture
def prefix() -> str:
    """Of databases that no other test makes."""
    return f"anondb_test_{uuid.uuid4().hex[:12]}_"


def databases(server: str, prefix: str) -> list[str]:
    with psycopg.connect(server) as connection:
        return [name for (name,) in connection.execute(DATABASES, (prefix,))]


def test_of_many_who_ask_for_a_database_at_once_one_makes_it(server: str, prefix: str) -> None:
    filled: list[Connection] = []

    def fill(connection: Connection) -> None:
        filled.append(connection)
        connection.execute("select pg_sleep(0.1)")
        connection.execute("create table there as select 1")

    def ask(_: int) -> int:
        name = made_once(server, f"{prefix}made", "template0", fill)
        with psycopg.connect(make_conninfo(server, dbname=name)) as connection:
            return connection.execute("table there").rowcount

    try:
        with ThreadPoolExecutor(4) as people:
            assert list(people.map(ask, range(4))) == [1, 1, 1, 1]
        assert len(filled) == 1
        assert databases(server, prefix) == [f"{prefix}made"]
    finally:
        drop_made(server, prefix)
    assert databases(server, prefix) == []


def test_a_database_that_could_not_be_filled_is_none(server: str, prefix: str) -> None:
    def fail(connection: Connection) -> None:
        connection.execute("create table half_of_it ()")
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError, match=r"^$"):
            made_once(server, f"{prefix}half", "template0", fail)
        assert databases(server, prefix) == []
