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
class Noise:
    """A form that numbers are released in: moved by a secret draw, of each record its own."""

    share: str  # of the column's standard deviation, as a number is written
    place: int  # among the columns of the source: where the run keeps what it has measured

    @property
    def deviation(self) -> str:
        """The column's standard deviation, in the run's one row of measures."""
        return f"deviation{self.place}"

    @property
    def digits(self) -> str:
        """How many digits behind the point its values have, at the most."""
        return f"digits{self.place}"


@dataclass(frozen=True)
class Rounded:
    """A form that numbers are released in, as multiples; or dates, as the start of a unit."""

    step: str  # as a number is written, or a unit


@dataclass(frozen=True)
class Shuffled:
    """A form that a column is released in: its values exchanged among the records of each class."""


@dataclass(frozen=True)
class Shift:
    """A form that dates are released in: moved by a secret number of days, the same for all of a person."""

    by: SourceColumn  # names the person
    days: int  # at most, in both directions


Form = Pseudonym | Shift | Noise | Rounded | Shuffled | Typed
"""In which a column is released."""
