"""Follow: what a release has to keep towards the one before it, from the policy, the catalogue and the ledger."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from anondb.errors import UsageError, did_you_mean
from anondb.policy.model import Policy
from anondb.releases.following import CHANGES, FREE, HOLD, REFUSE, RESTART, VERSION, Following, Series
from anondb.run.plan import Options, Plan
from anondb.run.snapshot import Snapshot
from anondb.run.statement import Runner, Statement, no_rows, row
from anondb.sqltree.tables import SourceColumn

USUAL = "ANONDB_CHANGES"
_AT = """
select s.series, s.source, s.key, s.policy, s.changes, s.levels, s.release, s.run, s.version, s.members, s.batch
from anondb.ledger_at($1) as s
"""
_END = "select anondb.ledger_end($1)"
_START = "select anondb.ledger_start($1, $2, $3::text[], $4, $5)"


def read_series(db: Runner, target: str) -> Series | None:
    """The series of a target, if it has one."""
    columns = (
        "series",
        "source",
        "key",
        "policy",
        "changes",
        "levels",
        "release",
        "run",
        "version",
        "members",
        "batch",
    )
    rows = db.rows(Statement("series", _AT, (target,), answers=no_rows(*columns)))
    if not rows:
        return None
    [(number, source, key, policy, changes, levels, release, run, version, members, batch)] = rows
    kept = None if levels is None else tuple(levels)
    return Series(number, source, tuple(key), policy, changes, kept, release, run, version, members, batch)


def follow(
    policy: Policy, snapshot: Snapshot, series: Series | None, options: Options, *, can_hold: bool
) -> Following:
    """How the next release follows the last; raises where it must not be compared with it."""
    if snapshot.source.distribution is not None:  # what follows single records needs them in one place
        can_hold = False
        if policy.privacy.changes == HOLD:
            raise UsageError(
                'changes = "hold" compares single records with the ledger, and the source lies on several servers',
                hint='set changes = "refuse", or changes = "free", in [privacy]',
            )
    changes = policy.privacy.changes or _usual() or (HOLD if can_hold else REFUSE)
    if changes == HOLD and not can_hold:
        raise UsageError(
            f"{policy.method.algorithm} cannot hold changes back: it makes other classes in every release",
            hint='set changes = "refuse", or changes = "free", or choose a method that holds levels',
        )
    key, several = _key(policy, snapshot)
    judged = can_hold and bool(key) and changes != FREE
    now = Following(
        changes,
        policy.privacy.leavers,
        tuple(key),
        key_is_unique=bool(key) and _is_unique(policy, snapshot, key),
        several=several,
        judged=judged,
    )
    if series is None or options.restart:
        return replace(now, ends=None if series is None else series.id)
    _refuse_versions(series)
    stands = snapshot.target.ours or any(target.ours for target in snapshot.tables)
    if not stands and not series.members and series.changes == FREE:
        return replace(now, ends=series.id)  # nothing is there that the next one could be compared with
    if not stands:
        raise _missing(policy, snapshot, series)
    if changes == FREE or not judged:
        # who follows nobody forgets whom the ledger has followed
        ends = series.id if series.members else None
        same = series.policy == policy.classes_sha256 and not options.replan and changes != FREE
        return replace(
            now,
            first=False,
            series=None if ends else series.id,
            number=1 if ends else series.release + 1,
            levels=series.levels if same else None,
            ends=ends,
        )
    if not series.members:
        # releases that nobody has followed, or an empty one
        empty = series.changes == HOLD and bool(series.key)
        return replace(now, first=True, ends=series.id, bound=series.changes != FREE and not empty)
    _refuse_strangers(policy, series, key)
    same = series.policy == policy.classes_sha256 and not options.replan
    wanted = options.levels is None or options.levels == series.levels
    return replace(
        now,
        first=False,
        series=series.id,
        number=series.release + 1,
        levels=series.levels if same and wanted else None,
        replanned=not (same and wanted),
        batch=series.batch if series.policy == policy.classes_sha256 else None,
    )


def _missing(policy: Policy, snapshot: Snapshot, series: Series) -> UsageError:
    """The table that the ledger knows is not there; one of its name may be."""
    if snapshot.target.kind or any(table.kind for table in snapshot.tables):
        return UsageError(
            f"target {policy.target} is not the table that the ledger knows, though it has its name: it was made"
            " by hand, or restored from a dump",
            hint=f"{RESTART}; with --replace to overwrite it",
        )
    return UsageError(
        f"target {policy.target} is gone, and the ledger knows who was in its last release"
        if series.members
        else f"target {policy.target} is gone, and the next release has to be compared with it",
        hint=f"restore it from a backup, or {RESTART}",
    )


def started(db: Runner, plan: Plan, target: str) -> Plan:
    """The plan with its series, which begins here if there is none; in the transaction of the run."""
    following = plan.followed
    if following.ends is not None:
        db.run(Statement("end series", _END, (following.ends,)))
    if following.series is not None:
        return plan
    policy, key = plan.policy, [column.name for column in following.key]
    values = (target, str(policy.source), key, policy.classes_sha256, following.changes)
    [series] = db.one(Statement("start series", _START, values, answers=row(series=0)))
    return replace(plan, following=replace(following, series=series))


def changes_of_tables(policy: Policy) -> str:
    """Of linked tables, whose persons are not followed: only who says so publishes what has changed."""
    changes = policy.privacy.changes or _usual()
    return FREE if changes == FREE else REFUSE


def _usual() -> str | None:
    """What the caller's environment says of policies that say nothing."""
    said = os.environ.get(USUAL)
    if said and said not in CHANGES:
        raise UsageError(
            f"{USUAL} is none of {', '.join(CHANGES)}", hint=f"for example {USUAL}=hold, or unset it"
        )
    return said or None


def _key(policy: Policy, snapshot: Snapshot) -> tuple[list[SourceColumn], bool]:
    """The columns that name a person, and whether one may have several records."""
    there: Mapping[str, SourceColumn] = {column.name: column for column in snapshot.source.columns}
    unit = policy.privacy.unit
    if unit is not None:
        return ([there[unit]], not there[unit].unique) if unit in there else ([], False)
    names = policy.key or snapshot.source.key
    for name in names:
        if name not in there:
            raise UsageError(
                f'source {policy.source} has no column "{name}" for key', hint=did_you_mean(name, there)
            )
    return [there[name] for name in names], False


def _is_unique(policy: Policy, snapshot: Snapshot, key: list[SourceColumn]) -> bool:
    return any(column.unique for column in key) or tuple(c.name for c in key) == snapshot.source.key


def _refuse_versions(series: Series) -> None:
    if series.version != VERSION:
        older = "older" if series.version < VERSION else "newer"
        raise UsageError(
            f"the ledger of this target is of an {older} version of anondb"
            if older == "older"
            else "the ledger of this target is of a newer version of anondb",
            hint=RESTART if older == "older" else "install that version; nothing was published",
        )


def _refuse_strangers(policy: Policy, series: Series, key: list[SourceColumn]) -> None:
    if series.source != str(policy.source):
        raise UsageError(
            f"target {policy.target} belongs to a series of releases of {series.source}, not of {policy.source}",
            hint=f"choose another target, or {RESTART}",
        )
    if series.key != tuple(column.name for column in key):
        was = ", ".join(f'"{name}"' for name in series.key)
        raise UsageError(
            f"the ledger knows the persons of {policy.target} by {was}, and the policy names them by other columns",
            hint=f"set key to these columns, or {RESTART}",
        )
