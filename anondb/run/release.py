"""A run: one REPEATABLE READ transaction from the source to the swapped-in release, and its history beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version

from anondb.db.citus import require_coordinator
from anondb.db.connection import Connection, Door, one_snapshot, require_writable
from anondb.db.execute import Step
from anondb.db.history import History
from anondb.db.install.upgrade import require_current
from anondb.db.introspect import resolve_items, resolve_source, resolve_target, target_text
from anondb.db.locks import hold_run, mark_session, require_held, target_held
from anondb.db.source_locks import hold_source
from anondb.errors import AnondbError
from anondb.policy.model import Policy
from anondb.run.pipeline import Listener, Pipeline, Silence
from anondb.run.plan import Options, Plan
from anondb.run.prepare import prepare
from anondb.run.result import Result
from anondb.run.swap import refuse_obstacles


def execute(
    door: Door, beside: Connection, policy: Policy, options: Options, listener: Listener | None = None
) -> Result:
    """Runs a policy; returns once the release is committed, or raises and leaves everything as it was.

    The run has a connection of its own; its history is written on the one `beside` it.
    """
    with door.open_second() as connection:
        require_writable(connection)
        require_coordinator(connection)
        require_current(connection)
        target = target_text(resolve_target(connection, policy.target))
        targets = [target_text(resolve_target(connection, table.target)) for table in policy.tables] or [
            target
        ]
        mark = mark_session(connection, beside)
        with target_held(connection, *targets):
            history = History(door, beside)
            recorder = _Recorder(history, listener or Silence())
            try:
                run = history.begin(
                    policy, str(policy.source), target, version("anondb"), partial(hold_run, connection)
                )
                pipeline = Pipeline(connection, options, run, recorder, beside)
                held = [partial(require_held, connection, one, mark) for one in targets]
                return _published(connection, beside, policy, pipeline, history, held)
            except KeyboardInterrupt:
                history.fail("interrupted", "interrupted")
                raise
            except AnondbError as error:
                history.fail("failed", error.message if not options.show_values else type(error).__name__)
                raise
            except BaseException as error:
                history.fail("failed", type(error).__name__)
                raise


class _Recorder:
    """Tells the history of each step, and then who listens."""

    def __init__(self, history: History, listener: Listener) -> None:
        self.history, self.listener = history, listener

    def stage(self, name: str) -> None:
        self.listener.stage(name)

    def step(self, step: Step) -> None:
        self.history.step(step)
        self.listener.step(step)


def _published(
    connection: Connection,
    beside: Connection,
    policy: Policy,
    pipeline: Pipeline,
    history: History,
    require_targets: Sequence[Callable[[], None]],
) -> Result:
    sources = [table.source for table in policy.tables] or [policy.source]
    tables = [resolve_source(connection, source) for source in sources]
    tables += resolve_items(connection, policy).values()
    with one_snapshot(connection, "committing the release"):
        with pipeline.stage("prepare"):
            options = pipeline.options
            hold_source(pipeline.db, beside, tables, options.lock_timeout, alone=options.lock_source)
            for require_target in require_targets:
                require_target()
            history.claim(connection)
            plan = _prepared(connection, policy, pipeline)
        result = pipeline.release(plan, plan.fresh(pipeline.run))
        history.publish(connection, result.as_kept(), result.by_column())
    return result


def _prepared(connection: Connection, policy: Policy, pipeline: Pipeline) -> Plan:
    db, options = pipeline.db, pipeline.options
    plan = prepare(db, connection, policy, options, replace=options.replace)
    for place in plan.places:
        if place.oid is not None:  # looked at again in the end; here, before anything is read in vain
            refuse_obstacles(db, place)
    return plan
