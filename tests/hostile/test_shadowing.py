"""Nobody's operators and functions run with the rights of whoever uses anondb, wherever they lie in the path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import typer.main
from psycopg import sql
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

import anondb
from anondb import resources
from anondb.cli import app
from tests.conftest import Made
from tests.hostile.commands import CALLS, COMMANDS, FAREWELL, INNER, TABLES, lines, write_files
from tests.servers import new_database

SHADOWS = Path(__file__).with_name("shadows.sql")
PATHS = {
    "what pg_catalog has by coercion": "shared,public",
    "what pg_catalog has": "shared,public,pg_catalog",
}
CALLED = """
select s.what from shared.called as c join shared.shadow as s on s.id = c.last_value where c.is_called
"""
# what an object of ours uses besides PostgreSQL's own, which has no entry
STRANGE = """
select pg_describe_object(d.classid, d.objid, 0), pg_describe_object(d.refclassid, d.refobjid, 0)
from pg_depend as d
cross join lateral pg_identify_object(d.classid, d.objid, 0) as ours
cross join lateral pg_identify_object(d.refclassid, d.refobjid, 0) as used
where ours.schema like 'anondb%' and used.schema not like 'anondb%' and used.schema not like 'pg\\_%'
"""
# PL/pgSQL that was never called could have been led astray unseen; what is bound at install cannot
UNCALLED = """
select distinct p.proname from pg_proc as p join pg_language as l on l.oid = p.prolang
where p.pronamespace = 'anondb'::regnamespace and l.lanname = 'plpgsql'
  and p.oid not in (select f.funcid from pg_stat_user_functions as f)
"""


def words() -> list[str]:
    """Every word of our code: a function of another name cannot be called by it."""
    code = [*resources.path("sql").rglob("*.sql"), *resources.path("migrations").rglob("*.py")]
    code += Path(anondb.__file__).parent.rglob("*.py")
    return sorted({word for path in code for word in re.findall(r"[a-z_0-9]+", path.read_text())})


@pytest.fixture(scope="session")
def shadowed(made: Made) -> str:
    """The name of a database in which all that can be shadowed is, by a role that may only create."""

    def fill(connection: psycopg.Connection) -> None:
        connection.execute(TABLES)
        connection.execute("create schema if not exists public; create schema shared")
        role = sql.Identifier(f"mallory_of_{connection.info.dbname}"[:60])
        connection.execute(
            sql.SQL("create role {0}; grant usage, create on schema public, shared to {0}").format(role)
        )
        connection.execute("select set_config('shadows.names', %s, false)", (words(),))
        connection.execute(sql.SQL("set role {}").format(role))
        connection.execute(SHADOWS.read_text().encode())
        connection.execute("reset role")
        # the role goes, what it has made stays and does what it did
        connection.execute(sql.SQL("reassign owned by {0} to current_user").format(role))
        connection.execute(sql.SQL("drop owned by {0}; drop role {0}").format(role))

    return made("shadowed", fill)


@pytest.fixture
def watched(server: str, shadowed: str) -> Iterator[str]:
    with new_database(server, shadowed) as conninfo:
        yield conninfo


def leaves(command: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    subcommands: dict[str, object] | None = getattr(command, "commands", None)
    if subcommands is None:
        yield path
        return
    for name, sub in subcommands.items():
        yield from leaves(sub, (*path, name))


def asked(watched: str, query: str) -> list[tuple[object, ...]]:
    """What an observer sees, who knows of the shadows."""
    with psycopg.connect(watched, autocommit=True, options="-c search_path=pg_catalog") as connection:
        return connection.execute(query.encode()).fetchall()


def test_the_shadows_are_found_by_a_session_that_does_not_pin_its_path(watched: str) -> None:
    with (
        psycopg.connect(watched, autocommit=True, options="-c search_path=shared,public") as connection,
        pytest.raises(psycopg.errors.RaiseException, match="shadow"),
    ):
        connection.execute("select 7::bigint % 2::int")
    assert asked(watched, CALLED) == [("% (bigint, integer)",)]


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_no_command_and_no_function_calls_a_shadow(
    watched: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = make_conninfo(watched, options=f"-c search_path={path} -c track_functions=all")
    monkeypatch.setenv("ANONDB_DSN", dsn)
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    done = set()

    def obey(commands: str) -> None:
        for line in lines(commands, dsn):
            ended = CliRunner().invoke(app, line)
            assert asked(watched, CALLED) == [], line
            assert ended.exit_code == 0, (line, ended.exception, ended.output)
            done.update([tuple(line[:1]), tuple(line[:2])])

    obey(COMMANDS)
    with psycopg.connect(dsn, autocommit=True) as user:  # who calls our functions without anondb
        for call in CALLS.strip().splitlines():
            user.execute(call.encode())
            assert asked(watched, CALLED) == [], call
    assert asked(watched, STRANGE) == []
    assert {name for (name,) in asked(watched, UNCALLED)} - INNER - {"drop_ontology"} == set()
    obey(FAREWELL)
    assert set(leaves(typer.main.get_command(app))) <= done
