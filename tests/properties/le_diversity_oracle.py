"""(l, e)-diversity as Wang, Han and Wang define it, pair by pair and record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.properties.models_oracle import Compared

Path = Sequence[str | None]
"""The labels of a sensitive value from the leaf to the root; a short branch repeats its leaf's label."""


def apart(a: Path, b: Path) -> float:
    """Steps to where two leaves meet, halved, in the tree that the padded paths stand for."""

    one, other = _unpadded(a), _unpadded(b)
    while len(one) > 1 and len(other) > 1 and one[-2] == other[-2]:
        one.pop()
        other.pop()
    if one[0] == other[-1]:
        return (len(other) - 1) / 2
    return (len(one) + len(other) - 2) / 2


def _unpadded(path: Path) -> list[str | None]:
    return [label for i, label in enumerate(path) if i == 0 or label != path[i - 1]]


def diverse(values: Sequence[int], paths: Sequence[Path], l: int, e: float) -> bool:  # noqa: E741
    """The definition: no value has more than 1/l of the class, and no two different ones are e-similar."""
    most = max(Counter(values).values())
    return most * l <= len(values) and all(
        apart(paths[a], paths[b]) > e for a, b in combinations(set(values), 2)
    )


def most_strangers(values: Collection[int], paths: Sequence[Path], e: float) -> int:
    """The largest number of values every two of which are more than e apart, by trying all sets of them."""
    for size in range(len(values), 0, -1):
        for chosen in combinations(values, size):
            if all(apart(paths[a], paths[b]) > e for a, b in combinations(chosen, 2)):
                return size
    return 0


def buckets_of(paths: Sequence[Path], e: float) -> list[set[int]]:
    """Values that are e-similar lie together, also by way of others."""
    found: list[set[int]] = []
    for value, path in enumerate(paths):
        near = [b for b in found if any(apart(path, paths[other]) <= e for other in b)]
        found = [b for b in found if b not in near] + [{value}.union(*near)]
    return found


def largest_first(sizes: Sequence[int], l: int) -> tuple[int, list[int]]:  # noqa: E741
    """The loop of the paper, on the sizes of buckets: how many classes, and what is left."""
    left, classes = list(sizes), 0
    while sum(size > 0 for size in left) >= l:
        for place in sorted(range(len(left)), key=lambda i: -left[i])[:l]:
            left[place] -= 1
        classes += 1
    return classes, left


def reached(classes: Sequence[Sequence[int]], paths: Sequence[Path], e: float) -> float:
    """The l for which every class is (l, e)-diverse; 0 if there is none."""
    if any(apart(paths[a], paths[b]) <= e for c in classes for a, b in combinations(set(c), 2)):
        return 0
    return min((len(c) / max(Counter(c).values()) for c in classes), default=0)


def losses(classes: Sequence[Sequence[int]]) -> list[float]:
    """What a reader of a class cannot know of each of its records."""
    return [(c.count(v) / len(c) - 1) ** 2 for c in map(list, classes) for v in c]


def dods(classes: Sequence[Sequence[int]], paths: Sequence[Path]) -> list[float]:
    """The distances of all two records of a class, by the number of its records."""
    return [sum(apart(paths[a], paths[b]) for a, b in combinations(c, 2) if a != b) / len(c) for c in classes]


def grouped(values: Sequence[int], paths: Sequence[Path], e: float) -> float:
    """The l of a class in which relatives count as one: of all values, the one that has most with its relatives."""
    counts = Counter(values)
    most = max(sum(n for v, n in counts.items() if apart(paths[v], one) <= e) for one in paths)
    return len(values) / most


def drawn(dice: Random, columns: Sequence[int]) -> list[Compared]:
    """None: it needs a hierarchy, and is tried in tests/properties/test_le_diversity_models.py."""
    return []
