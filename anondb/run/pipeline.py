"""The stages that a run and a trial share: from a plan to a release that is written, verified and evaluated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from anondb.db.connection import Connection
from anondb.db.execute import Executor, Step
from anondb.hierarchies.build import run_columns
from anondb.methods.method import Job, Stages
from anondb.methods.registry import method_of
from anondb.releases import against, changes
from anondb.releases.following import Followed
from anondb.run.engine import Engine
from anondb.run.engines import engine_of
from anondb.run.kept_columns import JudgedColumns, judge, refuse
from anondb.run.persons import claim_scope, linked_rows
from anondb.run.plan import Options, Plan
from anondb.run.result import Result, with_kept_columns, with_series
from anondb.run.statement import Runner
from anondb.run.swap import Replacement
from anondb.sqltree.tables import Relation


class Listener(Protocol):
    """Whoever wants to see a run go on."""

    def stage(self, name: str) -> None: ...

    def step(self, step: Step) -> None: ...


class Silence:
    """A listener that does not care."""

    def stage(self, name: str) -> None: ...

    def step(self, step: Step) -> None: ...


class Pipeline:
    """The stages in the transaction of a connection; where it begins and ends is its caller's business."""

    def __init__(
        self,
        connection: Connection,
        options: Options,
        run: int,
        listener: Listener,
        beside: Connection | None = None,
    ) -> None:
        """`beside` is a connection outside of the transaction; a release that is to be kept needs it."""
        self.options, self.run, self.listener = options, run, listener
        self.seconds: dict[str, float] = {}  # of each stage that is over
        self.db = Executor(connection, listener.step)
        self.now = None if beside is None else Executor(beside, listener.step)

    def release(self, plan: Plan, fresh: Relation) -> Result:
        """Writes the release of a plan, and puts it in its place if it is to be kept."""
        engine = engine_of(self.db, plan, self.now)
        stages = method_of(plan.policy).stages(Job(self.db, engine, plan, self.options, self.run, fresh))
        with self.stage("encode"):
            if self.now is not None:
                claim_scope(self.db, plan)
            method_of(plan.policy).load_ahead()
            stages.encode()
        with self.stage("search"):
            stages.search()
        with self.stage("publish"):
            engine.create_release(fresh, kept=self.now is not None)
            engine.prepare_release(fresh)
            stages.publish()
        with self.stage("verify"):
            stages.measure()
            stages.verify()
            judged = judged_columns(engine, plan, stages)
            linked = linked_rows(engine, plan, stages.kept(), stages.class_columns)
            kept = tuple(column for _, columns in judged for column in columns)
            if self.now is not None:  # who tries a policy out publishes nothing, and is told all the same
                refuse(judged)
            warnings = changes.refuse_or_warn(engine, plan, fresh) if self.now is not None else ()
            beside = against.judge(stages, plan) if self.now is not None else None
        with self.stage("evaluate"):
            stages.evaluate()
        if self.now is not None:
            with self.stage("swap"):
                self.now.stage = "swap"
                swap(stages, Replacement(engine, self.db, self.now, plan, fresh, self.options), self.run)
                enter(self.db, plan, self.run, stages)
        result = with_kept_columns(run_columns.noted(plan, stages.result(self.seconds)), kept)
        told = {} if beside is None else beside.as_json()
        return with_series(replace(result, linked=linked, against=told), plan, followed_by(stages), warnings)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts the time of what is done inside as this stage's."""
        self.db.stage = name
        self.listener.stage(name)
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started


def followed_by(stages: Stages) -> Followed | None:
    """What became of those whom the ledger knows, where single records are followed."""
    followed = getattr(stages, "followed", None)
    return followed if isinstance(followed, Followed) else None


def enter(db: Runner, plan: Plan, run: int, stages: Stages) -> None:
    """Enters the release into its series."""
    result = stages.result({})
    levels = tuple(result.levels.get(q.name, 0) for q in plan.quasi) if result.levels else None
    changes.close(db, plan, run, result.released, result.classes, followed_by(stages), levels)


def judged_columns(engine: Engine, plan: Plan, stages: Stages) -> list[JudgedColumns]:
    """The columns of a release that are as they were: of each table, what its part of the policy makes of them."""
    if plan.linked is None:
        return [(plan.policy, judge(engine, plan.policy, stages.kept()))]
    tables = zip(plan.linked.tables, stages.kept(), strict=True)
    return [(table.plan.policy, judge(engine, table.plan.policy, [kept])) for table, kept in tables]


def swap(stages: Stages, replacement: Replacement, run: int) -> None:
    """Puts a release in its place; rows that were copied there are counted once more, where they are."""
    replacement.swap(run, stages.promise)
    if any(place.replaces for place in replacement.plan.places):
        stages.fresh = replacement.plan.target
        stages.measure()
        stages.verify()
