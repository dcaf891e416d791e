"""Runs generated statements on the run's connection, and tells an observer what each one did."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import psycopg

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.run.statement import Statement
from anondb.sqltree.render import render


@dataclass(frozen=True)
class Step:
    """A statement that ran: what the history keeps of it. Never a data value: those are parameters."""

    stage: str
    name: str
    sql: str
    rows: int
    ms: float


class Executor:
    """The run's connection. Statements carry `$1` parameters, so a percent sign in a name means nothing."""

    def __init__(self, connection: Connection, observe: Callable[[Step], None]) -> None:
        self.connection = connection
        self.observe = observe
        self.stage = "start"

    def run(self, statement: Statement) -> int:
        """Runs a statement for its effect; returns how many rows it touched."""
        return self._execute(statement)[1]

    def rows(self, statement: Statement) -> list[tuple[Any, ...]]:
        """Runs a query and returns its rows (figures, never rows of the source)."""
        return self._execute(statement)[0]

    def one(self, statement: Statement) -> tuple[Any, ...]:
        return self.rows(statement)[0]

    def copy(self, statement: Statement, rows: Iterable[Sequence[object]]) -> None:
        """Fills a table with rows of ours (a hierarchy)."""
        text = _text(statement)
        started = time.perf_counter()
        with translated(f"step {statement.name}"), self.connection.cursor() as cursor:
            with cursor.copy(text.encode()) as copy:
                for row in rows:
                    copy.write_row(row)
            touched = cursor.rowcount
        self._tell(statement, text, touched, started)

    def savepoint(self, *, undo: bool = False) -> AbstractContextManager[object]:
        return self.connection.transaction(force_rollback=undo)

    def _execute(self, statement: Statement) -> tuple[list[tuple[Any, ...]], int]:
        text = _text(statement)
        started = time.perf_counter()
        with translated(f"step {statement.name}"), psycopg.RawCursor(self.connection) as cursor:
            cursor.execute(text.encode(), statement.parameters or None)
            rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
            touched = max(cursor.rowcount, 0)
        self._tell(statement, text, touched, started)
        if not statement.answers.fits(rows):
            raise AssertionError(
                f"step {statement.name} does not answer {', '.join(statement.answers.columns)}"
            )
        return rows, touched

    def _tell(self, statement: Statement, text: str, rows: int, started: float) -> None:
        self.observe(Step(self.stage, statement.name, text, rows, (time.perf_counter() - started) * 1000))


def _text(statement: Statement) -> str:
    return statement.sql if isinstance(statement.sql, str) else render(statement.sql)
