"""The outcome of algorithms that put records into classes, instead of columns at levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Classes:
    """A temporary table that maps each combination of values, and how many of its records, to a partition.

    What the partitions are released as lies in a second table: see `anondb.methods.mondrian.classes_sql`.
    """

    table: str
    iterations: int  # partitions that were looked at, those that were cut and those that are left; or fusions
    columns: tuple[int, ...]  # the numbers of the columns that were cut at least once
    suppressed: int = 0
    tuples: int | None = None  # different combinations by meaning, where records are fused
    rare: int | None = None  # those of them that had fewer than k records
    partitions: int | None = (
        None  # that are left, where records are cut; those of the same labels are one class
    )
    changed: int | None = None  # records that take the values of another combination
    unknown: Mapping[str, tuple[int, int]] = field(default_factory=dict, hash=False)
    """Column → texts that its ontology does not know, and how many records have them."""
