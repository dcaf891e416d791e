"""A run: one REPEATABLE READ transaction from the source to the swapped-in release, and its history beside it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, Protocol

from anondb.algorithms.lattice import Lattice, Levels
from anondb.algorithms.outcome import Classes
from anondb.db.catalog import resolve_source, resolve_target, snapshot, target_text
from anondb.db.connection import Connection, Door, one_snapshot
from anondb.db.execute import Executor, Step
from anondb.db.history import History
from anondb.db.locks import hold_run, target_held
from anondb.db.upgrade import require_current
from anondb.errors import AnondbError, UnsatisfiableError, UsageError
from anondb.plan import stages
from anondb.plan.compile import compile_plan
from anondb.plan.model import Options, Plan
from anondb.plan.result import Result
from anondb.plan.verify import verify
from anondb.policy.model import Policy

# The same text for the same value in every session; and an error instead of hidden rows. The planner knows
# little of tables that a run has just made, and would sort the source to merge it with them. Passing a row
# between processes costs about as much as reading it: taken for ten times that, grouping is not shared out.
_SETTINGS = """
select set_config('search_path', 'pg_catalog, pg_temp', true), set_config('timezone', 'UTC', true),
       set_config('datestyle', 'ISO, YMD', true), set_config('intervalstyle', 'postgres', true),
       set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true),
       set_config('standard_conforming_strings', 'on', true), set_config('row_security', 'off', true),
       set_config('work_mem', $1, true), set_config('lock_timeout', $2, true),
       set_config('jit', 'off', true), set_config('enable_mergejoin', 'off', true),
       set_config('parallel_tuple_cost', '0.01', true)
"""
_OBSTACLES = "select o.kind, o.name from anondb.release_obstacles($1::oid::regclass, $2, $3) as o"

STAGES = ("prepare", "encode", "search", "publish", "verify", "swap")


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
            history.finish("done", result=result.as_json(), metrics=result.metrics)
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
                outcome, lattice = stages.search(self.db, plan, names, encoded)
            with self._stage("publish"):
                fresh = plan.fresh(self.run)
                written = stages.write(self.db, plan, names, encoded, outcome, fresh)
            with self._stage("verify"):
                published = stages.measure(self.db, encoded, fresh)
                left_out = 0 if self.policy.privacy.suppress == "mask" else outcome.suppressed
                verify(self.policy.privacy, published, written, expected=encoded.eligible - left_out)
                if published.rows == 0 and not self.options.allow_empty:
                    raise UnsatisfiableError(
                        "every record would be suppressed",
                        hint="lower suppression or k; --allow-empty publishes an empty release",
                    )
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
            k=published.smallest,
            seconds=self.seconds,
            **_way_found(encoded, outcome, lattice),
            metrics={
                "class_size_min": float(published.smallest),
                "class_size_mean": published.rows / published.classes if published.classes else 0.0,
                "class_size_max": float(published.largest),
            },
        )

    def _prepare(self) -> Plan:
        """Names are resolved in the caller's search path, before it is pinned."""
        source = resolve_source(self.connection, self.policy.source)
        target = resolve_target(self.connection, self.policy.target)
        timeout = str(round(self.options.lock_timeout * 1000))
        self.db.run("settings", _SETTINGS, (self.options.work_mem, timeout))
        found = snapshot(self.connection, source, target)
        plan = compile_plan(self.policy, found, replace=self.options.replace)
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


def _way_found(encoded: stages.Encoded, outcome: Levels | Classes, lattice: Lattice | None) -> dict[str, Any]:
    """What the result says of the search: levels in a lattice, or cuts of columns."""
    if isinstance(outcome, Classes):
        cut = tuple(q.name for q in encoded.quasi if q.number in outcome.columns)
        return {"iterations": outcome.iterations, "partitioned": cut}
    assert lattice is not None
    return {
        "levels": {q.name: level for q, level in zip(encoded.quasi, outcome.levels, strict=True)},
        "heights": {q.name: q.height for q in encoded.quasi},
        "checks": lattice.checks,
        "lattice": lattice.size,
    }
