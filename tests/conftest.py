"""A real PostgreSQL for every test: one template database is made once and cloned for each test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.db import embedded
from anondb.db.connection import Connection, Door
from anondb.db.ontology import store as store_ontology
from anondb.db.upgrade import upgrade
from anondb.errors import UsageError
from anondb.ontology.wordnet import read as read_wordnet

ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"

# How long an example takes says more of the machine than of the law; a failure prints how to replay it.
settings.register_profile("anondb", deadline=None, print_blob=True)
settings.load_profile("anondb")

Cli = Callable[..., subprocess.CompletedProcess[str]]

# a shell starts what goes on in its background deaf to Ctrl-C; the commands that tests start must hear it
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """ANONDB_TEST_DSN, else a container where Docker answers, else an embedded server of the tests' own."""
    if named := os.environ.get("ANONDB_TEST_DSN"):
        yield named
    elif _docker_answers():
        from testcontainers.postgres import PostgresContainer

        with PostgresContainer("postgres:17", driver=None) as container:
            yield container.get_connection_url()
    else:
        # a short path of its own: the server's socket lies in it
        data = Path(tempfile.mkdtemp(prefix="anondb-test-"))
        data.chmod(0o755)  # as root the server runs as another user, who has to get to its folder in here
        try:
            with embedded.start(data / "pg", durable=False) as running:
                yield running.dsn
        finally:
            shutil.rmtree(data, ignore_errors=True)


@pytest.fixture(scope="session")
def template(server: str) -> Iterator[str]:
    """The name of a database with anondb in it."""
    with _new_database(server) as conninfo:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            upgrade(connection)
        yield psycopg.conninfo.conninfo_to_dict(conninfo)["dbname"]  # type: ignore[misc]


@pytest.fixture
def dsn(server: str, template: str) -> Iterator[str]:
    """The conninfo of a fresh database with anondb in it."""
    with _new_database(server, template) as conninfo:
        yield conninfo


@pytest.fixture
def connection(dsn: str) -> Iterator[Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def new_role(connection: Connection) -> Iterator[Callable[[], str]]:
    """Makes roles that may do nothing."""
    names: list[str] = []

    def make() -> str:
        names.append(f"anondb_test_{uuid.uuid4().hex[:12]}")
        connection.execute(sql.SQL("create role {}").format(sql.Identifier(names[-1])))
        return names[-1]

    yield make
    for name in names:
        connection.execute(sql.SQL("drop owned by {} cascade").format(sql.Identifier(name)))
    for name in names:
        connection.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@pytest.fixture
def db(dsn: str) -> Iterator[Database]:
    with Database(Door(dsn)) as database:
        yield database


@pytest.fixture
def cli(dsn: str, tmp_path: Path) -> Cli:
    """Runs the command line in an empty folder, on the fresh database."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            anondb_command(arguments),
            env=os.environ | {"ANONDB_DSN": dsn, "COLUMNS": "120"} | environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


def anondb_command(arguments: Sequence[str | Path]) -> list[str]:
    return [sys.executable, "-m", "anondb", *map(str, arguments)]


@pytest.fixture(scope="session")
def adult_template(server: str, template: str) -> Iterator[str]:
    """The name of a database with the Adult census data in it, as table `adult`."""
    if not ADULT.is_dir():
        pytest.skip("the Adult data is not beside the project")
    with _new_database(server, template) as conninfo:
        with psycopg.connect(conninfo, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(
                "create table adult (sex text, age int, race text, marital_status text, education text,"
                " native_country text, workclass text, occupation text, salary_class text)"
            )
            with cursor.copy("copy adult from stdin (format csv, header, delimiter ';')") as copy:
                copy.write((ADULT / "adult.csv").read_bytes())
        yield psycopg.conninfo.conninfo_to_dict(conninfo)["dbname"]  # type: ignore[misc]


@pytest.fixture
def adult(server: str, adult_template: str) -> Iterator[Database]:
    """A fresh database with the Adult census data."""
    with _new_database(server, adult_template) as conninfo, Database(Door(conninfo)) as database:
        yield database


@pytest.fixture(scope="session")
def wordnet_template(server: str, template: str) -> Iterator[str]:
    """The name of a database with WordNet's nouns in it."""
    try:
        nouns = read_wordnet()
    except UsageError as error:
        pytest.skip(f"there is no WordNet: {error.message}")
    with _new_database(server, template) as conninfo:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            store_ontology(connection, "wordnet", nouns)
        yield psycopg.conninfo.conninfo_to_dict(conninfo)["dbname"]  # type: ignore[misc]


@pytest.fixture
def wordnet_dsn(server: str, wordnet_template: str) -> Iterator[str]:
    """The conninfo of a fresh database with WordNet in it."""
    with _new_database(server, wordnet_template) as conninfo:
        yield conninfo


@pytest.fixture
def wordnet(wordnet_dsn: str) -> Iterator[Database]:
    """A fresh database with WordNet in it."""
    with Database(Door(wordnet_dsn)) as database:
        yield database


@pytest.fixture(scope="session")
def _one_wordnet_dsn(server: str, wordnet_template: str) -> Iterator[str]:
    with _new_database(server, wordnet_template) as conninfo:
        yield conninfo


@pytest.fixture
def wordnet_connection(_one_wordnet_dsn: str) -> Iterator[Connection]:
    """A connection to a database with WordNet in it, in a transaction that is rolled back: cheap."""
    with (
        psycopg.connect(_one_wordnet_dsn, autocommit=True) as connection,
        connection.transaction(force_rollback=True),
    ):
        yield connection


@contextmanager
def _new_database(server: str, template: str = "template0") -> Iterator[str]:
    name = f"anondb_test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as admin:
        statement = sql.SQL("create database {} template {}")
        admin.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
    try:
        yield make_conninfo(server, dbname=name)
    finally:
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


def _docker_answers() -> bool:
    try:
        import docker  # type: ignore[import-untyped]

        docker.from_env(timeout=2).ping()
    except Exception:  # no package, no daemon, no rights: whatever it is, there is no container to be had
        return False
    return True
