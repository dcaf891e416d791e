"""The history of runs, written on a connection of its own so that it outlives a run that is rolled back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import cast

import psycopg
from psycopg.types.json import Jsonb

from anondb.db.connection import Connection, Door
from anondb.db.errors import translated
from anondb.db.execute import Step
from anondb.db.locks import RUNS
from anondb.errors import AnondbError
from anondb.policy.model import Policy

_POLICY = "insert into anondb.policy (sha256, body) values (%s, %s) on conflict (sha256) do nothing"

_BEGIN = """
insert into anondb.run (policy, source, target, algorithm, status, package)
values (%s, %s, %s, %s, 'running', %s) returning id
"""

_STEP = """
insert into anondb.run_step (run, seq, stage, name, sql, rows, ms) values (%s, %s, %s, %s, %s, %s, %s)
"""

_METRIC = "insert into anondb.run_metric (run, name, of_column, value) values (%s, %s, %s, %s)"

_FINISH = """
update anondb.run set status = %s, error = %s, result = %s, finished_at = clock_timestamp() where id = %s
"""

# Writes nothing; but a role that could not write how its run ended learns it here, before it begins.
_MAY_FINISH = (
    "insert into anondb.run_step (run, seq, stage, name) select 0, 0, '', '' where false",
    "insert into anondb.run_metric (run, name, value) select 0, '', 0 where false",
    "update anondb.run set status = '', error = '', result = null, finished_at = null where false",
)

# A run holds an advisory lock of its own number while it lives: a running one without it is lost.
_SWEEP = """
update anondb.run as r
set status = 'lost', error = 'the run ended without a word: its server or its machine went down'
where r.status = 'running' and r.started_by = current_user and not exists (
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

    def begin(self, policy: Policy, source: str, target: str, package: str) -> int:
        """Enters the run, and returns its number."""
        with translated("writing the history"), self._connection.transaction():
            for statement in _MAY_FINISH:
                self._connection.execute(statement)
            self._connection.execute(_SWEEP, (RUNS,))
            self._connection.execute(_POLICY, (policy.sha256, policy.text))
            entry = (policy.sha256, source, target, policy.method.algorithm, package)
            row = self._connection.execute(_BEGIN, entry).fetchone()
        self.run = cast(int, row[0]) if row else 0
        return self.run

    def step(self, step: Step) -> None:
        self._steps.append(step)

    def finish(
        self,
        status: str,
        error: str | None = None,
        result: Mapping[str, object] | None = None,
        metrics: Mapping[tuple[str, str], float] | None = None,
    ) -> None:
        """Writes how the run ended; if the connection went with it, on a new one."""
        try:
            self._write(self._connection, status, error, result, metrics or {})
        except psycopg.Error:
            # the run is over whatever becomes of its record; what is not written now is found lost later
            with suppress(psycopg.Error, AnondbError), self._door.open() as connection:
                self._write(connection, status, error, result, metrics or {})

    def _write(
        self,
        connection: Connection,
        status: str,
        error: str | None,
        result: Mapping[str, object] | None,
        metrics: Mapping[tuple[str, str], float],
    ) -> None:
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(
                _STEP,
                [
                    (self.run, seq, s.stage, s.name, s.sql, s.rows, s.ms)
                    for seq, s in enumerate(self._steps, 1)
                ],
            )
            cursor.executemany(
                _METRIC, [(self.run, name, column, value) for (name, column), value in metrics.items()]
            )
            cursor.execute(
                _FINISH, (status, error, None if result is None else Jsonb(dict(result)), self.run)
            )
