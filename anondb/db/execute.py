"""Runs generated statements on the run's connection, and tells an observer what each one did."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from sqlglot import exp

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.sqlgen.render import render

_WITH_MAPS = "select anondb.execute_with_maps($1, $2::regclass[])"


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

    def run(self, name: str, statement: exp.Expr | str, parameters: Sequence[object] = ()) -> None:
        """Runs a statement for its effect."""
        self._execute(name, _text(statement), parameters)

    def rows(
        self, name: str, statement: exp.Expr | str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        """Runs a query and returns its rows (figures, never rows of the source)."""
        return self._execute(name, _text(statement), parameters)

    def one(self, name: str, statement: exp.Expr | str, parameters: Sequence[object] = ()) -> tuple[Any, ...]:
        return self.rows(name, statement, parameters)[0]

    def with_maps(self, name: str, statement: exp.Expr, lookups: Sequence[str]) -> int:
        """Runs a statement whose `$1` is an array of maps, made in the server from lookup tables."""
        text = _text(statement)
        [(rows,)] = self._execute(name, _WITH_MAPS, (text, list(lookups)), shown=text)
        return int(rows)

    def copy(self, name: str, scratch: str, rows: Iterable[Sequence[object]]) -> None:
        """Fills a temporary table with rows of ours (a hierarchy)."""
        statement = sql.SQL("copy pg_temp.{} from stdin").format(sql.Identifier(scratch))
        started = time.perf_counter()
        with translated(f"step {name}"), self.connection.cursor() as cursor:
            with cursor.copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)
            touched = cursor.rowcount
        self._tell(name, statement.as_string(), touched, started)

    def _execute(
        self, name: str, text: str, parameters: Sequence[object], *, shown: str | None = None
    ) -> list[tuple[Any, ...]]:
        started = time.perf_counter()
        with translated(f"step {name}"), psycopg.RawCursor(self.connection) as cursor:
            cursor.execute(text.encode(), parameters or None)
            rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
            touched = rows[0][0] if shown else max(cursor.rowcount, 0)
        self._tell(name, shown or text, touched, started)
        return rows

    def _tell(self, name: str, text: str, rows: int, started: float) -> None:
        self.observe(Step(self.stage, name, text, rows, (time.perf_counter() - started) * 1000))


def _text(statement: exp.Expr | str) -> str:
    return statement if isinstance(statement, str) else render(statement)
