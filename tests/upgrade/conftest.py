"""Empty databases, roles without powers, and folders of SQL and migrations that a test may break."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb import resources
from anondb.db.connection import Connection
from tests.servers import new_database

Connect = Callable[..., Connection]

# A function, a view on it and a function on the view: no order by kind can drop them. The percent signs
# would be placeholders to a driver that is given parameters.
FIRST_FILE = """
create function anondb.twice(a int) returns int
language sql immutable parallel safe
begin atomic
    select a * 2;
end;
comment on function anondb.twice(int) is 'Twice a; 100 % of it and %s more, as format(''%I'') says.';
"""
SECOND_FILE = """
create view anondb.four as select anondb.twice(2) as n;
create function anondb.five() returns int
language sql stable parallel safe
begin atomic
    select f.n + 1 from anondb.four as f;
end;
create procedure anondb.nothing() language sql begin atomic end;
create aggregate anondb.largest(int) (sfunc = int4larger, stype = int);
"""


@pytest.fixture
def empty_database(server: str) -> Iterator[str]:
    """The conninfo of a new database that has nothing in it."""
    with new_database(server, name="anondb test {}") as conninfo:
        yield conninfo


@pytest.fixture
def connect(empty_database: str) -> Iterator[Connect]:
    """Opens connections to the empty database, as a role or with settings if asked to."""
    with ExitStack() as opened:

        def open_one(**settings: str) -> Connection:
            options = " ".join(f"-c {name}={value}" for name, value in settings.items())
            conninfo = make_conninfo(empty_database, options=options)
            return opened.enter_context(psycopg.connect(conninfo, autocommit=True))

        yield open_one


@pytest.fixture
def connection(connect: Connect) -> Connection:
    return connect()


@pytest.fixture
def new_role(server: str, empty_database: str) -> Iterator[Callable[[], str]]:
    """Makes roles that may do nothing."""
    names: list[str] = []
    with psycopg.connect(empty_database, autocommit=True) as admin:

        def make() -> str:
            names.append(f"anondb_test_{uuid.uuid4().hex[:12]}")
            admin.execute(sql.SQL("create role {}").format(sql.Identifier(names[-1])))
            return names[-1]

        yield make
        for name in names:
            admin.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(sql.Identifier(name)))


@pytest.fixture
def sql_dir(tmp_path: Path) -> Path:
    """A small sql/ in a folder with an awkward name."""
    folder = tmp_path / "50% off" / "sql"
    (folder / "core").mkdir(parents=True)
    (folder / "MANIFEST").write_text("# order matters\ncore/first.sql\n\ncore/second.sql\n")
    (folder / "core" / "first.sql").write_text(FIRST_FILE)
    (folder / "core" / "second.sql").write_text(SECOND_FILE)
    return folder


@pytest.fixture
def migrations_dir(tmp_path: Path) -> Path:
    """A copy of migrations/ in a folder with an awkward name."""
    return shutil.copytree(resources.path("migrations"), tmp_path / "50% off" / "migrations")


def add_migration(migrations_dir: Path, statement: str) -> Path:
    """A migration 9999, after all others, that runs one statement."""
    versions = migrations_dir / "versions"
    last = max(path.name for path in versions.glob("[0-9]*.py")).partition("_")[0]
    added = versions / "9999_added_by_a_test.py"
    added.write_text(
        "from alembic import op\n"
        "revision = '9999'\n"
        f"down_revision = {last!r}\n"
        "def upgrade():\n"
        f"    op.execute({statement!r})\n"
    )
    return added
