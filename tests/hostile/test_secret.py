"""The secret of the installation is nowhere but in its table, and open to those who run policies alone."""

from __future__ import annotations

import hashlib
import hmac
import runpy
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from anondb import resources
from anondb.api import Database
from anondb.cli import app
from anondb.db.connection import Connection, Door
from anondb.db.install.upgrade import upgrade
from anondb.errors import DatabaseError
from tests.conftest import Cli
from tests.hostile.commands import TABLES, write_files
from tests.servers import new_database

SECRET = hashlib.sha256(b"a secret that everybody knows").digest()
# what a server can be told to write into its log, it can be told to send to the client too
LOUD = (
    "client_min_messages=log",
    "log_statement=all",
    "log_min_duration_statement=0",
    "log_parameter_max_length=-1",
    "log_parameter_max_length_on_error=-1",
    "log_error_verbosity=verbose",
)
COMMANDS = """
ontology load kinds.csv
vgh load reason reason.csv --ontology kinds
vgh load disease disease.csv
db status --json
plan datafly.toml
plan le_diversity.toml
run datafly.toml --json --report datafly.html
run mondrian.toml --json
run fusion.toml --json
run le_diversity.toml --json --report le_diversity.html
run mdav.toml --json
compare incognito.toml --k 2
evaluate last --json
"""
HISTORY = """
select to_jsonb(r)::text from anondb.run as r union all select to_jsonb(s)::text from anondb.run_step as s
union all select to_jsonb(p)::text from anondb.policy as p
union all select to_jsonb(m)::text from anondb.run_metric as m
union all select to_jsonb(i)::text from anondb.install as i
"""


def derived(purpose: str, scope: str) -> bytes:
    scope, purpose = scope or '""', f'"{purpose}"' if " " in purpose else purpose
    return hmac.new(SECRET, f"{{{purpose},{scope}}}".encode(), "sha256").digest()


def forms() -> Iterator[str]:
    """The secret and the keys that come from it, as whoever looks for them would find them written."""
    purposes = ("record number", "class id", "draw")
    keys = [SECRET, derived("row order", ""), *(derived(purpose, "0") for purpose in purposes)]
    keys += [derived(purpose, "share.datafly") for purpose in ("pseudonym", "shift")]
    keys += [bytes(byte ^ pad for byte in key) for key in keys for pad in (0x36, 0x5C)]
    for key in keys:
        for digits in (key[:16].hex(), key[16:].hex()):  # half of it, as it may be broken or a uuid
            yield digits
            yield "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        yield repr(key)[2:-1]  # bytes as Python shows them
        yield "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\{byte:03o}" for byte in key)


def found(text: str) -> list[str]:
    return [form for form in forms() if form.lower() in text.lower()]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the server says to any connection that is opened."""
    said: list[str] = []
    begin = psycopg.Connection.__init__

    def listening(self: Connection, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        self.add_notice_handler(
            lambda told: said.append(f"{told.message_primary} {told.message_detail} {told.context}")
        )

    monkeypatch.setattr(psycopg.Connection, "__init__", listening)
    return said


def test_the_secret_is_in_no_log_no_history_and_no_output(
    connection: Connection,
    dsn: str,
    heard: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection.execute(TABLES.encode())
    loud = make_conninfo(dsn, options=" ".join(f"-c {setting}" for setting in LOUD))
    monkeypatch.setenv("ANONDB_DSN", loud)
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    shown = []
    for line in COMMANDS.strip().splitlines():
        ended = CliRunner().invoke(app, line.split())
        assert ended.exit_code == 0, (line, ended.exception, ended.output)
        shown.append(ended.output)
    files = [path.read_bytes().decode(errors="replace") for path in tmp_path.iterdir()]
    history = [str(text) for (text,) in connection.execute(HISTORY)]
    assert "derived_key" in "".join(heard)  # what the runs did was heard
    assert "derived_key" in "".join(history)
    for texts in (heard, history, files, shown):
        assert found("\n".join(texts)) == []
    # nor when it is taken to a file and back
    for line in ("secret export key", "secret import key --yes"):
        ended = CliRunner().invoke(app, line.split())
        assert ended.exit_code == 0, ended.output
        assert found(ended.output + "\n".join(heard)) == []
    assert found((tmp_path / "key").read_text())
    # and a statement that had it would have been heard
    with psycopg.connect(loud) as careless:
        careless.execute("select %s", (SECRET,))
    assert found("\n".join(heard))


def test_a_role_without_the_grant_reads_neither_the_secret_nor_a_key(
    connection: Connection, new_role: Callable[[], str]
) -> None:
    role = new_role()
    connection.execute(sql.SQL("grant usage on schema anondb to {}").format(sql.Identifier(role)))
    with connection.transaction(force_rollback=True):
        connection.execute(sql.SQL("set local role {}").format(sql.Identifier(role)))
        for statement in (
            "select s.key from anondb.secret as s",
            "select d.inner_key from anondb.derived_key('draw', '0') as d",
            "select anondb.renew_secret()",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)


def test_a_role_that_runs_policies_cannot_change_or_take_the_secret(
    connection: Connection, dsn: str, new_role: Callable[[], str], tmp_path: Path
) -> None:
    role = new_role()
    connection.execute(
        sql.SQL(
            "grant usage on schema anondb to {0}; grant select on anondb.install, anondb.secret to {0}"
        ).format(sql.Identifier(role))
    )
    (tmp_path / "key").write_text("00" * 32)
    with Database(Door(make_conninfo(dsn, options=f"-c role={role}"))) as nightly:
        for act in (
            nightly.secret.renew,
            lambda: nightly.secret.export(tmp_path / "new"),
            lambda: nightly.secret.take_over(tmp_path / "key"),
        ):
            with pytest.raises(DatabaseError, match="owner of anondb"):
                act()
    assert not (tmp_path / "new").exists()


def test_a_new_secret_is_not_given_to_those_who_read_all_tables_but_to_those_who_run(
    server: str, new_role: Callable[[], str]
) -> None:
    reader, runner = new_role(), new_role()
    granted = "select has_table_privilege(%s, 'anondb.secret', 'select')"
    with new_database(server) as conninfo, psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            sql.SQL("alter default privileges grant select on tables to public, {}").format(
                sql.Identifier(reader)
            )
        )
        upgrade(connection)
        assert connection.execute(granted, (reader,)).fetchone() == (False,)
        connection.execute(
            sql.SQL("alter default privileges revoke select on tables from public, {}").format(
                sql.Identifier(reader)
            )
        )
        # an installation as it was before it had a secret
        connection.execute(sql.SQL("grant insert on anondb.run to {}").format(sql.Identifier(runner)))
        connection.execute("drop table anondb.secret cascade")
        migration = runpy.run_path(str(resources.path("migrations") / "versions" / "0004_secret.py"))
        for statement in (migration["SECRET"], migration["GRANTS"]):
            connection.execute(statement.encode())
        assert connection.execute("select count(*) from anondb.secret").fetchone() == (1,)
        assert connection.execute(granted, (runner,)).fetchone() == (True,)
        assert connection.execute(granted, (reader,)).fetchone() == (False,)


def test_a_run_without_a_secret_is_refused(connection: Connection, dsn: str, tmp_path: Path) -> None:
    connection.execute(TABLES.encode())
    connection.execute("delete from anondb.secret")
    write_files(tmp_path)
    with Database(Door(dsn)) as db:
        db.ontologies.load(tmp_path / "kinds.csv")
        db.hierarchies.load("reason", tmp_path / "reason.csv", ontology="kinds")
        with pytest.raises(DatabaseError, match="no secret"):
            db.run(tmp_path / "datafly.toml")


def test_an_exported_secret_gives_the_same_bytes_in_a_second_database(
    cli: Cli, server: str, tmp_path: Path
) -> None:
    read = "select s.key from anondb.secret as s"
    assert cli("secret", "export", "key").returncode == 0
    key = tmp_path / "key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    refused = cli("secret", "export", "key")
    assert (refused.returncode, "key exists" in refused.stderr) == (2, True)
    assert cli("secret", "export", "key", "--force").returncode == 0
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with new_database(server) as conninfo, psycopg.connect(conninfo, autocommit=True) as connection:
        upgrade(connection)
        assert connection.execute(read).fetchone() != (SECRET,)
        assert cli("secret", "import", "key", "--yes", ANONDB_DSN=conninfo).returncode == 0
        assert connection.execute(read).fetchone() == (SECRET,)
        renewed = cli("secret", "renew", "--yes", ANONDB_DSN=conninfo)
        assert (renewed.returncode, "orders of rows" in renewed.stderr) == (0, True)
        assert connection.execute(read).fetchone() != (SECRET,)
        key.write_text("no secret")
        wrong = cli("secret", "import", "key", "--yes", ANONDB_DSN=conninfo)
        assert (wrong.returncode, "has no secret" in wrong.stderr) == (2, True)
