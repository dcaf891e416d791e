"""The history of runs, written on a connection of its own so that it outlives a run that is rolled back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import cast

import psycopg
from psycopg.types.json import Jsonb

from anondb.db.connection import Connection, Door
from anondb.db.errors import translated
from anondb.db.execute import Step
from anondb.db.locks import RUNS
from anondb.errors import AnondbError, DatabaseError
from anondb.policy.model import Policy

_POLICY = "insert into anondb.policy (sha256, body) values (%s, %s) on conflict do nothing"

_BEGIN = """
insert into anondb.run (policy, source, target, algorithm, status, package)
values (%s, %s, %s, %s, 'running', %s) returning id
"""

# All steps in one statement: at the end of a run it is sent while readers of the release wait.
_STEPS = """
insert into anondb.run_step (run, seq, stage, name, sql, rows, ms)
select %s, s.seq, s.stage, s.name, s.sql, s.rows, s.ms
from rows from (
    pg_catalog.unnest(%s::text[]), pg_catalog.unnest(%s::text[]), pg_catalog.unnest(%s::text[]),
    pg_catalog.unnest(%s::bigint[]), pg_catalog.unnest(%s::float8[])
) with ordinality as s (stage, name, sql, rows, ms, seq)
"""
_METRICS = """
insert into anondb.run_metric (run, name, of_column, value)
select %s, m.name, m.of_column, m.value
from rows from (
    pg_catalog.unnest(%s::text[]), pg_catalog.unnest(%s::text[]), pg_catalog.unnest(%s::float8[])
) as m (name, of_column, value)
"""

_STEP_COLUMNS = ("stage", "name", "sql", "rows", "ms")

# The rows of others refer to it by its key, which stays: they go on.
_CLAIM = "select from anondb.run as r where r.id = %s and r.status = 'running' for no key update"

# Row-level security shows a role its own runs. A run switches it off for its source, where it must not hide rows.
_BY_ROLE = "set local row_security = on"

_DONE = """
update anondb.run set status = 'done', result = %s, finished_at = pg_catalog.clock_timestamp() where id = %s
"""
_ENDED = """
update anondb.run set status = %s, error = %s, finished_at = pg_catalog.clock_timestamp() where id = %s
"""
# A run whose session still hangs on the server holds its record; it is found lost once that has gone too.
_PATIENCE = "set local lock_timeout = '5s'"

# Whoever listens hears of it once it is committed: never of a release that is not there.
_TELL = """
select pg_catalog.pg_notify('anondb_run', pg_catalog.jsonb_build_object(
    'run', r.id, 'target', r.target, 'outcome', r.status)::text)
from anondb.run as r where r.id = %s
"""

# Writes nothing; but a role that could not write how its run ended learns it here, before it begins.
_MAY_FINISH = (
    "insert into anondb.run_step (run, seq, stage, name) select 0, 0, '', '' where false",
    "insert into anondb.run_metric (run, name, value) select 0, '', 0 where false",
    "update anondb.run set status = '', error = '', result = null, finished_at = null where false",
)

# A run holds an advisory lock of its own number while it lives: a running one without it is lost. A role finds
# its own ones, and the owner of the history finds all.
_SWEEP = """
update anondb.run as r
set status = 'lost', error = 'the run ended without a word: its server or its machine went down'
where r.status = 'running' and not exists (
    select from pg_catalog.pg_locks as l
    where l.locktype = 'advisory' and l.classid::bigint = %s and l.objid::bigint = r.id %% 2147483647
      and l.database = (select d.oid from pg_catalog.pg_database as d where d.datname = current_database()))
"""


class History:
    """The record of one run."""

    def __init__(self, door: Door, connection: Connection) -> None:
        self._door = door
        self._connection = connection
        self._steps: list[Step] = []
        self.run = 0

    def begin(
        self, policy: Policy, source: str, target: str, package: str, hold: Callable[[int], None]
    ) -> int:
        """Enters the run, and returns its number.

        `hold` makes the run show that it lives, before anybody can see that there is one.
        """
        with translated("writing the history"), self._connection.transaction():
            for statement in (_BY_ROLE, *_MAY_FINISH):
                self._connection.execute(statement)
            self._connection.execute(_SWEEP, (RUNS,))
            self._connection.execute(_POLICY, (policy.sha256, policy.text))
            entry = (policy.sha256, source, target, policy.method.algorithm, package)
            row = self._connection.execute(_BEGIN, entry).fetchone()
            self.run = cast(int, row[0]) if row else 0
            hold(self.run)
        return self.run

    def step(self, step: Step) -> None:
        self._steps.append(step)

    def claim(self, connection: Connection) -> None:
        """Keeps the run's record as it is until the transaction of this connection has written its end there."""
        with translated("claiming the run"):
            connection.execute(_BY_ROLE)
            if connection.execute(_CLAIM, (self.run,)).rowcount != 1:
                raise self._gone()

    def publish(
        self, connection: Connection, result: Mapping[str, object], metrics: Mapping[tuple[str, str], float]
    ) -> None:
        """Writes how the run ended in its own transaction: a release that can be read has its record."""
        with translated("writing the history"):
            connection.execute(_BY_ROLE)
            self._write_steps(connection)
            names, columns = [name for name, _ in metrics], [column for _, column in metrics]
            connection.execute(_METRICS, (self.run, names, columns, list(metrics.values())))
            if connection.execute(_DONE, (Jsonb(dict(result)), self.run)).rowcount != 1:
                raise self._gone()
            connection.execute(_TELL, (self.run,))

    def fail(self, status: str, error: str) -> None:
        """Writes that the run published nothing, and why; if the connection went with it, on a new one."""
        try:
            self._write_failure(self._connection, status, error)
        except psycopg.Error:
            # the run is over whatever becomes of its record; what is not written now is found lost later
            with suppress(psycopg.Error, AnondbError), self._door.open() as connection:
                self._write_failure(connection, status, error)

    def _write_failure(self, connection: Connection, status: str, error: str) -> None:
        with connection.transaction():
            for statement in (_PATIENCE, _BY_ROLE):
                connection.execute(statement)
            # none where the run was never entered, or has published after all
            if connection.execute(_CLAIM, (self.run,)).rowcount == 1:
                self._write_steps(connection)
                connection.execute(_ENDED, (status, error, self.run))
                connection.execute(_TELL, (self.run,))

    def _write_steps(self, connection: Connection) -> None:
        columns = ([getattr(step, name) for step in self._steps] for name in _STEP_COLUMNS)
        connection.execute(_STEPS, (self.run, *columns))

    def _gone(self) -> DatabaseError:
        return DatabaseError(
            f"run {self.run} is no longer in the history",
            hint="somebody has deleted it; nothing is published",
        )
