"""Strikes a command before one of its statements, and looks at what is left."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from anondb.db.connection import Connection
from tests.acceptance.clinic import LEFTOVERS
from tests.campaign.cases import HOSPITAL, Case
from tests.campaign.ground import Ground, settled
from tests.campaign.tripwire import Caught, Tripwire, kill_backend, kill_client, kill_server
from tests.commands import WIDTH, Commands

STRIKES: dict[str, Callable[[Caught], object]] = {
    "client": kill_client,
    "backend": kill_backend,
    "server": kill_server,
}
_RELEASED = "select c.relname from pg_class as c where c.relnamespace = 'share'::regnamespace order by 1"
_COPY = sql.SQL("copy (select * from share.{}) to stdout")
_LOCKS = """
select count(*) from pg_locks as l where l.locktype = 'advisory'
and l.database = (select d.oid from pg_database as d where d.datname = current_database())
"""
_RUNNING = "select count(*) from anondb.run as r where r.status = 'running'"
_SERIES = """
select s.target from anondb.series as s where s.ended_at is null and to_regclass(s.target) is not null
"""
_UNPROVEN = "select v.name from anondb.verify_release(%s::text::regclass) as v where v.holds is not true"


@dataclass(frozen=True)
class Struck:
    """What a command did that was struck, and what was found wrong afterwards."""

    wrong: tuple[str, ...]
    went_through: bool
    """It had committed before it was struck."""


class Target:
    """A case, on a database that is made once and struck in copies."""

    def __init__(self, ground: Ground, commands: Commands, case: Case) -> None:
        self.ground, self.commands, self.case = ground, commands, case
        self.template = f"campaign_{uuid.uuid4().hex[:8]}"
        self._make()

    def _make(self) -> None:
        with psycopg.connect(self.ground.is_up(), autocommit=True) as admin:
            admin.execute(
                sql.SQL("create database {} template {}").format(
                    sql.Identifier(self.template), sql.Identifier(self.ground.empty)
                )
            )
        dsn = make_conninfo(self.ground.server, dbname=self.template)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(HOSPITAL.encode())
            for words in self.case.first:
                self.must_run(dsn, words)
            if self.case.then:
                connection.execute(self.case.then.encode())
            self.before = self.state(connection)

    @cached_property
    def whole(self) -> int:
        """How many requests the command makes if nobody strikes; what it leaves is kept as `after`."""
        with self.copy() as dsn, self.folder() as folder, Tripwire(folder, dsn) as wire:
            self.must_run(wire.dsn, self.case.command)
            with settled(dsn) as connection:
                self.after = self.state(connection)
        if self.case.looks == "" or self.case.is_drawn:
            assert self.after != self.before, "the command changes nothing that could be looked at"
        return wire.asked

    def strike(self, kind: str, at: int) -> Struck:
        """Kills somebody before the request of this number, and lets the next command find what is left."""
        asked = self.whole
        assert 1 <= at <= asked
        with self.copy() as dsn:
            with (
                self.ground.witness(kind != "client"),
                self.folder() as folder,
                Tripwire(folder, dsn, at, STRIKES[kind]) as wire,
            ):
                code = self.run(wire.dsn, self.case.command).returncode
            self.ground.is_up()
            dsn = make_conninfo(self.ground.server, dbname=conninfo_to_dict(dsn)["dbname"])
            wrong = [] if wire.tripped else ["it was not struck"]
            if kind != "client" and code not in (0, 4):
                wrong.append(f"exit code {code} instead of 4")
            with settled(dsn) as connection:
                found = self.state(connection)
                wrong += self._left(connection, found)
                done = self.run(dsn, self.case.command)
                if done.returncode != (2 if self.case.is_once and found == self.after else 0):
                    wrong.append(f"the next one ends with exit code {done.returncode}: {done.stderr}")
                elif not self.case.is_drawn and self.state(connection) != self.after:
                    wrong.append("the next one leaves something else")
                if connection.execute(_RUNNING).fetchone() != (0,):
                    wrong.append("the history still has a running run")
                wrong += self._left(connection, self.state(connection))
        return Struck(tuple(dict.fromkeys(wrong)), went_through=found != self.before)

    def _left(self, connection: Connection, found: Sequence[object]) -> Iterator[str]:
        """What may never be there, whenever the command was struck."""
        if found != self.before and found != self.after and not self.case.is_drawn:
            yield "what is there is neither the old nor the new"
        if left := connection.execute(LEFTOVERS).fetchall():
            yield f"scratch is left: {left}"
        if connection.execute(_LOCKS).fetchone() != (0,):
            yield "a lock is left"
        for (target,) in connection.execute(_SERIES).fetchall():
            if unproven := connection.execute(_UNPROVEN, (target,)).fetchall():
                yield f"ledger and release do not agree: {unproven}"

    def state(self, connection: Connection) -> list[object]:
        """How far the command came: the released tables, byte by byte, or what the case looks at."""
        if self.case.looks:
            return list(connection.execute(self.case.looks.encode()).fetchall())
        found: list[object] = []
        for (name,) in connection.execute(_RELEASED).fetchall():
            copied = hashlib.sha256()
            statement = _COPY.format(sql.Identifier(str(name)))
            with connection.cursor() as cursor, cursor.copy(statement) as copy:
                for part in copy:
                    copied.update(part)
            found.append((name, copied.hexdigest()))
        return found

    def must_run(self, dsn: str, words: Sequence[str]) -> None:
        done = self.run(dsn, words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)

    def run(self, dsn: str, words: Sequence[str]) -> CompletedProcess[str]:
        with self.folder() as folder:
            return self.commands.run(words, self._environment(dsn), folder, timeout=120)

    def copy(self) -> AbstractContextManager[str]:
        return self.ground.database(self.template)

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder with the files of the case, on a short path since sockets lie in it."""
        with TemporaryDirectory(prefix="anondb-c-") as name:
            for file, text in self.case.files.items():
                (Path(name) / file).write_text(text, encoding="utf-8")
            yield Path(name)

    def _environment(self, dsn: str) -> dict[str, str]:
        return os.environ | WIDTH | {"ANONDB_DSN": dsn, "ANONDB_CHANGES": self.case.changes}
