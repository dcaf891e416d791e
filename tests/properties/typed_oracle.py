"""What labels say as numbers, dates and ranges, read from their texts alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

from psycopg.types.range import Range

from tests.properties.oracle import Label, Value, text

Ends = tuple[Fraction | None, bool, Fraction | None, bool]
"""The lower end, whether it belongs to the label, the upper one, whether it does."""


def ends(label: str) -> Ends:
    if label == "*":
        return None, False, None, False
    if label[0] == "[":
        lower, upper = map(Fraction, label[1:-1].split(", "))
        return lower, True, upper, label[-1] == "]"
    if label[0] == "<":
        return None, False, Fraction(label[1:]), False
    if label[0] == ">":
        return Fraction(label[1:]), False, None, False
    if label[-1] == "+":
        return Fraction(label[:-1]), True, None, False
    return Fraction(label), True, Fraction(label), True


def whole_ends(label: str) -> tuple[int | None, int | None]:
    lower, with_lower, upper, with_upper = ends(label)
    least = None if lower is None else ceil(lower) if with_lower else floor(lower) + 1
    return least, None if upper is None else floor(upper) if with_upper else ceil(upper) - 1


def days(label: str) -> tuple[date | None, date | None]:
    """The first and the last day."""
    if label == "*":
        return None, None
    if label[0] == "[":
        first, last = label[1:-1].split(", ")
        return date.fromisoformat(first), date.fromisoformat(last)
    if found := re.fullmatch(r"(\d{4})(?:-(\d{4})|(s))?", label):
        first_year = int(found[1])
        last_year = int(found[2]) if found[2] else first_year + 9 if found[3] else first_year
        return date(max(first_year, 1), 1, 1), date(last_year, 12, 31)
    if found := re.fullmatch(r"(\d{4})-(Q?)(\d+)", label):
        month, months = (3 * int(found[3]) - 2, 3) if found[2] else (int(found[3]), 1)
        year, after = int(found[1]), month + months
        following = date(year + (after > 12), after - 12 * (after > 12), 1)
        return date(year, month, 1), following - timedelta(1)
    day = date.fromisoformat(label)
    return day, day


def value(label: Label, word: str, kind: str) -> object:
    """What is released of a label; `kind` is whole, number or date."""
    if label is None:
        return None
    if word == "text":
        return label
    if kind == "date":
        first, last = days(label)
        match word:
            case "range":
                return Range(first, None if last is None else last + timedelta(1))
            case "lower":
                return first
            case "upper":
                return last
        return None if first is None or last is None else first + (last - first) // 2
    low: Fraction | int | None
    high: Fraction | int | None
    if kind == "whole":
        low, high = whole_ends(label)
        if word == "range":
            return Range(low, None if high is None else high + 1)
    else:
        low, with_low, high, with_high = ends(label)
        if word == "range":
            return Range(
                _decimal(low), _decimal(high), f"{'[' if with_low else '('}{']' if with_high else ')'}"
            )
    match word:
        case "lower":
            return _decimal(low)
        case "upper":
            return _decimal(high)
    return None if low is None or high is None else _decimal(Fraction(low + high, 2))


def _decimal(number: Fraction | int | None) -> Decimal | None:
    if number is None:
        return None
    exact = Fraction(number)
    return Decimal(exact.numerator) / Decimal(exact.denominator)


def mean(values: Sequence[Value], kind: str) -> Fraction | date | None:
    """Of the values of a class, without NULLs; of days rounded down to one."""
    known = [one for one in values if one is not None]
    if not known:
        return None
    if kind == "date":
        numbers = [one.toordinal() for one in known if isinstance(one, date)]
        return date.fromordinal(sum(numbers) // len(numbers))
    return sum((Fraction(text(one)) for one in known), Fraction(0)) / len(known)
