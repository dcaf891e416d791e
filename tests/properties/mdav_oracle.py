"""Distances of sets and MDAV straight from their definitions, in exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product

from tests.toys import Graph

Sets = Mapping[int, frozenset[str]]  # record → its concepts
Delta = Callable[[str, str], Fraction]
DISTANCES = ("minimum", "maximum", "average", "sum_of_minimum", "sum_of_maximum")
MEASURES = ("shared", "equal")


def generalizations(parents: Graph, concept: str) -> frozenset[str]:
    return frozenset({concept}).union(*(generalizations(parents, parent) for parent in parents[concept]))


def delta(parents: Graph, measure: str) -> Delta:
    if measure == "equal":
        return lambda a, b: Fraction(a != b)

    def shared(a: str, b: str) -> Fraction:
        above_a, above_b = generalizations(parents, a), generalizations(parents, b)
        return Fraction(len(above_a ^ above_b), len(above_a | above_b))

    return shared


def set_distance(x: frozenset[str], y: frozenset[str], distance: str, apart: Delta) -> Fraction:
    pairs = [apart(a, b) for a, b in product(x, y)]
    match distance:
        case "minimum":
            return min(pairs)
        case "maximum":
            return max(pairs)
        case "average":
            return sum(pairs, Fraction()) / len(pairs)
    nearest = min if distance == "sum_of_minimum" else max
    one_way = sum((nearest(apart(a, b) for b in y) for a in x), Fraction())
    other_way = sum((nearest(apart(a, b) for a in x) for b in y), Fraction())
    return (one_way + other_way) / (len(x) + len(y))


def partition(sets: Sets, k: int, far: Callable[[int, int], Fraction]) -> list[tuple[frozenset[int], int]]:
    """The classes in the order in which they are made, each with its centroid."""

    def centroid(records: Sequence[int]) -> int:
        return min(records, key=lambda r: (sum(far(r, other) for other in records), r))

    def take(first: int) -> frozenset[int]:
        others = sorted((r for r in left if r != first), key=lambda r: (far(first, r), r))
        found = frozenset({first, *others[: k - 1]})
        left[:] = [r for r in left if r not in found]
        return found

    def farthest(start: int) -> int:
        return min((r for r in left if r != start), key=lambda r: (-far(start, r), r))

    left, classes = sorted(sets), []
    while len(left) >= 2 * k:
        first = farthest(centroid(left))
        classes.append(take(first))
        if len(left) >= 2 * k:
            classes.append(take(farthest(first)))
    classes.append(frozenset(left))
    return [(found, centroid(sorted(found))) for found in classes]
