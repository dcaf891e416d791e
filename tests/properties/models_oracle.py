"""The best release by brute force, on rows in memory: plain and slow, and without a line of anondb's code.

Every node of the lattice is tried. Its classes are judged one by one by the models' own definitions:
l-diversity by Machanavajjhala et al. 2007, t-closeness by Li et al. 2007, others in files of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import product
from math import exp, log
from random import Random
from typing import Any, NamedTuple

from anondb.models.registry import CLASS_MODELS
from tests.properties.oracle import Class, Hierarchy, Row, Value, generalized

NEAR = 1e-9
"""Entropies are sums of rounded logarithms."""


class Record(NamedTuple):
    quasi: Row
    sensitive: tuple[Value, ...]
    person: int | None


Members = Sequence[Record]


@dataclass(frozen=True)
class Diversity:
    column: int  # which of the sensitive ones
    l: float  # noqa: E741
    kind: str
    c: Fraction = Fraction(0)

    def holds(self, members: Members) -> bool:
        counts = sorted(Counter(record.sensitive[self.column] for record in members).values(), reverse=True)
        if self.kind == "distinct":
            return len(counts) >= self.l
        if self.kind == "entropy":
            shares = [count / len(members) for count in counts]
            return exp(-sum(share * log(share) for share in shares)) >= self.l - NEAR
        return counts[0] < self.c * sum(counts[int(self.l) - 1 :])


@dataclass(frozen=True)
class Closeness:
    column: int
    t: Fraction
    distance: str
    order: Sequence[Value]  # of all values that there can be; NULL comes after them
    paths: Mapping[Value, Sequence[str]]  # what is above a value at each level below the root

    def holds(self, members: Members, released: Members) -> bool:
        return self.between(members, released) <= self.t

    def between(self, members: Members, released: Members) -> Fraction:
        """The least share of records times way, from the class's values to those of all released ones."""
        here, there = self._shares(members), self._shares(released)
        extra = {value: here.get(value, Fraction(0)) - share for value, share in there.items()}
        if self.distance == "equal":
            return sum(map(abs, extra.values()), Fraction(0)) / 2
        if self.distance == "ordered":
            carried = moved = Fraction(0)
            for value in [*self.order, None]:
                if value in extra:  # a step is to the next value that occurs
                    carried += extra[value]
                    moved += abs(carried)
            return moved / max(len(there) - 1, 1)
        return self._up_the_tree(extra)

    def _up_the_tree(self, extra: Mapping[Value, Fraction]) -> Fraction:
        """Li et al. 2007, 4.3: below each node, what one child has too much another takes, at the node's height."""
        cost = Fraction(0)
        for level in range(1, self.height + 1):
            children: dict[object, dict[object, Fraction]] = {}
            for value, mass in extra.items():
                child, parent = self._way_up(value)[level - 1 : level + 1]
                masses = children.setdefault(parent, {})
                masses[child] = masses.get(child, Fraction(0)) + mass
            for masses in children.values():
                given = sum(mass for mass in masses.values() if mass > 0)
                taken = -sum(mass for mass in masses.values() if mass < 0)
                cost += Fraction(level, self.height) * min(given, taken)
        return cost

    @property
    def height(self) -> int:
        return 1 + len(next(iter(self.paths.values())))

    def _way_up(self, value: Value) -> list[object]:
        """A value and all that is above it; NULL is alone up to the root."""
        between = self.paths[value] if value is not None else [""] * (self.height - 1)
        return [value, *enumerate(between), "root"]

    def _shares(self, members: Members) -> dict[Value, Fraction]:
        counts = Counter(record.sensitive[self.column] for record in members)
        return {value: Fraction(count, len(members)) for value, count in counts.items()}


Counts = Counter[Any]
"""How often each value of a sensitive column occurs."""


@dataclass(frozen=True)
class Compared(ABC):
    """A model that compares a class with all released rows, in tests/properties/<model>_oracle.py."""

    column: int

    @abstractmethod
    def fits(self, here: Counts, everywhere: Counts) -> bool: ...

    @abstractmethod
    def keys(self) -> dict[str, Any]:
        """What a policy says of it, besides the column."""

    def holds(self, members: Members, released: Members) -> bool:
        here, everywhere = (
            Counter(record.sensitive[self.column] for record in them) for them in (members, released)
        )
        return self.fits(here, everywhere)


# a model without an oracle cannot be imported here, and so fails every test of the models
_OWN_FILES = [
    import_module(f"tests.properties.{model.name}_oracle")
    for model in CLASS_MODELS
    if model.name not in ("l_diversity", "t_closeness")
]


def compared(dice: Random, columns: Sequence[int]) -> list[tuple[str, Compared]]:
    """Models that have an oracle in a file of their own, by their keys in a policy."""
    return [
        (oracle.__name__.rpartition(".")[2].removesuffix("_oracle"), model)
        for oracle in _OWN_FILES
        for model in oracle.drawn(dice, columns)
    ]


@dataclass(frozen=True)
class Demanded:
    """What every class of a release must satisfy."""

    k: int
    by_person: bool
    diversity: Sequence[Diversity]
    closeness: Sequence[Closeness]
    compared: Sequence[tuple[str, Compared]] = ()

    def holds(self, members: Members) -> bool:
        """All that looks at a class alone."""
        size = len({record.person for record in members}) if self.by_person else len(members)
        return size >= self.k and all(model.holds(members) for model in self.diversity)

    def close(self, members: Members, released: Members) -> bool:
        """All that compares a class with what is released."""
        models: list[Closeness | Compared] = [*self.closeness, *(model for _, model in self.compared)]
        return all(model.holds(members, released) for model in models)

    def satisfied_by(self, classes: Iterable[Members]) -> bool:
        """What a whole release has to be, by nothing but its own rows."""
        classes = list(classes)
        released = together(classes)
        return all(self.holds(members) and self.close(members, released) for members in classes)


@dataclass(frozen=True)
class Node:
    """What a node of the lattice gives."""

    levels: tuple[int, ...]
    released: Mapping[Class, Members]
    suppressed: Members
    suppressed_pass: bool  # as a class of their own


def together(classes: Iterable[Members]) -> Members:
    return [record for members in classes for record in members]


def node_at(
    records: Members,
    hierarchies: Sequence[Hierarchy],
    demanded: Demanded,
    levels: Sequence[int],
    *,
    mask: bool,
) -> Node:
    classes: dict[Class, list[Record]] = {}
    labels = generalized([record.quasi for record in records], hierarchies, levels)
    for record, its in zip(records, labels, strict=True):
        classes.setdefault(its, []).append(record)
    passing = {its: members for its, members in classes.items() if demanded.holds(members)}
    if mask:  # all are released, so that all are what a class is compared with
        passing = {its: members for its, members in passing.items() if demanded.close(members, records)}
    else:
        while True:
            released = together(passing.values())
            near = {its: members for its, members in passing.items() if demanded.close(members, released)}
            if len(near) == len(passing):
                break
            passing = near
    left_out = together(members for its, members in classes.items() if its not in passing)
    alright = not left_out or (demanded.holds(left_out) and demanded.close(left_out, records))
    return Node(tuple(levels), passing, left_out, alright)


def best(
    records: Members,
    hierarchies: Sequence[Hierarchy],
    demanded: Demanded,
    ranges: Sequence[range],
    budget: int,
    penalty: Callable[[Node], Fraction],
    *,
    mask: bool,
) -> Node | None:
    """Of all nodes that satisfy the demand, the one of least penalty; ties to fewer levels, then to the first."""
    accepted = []
    for levels in product(*ranges):
        node = node_at(records, hierarchies, demanded, levels, mask=mask)
        if len(node.suppressed) <= budget and (not mask or node.suppressed_pass):
            accepted.append(node)
    return min(accepted, key=lambda node: (penalty(node), sum(node.levels), node.levels), default=None)
