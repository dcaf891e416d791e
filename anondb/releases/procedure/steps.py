"""The steps of a refresh: the statements that a run would send, caught, and what is done with their answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from anondb.errors import UsageError
from anondb.releases.procedure.marks import MarkBook, dollar_quoted
from anondb.run.statement import Statement
from anondb.sqltree.build import string
from anondb.sqltree.render import render

_PARAMETER = re.compile(r"\$(\d+)")


@dataclass(frozen=True)
class Step:
    """A statement of the procedure."""

    stage: str
    name: str
    text: str  # an expression of PL/pgSQL, whose value is the statement
    into: tuple[str, ...] = ()  # variables that take its answer
    after: tuple[str, ...] = ()  # what is looked at then
    only_if: str | None = None
    before: tuple[str, ...] = ()  # where a loop begins
    at_last: tuple[str, ...] = ()  # where it ends


@dataclass(frozen=True)
class Answered:
    """What is done with the answer of a statement."""

    into: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] | None = None  # what the stages go on with, else the example
    only_if: str | None = None
    before: tuple[str, ...] = ()
    at_last: tuple[str, ...] = ()
    left_out: bool = False  # the procedure does it in its own way


Answers = Callable[[str, str, Statement], Answered | None]


@dataclass
class Writing:
    """Takes statements instead of running them; whoever gives the answers says what the procedure does with them."""

    marks: MarkBook
    answers: Answers
    stage: str = ""
    steps: list[Step] = field(default_factory=list)

    def run(self, statement: Statement) -> int:
        self._take(statement)
        return statement.answers.touched

    def one(self, statement: Statement) -> tuple[Any, ...]:
        [first, *_] = self.rows(statement)
        return first

    def rows(self, statement: Statement) -> list[tuple[Any, ...]]:
        return list(self._take(statement))

    def copy(self, statement: Statement, rows: Iterable[Sequence[object]]) -> None:
        raise UsageError(
            "a hierarchy of a file would stand in the text of the procedure, which every role of the database can read",
            hint='store it: anondb vgh load NAME FILE.csv, and name it in the policy: hierarchy = "NAME"',
        )

    def savepoint(self, *, undo: bool = False) -> AbstractContextManager[object]:
        return nullcontext()

    def _take(self, statement: Statement) -> tuple[tuple[Any, ...], ...]:
        answered = self.answers(self.stage, statement.name, statement)
        if answered is None:
            if statement.answers.columns:
                raise AssertionError(f"a procedure does not know what {statement.name} answers")
            answered = Answered()
        if not answered.left_out:
            text = self.marks.written(writing_of(statement))
            step = Step(
                self.stage,
                statement.name,
                text,
                into=answered.into,
                after=answered.after,
                only_if=answered.only_if,
                before=answered.before,
                at_last=answered.at_last,
            )
            self.steps.append(step)
        return statement.answers.example if answered.rows is None else answered.rows


def writing_of(statement: Statement) -> str:
    """The text of a statement with its parameters in it."""
    if not isinstance(statement.sql, str):
        if statement.parameters:
            raise AssertionError(f"a procedure has no parameters to send with {statement.name}")
        return render(statement.sql)
    return with_constants(statement.sql, statement.parameters)


def with_constants(sql: str, parameters: Sequence[object]) -> str:
    """A statement of ours with its parameters in it."""
    values = [constant(value) for value in parameters]
    return _PARAMETER.sub(lambda match: values[int(match[1]) - 1], sql.strip())


def constant(value: object) -> str:
    """A value as a constant of its type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value >= 0 else f"({value})"
    if isinstance(value, str):
        return f"{render(string(value))}::text"
    if isinstance(value, Sequence):
        kind = "int" if value and all(isinstance(one, int) for one in value) else "text"
        return f"array[{', '.join(constant(one) for one in value)}]::{kind}[]"
    raise AssertionError(f"a procedure has no constant of {type(value).__name__}")


def refuse(reason: str, message: str, hint: str) -> str:
    """A statement of PL/pgSQL that ends the refresh; the message is an expression."""
    return f"perform anondb.refresh_refuse('{reason}', {message}, {dollar_quoted(hint)});"


def refuse_if(condition: str, reason: str, message: str, hint: str) -> tuple[str, ...]:
    return (f"if {condition} then", f"    {refuse(reason, message, hint)}", "end if;")
