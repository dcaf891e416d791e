"""A small hospital, the command line on it, and the promises that every failure has to keep."""

from __future__ import annotations

import json
import os
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Connection, Door
from tests.commands import fresh
from tests.conftest import Cli

Found = TypeVar("Found")
Ended = subprocess.CompletedProcess[str]

# Each value is a secret that can be searched for; ages differ by years, zip codes in their last digit.
HOSPITAL = """
create schema hospital;
create schema share;
create table hospital.admissions (name text, age int, zip text, diagnosis text);
insert into hospital.admissions
select 'Person' || i, 20 + i % 12, 'Z907' || i % 4, (array['Secretitis', 'Hushosis', 'Mumpox'])[1 + i % 3]
from generate_series(1, 24) as i;
"""

# A source that stops in the second pass over it, while the release is written, for as long as somebody
# holds the lock: what a test then does hits the run in the middle, however fast the machine is.
GATE = r"""
create function hospital.gate() returns boolean language plpgsql volatile as $$
begin
    if exists (select from pg_catalog.pg_class as c where c.relname like 'anondb\_run\_%') then
        perform pg_catalog.pg_advisory_lock_shared(907);
        perform pg_catalog.pg_advisory_unlock_shared(907);
    end if;
    return true;
end $$;
create view hospital.gated as select a.* from hospital.admissions as a where hospital.gate();
"""
AT_THE_GATE = """
select a.pid from pg_stat_activity as a
where a.datname = current_database() and a.wait_event_type = 'Lock' and a.wait_event = 'advisory'
"""

# What a run could leave behind: relations of its own, and temporary ones.
LEFTOVERS = r"""
select c.oid::regclass::text from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where c.relname ~ '^anondb_(run|old)_' or n.nspname = 'anondb_work' or n.nspname like 'pg\_temp\_%'
"""
RELATIONS = """
select c.oid, c.xmin::text, c.oid::regclass::text, c.relowner, c.relacl::text
from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
where n.nspname !~ '^(pg_|information_schema$|anondb)' order by 1
"""
TABLES = """
select t.tablename, t.schemaname from pg_tables as t
where t.schemaname in ('hospital', 'share') order by 1, 2
"""

IDENTIFIER, SENSITIVE, OTHER = (f'{{ role = "{role}" }}' for role in ("identifier", "sensitive", "other"))
KEPT = '{ role = "other", keep = "identifying" }'  # it tells records apart, and is released all the same


def quasi(hierarchy: str) -> str:
    return f'{{ role = "quasi", hierarchy = {hierarchy} }}'


MASK_ALL = quasi('{ mask = "all" }')
COLUMNS = {
    "name": IDENTIFIER,
    "age": quasi("{ start = 0, widths = [5, 10, 20] }"),
    "zip": quasi('{ mask = "right" }'),
    "diagnosis": SENSITIVE,
}


@dataclass
class Clinic:
    """A database with a hospital in it, and a folder of policies."""

    dsn: str
    connection: Connection
    cli: Cli
    folder: Path

    def policy(
        self,
        columns: Mapping[str, str] = COLUMNS,
        *,
        source: str = "hospital.admissions",
        target: str = "share.admissions",
        privacy: str = "k = 3",
        method: str = 'algorithm = "datafly"',
        changes: str | None = None,
    ) -> Path:
        """Writes a policy; columns, privacy and method are given in TOML."""
        lines = [f"source = {_toml(source)}", f"target = {_toml(target)}"]
        over_time = [] if changes is None else [f"changes = {_toml(changes)}"]
        lines += ["[privacy]", privacy, *over_time, "[method]", method, "[columns]"]
        lines += [f"{_toml(name)} = {column}" for name, column in columns.items()]
        path = self.folder / f"{uuid.uuid4().hex[:8]}.toml"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    def publish(self, policy: Path | None = None, *options: str) -> dict[str, Any]:
        """Runs a policy that must succeed; returns what --json printed."""
        done = self.cli("run", policy or self.policy(), "--json", *options)
        assert (done.returncode, done.stderr) == (0, "")
        return dict(json.loads(done.stdout))

    def has_released(self, policy: Path | None = None) -> dict[str, Any]:
        """As `publish`, by the library: quicker, for where the command is not what the test is about."""
        with Database(Door(self.dsn)) as database:
            return database.run(policy or self.policy()).result.as_json()

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """A command that goes on while the test does."""
        return subprocess.Popen(
            fresh(arguments),
            env=os.environ | {"ANONDB_DSN": self.dsn, "COLUMNS": "120"},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def execute(self, statement: str, **names: str) -> list[tuple[Any, ...]]:
        """Runs a statement and returns its rows; `{name}` in it stands for a quoted name."""
        quoted = {name: sql.Identifier(value) for name, value in names.items()}
        composed = sql.SQL(statement)
        cursor = self.connection.execute(composed.format(**quoted) if names else composed)
        return cursor.fetchall() if cursor.description else []

    def dump(self, table: str = "admissions", schema: str = "share") -> bytes:
        """The rows as COPY writes them, in the order in which they lie there."""
        statement = sql.SQL("copy (select * from {}) to stdout").format(sql.Identifier(schema, table))
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            return b"".join(map(bytes, copy))

    def history(self) -> str:
        """Everything that is kept of runs, but the policies."""
        rows = self.execute(
            "select r::text from anondb.run as r union all select s::text from anondb.run_step as s"
            " union all select m::text from anondb.run_metric as m"
        )
        return "\n".join(text for (text,) in rows)

    def runs(self) -> list[tuple[str, str | None]]:
        """Status and error of each run so far."""
        return self.execute("select r.status, r.error from anondb.run as r order by r.id")

    @contextmanager
    def unchanged(self, status: str | None = "failed") -> Iterator[None]:
        """What is done inside changes no table and leaves no scratch; it begins a run that ends in this
        status, or none."""
        before, runs = self._state(), len(self.runs())
        yield
        assert self.leftovers() == []
        assert self._state() == before
        begun = self.runs()[runs:]
        assert [found for found, _ in begun] == ([] if status is None else [status])
        assert all(error for _, error in begun)

    @contextmanager
    def gate_shut(self) -> Iterator[Callable[[], int]]:
        """While it is shut, a run on hospital.gated stops in the middle; gives a wait for its backend's pid."""
        with psycopg.connect(self.dsn, autocommit=True) as guard:
            guard.execute("select pg_advisory_lock(907)")
            yield lambda: int(eventually(lambda: self.execute(AT_THE_GATE))[0][0])

    def leftovers(self) -> list[str]:
        """Relations that runs have left; those of a session that is just ending are given their time."""
        found = eventually(lambda: self.execute(LEFTOVERS), wanted=lambda found: not found)
        return [name for (name,) in found]

    def _state(self) -> tuple[object, ...]:
        return self.execute(RELATIONS), [self.dump(*name) for name in self.execute(TABLES)]


def eventually(
    look: Callable[[], Found], wanted: Callable[[Found], object] = bool, seconds: float = 20
) -> Found:
    """What is there once it is as wanted, or at the end of the time."""
    deadline = time.monotonic() + seconds
    while not wanted(found := look()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def complaint(ended: Ended, code: int) -> str:
    """The text of the one error that a command has ended with: it has a hint, and nothing else was said."""
    assert ended.returncode == code, ended.stderr
    assert ended.stdout == ""
    assert ended.stderr.startswith("error: ")
    assert ended.stderr.count("error: ") == 1
    assert "  hint: " in ended.stderr
    assert "Traceback" not in ended.stderr
    return ended.stderr


def ended(process: subprocess.Popen[str]) -> Ended:
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
