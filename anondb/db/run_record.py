"""How a run was made, as the history keeps it: its policy, the package's version, and every statement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.db.execute import Step

_RECORD = """
select p.body, r.package
from anondb.run as r
join anondb.policy as p on p.sha256 = r.policy and p.added_by = r.started_by
where r.id = %s
"""
_STEPS = """
select s.stage, s.name, coalesce(s.sql, ''), coalesce(s.rows, 0), coalesce(s.ms, 0)
from anondb.run_step as s
where s.run = %s
order by s.seq
"""
# Reads nothing; but a role that could not read how a run went learns it here, before the run.
_MAY_READ = """
select from anondb.run as r, anondb.policy as p, anondb.run_step as s, anondb.run_metric as m where false
"""


@dataclass(frozen=True)
class RunRecord:
    policy: str  # the text of the file
    package: str
    steps: tuple[Step, ...]


def read(connection: Connection, run: int) -> RunRecord:
    """The record of a run that is in the history."""
    with translated("reading the history"):
        [(policy, package)] = _rows(connection, _RECORD, run)
        return RunRecord(policy, package, tuple(Step(*row) for row in _rows(connection, _STEPS, run)))


def require_readable(connection: Connection) -> None:
    """Raises unless this role may read the history."""
    with translated("reading the history"):
        connection.execute(_MAY_READ)


def _rows(connection: Connection, statement: Any, run: int) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = connection.execute(statement, (run,)).fetchall()
    return rows
