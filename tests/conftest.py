"""A real PostgreSQL for every test: template databases are made once in a run, and cloned for each test."""

from __future__ import annotations

import os
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import coverage
import psycopg
import pytest
from hypothesis import settings
from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.db.embedded import server as embedded
from anondb.db.install.upgrade import upgrade
from anondb.db.ontology import store as store_ontology
from anondb.errors import UsageError
from anondb.ontology.wordnet import read as read_wordnet
from tests import adult as adult_data
from tests.commands import WIDTH, Commands
from tests.servers import drop_made, made_once, new_database, run_folder

# How long an example takes says more of the machine than of the law; a failure prints how to replay it.
# Every run looks at the same examples, so that what fails has been changed; ANONDB_EXPLORE=1 looks at others.
_EXPLORES = bool(os.environ.get("ANONDB_EXPLORE"))
settings.register_profile("anondb", deadline=None, print_blob=True, derandomize=not _EXPLORES)
settings.load_profile("anondb")

Cli = Callable[..., subprocess.CompletedProcess[str]]

# a shell starts what goes on in its background deaf to Ctrl-C; the commands that tests start must hear it
signal.signal(signal.SIGINT, signal.default_int_handler)
# and so does nohup with the end of a terminal
signal.signal(signal.SIGHUP, signal.SIG_DFL)

os.environ["ANONDB_SUPERUSER"] = "accept"  # most tests run as one
os.environ["ANONDB_CHANGES"] = "free"  # most tests are about one release, and make several at one target

_RUN = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--campaign", choices=("short", "long"), default="short", help="how much of the campaign is tried"
    )


def pytest_configure(config: pytest.Config) -> None:
    """A run has one folder; its processes share the server in it, and the templates on that server."""
    if hasattr(config, "workerinput"):
        os.environ.pop("COVERAGE_PROCESS_START", None)  # from here on only commands would be measured
        config.stash[_RUN] = Path(config.workerinput["anondb_run"])
        return
    ending = ExitStack()
    config.stash[_RUN] = ending.enter_context(run_folder())
    if named := os.environ.get("ANONDB_TEST_DSN"):
        ending.callback(drop_made, named, _prefix(config))
    config.add_cleanup(ending.close)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["anondb_run"] = str(node.config.stash[_RUN])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Tests by name are few, and done before more processes would be ready for them."""
    names = [Path(argument.partition("::")[0]) for argument in config.args]
    return 0 if all(path.is_file() for path in names) else min(os.cpu_count() or 1, 8)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that uses no server says the same whatever the server is; what is for the night waits to be asked for."""
    for item in items:
        if "server" not in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.once)
    if "nightly" in config.option.markexpr or any("::" in argument for argument in config.args):
        return
    is_campaign = config.getoption("campaign") == "long"
    nightly = [
        item
        for item in items
        if item.get_closest_marker("nightly") and not (is_campaign and item.get_closest_marker("campaign"))
    ]
    if nightly:
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in set(nightly)]


def pytest_sessionfinish() -> None:
    """A process of a run that is measured keeps what it has seen; it may be ended without being asked."""
    if measured := coverage.Coverage.current():
        measured.save()


def _prefix(config: pytest.Config) -> str:
    return config.stash[_RUN].name.replace("-", "_") + "_"


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config) -> Iterator[str]:
    """ANONDB_TEST_DSN, else a container where Docker answers, else an embedded server of the tests' own."""
    if named := os.environ.get("ANONDB_TEST_DSN"):
        yield named
    elif _docker_answers():
        from testcontainers.postgres import PostgresContainer

        with PostgresContainer("postgres:17", driver=None) as container:
            yield container.get_connection_url()
    else:
        # the first process of the run starts it, the last one stops it
        with embedded.start(pytestconfig.stash[_RUN] / "pg", durable=False) as running:
            yield running.dsn


Made = Callable[..., str]


@pytest.fixture(scope="session")
def made(server: str, pytestconfig: pytest.Config) -> Made:
    """The name of a database that the run makes once, from a template and by a function that fills it."""

    def make(name: str, fill: Callable[[Connection], object], template: str = "template0") -> str:
        return made_once(server, f"{_prefix(pytestconfig)}{name}", template, fill)

    return make


@pytest.fixture(scope="session")
def template(made: Made) -> str:
    """The name of a database with anondb in it, and a secret that is the same in every run of the tests."""
    return made("empty", install_with_known_secret)


def install_with_known_secret(connection: Connection) -> None:
    upgrade(connection)
    connection.execute("update anondb.secret set key = sha256('a secret that everybody knows')")


@pytest.fixture
def dsn(server: str, template: str) -> Iterator[str]:
    """The conninfo of a fresh database with anondb in it."""
    with new_database(server, template) as conninfo:
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


@pytest.fixture(scope="session")
def commands() -> Iterator[Commands]:
    """Where commands are run, one process of its own for each."""
    with closing(Commands()) as commands:
        yield commands


@pytest.fixture
def cli(commands: Commands, dsn: str, tmp_path: Path) -> Cli:
    """Runs the command line in an empty folder, on the fresh database."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        own = os.environ | WIDTH | {"ANONDB_DSN": dsn} | environment
        return commands.run(arguments, own, tmp_path, timeout=120)

    return run


@pytest.fixture(scope="session")
def adult_template(made: Made, template: str) -> str:
    """The name of a database with the Adult census data in it, as table `adult`."""

    def fill(connection: Connection) -> None:
        connection.execute(
            "create table adult (sex text, age int, race text, marital_status text, education text,"
            " native_country text, workclass text, occupation text, salary_class text)"
        )
        with (
            connection.cursor() as cursor,
            cursor.copy("copy adult from stdin (format csv, header, delimiter ';')") as copy,
        ):
            copy.write(adult_data.text())

    return made("adult", fill, template)


@pytest.fixture(scope="session")
def adult_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the Adult census data and its hierarchies in files."""
    return adult_data.write(tmp_path_factory.mktemp("adult"))


@pytest.fixture
def adult(server: str, adult_template: str) -> Iterator[Database]:
    """A fresh database with the Adult census data."""
    with new_database(server, adult_template) as conninfo, Database(Door(conninfo)) as database:
        yield database


@pytest.fixture(scope="session")
def wordnet_template(made: Made, template: str) -> str:
    """The name of a database with WordNet's nouns in it."""
    try:
        return made(
            "wordnet", lambda connection: store_ontology(connection, "wordnet", read_wordnet()), template
        )
    except UsageError as error:
        pytest.skip(f"there is no WordNet: {error.message}")


@pytest.fixture
def wordnet_dsn(server: str, wordnet_template: str) -> Iterator[str]:
    """The conninfo of a fresh database with WordNet in it."""
    with new_database(server, wordnet_template) as conninfo:
        yield conninfo


@pytest.fixture
def wordnet(wordnet_dsn: str) -> Iterator[Database]:
    """A fresh database with WordNet in it."""
    with Database(Door(wordnet_dsn)) as database:
        yield database


@pytest.fixture(scope="session")
def _one_wordnet_dsn(server: str, wordnet_template: str) -> Iterator[str]:
    with new_database(server, wordnet_template) as conninfo:
        yield conninfo


@pytest.fixture
def wordnet_connection(_one_wordnet_dsn: str) -> Iterator[Connection]:
    """A connection to a database with WordNet in it, in a transaction that is rolled back: cheap."""
    with (
        psycopg.connect(_one_wordnet_dsn, autocommit=True) as connection,
        connection.transaction(force_rollback=True),
    ):
        yield connection


def _docker_answers() -> bool:
    try:
        import docker  # type: ignore[import-untyped]

        docker.from_env(timeout=2).ping()
    except Exception:  # no package, no daemon, no rights: whatever it is, there is no container to be had
        return False
    return True
