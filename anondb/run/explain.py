"""Explain: a plan's whole SQL, by the code that would run it, without a database to run it on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from anondb.hierarchies.build import run_columns
from anondb.methods.method import Job
from anondb.methods.registry import method_of
from anondb.releases import against
from anondb.run.citus.layout import described
from anondb.run.engines import engine_of
from anondb.run.persons import claim_scope, linked_rows
from anondb.run.pipeline import enter, judged_columns, swap
from anondb.run.plan import Options, Plan
from anondb.run.statement import Statement
from anondb.run.swap import Replacement
from anondb.sqltree.render import render


class Planned:
    """Keeps the statements of a run instead of running them; each is answered as its shape says."""

    def __init__(self) -> None:
        self.stage = ""
        self.statements: list[tuple[str, Statement]] = []

    def run(self, statement: Statement) -> int:
        self.statements.append((self.stage, statement))
        return statement.answers.touched

    def one(self, statement: Statement) -> tuple[Any, ...]:
        [first, *_] = self.rows(statement)
        return first

    def rows(self, statement: Statement) -> list[tuple[Any, ...]]:
        self.run(statement)
        return list(statement.answers.example)

    def copy(self, statement: Statement, rows: Iterable[Sequence[object]]) -> None:
        self.run(statement)

    def savepoint(self, *, undo: bool = False) -> AbstractContextManager[object]:
        return nullcontext()


def script(plan: Plan) -> str:
    """The SQL of a run, in order, each statement under its stage and name."""
    return "\n".join(_lines(plan, statements(plan)))


def statements(plan: Plan) -> list[tuple[str, Statement]]:
    """The statements of a run, in order, each with its stage."""
    planned = Planned()
    run_columns.plan_values(planned, plan)
    options, fresh = Options(allow_empty=True, replace=True), plan.fresh(0)
    engine = engine_of(planned, plan, planned)
    stages = method_of(plan.policy).stages(Job(planned, engine, plan, options, 0, fresh))
    for stage, doing in (
        ("encode", lambda: claim_scope(planned, plan)),
        ("encode", stages.encode),
        ("search", stages.show_search),
        ("publish", lambda: engine.create_release(fresh, kept=True)),
        ("publish", lambda: engine.prepare_release(fresh)),
        ("publish", stages.publish),
        ("verify", stages.measure),
        ("verify", lambda: judged_columns(engine, plan, stages)),
        ("verify", lambda: linked_rows(engine, plan, stages.kept(), stages.class_columns)),
        ("verify", lambda: against.judge(stages, plan)),
        ("evaluate", stages.evaluate),
        ("swap", lambda: swap(stages, Replacement(engine, planned, planned, plan, fresh, options), 0)),
        ("swap", lambda: enter(planned, plan, 0, stages)),
    ):
        planned.stage = stage
        doing()
    return planned.statements


def _lines(plan: Plan, statements: Iterable[tuple[str, Statement]]) -> Iterator[str]:
    yield from described(plan)
    yield "begin isolation level repeatable read;"
    for stage, statement in statements:
        yield f"\n-- {stage}: {statement.name}"
        if statement.note:
            yield f"-- ({statement.note})"
        sql = statement.sql
        yield f"{sql if isinstance(sql, str) else render(sql, pretty=True)};"
    yield "\ncommit;"
