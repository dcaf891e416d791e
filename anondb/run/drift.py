"""What a policy and the tables of today no longer agree in, and what is unwise in it: by the catalogue alone."""

from __future__ import annotations

from collections.abc import Iterator

from anondb.errors import Problem, did_you_mean
from anondb.hierarchies import column_types
from anondb.policy.check import written
from anondb.policy.draft.words import is_of_a_person
from anondb.policy.model import Column, Policy, Role
from anondb.policy.names import quoted
from anondb.run.snapshot import Snapshot
from anondb.sqltree.tables import SourceColumn

ENOUGH = 30  # records of which the statistics must know, before a share says something
NEARLY_ALL = 0.95


def drift(policy: Policy, snapshot: Snapshot) -> Iterator[Problem]:
    """Columns that came and went, and types that changed."""
    named = {column.name: column for column in policy.columns}
    there = {column.name: column for column in snapshot.source.columns}
    # a column that is released as it is has the type that the source had then
    released = {column.name: column for column in snapshot.target.columns}
    for name, column in there.items():
        if name not in named:
            yield Problem(
                f"{policy.place} [columns]",
                f"column {quoted(name)} ({column.type}) of {policy.source} is new, and the policy does not name it",
                f'add {written(name)} = {{ role = "identifier" }} to leave it out, or another role',
            )
    for name, said in named.items():
        place = f"{policy.place} [columns.{written(name)}]"
        if name not in there:
            hint = did_you_mean(name, there) or "take the line out"
            yield Problem(place, f"column {quoted(name)} is gone from {policy.source}", hint)
        elif (now := there[name]) and (was := _changed(said, now, released.get(name))) is not None:
            yield Problem(
                place,
                f"column {quoted(name)} was {was} when it was released last, and is {now.type} now",
                "look whether its role and its hierarchy still fit, and run the policy with --replace",
            )
        elif said.hierarchy is not None and (misfit := said.hierarchy.misfit(now)):
            yield Problem(place, misfit, column_types.hint(now))


def _changed(said: Column, now: SourceColumn, released: SourceColumn | None) -> str | None:
    kept = said.role in (Role.SENSITIVE, Role.OTHER)
    return released.type if kept and released is not None and released.type != now.type else None


def warnings(policy: Policy, snapshot: Snapshot) -> Iterator[Problem]:
    """Kept columns that are nearly unique, and persons who have several records, as far as statistics know."""
    records = snapshot.source.rows
    for column in snapshot.source.columns:
        said = next((one for one in policy.columns if one.name == column.name), None)
        if said is None:
            continue
        place = f"{policy.place} [columns.{written(column.name)}]"
        distinct = records if column.unique else column.distinct
        if said.role in (Role.SENSITIVE, Role.OTHER) and said.keep is None:
            known = records >= ENOUGH and distinct is not None and distinct >= NEARLY_ALL * records
            if column.unique or known:
                yield Problem(
                    place,
                    f"{said.role} column {quoted(column.name)} is nearly unique: who knows its value finds the record",
                    'set role = "identifier" to leave it out, or role = "quasi" to generalize it',
                )
        names_persons = said.role is Role.IDENTIFIER and is_of_a_person(column.name)
        if distinct is None or policy.privacy.unit is not None or not names_persons:
            continue
        if ENOUGH <= distinct < NEARLY_ALL * records:
            yield Problem(
                place,
                f"{quoted(column.name)} repeats: {records / distinct:.1f} records each, by the statistics",
                f"if it names the person, set unit = {quoted(column.name)} under [privacy]: k then counts persons",
            )
