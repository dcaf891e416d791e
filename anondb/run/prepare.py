"""Prepare: the session's settings, names looked up as the caller sees them, and the plan that fits."""

from __future__ import annotations

from anondb.db import citus
from anondb.db.connection import Connection
from anondb.db.execute import Executor
from anondb.db.introspect import (
    resolve_items,
    resolve_source,
    resolve_target,
    snapshot,
    target_text,
    with_other_shapes,
)
from anondb.hierarchies.build.run_columns import with_built
from anondb.methods.meanings import ontologies
from anondb.methods.registry import method_of, other_shapes
from anondb.policy.model import Name, Policy
from anondb.releases.against import with_rivals
from anondb.releases.follow import follow, read_series, started
from anondb.run.citus.layout import needs_functions
from anondb.run.compile import compile_plan
from anondb.run.linked.compile import compile_linked, in_order, single
from anondb.run.plan import Options, Plan
from anondb.run.snapshot import Snapshot, TargetInfo
from anondb.run.statement import Statement
from anondb.sqltree.build import set_local
from anondb.sqltree.tables import Relation

# The same text for the same value in every session; and an error instead of hidden rows. The planner knows
# little of tables that a run has just made, and would sort the source to merge it with them. Passing a row
# between processes costs about as much as reading it: taken for ten times that, grouping is not shared out.
# Of our own tables a few thousand rows tell enough.
# Statements, as no function's call would reach the servers that the rows of a distributed table lie on.
_SETTINGS = {
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "row_security": "off",
    "jit": "off",
    "enable_mergejoin": "off",
    "parallel_tuple_cost": "0.01",
    "default_statistics_target": "10",
}
_PROPAGATE = "citus.propagate_set_commands"
_PATH = "set local search_path = pg_catalog, pg_temp"


def settings(options: Options, *, in_cluster: bool = False) -> list[Statement]:
    """What holds until the end of the transaction, in every session that takes part in it."""
    given = _SETTINGS | {"work_mem": options.work_mem, "lock_timeout": options.lock_wait}
    own = [Statement("settings", set_local(name, value)) for name, value in given.items()]
    # what is set from here on reaches the workers, too
    first = [Statement("settings", set_local(_PROPAGATE, "local"))] if in_cluster else []
    return [*first, Statement("settings", _PATH), *own]


def prepare(db: Executor, connection: Connection, policy: Policy, options: Options, *, replace: bool) -> Plan:
    """Names are resolved in the caller's search path, before it is pinned."""
    if policy.tables:
        return compile_linked(policy, _snapshots(db, connection, policy, options), replace_all=replace)
    target = resolve_target(connection, policy.target)
    catalogue = _snapshot(db, connection, policy, options, target)
    catalogue = with_other_shapes(
        connection, catalogue, other_shapes(target), has_them=bool(method_of(policy).suffixes())
    )
    series = read_series(db, target_text(target))
    following = follow(policy, catalogue, series, options, can_hold=method_of(policy).holds(policy))
    plan = with_rivals(db, compile_plan(policy, catalogue, replace=replace, following=following))
    if plan.distribution is not None and needs_functions(plan):
        citus.require_functions(connection)
    return started(db, plan, target_text(target))


def prepare_trial(
    db: Executor, connection: Connection, policy: Policy, options: Options, target: Relation
) -> Plan:
    """The plan of a release that nobody keeps; what stands at the policy's target does not matter to it."""
    if policy.tables:
        return compile_linked(policy, _snapshots(db, connection, policy, options, target))
    return compile_plan(policy, _snapshot(db, connection, policy, options, TargetInfo(target)))


def _snapshot(
    db: Executor,
    connection: Connection,
    policy: Policy,
    options: Options,
    target: Relation | TargetInfo,
    named: Relation | None = None,
) -> Snapshot:
    source, items = resolve_source(connection, policy.source), resolve_items(connection, policy)
    for statement in settings(options, in_cluster=citus.is_here(connection)):
        db.run(statement)
    needed = bool(ontologies(policy))
    found = snapshot(connection, source, target, items, with_ontologies=needed, named=named)
    citus.require_shared_out(connection, found.source)
    return with_built(db, policy, found)


def _snapshots(
    db: Executor, connection: Connection, policy: Policy, options: Options, trial: Relation | None = None
) -> dict[Name, Snapshot]:
    """Of each of several tables, by their targets; all are the release of the first one."""
    root = resolve_target(connection, policy.target)
    found = {}
    for table in in_order(policy):
        target: Relation | TargetInfo = resolve_target(connection, table.target)
        if trial is not None:
            target = TargetInfo(Relation(trial.schema, table.target.table))
        found[table.target] = _snapshot(db, connection, single(policy, table), options, target, root)
    return found
