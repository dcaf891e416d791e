"""Calendar units of dates and times, and ages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from anondb.errors import UsageError
from anondb.hierarchies.forms.base import Computed, listed
from anondb.hierarchies.forms.ranges import Cap, read_widths
from anondb.policy.check import Key, Spot, read_number, shown, suggestion
from anondb.policy.names import quoted

if TYPE_CHECKING:
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Coded, SourceColumn

DATE_UNITS = ("day", "month", "quarter", "year", "decade")
"""Those that have names; `dates = true` means all of them."""
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_YEARS = re.compile(r"([1-9][0-9]{0,3}) years")
_DAYS_A_MONTH = Decimal("30.436875")  # on average over the Gregorian calendar's 400 years
_DAYS_A_YEAR = 365.2425
_SECONDS_A_DAY = 86400
_BEGUN = frozenset(
    ["day", "month", "quarter", "year"]
)  # units whose first moment the server knows, in all centuries


def _months(unit: str) -> int:
    """How many months a unit has; a day has none."""
    several = _YEARS.fullmatch(unit)
    return 12 * int(several[1]) if several else _MONTHS.get(unit, 0)


def _seconds(unit: str) -> float:
    return float(_months(unit) * _DAYS_A_MONTH or 1) * _SECONDS_A_DAY


class _Moments(Computed):
    """Of columns of dates and times."""

    tells_ranges: ClassVar[bool] = True

    def order(self, coded: Coded, raw: Node) -> Node:
        from anondb.sqltree.build import cast

        return cast(raw.copy(), "timestamp")

    def span(self, coded: Coded, raw: Node) -> Node:
        from anondb.sqltree.build import greatest_of, least_of, minus, seconds_of

        moment = self.order(coded, raw)
        return seconds_of(minus(greatest_of(moment), least_of(moment.copy())))


@dataclass(frozen=True)
class Dates(_Moments):
    """Calendar units, finest first: DATE_UNITS, and numbers of years."""

    units: tuple[str, ...]

    example: ClassVar[str] = "{ dates = true }"

    @classmethod
    def made(cls, spot: Spot, keys: Mapping[str, Any]) -> Dates:
        return cls(keys["dates"])

    @property
    def height(self) -> int:
        return len(self.units) + 1

    def fitted(self, column: SourceColumn) -> Dates:
        # the text of a date is its day already; a timestamp still has its time
        return self if column.is_timed else Dates(tuple(unit for unit in self.units if unit != "day"))

    def misfit(self, column: SourceColumn) -> str | None:
        if column.is_date:
            return None
        return f"dates need a date or timestamp column, and {quoted(column.name)} is {column.type}"

    def words(self) -> str:
        return f"calendar: {listed(self.units)}"

    def labels(self, coded: Coded, raw: Node) -> list[Node]:
        from anondb.sqltree.build import call, number, string

        moment = self.order(coded, raw)
        return [
            call("anondb.years_label", moment.copy(), number(several[1]))
            if (several := _YEARS.fullmatch(unit))
            else call("anondb.date_label", moment.copy(), string(unit))
            for unit in self.units
        ]

    def coarsened(self, coded: Coded, value: Node, level: int) -> Node | None:
        """The first moment of the unit; of several years, that of the year, which is few values too."""
        from anondb.sqltree.build import call, cast, string

        unit = self.units[level - 1]
        named = unit if unit in _BEGUN else "year"
        return call("date_trunc", string(named), cast(value, "timestamp"))

    def read_back(self, coded: Coded, level: int, raw: Node) -> Node | None:
        """Years of four digits are read as they are written; several years, other than ten, are not read at all."""
        from anondb.sqltree.build import cast, every, number, over, part_of, under

        if level == 0 or any(unit not in DATE_UNITS for unit in self.units[level - 1 : level]):
            return None
        year = part_of("year", cast(raw, "timestamp"))
        return every([over(year, number(999)), under(year.copy(), number(10_000))])

    def width(self, coded: Coded, raw: Node, level: int) -> Node:
        from anondb.sqltree.build import number

        return number(_seconds(self.units[level - 1]))

    def told_width(self, coded: Coded, raw: Node, level: int) -> Node | None:
        """From its first day to that of the next unit, by the calendar."""
        from anondb.sqltree.build import call, cast, minus, plus, seconds_of, string

        unit = self.units[level - 1]
        first = call("date_trunc", string(unit), cast(raw, "timestamp"))
        months = cast(string("1 day" if unit == "day" else f"{_months(unit)} months"), "interval")
        return seconds_of(minus(plus(first, months, grouped=True), first.copy()))


def read_units(spot: Spot, value: object) -> tuple[str, ...]:
    if value is True:
        return DATE_UNITS
    if not isinstance(value, list) or not value:
        message = f"{spot.key} must be true or a list of units, not {shown(value)}"
        raise UsageError(message, hint='write dates = true, or dates = ["month", "year"]')
    units = tuple(_read_unit(spot, unit) for unit in value)
    if list(units) != (ordered := sorted(set(units), key=_months)) or len(set(map(_months, units))) < len(
        units
    ):
        written = ", ".join(quoted(unit) for unit in ordered)
        raise UsageError(f"{spot.key} must go from fine to coarse, each unit once", hint=f"write [{written}]")
    for fine, coarse in pairwise(units):
        if _months(coarse) % max(_months(fine), 1):
            message = (
                f"{spot.key}: {quoted(coarse)} is no multiple of {quoted(fine)}, so that they would not nest"
            )
            raise UsageError(message, hint='write multiples: ["year", "5 years", "10 years"]')
    return units


def _read_unit(spot: Spot, value: object) -> str:
    if isinstance(value, str) and (value in DATE_UNITS or _YEARS.fullmatch(value)):
        return value
    options = (*DATE_UNITS, "5 years")
    message = f"{spot.key} must be one of {', '.join(options)}, not {shown(value)}"
    word = value if isinstance(value, str) else ""
    raise UsageError(message, hint=suggestion(word, options, "choose from"))


@dataclass(frozen=True)
class Age(_Moments):
    """The age on a day, of who was born at a date, and ranges of it; the date itself is never released."""

    at: date
    widths: tuple[Decimal, ...] = ()
    start: Decimal = Decimal(0)
    cap: Cap | None = None

    example: ClassVar[str] = '{ age_at = "2024-01-01", widths = [5, 10, 20] }'

    @classmethod
    def made(cls, spot: Spot, keys: Mapping[str, Any]) -> Age:
        return cls(keys["age_at"], keys.get("widths", ()), keys.get("start", Decimal(0)))

    @property
    def height(self) -> int:
        return len(self.widths) + 2

    @property
    def lowest(self) -> int:
        return 1

    def misfit(self, column: SourceColumn) -> str | None:
        if column.is_date:
            return None
        return f"an age is counted from a date of birth, and {quoted(column.name)} is {column.type}"

    def words(self) -> str:
        said = f"the age on {self.at.isoformat()}"
        if self.widths:
            said += f", in ranges of {listed([f'{width:f}' for width in self.widths])}"
        return said if self.cap is None else f"{said}; {self.cap.words()}"

    def labels(self, coded: Coded, raw: Node) -> list[Node]:
        from anondb.sqltree.build import call, cast, number

        age = self.age(coded, raw)
        ranges = [
            call("anondb.range_label", age.copy(), number(self.start), number(width)) for width in self.widths
        ]
        labels: list[Node] = [cast(age.copy(), "text"), *ranges]
        return labels if self.cap is None else [self.cap.label(age.copy(), one, whole=True) for one in labels]

    def width(self, coded: Coded, raw: Node, level: int) -> Node:
        from anondb.sqltree.build import number, times

        years = number((Decimal(1), *self.widths)[level - 1])
        width = years if self.cap is None else self.cap.width(self.age(coded, raw), years)
        return times(width, number(_DAYS_A_YEAR * _SECONDS_A_DAY))

    def age(self, coded: Coded, raw: Node) -> Node:
        """The age of who was born at a date, given as text."""
        from anondb.sqltree.build import call, cast, string

        return call("anondb.age_on", self.order(coded, raw), cast(string(self.at.isoformat()), "date"))


def read_day(spot: Spot, value: object) -> date:
    hint = f'write it as {spot.name} = "2024-01-01"'
    if isinstance(value, date) and type(value) is date:
        return value
    if isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise UsageError(f"{spot.key}: there is no day {quoted(value)}", hint=hint) from None
    raise UsageError(f"{spot.key} must be a day, not {shown(value)}", hint=hint)


Dates.keys = {"dates": Key(read_units)}
Age.keys = {"age_at": Key(read_day), "widths": Key(read_widths), "start": Key(read_number)}
