"""Runs as the history keeps them: by their number, or the last one that published."""

from __future__ import annotations

import re
from typing import Any

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import UsageError
from anondb.run import account_reader
from anondb.run.run_account import KeptRun

LAST = "last"

_RUN = """
select r.id, r.source, r.target, r.algorithm, r.status, r.error, r.finished_at, r.result
from anondb.run as r where r.id = %s
"""
_METRICS = "select m.name, m.of_column, m.value from anondb.run_metric as m where m.run = %s"
_NEWEST = "select max(r.id), max(r.id) filter (where r.status = 'done') from anondb.run as r"

_ENDINGS = {
    "failed": "failed, and released nothing",
    "interrupted": "was interrupted, and released nothing",
    "lost": "ended without a word, and released nothing",
    "running": "is still running",
}


def find(connection: Connection, run: int | str) -> KeptRun:
    """A run that published, by its number; `last` is the newest of them."""
    with translated("reading the history"):
        newest, published = _newest(connection)
        number = published if run == LAST else _number(run)
        if number is None:
            raise UsageError(
                "no run has published a release yet", hint="make the first one: anondb run POLICY.toml"
            )
        row: tuple[Any, ...] | None = connection.execute(_RUN, (number,)).fetchone()
        if row is None:
            known = "the history is empty" if newest is None else f"the newest is run {newest}"
            raise UsageError(f"run {number} is not in the history", hint=known)
        number, source, target, algorithm, status, error, finished_at, result = row
        if status != "done":
            raise _unpublished(number, status, error, published)
        if result is None:
            raise UsageError(
                f"run {number} published its release, but its figures were lost: its client ended too soon",
                hint="run its policy again; anondb evaluate --original … --release … measures what is there",
            )
        rows: list[tuple[Any, ...]] = connection.execute(_METRICS, (number,)).fetchall()
    metrics = {(name, column): value for name, column, value in rows}
    account = account_reader.read(result, of=f"run {number}")
    return KeptRun(number, source, target, algorithm, finished_at, account, metrics)


def _newest(connection: Connection) -> tuple[Any, ...]:
    [row] = connection.execute(_NEWEST).fetchall()
    return row


def _number(run: int | str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", str(run)):
        raise UsageError(
            "a run is named by its number",
            hint=f"`anondb run` prints it; `{LAST}` is the last one that published",
        )
    return int(run)


def _unpublished(number: int, status: str, error: str | None, published: int | None) -> UsageError:
    why = f": {error}" if error and status == "failed" else ""
    if status == "running":
        hint = "wait until it is done"
    elif published is None:
        hint = "run its policy again"
    else:
        hint = f"run its policy again, or take run {published}, the last one that published"
    return UsageError(f"run {number} {_ENDINGS[status]}{why}", hint=hint)
