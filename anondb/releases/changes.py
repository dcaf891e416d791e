"""Changes: what the next release tells beside the last, where single persons are not followed; and its entry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from anondb.errors import LockedError, UnsatisfiableError, UsageError
from anondb.releases.follow import changes_of_tables
from anondb.releases.following import FREE, RESTART, Followed
from anondb.releases.values_sql import column_code
from anondb.run.statement import Runner, Statement

if TYPE_CHECKING:
    from anondb.run.engine import Engine
    from anondb.run.plan import Plan
    from anondb.sqltree.tables import Relation

_CLOSE = """
select anondb.ledger_close($1, $2, $3, $4, $5, $6::int[], $7, $8, $9, $10, $11, $12, $13, $14,
                          $15::text::jsonb)
"""
_FIRST = (
    "this release begins a series: from now on the next ones are compared with it. "
    "What was released before is not: whoever has kept an earlier release can compare it with this one"
)
_WITHOUT_KEY = (
    "nothing names a person from release to release, so that the next release is refused once the source has "
    'changed; name the person: unit under [privacy], a primary key, or key = "…"'
)


def refuse_or_warn(engine: Engine, plan: Plan, fresh: Relation) -> tuple[str, ...]:
    """What the caller is told of a release, besides what is in it; raises where it must not be published."""
    following = plan.following
    if following is None:
        return _of_tables(engine, plan, fresh)
    if following.bound:
        _compared(engine, plan, fresh)
    if following.first:
        return _of_first(plan)
    if following.judged:
        return ()
    if following.changes != FREE:
        return _compared(engine, plan, fresh)
    try:
        return _compared(engine, plan, fresh)
    except (UsageError, LockedError):
        # somebody alters the old release meanwhile: the swap looks at it once more, and says what is wrong
        return (
            "changes are free, and how many there are could not be told: somebody is altering the last release",
        )


def _of_tables(engine: Engine, plan: Plan, fresh: Relation) -> tuple[str, ...]:
    """Persons of linked tables are not followed: whoever has two releases joins them by the pseudonyms."""
    if plan.linked is None or changes_of_tables(plan.policy) == FREE:
        return ()
    came = gone = 0
    for place in plan.places:
        if place.replaces:
            more, less, *_ = engine.release_changes(place, fresh, [place.columns[0].name], 2)
            came, gone = came + more, gone + less
    reshaped = any(place.oid is not None and not place.replaces for place in plan.places)
    if came or gone or reshaped:
        what = "a table has other columns" if reshaped else f"{came:,} rows are new and {gone:,} are gone"
        raise UsageError(
            f"the tables would differ from the last release: {what}, and whoever has both can join them by the "
            "pseudonyms and knows whose rows these are",
            hint='set changes = "free" in [privacy] to publish it all the same, or release with another scope to '
            "other targets",
        )
    return ()


def close(
    db: Runner,
    plan: Plan,
    run: int,
    released: int,
    classes: int,
    followed: Followed | None,
    levels: tuple[int, ...] | None,
) -> None:
    """Enters the release as the last one of its series; in the transaction of the swap."""
    if plan.following is None:
        return
    f = followed or Followed(released, classes, 0)
    kept = None if not levels else list(levels)
    values = (
        plan.following.series,
        plan.following.number,
        run,
        plan.policy.classes_sha256,
        plan.following.changes,
        kept,
        f.published,
        f.classes,
        f.entered,
        f.left,
        f.moved,
        f.waiting,
        f.departed,
        f.withheld,
        json.dumps(promise(plan)),
    )
    db.run(Statement("close ledger", _CLOSE, values))


def promise(plan: Plan) -> dict[str, Any]:
    """What the policy demands of the release, for whoever wants to see it proven without the policy."""
    privacy = plan.policy.privacy
    quasi = {q.name for q in plan.quasi}
    models = [
        {
            "kind": model.name,
            "column": model.column,
            "variant": model.variant,
            "demanded": model.demanded,
            "place": column_code(model.column),
        }
        | ({"c": c} if (c := getattr(model, "c", None)) is not None else {})
        for model in privacy.models
    ]
    apart = {}
    if len(plan.places) > 1:
        # in two tables: what lies beside the persons, and what apart from them
        [hidden] = [model.column for model in privacy.models]
        shown = [column.name for column in plan.columns if column.name != hidden]
        apart = {"apart": {"shown": shown, "sensitive": hidden}}
    return apart | {
        "k": None if privacy.stars_match else privacy.k,
        "unit": privacy.unit,
        "quasi": [q.name for q in plan.quasi],
        "kept": [column.name for column in plan.columns if column.name not in quasi],
        "models": models,
    }


def _of_first(plan: Plan) -> tuple[str, ...]:
    following = plan.followed
    stands = any(place.oid is not None for place in plan.places)
    if following.changes == FREE:
        return ()
    if not following.key:
        return (_WITHOUT_KEY,)
    return (_FIRST,) if stands or following.ends is not None else ()


def _compared(engine: Engine, plan: Plan, fresh: Relation) -> tuple[str, ...]:
    following, k = plan.followed, max(2, plan.policy.privacy.k)
    came = gone = changed = told = 0
    for place in plan.places:
        if place.replaces:
            names = [c.name for c in place.columns]
            classes = [q.name for q in plan.quasi if q.name in names] or names[:1]
            found = engine.release_changes(place, fresh, classes, k)
            came, gone, changed, told = (
                a + b for a, b in zip((came, gone, changed, told), found, strict=True)
            )
    reshaped = any(place.oid is not None and not place.replaces for place in plan.places)
    if not (changed or reshaped):
        return ()
    what = f"{came} rows are new and {gone} are gone, in {changed} classes"
    if reshaped:
        what = "it has other columns than the last one"
    if following.changes != FREE:
        hint = (
            'set changes = "free" to publish it all the same; methods that keep levels can hold changes back, where a '
            "key names the person"
        )
        if following.bound:
            hint = RESTART
        raise UnsatisfiableError(
            f"the release is not the last one, and whoever has both can tell the difference: {what}",
            hint=hint,
        )
    exposed = (
        f"in {told} of these fewer than {k}: whoever has both releases knows whose they are"
        if told
        else "nowhere fewer than " + str(k)
    )
    if reshaped:
        return (f"changes are free, and {what}: whoever has both learns more than from either",)
    return (f"changes are free: {what}, {exposed}",)
