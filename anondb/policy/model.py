"""A policy as Python values: what to release, from where, how, and what it must satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from anondb.hierarchy.model import Hierarchy


class Role(StrEnum):
    """What a column is to an attacker, and so what happens to it."""

    IDENTIFIER = "identifier"  # left out of the release
    QUASI = "quasi"  # generalized
    SENSITIVE = "sensitive"  # released as it is; the diversity models look at it
    OTHER = "other"  # released as it is


@dataclass(frozen=True)
class Name:
    """The name of a table as the catalogue spells it; without a schema it is looked up in the search path."""

    schema: str | None
    table: str

    def __str__(self) -> str:
        parts = (part for part in (self.schema, self.table) if part is not None)
        return ".".join(
            part if part.isidentifier() else '"' + part.replace('"', '""') + '"' for part in parts
        )


@dataclass(frozen=True)
class Column:
    name: str
    role: Role
    hierarchy: Hierarchy | None = None


@dataclass(frozen=True)
class Privacy:
    k: int
    suppression: float = 0.0
    suppress: str = "remove"  # or "mask"
    nulls: str = "value"  # or "suppress"

    def may_suppress(self, records: int) -> int:
        """How many of so many records may be left out; exact, where 0.29 * 100 would be 28.999…"""
        return int(Fraction(repr(self.suppression)) * records)


@dataclass(frozen=True)
class Method:
    algorithm: str
    heuristic: str | None = None
    strict: bool = True  # records of one value are never parted


@dataclass(frozen=True)
class Policy:
    source: Name
    target: Name
    privacy: Privacy
    method: Method
    columns: tuple[Column, ...]  # in the order of the file
    text: str  # the file as it was read
    place: str  # what errors call it: the file's name
    sha256: str  # of what the policy says, not of how it is written

    @property
    def quasi(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role is Role.QUASI)
