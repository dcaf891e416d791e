"""Explore: every node of a policy's lattice with what is known of it; nothing is published."""

from __future__ import annotations

from collections.abc import Callable

from anondb.db.connection import Door, one_snapshot
from anondb.db.execute import Executor, Step
from anondb.db.install.upgrade import require_current
from anondb.errors import UsageError
from anondb.methods.lattice_listing import OpenLattice
from anondb.methods.method import Job
from anondb.methods.registry import levelled, listed, method_of
from anondb.policy.model import Policy
from anondb.run.engines import engine_of
from anondb.run.plan import Options
from anondb.run.prepare import prepare


def explore(
    door: Door,
    policy: Policy,
    options: Options,
    *,
    full: bool = False,
    observe: Callable[[Step], None] = lambda step: None,
) -> OpenLattice:
    """Searches as a run would, and tells what it knows of each node; `full` checks every one."""
    if policy.tables:
        raise UsageError(
            "the lattice of linked tables is not drawn: what a node leaves out takes all rows to count, for each anew",
            hint="anondb run --levels 1,0,2 tries one node; anondb compare tells what the algorithms choose",
        )
    explored = method_of(policy).explorer()
    if explored is None:
        raise UsageError(
            f"{policy.method.algorithm} cuts the records into classes, and has no lattice",
            hint=f"change the algorithm to {listed(levelled())}",
        )
    with door.open() as connection:
        require_current(connection)
        with one_snapshot(connection, "exploring the lattice", undo=True):
            db = Executor(connection, observe)
            plan = prepare(db, connection, policy, options, replace=True)
            job = Job(db, engine_of(db, plan), plan, options, 0, plan.fresh(0))
            return explored(job, full)
