"""What is known of a table before its policy is drafted: names, types, keys, and counts. No value of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from anondb.policy.model import Name


@dataclass(frozen=True)
class ColumnProfile:
    """A column as the catalogue and the counts over a sample show it."""

    name: str
    type: str  # as PostgreSQL writes it
    kind: str  # number, date, time, address, flag, or text, which is everything else
    comment: str = ""
    unique: bool = False  # the catalogue says so
    references: str | None = None  # the table that it is a key of, where that is another
    filled: int = 0  # records with a value
    distinct: int = 0
    alone: int = 0  # values that one record has
    most_frequent: int = 0  # records with the most frequent value
    longest: int = 0  # characters of the longest text
    whole: int | None = None
    negative: int | None = None
    ages: int | None = None  # from 0 to 120
    years: int | None = None  # whole, from 1850 to 2100
    spread: float | None = None  # of the middle nine tenths, to one digit; of dates in days
    identifying: tuple[str, ...] = ()  # why a run would refuse to release it as it is
    looks: Mapping[str, float] = field(default_factory=dict, hash=False)  # pattern → share of its values
    names: float = 0.0  # the share of its values that are names of persons
    known: str | None = None  # an ontology that knows most of its values
    codes: str | None = None  # the hierarchy of the package that all its values are in, of the whole table
    old: int | None = None  # numbers above 89, and dates of more than 90 years ago
    tail: float | None = None  # how far the greatest lies beyond those, in such spreads, to one digit
    high: float | None = None  # the end of the middle nine tenths, rounded up to one digit
    born_by: date | None = None  # of dates of birth, a day that none of the whole table is after

    @property
    def share(self) -> float:
        """Of values that differ among those that there are."""
        return self.distinct / self.filled if self.filled else 0.0

    @property
    def is_whole(self) -> bool:
        return self.kind == "number" and self.filled > 0 and self.whole == self.filled

    @property
    def is_code(self) -> bool:
        """Texts of one word with digits in them, of nearly the same length."""
        return self.kind == "text" and self.looks.get("code", 0) > 0.9

    @property
    def days(self) -> bool:
        return self.kind == "date" or (self.kind == "time" and self.spread is not None)

    def looks_like(self, *patterns: str) -> float:
        return max((self.looks.get(pattern, 0.0) for pattern in patterns), default=0.0)


@dataclass(frozen=True)
class TableProfile:
    source: Name
    records: int  # by the server's statistics where the table is large
    looked_at: int  # how many of them were looked at
    columns: tuple[ColumnProfile, ...]
    comment: str = ""

    @property
    def is_whole(self) -> bool:
        return self.looked_at >= self.records


@dataclass(frozen=True)
class ColumnSet:
    """What several columns tell together."""

    columns: tuple[str, ...]
    alone: float  # the share of records that no other one agrees with in them: distinction
    separation: float  # the share of pairs of records that differ in them
