"""Mondrian on rows in memory: recursive, plain and slow, as the paper tells it, without a line of anondb's code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

Point = tuple[int, ...]  # a record's codes, which grow with its values; NULL is 0
Places = Sequence[Sequence[Fraction]]  # of each column, what its codes measure
Holds = Callable[[Sequence[int]], bool]  # whether a class of these records satisfies the policy


def mondrian(points: Sequence[Point], places: Places, k: int, holds: Holds | None = None) -> list[list[int]]:
    """The classes as lists of record numbers; strict partitioning."""
    spans = [max(column) - min(column) for column in places]

    def allowable(records: Sequence[int]) -> bool:
        return len(records) >= k and (holds is None or holds(records))

    def classes(records: list[int]) -> list[list[int]]:
        columns = range(len(places))
        codes = [[points[record][column] for record in records] for column in columns]
        widths = [
            (places[c][max(codes[c])] - places[c][min(codes[c])]) / spans[c] if spans[c] else Fraction(0)
            for c in columns
        ]
        for column in sorted(columns, key=lambda c: -widths[c]):  # sorted keeps ties in their order
            at = median(codes[column])
            left = [record for record in records if points[record][column] <= at]
            right = [record for record in records if points[record][column] > at]
            if right and allowable(left) and allowable(right):
                return classes(left) + classes(right)
        return [records]

    return classes(list(range(len(points)))) if points else []


def median(codes: Sequence[int]) -> int:
    """Where the running count over the sorted values reaches half of the records."""
    counts, running = Counter(codes), 0
    for code in sorted(counts):
        running += counts[code]
        if 2 * running >= len(codes):
            return code
    raise AssertionError("there are no records")
