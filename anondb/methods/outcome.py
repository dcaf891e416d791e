"""The two outcomes of a search in the frequency set: columns at levels, or records in classes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Levels:
    """The level of each quasi-identifier, and how many records are suppressed there."""

    levels: tuple[int, ...]
    suppressed: int
    starred: int = 0  # that are released without some of their cells


@dataclass(frozen=True)
class Classes:
    """A temporary table that maps each combination of values, and how many of its records, to a partition.

    What the partitions are released as lies in a second table: see `anondb.methods.mondrian.classes_sql`.
    """

    table: str
    iterations: int  # partitions that were looked at, those that were cut and those that are left; or fusions
    columns: tuple[int, ...]  # the numbers of the columns that were cut at least once
    suppressed: int = 0
    partitions: int | None = (
        None  # that are left, where records are cut; those of the same labels are one class
    )
    levels: tuple[int, ...] | None = None  # of the columns, where all records have them but for single cells
    starred: int = 0  # records that are released without some of their cells
