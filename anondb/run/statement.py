"""A statement as data: its name, its SQL, the shape of its answer; and who runs statements.

A run executes them, `anondb plan` prints the same ones. Where a later statement depends on what an earlier one
answers, the plan goes on with the example that the shape carries, and says so in the note.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # commands that build no tree need not load the library
    from anondb.sqltree.build import Node

MANY = 10**9
"""An example of a number of records: so many that any suppression above 0 is of some of them."""


@dataclass(frozen=True)
class Answer:
    """The columns of an answer, and the rows that a plan goes on with; without columns any answer is taken."""

    columns: tuple[str, ...] = ()
    example: tuple[tuple[Any, ...], ...] = ()
    touched: int = MANY  # how many rows a plan takes the statement to change

    def fits(self, rows: Sequence[Sequence[Any]]) -> bool:
        return not self.columns or not rows or len(rows[0]) == len(self.columns)


def row(**columns: Any) -> Answer:
    """One row of these columns, with the values that a plan goes on with."""
    return Answer(tuple(columns), (tuple(columns.values()),))


def no_rows(*columns: str) -> Answer:
    """Rows of these columns; a plan takes it that there are none."""
    return Answer(columns)


def touched(rows: int) -> Answer:
    """No answer but how many rows were changed."""
    return Answer(touched=rows)


METRIC_ROWS = no_rows("name", "of_column", "value", "note")
"""What our functions that compute metrics answer."""
CLASS_COUNTS = row(rows=MANY, classes=1, smallest=MANY, largest=MANY, squares=MANY**2)
"""Rows, classes, the smallest and the largest class, and the sum of their squared sizes."""
SIZES = no_rows("size", "classes")
"""How many classes there are of each size."""


@dataclass(frozen=True)
class Statement:
    """What a stage has the database do."""

    name: str
    sql: Node | str
    parameters: Sequence[object] = ()
    answers: Answer = Answer()
    note: str = ""  # what a plan says of it, where the run knows more than the plan


class Runner(Protocol):
    """Who runs statements: the executor in a transaction, or a plan, which keeps them and runs nothing."""

    stage: str

    def run(self, statement: Statement) -> int:
        """How many rows the statement touched."""
        ...

    def one(self, statement: Statement) -> tuple[Any, ...]:
        """The first row of its answer."""
        ...

    def rows(self, statement: Statement) -> list[tuple[Any, ...]]:
        """All rows of its answer."""
        ...

    def copy(self, statement: Statement, rows: Iterable[Sequence[object]]) -> None:
        """Sends rows of ours to a COPY."""
        ...

    def savepoint(self, *, undo: bool = False) -> AbstractContextManager[object]:
        """What fails inside is undone, and the transaction goes on; with `undo` all of it, locks included."""
        ...
