"""Where the release of a distributed source lies: on the coordinator, or spread over the workers as its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from anondb.errors import PolicyError, Problem, UsageError
from anondb.methods.registry import METHODS, listed, method_of
from anondb.policy.model import LAYOUTS
from anondb.run.plan import Place, Plan
from anondb.run.snapshot import Snapshot
from anondb.sqltree.released import Noise, Rounded, Shuffled
from anondb.sqltree.tables import SourceColumn

AUTO, LOCAL, DISTRIBUTED = LAYOUTS
SHARD = SourceColumn("anondb_shard", "bigint", "int8")
"""What a distributed release is distributed by: a keyed hash, which says nothing of a row."""
LEAST_SPREAD = 1_000_000
"""From so many rows on, a release follows its source."""
MOST_PULLED = 1_000_000
"""So many rows may come to the coordinator, where a method needs them in one place."""


def laid_out(plan: Plan, snapshot: Snapshot) -> Plan:
    """The plan with the places of a release that is distributed, if it is to be."""
    wanted, place = plan.policy.target_layout, plan.policy.place
    if snapshot.source.distribution is None:
        if wanted == DISTRIBUTED:
            hint = 'distribute it, or leave target_layout out: target_layout = "auto"'
            raise PolicyError([Problem(place, "the source is no distributed table of Citus", hint)])
        return plan
    source = snapshot.source
    single = bool(source.key) or any(column.unique for column in source.columns)
    plan = replace(plan, distribution=source.distribution, rows=source.rows, single=single)
    if any(isinstance(column.form, Shuffled) for column in plan.columns):
        why = "values that are exchanged within a class need its rows in one place, and the source is distributed"
        raise PolicyError([Problem(place, why, "leave shuffle out: noise and round change each value alone")])
    refusals = list(_refusals(plan))
    if refusals and wanted == DISTRIBUTED:
        raise PolicyError([Problem(place, refusals[0], 'choose target_layout = "local"')])
    spread = wanted == DISTRIBUTED or (wanted == AUTO and snapshot.source.rows >= LEAST_SPREAD)
    if refusals or not spread:
        return plan
    [where] = plan.places
    return replace(plan, places=(Place.at(snapshot.target, (*where.columns, SHARD)),), spread=True)


def _refusals(plan: Plan) -> Iterable[str]:
    """Why a release is not distributed."""
    if not counts(plan):
        yield f"{plan.policy.method.algorithm} puts single records into classes, on the coordinator"
    if plan.follows:
        yield 'with changes = "hold" the ledger of single records decides what is released'
    if any(column.name == SHARD.name for place in plan.places for column in place.columns):
        yield f"the release has a column {SHARD.name} of its own"


def counts(plan: Plan) -> bool:
    """Whether the method decides by counts alone, and can have rows counted as a whole."""
    return method_of(plan.policy).counts_whole_rows(plan.policy, repeat=True)


def refuse_records(plan: Plan) -> None:
    """Raises where a method would copy more records than the coordinator should take."""
    able = listed(one for one in METHODS.values() if one.counts_whole_rows(plan.policy, repeat=True))
    why = f"{plan.policy.method.algorithm} needs single records in one place"
    refuse_pulling(plan, why, f"choose an algorithm that decides by counts: {able}")


def refuse_pulling(plan: Plan, why: str, hint: str) -> None:
    """Raises where more rows than the coordinator should take would come to it."""
    if plan.rows > MOST_PULLED:
        rows = f"{plan.rows:,.0f}"
        raise UsageError(f"{why}, and all {rows} rows of a distributed source would come to it", hint=hint)


def needs_functions(plan: Plan) -> bool:
    """Whether values are released in a form that workers make with functions of ours."""
    return any(isinstance(column.form, Noise | Rounded) for column in plan.columns)


def described(plan: Plan) -> Iterator[str]:
    """What a plan says of a cluster, before its statements: which of them workers carry out."""
    if plan.distribution is None:
        return
    by = f"by {plan.distribution.column}" if plan.distribution.column else "without a column of its own"
    yield f"-- The source is distributed {by}, in {plan.distribution.shards} shards."
    yield "-- Citus plans the count of the source for the workers: the coordinator gets combinations, and no row."
    if plan.spread:
        yield f"-- The release is distributed by {SHARD.name}; workers write it, and none of its rows is pulled."
        return
    refusal = next(iter(_refusals(plan)), None)
    yield f"-- The release is a local table: all its rows come to the coordinator{f' ({refusal})' if refusal else ''}."
    if not counts(plan):
        yield f"-- Rows of the source are pulled, too; above {MOST_PULLED:,} of them, records are not copied."
