"""Ranges that fit the distribution of a column of numbers: by frequency, by width, or merged until k holds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import accumulate

from anondb.errors import UsageError
from anondb.hierarchies.forms import ROOT, VghTable

Starts = tuple[int, ...]  # where the ranges of a level start, as places in the sorted numbers; the first is 0


def hierarchies(values: Mapping[str, int], k: int) -> dict[str, VghTable]:
    """Hierarchies of a column of numbers, one for each way to make ranges; `values`: text → frequency."""
    numbers = {label: _number(label) for label in values}
    counts: dict[Decimal, int] = {}
    for label, number in numbers.items():
        counts[number] = counts.get(number, 0) + values[label]
    ordered = sorted(counts)
    frequencies = [counts[number] for number in ordered]
    bins = _bins(len(ordered), sum(frequencies), k)
    ways = {
        "merged": merged(frequencies, k),
        "equal frequency": halved(equal_frequency(frequencies, bins), bins),
        "equal width": halved(equal_width(ordered, bins), bins),
    }
    return {way: _table(numbers, ordered, levels) for way, levels in ways.items()}


def merged(counts: Sequence[int], k: int) -> list[Starts]:
    """Levels of ranges that hold k records each, then 2k, 4k, …: the smallest joins its smaller neighbour."""
    starts = list(range(len(counts)))
    sizes = list(counts)
    levels: list[Starts] = []
    bound = k
    while len(starts) > 1:
        while len(starts) > 1 and min(sizes) < bound:
            place = sizes.index(min(sizes))
            if place == 0 or (place + 1 < len(sizes) and sizes[place + 1] < sizes[place - 1]):
                place += 1
            sizes[place - 1 : place + 1] = [sizes[place - 1] + sizes[place]]
            del starts[place]
        levels.append(tuple(starts))
        bound *= 2
    return levels


def equal_frequency(counts: Sequence[int], bins: int) -> list[int]:
    """Where each of the bins starts, so that each holds about as many records as the others; some may be empty."""
    before = [0, *accumulate(counts)]
    return [bisect_left(before, sum(counts) * bin_ / bins, hi=len(counts) - 1) for bin_ in range(bins)]


def equal_width(numbers: Sequence[Decimal], bins: int) -> list[int]:
    """Where each of the bins starts, so that each is as wide as the others; some may be empty."""
    width = (numbers[-1] - numbers[0]) / bins
    return [bisect_left(numbers, numbers[0] + width * bin_) for bin_ in range(bins)]


def halved(starts: Sequence[int], bins: int) -> list[Starts]:
    """Levels of nested ranges: all bins, then two together, four, …; empty bins are left out."""
    levels: list[Starts] = []
    step = 1
    while step < bins:
        levels.append(tuple(sorted({0, *starts[::step]})))
        step *= 2
    return [*levels, (0,)]


def _bins(distinct: int, records: int, k: int) -> int:
    """A power of two, so that bins can be joined in pairs; at most 64, and about k records or more in each."""
    bins = 2
    while bins < 64 and bins * 2 <= min(distinct, records // k):
        bins *= 2
    return bins


def _table(numbers: Mapping[str, Decimal], ordered: Sequence[Decimal], levels: Sequence[Starts]) -> VghTable:
    """Rows of labels, the smallest number first; a level that changes nothing is left out."""
    useful: list[Starts] = []
    below = len(ordered)
    for starts in levels:
        if 1 < len(starts) < below:
            useful.append(starts)
            below = len(starts)
    places = {number: place for place, number in enumerate(ordered)}
    rows = []
    for label in sorted(numbers, key=lambda label: (numbers[label], label)):
        ranges = [_range(starts, places[numbers[label]], ordered) for starts in useful]
        rows.append((label, *ranges, ROOT))
    return VghTable(tuple(rows))


def _range(starts: Starts, place: int, ordered: Sequence[Decimal]) -> str:
    """The range that holds a number, from the first number in it to the first one after it."""
    after = bisect_right(starts, place)
    first = ordered[starts[after - 1]]
    if after == len(starts):
        return f"[{first:f}, {ordered[-1]:f}]"
    return f"[{first:f}, {ordered[starts[after]]:f})"


def _number(label: str) -> Decimal:
    number = Decimal(label)
    if not number.is_finite():
        raise UsageError(
            "the column holds NaN or infinity, which lie in no range", hint="take them out, or make them NULL"
        )
    return number
