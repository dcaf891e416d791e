"""The two tables of a release that publishes sensitive values apart from their records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from anondb.errors import Problem
from anondb.methods.le_diversity.sql import CLASS_ID
from anondb.methods.mdav.sql import SET_TYPE
from anondb.methods.registry import ALGORITHMS
from anondb.policy.model import Name, Policy, Role
from anondb.policy.names import LONGEST
from anondb.run.plan import Place
from anondb.run.snapshot import Snapshot, TargetInfo
from anondb.sqltree.tables import Relation, SourceColumn

QUASI, SENSITIVE = "_quasi", "_sensitive"


def part(relation: Relation, suffix: str) -> Relation:
    """One of the two."""
    return Relation(relation.schema, relation.name + suffix)


def parts(relation: Relation) -> tuple[Relation, Relation]:
    return part(relation, QUASI), part(relation, SENSITIVE)


def is_in_parts(policy: Policy) -> bool:
    """Whether a policy makes the two tables, and not its target itself."""
    return ALGORITHMS[policy.method.algorithm].anatomizes


def places(policy: Policy, columns: Sequence[SourceColumn], snapshot: Snapshot) -> tuple[Place, ...]:
    """The tables that a policy makes of these columns of the source."""
    if is_in_parts(policy):
        assert policy.privacy.le_diversity is not None
        hidden = policy.privacy.le_diversity.column
        shown = [c for c in columns if c.name != hidden]
        tables = {QUASI: shown, SENSITIVE: [c for c in columns if c.name == hidden]}
        targets = snapshot.parts or [TargetInfo(there) for there in parts(snapshot.target.relation)]
        return tuple(
            _place(target, [CLASS_ID, *own], suffix)
            for target, (suffix, own) in zip(targets, tables.items(), strict=True)
        )
    quasi = {column.name for column in policy.quasi}
    as_released = SET_TYPE if ALGORITHMS[policy.method.algorithm].sets else "text"
    released = [
        replace(c, type=as_released, base="text", collation=None) if c.name in quasi else c for c in columns
    ]
    return (_place(snapshot.target, released),)


def _place(target: TargetInfo, columns: Sequence[SourceColumn], suffix: str = "") -> Place:
    found = Place(target.relation, tuple(columns), suffix, target.oid)
    there = Place(target.relation, target.columns)
    return replace(found, replaces=target.ours and there.signature == found.signature)


def outlived(policy: Policy, tables: Sequence[TargetInfo]) -> Iterator[Problem]:
    """An earlier release in another shape would not be replaced, and two of the same records tell more than one."""
    if tables:
        names = " and ".join(str(Name(table.relation.schema, table.relation.name)) for table in tables)
        yield Problem(
            policy.place,
            f"an earlier run with this target has released {names}, which this one would not replace; "
            "who has both releases can learn more than either tells",
            "drop what is there, choose another name for target, or keep both with --replace",
        )


def problems(policy: Policy) -> Iterator[Problem]:
    """Names that the two tables cannot have."""
    if not is_in_parts(policy):
        return
    length = len((policy.target.table + SENSITIVE).encode())
    if length > LONGEST:
        yield Problem(
            policy.place,
            f"target {policy.target} with {SENSITIVE} is {length} bytes long, and PostgreSQL keeps {LONGEST}",
            "choose a shorter name for target",
        )
    for column in policy.columns:
        if column.name == CLASS_ID.name and column.role is not Role.IDENTIFIER:
            yield Problem(
                f"{policy.place} [columns.{column.name}]",
                f'the two tables of the release have a column "{CLASS_ID.name}" of their own',
                'give it another name in a view of the source, or set role = "identifier"',
            )
