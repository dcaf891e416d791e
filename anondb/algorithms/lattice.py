"""What full-domain algorithms search: the lattice of levels, what a node gives, and when it is good enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod


@dataclass(frozen=True)
class Levels:
    """An outcome: the level of each quasi-identifier, and how many records are suppressed there."""

    levels: tuple[int, ...]
    suppressed: int


@dataclass(frozen=True)
class NodeFigures:
    """What a node would give: classes of k records or more, and what lies in smaller ones."""

    classes: int
    outliers: int
    small_classes: int


@dataclass(frozen=True)
class Demand:
    """What a node must satisfy."""

    k: int
    budget: int  # how many records may be suppressed
    mask: bool = False  # suppressed records are kept at the roots, as a class of their own

    def accepts(self, figures: NodeFigures) -> bool:
        if figures.outliers > self.budget:
            return False
        return not self.mask or figures.outliers == 0 or figures.outliers >= self.k


@dataclass
class Lattice:
    """The nodes of a run, each checked in the database at most once."""

    heights: tuple[int, ...]
    nodes: tuple[tuple[int, ...], ...]  # of each column, at each level: how many of its labels occur
    ask: Callable[[tuple[int, ...]], NodeFigures]
    checked: dict[tuple[int, ...], NodeFigures] = field(default_factory=dict)

    def check(self, levels: Sequence[int]) -> NodeFigures:
        node = tuple(levels)
        if node not in self.checked:
            self.checked[node] = self.ask(node)
        return self.checked[node]

    @property
    def checks(self) -> int:
        return len(self.checked)

    @property
    def size(self) -> int:
        return prod(height + 1 for height in self.heights)

    @property
    def bottom(self) -> tuple[int, ...]:
        return (0,) * len(self.heights)
