"""The stages that a run and a trial share: from a plan to a release that is written, verified and evaluated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from anondb.algorithms.registry import ALGORITHMS
from anondb.db.connection import Connection
from anondb.db.execute import Executor, Step
from anondb.plan import build_columns
from anondb.plan.generalize import Generalization
from anondb.plan.kept import judge, refuse
from anondb.plan.le_diversity import Anatomy
from anondb.plan.microaggregate import Microaggregation
from anondb.plan.model import Options, Plan
from anondb.plan.process import Job, Process
from anondb.plan.result import Result, told_of
from anondb.sqlgen.shape import Relation


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

    def __init__(self, connection: Connection, options: Options, run: int, listener: Listener) -> None:
        self.options, self.run, self.listener = options, run, listener
        self.seconds: dict[str, float] = {}  # of each stage that is over
        self.db = Executor(connection, listener.step)

    def release(self, plan: Plan, fresh: Relation, *, swap: bool) -> Result:
        """Writes the release of a plan, and puts it in its place if it is to be kept."""
        process = process_of(Job(self.db, plan, self.options, self.run, fresh))
        with self.stage("encode"):
            process.encode()
        with self.stage("search"):
            process.search()
        with self.stage("publish"):
            process.publish()
        with self.stage("verify"):
            process.measure()
            process.verify()
            kept = judge(self.db, plan.policy, process.kept())
            if swap:  # who tries a policy out publishes nothing, and is told all the same
                refuse(plan.policy, kept)
        with self.stage("evaluate"):
            process.evaluate()
        if swap:
            with self.stage("swap"):
                process.swap()
        return told_of(build_columns.noted(plan, process.result(self.seconds)), kept)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts the time of what is done inside as this stage's."""
        self.db.stage = name
        self.listener.stage(name)
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started


def process_of(job: Job) -> Process:
    """The one for the algorithm of the plan's policy."""
    algorithm = ALGORITHMS[job.plan.policy.method.algorithm]
    if algorithm.anatomizes:
        return Anatomy(job)
    if algorithm.sets:
        return Microaggregation(job)
    return Generalization(job)
