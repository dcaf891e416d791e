"""Forms that a column is released in, where it is neither generalized nor released as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anondb.sqltree.tables import SourceColumn


TEXT = "text"
"""How labels are released where a policy does not say otherwise."""


@dataclass(frozen=True)
class Shown:
    """A column of the release that tells of a quasi-identifier: its label, a number, a date, a range."""

    name: str
    word: str  # of the policy
    type: str


@dataclass(frozen=True)
class Typed:
    """Forms that a quasi-identifier is released in, made of its label or of its class."""

    kind: str  # what its labels tell of: whole, number, or a type of dates
    shown: tuple[Shown, ...]


@dataclass(frozen=True)
class Pseudonym:
    """A form that a column is released in: each value as a keyed code of 16 bytes, the same for all of a scope."""

    type: str  # uuid or text


@dataclass(frozen=True)
class Shift:
    """A form that dates are released in: moved by a secret number of days, the same for all of a person."""

    by: SourceColumn  # names the person
    days: int  # at most, in both directions
