"""Which engine a plan needs."""

from __future__ import annotations

from anondb.run.citus.engine import CitusEngine
from anondb.run.engine import PostgresEngine
from anondb.run.plan import Plan
from anondb.run.statement import Runner


def engine_of(db: Runner, plan: Plan, beside: Runner | None = None) -> PostgresEngine:
    """That of a cluster where the source is spread over one; `beside` is outside of the run's transaction."""
    return PostgresEngine(db, plan) if plan.distribution is None else CitusEngine(db, plan, beside=beside)
