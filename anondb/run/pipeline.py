"""The stages that a run and a trial share: from a plan to a release that is written, verified and evaluated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from anondb.db.connection import Connection
from anondb.db.execute import Executor, Step
from anondb.hierarchies.build import columns as build_columns
from anondb.methods.generalize import Generalization
from anondb.methods.le_diversity.method import Anatomy
from anondb.methods.mdav.method import Microaggregation
from anondb.methods.process import Job, Process
from anondb.methods.registry import ALGORITHMS
from anondb.run import publish_sql as publish
from anondb.run.kept_columns import judge, refuse
from anondb.run.plan import Options, Plan
from anondb.run.result import Result, told_of
from anondb.run.statement import Runner, Statement
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
        process = process_of(Job(self.db, plan, self.options, self.run, fresh))
        with self.stage("encode"):
            process.encode()
        with self.stage("search"):
            process.search()
        with self.stage("publish"):
            create(self.db, plan, fresh, kept=self.now is not None)
            process.publish()
        with self.stage("verify"):
            process.measure()
            process.verify()
            kept = judge(self.db, plan.policy, process.kept())
            if self.now is not None:  # who tries a policy out publishes nothing, and is told all the same
                refuse(plan.policy, kept)
        with self.stage("evaluate"):
            process.evaluate()
        if self.now is not None:
            with self.stage("swap"):
                self.now.stage = "swap"
                swap(process, Replacement(self.db, self.now, plan, fresh, self.options), self.run)
        return told_of(build_columns.noted(plan, process.result(self.seconds)), kept)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts the time of what is done inside as this stage's."""
        self.db.stage = name
        self.listener.stage(name)
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started


def create(db: Runner, plan: Plan, fresh: Relation, *, kept: bool) -> None:
    """Makes the tables that the release is written to first."""
    for place in plan.places:
        # what is copied to where a release stands need not outlive a crash
        made = publish.create_release(place.fresh(fresh), place.columns, unlogged=kept and place.replaces)
        db.run(Statement(f"create release{place.suffix}", made))


def swap(process: Process, replacement: Replacement, run: int) -> None:
    """Puts a release in its place; rows that were copied there are counted once more, where they are."""
    replacement.swap(run, process.promise)
    if any(place.replaces for place in replacement.plan.places):
        process.fresh = replacement.plan.target
        process.measure()
        process.verify()


def process_of(job: Job) -> Process:
    """The one for the algorithm of the plan's policy."""
    algorithm = ALGORITHMS[job.plan.policy.method.algorithm]
    if algorithm.anatomizes:
        return Anatomy(job)
    if algorithm.sets:
        return Microaggregation(job)
    return Generalization(job)
