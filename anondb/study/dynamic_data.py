"""The data of the dynamic study of GSL (Ayala-Rivera et al.): drawn of the worst and best branch of a hierarchy."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from anondb.hierarchies.forms import VghTable

RECORDS = 1_100
LEAST_K, MOST_K = 30, 100
_STEPS = (5, 15, 25, 35, 45, 50, 60, 70, 80, 90)


class Scenario(NamedTuple):
    """The percentages of the records whose values lie in the worst branch, in the best one, and in the rest."""

    worst: int
    best: int
    rest: int

    @property
    def name(self) -> str:
        return f"{self.worst:02}w{self.best:02}b{self.rest:02}r"


SCENARIOS = tuple(Scenario(worst, 95 - worst, 5) for worst in _STEPS)


class Branches(NamedTuple):
    """The leaves of the branch that loses most, of the one that loses least, and all others."""

    worst: Sequence[str]
    best: Sequence[str]
    rest: Sequence[str]


def branches(table: VghTable, losses: Mapping[str, float]) -> Branches | None:
    """The branches by the mean loss of their leaves; none where no level has three.

    A branch is a node of the highest level that has at least three: the root may have one or two children only.
    """
    below: dict[str, list[str]] = {}
    for level in range(table.height - 1, 0, -1):
        below = {}
        for row in table.rows:
            below.setdefault(row[level], []).append(row[0])
        if len(below) >= 3:
            break
    if len(below) < 3:
        return None
    mean = {name: sum(losses[leaf] for leaf in leaves) / len(leaves) for name, leaves in below.items()}
    by_loss = sorted(below, key=lambda name: (mean[name], name))
    rest = [leaf for name in by_loss[1:-1] for leaf in below[name]]
    return Branches(below[by_loss[-1]], below[by_loss[0]], rest)


def drawn(parts: Branches, scenario: Scenario, seed: int) -> list[str]:
    """1,100 values in the shares of a scenario, each leaf of a branch with equal chances."""
    draw = random.Random(seed)
    worst, best = (RECORDS * share // 100 for share in scenario[:2])
    numbers = worst, best, RECORDS - worst - best
    return [draw.choice(leaves) for leaves, number in zip(parts, numbers, strict=True) for _ in range(number)]


def ks_by_release(
    table: VghTable, values: Sequence[str], may_suppress: int
) -> dict[tuple[int, int], list[int]]:
    """All k from 30 to 100 by the release that they lead to: its level, and how many records are left out.

    One column generalized step by step has the first level at which few enough records are in small classes.
    """
    counts = Counter(values)
    sizes = [
        Counter(size for size in _sizes(table, counts, level) for _ in range(size))
        for level in range(table.height + 1)
    ]
    found: dict[tuple[int, int], list[int]] = {}
    for k in range(LEAST_K, MOST_K + 1):
        for level, of_level in enumerate(sizes):
            small = sum(records for size, records in of_level.items() if size < k)
            if small <= may_suppress:
                found.setdefault((level, small), []).append(k)
                break
    return found


def mean_by_level(
    figures: Mapping[tuple[int, int], float], ks: Mapping[tuple[int, int], Sequence[int]]
) -> float:
    """The mean over the levels that were reached, each of them counting the same, as they do in a score; of a level
    the mean over the k that lead to it."""
    of_level: dict[int, list[float]] = {}
    for (level, left_out), of_release in ks.items():
        of_level.setdefault(level, []).extend([figures[level, left_out]] * len(of_release))
    return sum(sum(of_one) / len(of_one) for of_one in of_level.values()) / len(of_level)


def _sizes(table: VghTable, counts: Mapping[str, int], level: int) -> list[int]:
    classes: Counter[str] = Counter()
    for row in table.rows:
        classes[row[level]] += counts[row[0]]
    return [size for size in classes.values() if size]
