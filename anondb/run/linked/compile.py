"""Compile a policy of linked tables: each as a policy of its own, and then together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from anondb.errors import PolicyError, Problem
from anondb.policy.model import LinkedTable, Name, Policy, Privacy
from anondb.policy.names import quoted
from anondb.run.compile import compile_plan
from anondb.run.linked.plan import LinkedPlan, TablePlan
from anondb.run.plan import Plan
from anondb.run.snapshot import Snapshot
from anondb.sqltree.tables import NUMERIC_TYPES, SourceColumn


def single(policy: Policy, table: LinkedTable) -> Policy:
    """One of the tables, as a policy would release it alone."""
    number = policy.tables.index(table) + 1
    privacy = Privacy(k=policy.privacy.k, suppression=policy.privacy.suppression, models=table.models)
    return replace(
        policy,
        source=table.source,
        target=table.target,
        columns=table.columns,
        privacy=privacy,
        tables=(),
        place=f"{policy.place} [[table]] {number}",
    )


def in_order(policy: Policy) -> list[LinkedTable]:
    """The tables, parents first, and else as the policy has them."""
    ordered: list[LinkedTable] = [table for table in policy.tables if table.parent is None]
    for table in ordered:
        ordered += [o for o in policy.tables if o.parent is not None and o.parent.table == table.target]
    return ordered


def compile_linked(policy: Policy, snapshots: Mapping[Name, Snapshot], *, replace_all: bool = False) -> Plan:
    """The plan of all tables, by the snapshots of their targets; raises PolicyError with all that does not fit."""
    problems: list[Problem] = []
    plans: list[Plan] = []
    ordered = in_order(policy)
    root_target = snapshots[ordered[0].target].target.relation
    scope = policy.scope or str(Name(root_target.schema, root_target.name))
    for table in ordered:
        try:
            own = replace(single(policy, table), scope=scope)
            plans.append(compile_plan(own, snapshots[table.target], replace=replace_all))
        except PolicyError as error:
            problems += error.problems
    if problems:
        raise PolicyError(problems)
    numbers = {table.target: number for number, table in enumerate(ordered)}
    tables: list[TablePlan] = []
    short = [plan.target.name for plan in plans]
    labels = [
        n if short.count(n) == 1 else f"{p.target.schema}.{n}" for n, p in zip(short, plans, strict=True)
    ]
    for number, (table, plan) in enumerate(zip(ordered, plans, strict=True)):
        first = sum(len(other.plan.quasi) for other in tables)
        quasi = tuple(replace(q, number=first + place) for place, q in enumerate(plan.quasi, 1))
        places = tuple(replace(place, suffix=f"_{number}" if number else "") for place in plan.places)
        plan = replace(plan, quasi=quasi, places=places, whole_rows=False)
        if table.parent is None:
            tables.append(TablePlan(number, plan, labels[number]))
            continue
        parent = numbers[table.parent.table]
        there = {c.name: c for c in snapshots[ordered[parent].target].source.columns}
        mine = {c.name: c for c in snapshots[table.target].source.columns}
        key = tuple((mine[a], there[b]) for a, b in table.parent.key)
        problems += (_other_types(plan.policy.place, a, b) for a, b in key if _family(a) != _family(b))
        tables.append(TablePlan(number, plan, labels[number], parent, key))
    if problems:
        raise PolicyError(problems)
    unit = {c.name: c for c in snapshots[ordered[0].target].source.columns}[policy.privacy.unit or ""]
    places = tuple(table.plan.places[0] for table in tables)
    columns = tuple(c for table in tables for c in table.plan.columns)
    linked = LinkedPlan(tuple(tables), unit)
    return replace(
        plans[0], policy=replace(policy, scope=scope), places=places, columns=columns, linked=linked, quasi=()
    )


def _family(column: SourceColumn) -> str:
    """Types whose values can be the same key."""
    if column.base in NUMERIC_TYPES:
        return "number"
    return "text" if column.is_text else column.base


def _other_types(place: str, mine: SourceColumn, other: SourceColumn) -> Problem:
    return Problem(
        place,
        f"parent.key: {quoted(mine.name)} is {mine.type}, and {quoted(other.name)} of the parent is {other.type}",
        "cast one of them in a view of its source, so that both have one type",
    )
