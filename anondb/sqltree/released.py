"""Forms that a column is released in, where it is neither generalized nor released as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anondb.sqltree.tables import SourceColumn


@dataclass(frozen=True)
class Pseudonym:
    """A form that a column is released in: each value as a keyed code of 16 bytes, the same for all of a scope."""

    type: str  # uuid or text


@dataclass(frozen=True)
class Shift:
    """A form that dates are released in: moved by a secret number of days, the same for all of a person."""

    by: SourceColumn  # names the person
    days: int  # at most, in both directions
