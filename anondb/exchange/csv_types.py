"""The type of a column, from the texts of its cells: the narrowest that says all of them again, and text in doubt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time

from anondb.errors import UsageError, did_you_mean

_REMEMBERED = 10_000  # texts of a column, so that each is looked at once as a rule

_INTEGER = re.compile(r"-?(?:0|[1-9]\d*)", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9]\d*)?\.\d+", re.ASCII)
_COMMA = re.compile(r"-?(?:0|[1-9]\d*),\d+", re.ASCII)
_DOUBLE = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?[eE][+-]?\d{1,3}", re.ASCII)
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_OTHER_DATE = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})", re.ASCII)
_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_TIME = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?", re.ASCII)
_DIGITS_OF_NUMERIC = 1000


@dataclass(frozen=True)
class Kind:
    """What the cells of a column are, and the type of PostgreSQL that holds them."""

    name: str  # as `--types` names it
    type: str
    fits: Callable[[str], bool]
    rewrite: Callable[[str], str] | None = None  # into what PostgreSQL reads, where it is something else


def _is_integer(digits: int) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        return bool(_INTEGER.fullmatch(text)) and -(2**digits) <= int(text) < 2**digits

    return fits


def _is_number(text: str) -> bool:
    return len(text) <= _DIGITS_OF_NUMERIC and bool(_INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text))


def _is_number_with_comma(text: str) -> bool:
    return len(text) <= _DIGITS_OF_NUMERIC and bool(_INTEGER.fullmatch(text) or _COMMA.fullmatch(text))


def _is_double(text: str) -> bool:
    return len(text) <= _DIGITS_OF_NUMERIC and bool(_DOUBLE.fullmatch(text) or _is_number(text))


def _is_iso_date(text: str) -> bool:
    return bool(_ISO_DATE.fullmatch(text)) and _is_read(date.fromisoformat, text)


def _is_timestamp(text: str) -> bool:
    if _is_iso_date(text):
        return True
    found = _TIMESTAMP.fullmatch(text)
    return found is not None and found[1] is None and _is_read(datetime.fromisoformat, text)


def _is_timestamp_with_zone(text: str) -> bool:
    found = _TIMESTAMP.fullmatch(text)
    return found is not None and found[1] is not None and _is_read(datetime.fromisoformat, text)


def _is_time(text: str) -> bool:
    return bool(_TIME.fullmatch(text)) and _is_read(time.fromisoformat, text)


def _is_read(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _date_parts(text: str, *, day_first: bool) -> tuple[int, int, int] | None:
    """Year, month and day of 31.12.2024, 31/12/2024 or 12/31/2024."""
    found = _OTHER_DATE.fullmatch(text)
    if found is None or (found[2] == "." and not day_first):
        return None
    first, second, year = int(found[1]), int(found[3]), int(found[4])
    day, month = (first, second) if day_first else (second, first)
    try:
        date(year, month, day)
    except ValueError:
        return None
    return year, month, day


def _is_date(*, day_first: bool) -> Callable[[str], bool]:
    return lambda text: _date_parts(text, day_first=day_first) is not None


def _iso(*, day_first: bool) -> Callable[[str], str]:
    def rewrite(text: str) -> str:
        year, month, day = _date_parts(text, day_first=day_first) or (0, 0, 0)
        return f"{year:04}-{month:02}-{day:02}"

    return rewrite


TEXT = Kind("text", "text", lambda text: True)
_DAY_FIRST = Kind("date:dmy", "date", _is_date(day_first=True), _iso(day_first=True))
_MONTH_FIRST = Kind("date:mdy", "date", _is_date(day_first=False), _iso(day_first=False))
_NUMERIC_COMMA = Kind("numeric:comma", "numeric", _is_number_with_comma, lambda text: text.replace(",", "."))
# the first that fits all cells of a column is its kind
_LADDER = (
    Kind("boolean", "boolean", lambda text: text.lower() in ("true", "false")),
    Kind("integer", "integer", _is_integer(31)),
    Kind("bigint", "bigint", _is_integer(63)),
    Kind("numeric", "numeric", _is_number),
    Kind("double", "double precision", _is_double),
    Kind("date", "date", _is_iso_date),
    Kind("timestamp", "timestamp without time zone", _is_timestamp),
    Kind("timestamptz", "timestamp with time zone", _is_timestamp_with_zone),
    Kind("time", "time without time zone", _is_time),
    _DAY_FIRST,
    _MONTH_FIRST,
    _NUMERIC_COMMA,
    TEXT,
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _LADDER}


def named(name: str) -> Kind:
    """The kind that `--types` names."""
    if name not in KINDS:
        raise UsageError(
            f"no type is called {name[:40]!r}",
            hint=did_you_mean(name, KINDS) or f"there are {', '.join(KINDS)}",
        )
    return KINDS[name]


class ColumnType:
    """What is known of a column so far."""

    def __init__(self) -> None:
        self._open: tuple[Kind, ...] = _LADDER
        self._seen: set[str] = set()
        self._has_values = False
        self._is_no_thousands = False  # some comma cannot be one between thousands

    def look(self, text: str) -> None:
        """Takes a cell that is no NULL into account."""
        if len(self._open) == 1 or text in self._seen:
            return
        if len(self._seen) < _REMEMBERED:
            self._seen.add(text)
        self._has_values = True
        self._open = tuple(kind for kind in self._open if kind.fits(text))
        if _NUMERIC_COMMA in self._open and "," in text and len(text.rpartition(",")[2]) != 3:
            self._is_no_thousands = True

    @property
    def kind(self) -> Kind:
        if not self._has_values or self.doubt:
            return TEXT
        return self._open[0]

    @property
    def doubt(self) -> str | None:
        """Why a column is left as text that may be something else."""
        if not self._has_values:
            return None
        if self._open[0] is _DAY_FIRST and _MONTH_FIRST in self._open:
            return "its dates may have the day first or the month: date:dmy or date:mdy"
        if self._open[0] is _NUMERIC_COMMA and not self._is_no_thousands:
            return "its commas may stand before decimals or between thousands: numeric:comma, for decimals"
        return None

    def looks_like(self, text: str) -> bool:
        """Whether a text could be one of the column's values, and these are no mere texts."""
        return self._has_values and self._open[0] is not TEXT and self._open[0].fits(text)
