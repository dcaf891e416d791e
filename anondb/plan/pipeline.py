"""The stages that a run and a trial share: from a plan to a release that is written, verified and evaluated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from anondb.db.catalog import target_text
from anondb.db.connection import Connection
from anondb.db.execute import Executor, Step
from anondb.errors import UnsatisfiableError
from anondb.plan import search as searching
from anondb.plan import stages
from anondb.plan.evaluate import Evaluating, evaluate
from anondb.plan.figure import Figure
from anondb.plan.model import Options, Plan
from anondb.plan.reporting import account
from anondb.plan.result import Result
from anondb.plan.verify import Published, measure, verify
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

    def release(self, plan: Plan, fresh: Relation) -> Result:
        """Writes the release of a plan; what is still to be done with it adds its seconds to the result's."""
        privacy, names = plan.policy.privacy, plan.scratch(self.run)
        with self.stage("encode"):
            encoded = stages.encode(self.db, plan, names, self.options)
        with self.stage("search"):
            searching.refuse_impossible(plan, encoded)
            found = searching.search(self.db, plan, names, encoded, self.options)
        models, outcome = found.models, found.outcome
        with self.stage("publish"):
            written = stages.write(self.db, plan, names, encoded, models, outcome, fresh)
        with self.stage("verify"):
            published = measure(self.db, plan, names, encoded, models, outcome, fresh)
            left_out = 0 if privacy.suppress == "mask" else outcome.suppressed
            verify(privacy, published, written, expected=encoded.eligible - left_out)
            if published.rows == 0 and not self.options.allow_empty:
                raise UnsatisfiableError(
                    "every record would be suppressed",
                    hint="lower suppression or k; --allow-empty publishes an empty release",
                )
        with self.stage("evaluate"):
            evaluating = Evaluating(self.db, plan, names, encoded, outcome, fresh)
            figures = self._evaluate(evaluating, published)
            report = account(evaluating, found, published, evaluated=bool(figures))
        return Result(
            run=self.run,
            algorithm=plan.policy.method.algorithm,
            source=str(plan.policy.source),
            target=target_text(plan.target),
            relation=plan.target,
            quasi=tuple(q.name for q in encoded.quasi),
            records=encoded.records,
            released=published.rows,
            suppressed=outcome.suppressed + encoded.with_null,
            classes=published.classes,
            k=published.smallest if published.persons is None else published.persons,
            seconds=self.seconds,
            **found.facts,
            metrics={
                "class_size_min": float(published.smallest),
                "class_size_mean": published.rows / published.classes if published.classes else 0.0,
                "class_size_max": float(published.largest),
                **published.reached(privacy),
            },
            figures=figures,
            report=report,
        )

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Counts the time of what is done inside as this stage's."""
        self.db.stage = name
        self.listener.stage(name)
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started

    def _evaluate(self, run: Evaluating, published: Published) -> tuple[Figure, ...]:
        if self.options.evaluate == "none" or published.rows == 0:
            return ()
        return tuple(evaluate(run, published, full=self.options.evaluate == "full"))
