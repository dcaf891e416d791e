"""Labels of hierarchies that are computed, plain and slow, without a line of anondb's code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import floor

from tests.properties.oracle import Ranges, Value, text, written_out

SEPARATORS = " ./:_,-"


@dataclass(frozen=True)
class Prefixes:
    """The beginning of a code with so many characters that are no separators."""

    lengths: Sequence[int]
    root: str = "*"
    lowest: int = 0

    @property
    def height(self) -> int:
        return len(self.lengths) + 1

    def label(self, value: Value, level: int) -> str:
        kept = self.lengths[-level]
        for end in range(1, len(str(value)) + 1):
            if sum(character not in SEPARATORS for character in str(value)[:end]) == kept:
                return str(value)[:end]
        return str(value)

    def covers(self, label: str, value: Value) -> bool:
        return label == self.root or str(value).startswith(label)


@dataclass(frozen=True)
class Years:
    """So many calendar years, counted by the digits of the year."""

    years: Sequence[int]
    root: str = "*"
    lowest: int = 0

    @property
    def height(self) -> int:
        return len(self.years) + 1

    def label(self, value: Value, level: int) -> str:
        assert isinstance(value, date)
        first = value.year // self.years[level - 1] * self.years[level - 1]
        return f"{max(first, 1):04}-{first + self.years[level - 1] - 1:04}"

    def covers(self, label: str, value: Value) -> bool:
        assert isinstance(value, date)
        if label in (self.root, text(value)):
            return True
        first, last = map(int, label.split("-"))
        return first <= value.year <= last


@dataclass(frozen=True)
class Ends:
    """What is told of numbers below one bound, and above another."""

    below: Decimal | None
    above: Decimal | None
    whole: bool

    def label(self, number: Fraction) -> str | None:
        if self.below is not None and number < self.below:
            return f"<{written_out(Fraction(self.below))}"
        if self.above is not None and number > self.above:
            return f"{floor(self.above) + 1}+" if self.whole else f">{written_out(Fraction(self.above))}"
        return None

    @staticmethod
    def covers(label: str, number: Fraction) -> bool:
        if label.startswith("<"):
            return number < Fraction(label[1:])
        if label.startswith(">"):
            return number > Fraction(label[1:])
        if label.endswith("+"):
            return number >= Fraction(label[:-1])
        if not label.startswith("["):
            return number == Fraction(label)
        lower, upper = label[1:-1].split(", ")
        return Fraction(lower) <= number < Fraction(upper)


@dataclass(frozen=True)
class Capped:
    """Ranges of numbers between two ends; the first level has the numbers themselves."""

    ranges: Ranges
    ends: Ends
    root: str = "*"
    lowest: int = 1

    @property
    def height(self) -> int:
        return self.ranges.height + 1

    def label(self, value: Value, level: int) -> str:
        end = self.ends.label(Fraction(text(value)))
        return end or (text(value) if level == 1 else self.ranges.label(value, level - 1))

    def covers(self, label: str, value: Value) -> bool:
        return label == self.root or self.ends.covers(label, Fraction(text(value)))


@dataclass(frozen=True)
class Ages:
    """Whole years from a birthday to a day."""

    at: date
    ranges: Ranges
    ends: Ends
    root: str = "*"
    lowest: int = 1

    @property
    def height(self) -> int:
        return self.ranges.height + 1

    def age(self, value: Value) -> int:
        assert isinstance(value, date)
        return self.at.year - value.year - ((self.at.month, self.at.day) < (value.month, value.day))

    def label(self, value: Value, level: int) -> str:
        age = self.age(value)
        return self.ends.label(Fraction(age)) or (
            str(age) if level == 1 else self.ranges.label(age, level - 1)
        )

    def covers(self, label: str, value: Value) -> bool:
        return label == self.root or self.ends.covers(label, Fraction(self.age(value)))


@dataclass(frozen=True)
class Cells:
    """Square cells around points, which are written as PostgreSQL does."""

    widths: Sequence[Decimal]
    root: str = "*"
    lowest: int = 0

    @property
    def height(self) -> int:
        return len(self.widths) + 1

    def _sides(self, value: Value) -> list[Decimal]:
        return [Decimal(side) for side in str(value)[1:-1].split(",")]

    def label(self, value: Value, level: int) -> str:
        along = Ranges(Decimal(0), self.widths)
        return " x ".join(along.label(side, level) for side in self._sides(value))

    def covers(self, label: str, value: Value) -> bool:
        if label in (self.root, value):
            return True
        along = Ranges(Decimal(0), self.widths)
        ranges = label.split(" x ")
        return all(along.covers(one, side) for one, side in zip(ranges, self._sides(value), strict=True))
