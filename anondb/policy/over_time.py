"""What a policy says of other releases: what names a record from one to the next, and which are judged beside it."""

from __future__ import annotations

from anondb.errors import UsageError
from anondb.policy.check import Spot, read_texts, shown
from anondb.policy.names import parse_name

OVER_TIME = ("changes", "leavers", "against")
"""Keys of [privacy] that say nothing of the classes themselves."""


def read_key(spot: Spot, value: object) -> tuple[str, ...]:
    """The column that names a record from release to release, or several that do so together."""
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise UsageError(
            f"key must be the name of a column, or a list of different ones, not {shown(value)}",
            hint='for example key = "patient", or key = ["patient", "admitted"]',
        )
    return tuple(names)


def read_against(spot: Spot, value: object) -> tuple[str, ...]:
    """Tables with their schemas; a star stands for anything."""
    patterns = read_texts(spot, value)
    for pattern in patterns:
        if parse_name(pattern).schema is None:
            raise UsageError(
                f"against names a table without its schema: {shown(pattern)}",
                hint='write schema.table, or schema.* for all of a schema: against = ["share.*"]',
            )
    return patterns
