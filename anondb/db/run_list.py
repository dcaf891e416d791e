"""The runs that the history knows of, whatever became of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from anondb.db.connection import Connection
from anondb.db.errors import translated

_RUNS = """
select r.id, r.source, r.target, r.algorithm, r.status, r.error, r.started_at, r.finished_at
from anondb.run as r where %(target)s::text is null or r.target = %(target)s
order by r.id desc limit %(limit)s
"""


@dataclass(frozen=True)
class RunInfo:
    """A run in the history: running, done, failed, interrupted, or lost."""

    run: int
    source: str
    target: str
    algorithm: str
    status: str
    error: str | None  # why it failed
    started_at: datetime
    finished_at: datetime | None


def runs(connection: Connection, target: str | None = None, limit: int | None = None) -> list[RunInfo]:
    """Runs, newest first; those of one target alone, where it is given as the history spells it."""
    with translated("reading the history"):
        rows: list[tuple[Any, ...]] = connection.execute(_RUNS, {"target": target, "limit": limit}).fetchall()
    return [RunInfo(*row) for row in rows]
