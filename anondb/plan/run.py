"""A run: one REPEATABLE READ transaction from the source to the swapped-in release, and its history beside it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Protocol

from anondb.algorithms.lattice import Levels
from anondb.algorithms.outcome import Classes
from anondb.db.catalog import resolve_target, target_text
from anondb.db.connection import Connection, Door, one_snapshot
from anondb.db.execute import Executor, Step
from anondb.db.history import History
from anondb.db.locks import hold_run, target_held
from anondb.db.upgrade import require_current
from anondb.errors import AnondbError, UnsatisfiableError, UsageError
from anondb.plan import search as searching
from anondb.plan import stages
from anondb.plan.evaluate import Evaluating, Figure, evaluate
from anondb.plan.model import STAGES, Options, Plan
from anondb.plan.prepare import prepare
from anondb.plan.result import Result
from anondb.plan.verify import Published, measure, verify
from anondb.policy.model import Policy
from anondb.sqlgen.shape import Relation, Scratch

_OBSTACLES = "select o.kind, o.name from anondb.release_obstacles($1::oid::regclass, $2, $3) as o"


class Listener(Protocol):
    """Whoever wants to see a run go on."""

    def stage(self, name: str) -> None: ...

    def step(self, step: Step) -> None: ...


class Silence:
    """A listener that does not care."""

    def stage(self, name: str) -> None: ...

    def step(self, step: Step) -> None: ...


def execute(door: Door, policy: Policy, options: Options, listener: Listener | None = None) -> Result:
    """Runs a policy; returns once the release is committed, or raises and leaves everything as it was."""
    with door.open() as connection, door.open() as writing:
        require_current(connection)
        target = target_text(resolve_target(connection, policy.target))
        with target_held(connection, target):
            history = History(door, writing)
            run = history.begin(policy, str(policy.source), target, version("anondb"))
            hold_run(connection, run)
            try:
                result = _Run(connection, policy, options, run, history, listener or Silence()).result()
            except KeyboardInterrupt:
                history.finish("interrupted", "interrupted")
                raise
            except AnondbError as error:
                history.finish("failed", error.message if not options.show_values else type(error).__name__)
                raise
            except BaseException as error:
                history.finish("failed", type(error).__name__)
                raise
            history.finish("done", result=result.as_json(), metrics=result.by_column())
            return result


class _Run:
    def __init__(
        self,
        connection: Connection,
        policy: Policy,
        options: Options,
        run: int,
        history: History,
        listener: Listener,
    ) -> None:
        self.policy, self.options, self.run, self.history = policy, options, run, history
        self.listener = listener
        self.seconds: dict[str, float] = dict.fromkeys(STAGES, 0.0)
        self.connection = connection
        self.db = Executor(connection, self._observe)

    def result(self) -> Result:
        with one_snapshot(self.connection, "committing the release"):
            with self._stage("prepare"):
                plan = self._prepare()
                names = plan.scratch(self.run)
            with self._stage("encode"):
                encoded = stages.encode(self.db, plan, names, self.options)
            with self._stage("search"):
                searching.refuse_impossible(plan, encoded)
                found = searching.search(self.db, plan, names, encoded, self.options)
            models, outcome = found.models, found.outcome
            with self._stage("publish"):
                fresh = plan.fresh(self.run)
                written = stages.write(self.db, plan, names, encoded, models, outcome, fresh)
            with self._stage("verify"):
                published = measure(self.db, plan, names, encoded, models, outcome, fresh)
                left_out = 0 if self.policy.privacy.suppress == "mask" else outcome.suppressed
                verify(self.policy.privacy, published, written, expected=encoded.eligible - left_out)
                if published.rows == 0 and not self.options.allow_empty:
                    raise UnsatisfiableError(
                        "every record would be suppressed",
                        hint="lower suppression or k; --allow-empty publishes an empty release",
                    )
            with self._stage("evaluate"):
                figures = self._evaluate(plan, names, encoded, outcome, published, fresh)
            with self._stage("swap"):
                stages.swap(self.db, plan, fresh, self.run)
        return Result(
            run=self.run,
            algorithm=self.policy.method.algorithm,
            source=str(self.policy.source),
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
                **published.reached(self.policy.privacy),
            },
            figures=figures,
        )

    def _evaluate(
        self,
        plan: Plan,
        names: Scratch,
        encoded: stages.Encoded,
        outcome: Levels | Classes,
        published: Published,
        fresh: Relation,
    ) -> tuple[Figure, ...]:
        if self.options.evaluate == "none" or published.rows == 0:
            return ()
        run = Evaluating(self.db, plan, names, encoded, fresh)
        return tuple(evaluate(run, outcome, published, full=self.options.evaluate == "full"))

    def _prepare(self) -> Plan:
        plan, found = prepare(
            self.db, self.connection, self.policy, self.options, replace=self.options.replace
        )
        if found.target.oid is not None:
            generalized = {q.name for q in plan.quasi}
            columns = [c.name for c in plan.columns]
            types = ["text" if c.name in generalized else c.type for c in plan.columns]
            in_the_way = self.db.rows("obstacles", _OBSTACLES, (found.target.oid, columns, types))
            if in_the_way:
                raise UsageError(
                    "in the way of the new release: "
                    + ", ".join(f"{kind} {name}" for kind, name in in_the_way),
                    hint="drop them, run again, and make them anew; nothing has been dropped",
                )
        return plan

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        self.db.stage = name
        self.listener.stage(name)
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started

    def _observe(self, step: Step) -> None:
        self.history.step(step)
        self.listener.step(step)
