"""Cuts by loss on rows in memory: every pair of records, every place of a cut, plain and slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

Record = tuple[int, ...]
Holds = Callable[[Sequence[int]], bool]


@dataclass(frozen=True)
class Nodes:
    """A column with a hierarchy: of each value its nodes from the leaf up to the root, and what each node costs."""

    paths: dict[int, tuple[int, ...]]
    costs: dict[tuple[int, int], float]  # (level, node) → cost

    def groups(self, values: Sequence[int]) -> tuple[list[list[int]], Callable[[int, int], float]]:
        """The values below each node that a cut may part, in their order, and what a pair of values costs."""
        top = next(t for t in range(99) if len({self.paths[value][t] for value in values}) == 1)
        below: dict[int, list[int]] = {}
        for value in values:
            below.setdefault(self.paths[value][top - 1], []).append(value)
        [node] = {self.paths[value][top] for value in values}

        def pair(one: int, other: int) -> float:
            if one == other:
                return 0.0
            child = self.paths[one][top - 1]
            same = child == self.paths[other][top - 1]
            return self.costs[top - 1, child] if same else self.costs[top, node]

        return [below[child] for child in sorted(below, key=lambda child: (-len(below[child]), child))], pair


@dataclass(frozen=True)
class Line:
    """A column of numbers, whose values cost their distance."""

    span: float

    def groups(self, values: Sequence[int]) -> tuple[list[list[int]], Callable[[int, int], float]]:
        in_order = [[value] * values.count(value) for value in sorted(set(values))]
        return in_order, lambda one, other: abs(one - other) / self.span


Column = Nodes | Line


def partitions(
    records: Sequence[Record], columns: Sequence[Column], k: int, holds: Holds | None = None
) -> list[list[int]]:
    """The partitions as lists of record numbers."""

    def parted(members: list[int]) -> list[list[int]]:
        cuts = []
        for place, column in enumerate(columns):
            values = [records[member][place] for member in members]
            if len(set(values)) > 1 and (cut := best_cut(column, values, k)) is not None:
                cuts.append((-cut[0], place, cut[1]))
        for _, place, parts in sorted(cuts, key=lambda cut: cut[:2]):
            made = [[m for m in members if records[m][place] in part] for part in parts]
            if holds is None or all(map(holds, made)):
                return [done for part in made for done in parted(part)]
        return [members]

    return parted(list(range(len(records)))) if records else []


def best_cut(column: Column, values: Sequence[int], k: int) -> tuple[float, list[set[int]]] | None:
    """What the best cut of a column saves for each bit that it tells, and the values of its parts."""
    groups, pair = column.groups(values)
    best = None
    for place in range(1, len(groups) + 1):
        rest = [value for group in groups[place:] for value in group]
        in_two = [[value for group in groups[:place] for value in group], rest]
        in_several = [*groups[:place], *[rest] * bool(rest)]
        options = [in_two] if isinstance(column, Line) else [in_two, in_several]
        scores = [
            (round(saved(parts, pair), 12), parts)
            for parts in options
            if len(parts) > 1 and all(len(part) >= k for part in parts)
        ]
        for score, parts in scores:
            if best is None or score > best[0]:
                best = (score, parts)
    return None if best is None else (best[0], [set(part) for part in best[1]])


def saved(parts: Sequence[Sequence[int]], pair: Callable[[int, int], float]) -> float:
    whole = [value for part in parts for value in part]
    told = -sum(len(part) * log(len(part) / len(whole)) for part in parts)
    return (mean(whole, pair) - sum(mean(part, pair) for part in parts)) / told


def mean(values: Sequence[int], pair: Callable[[int, int], float]) -> float:
    """What two of the values cost on average, times their number."""
    return sum(pair(one, other) for one in values for other in values) / len(values)
