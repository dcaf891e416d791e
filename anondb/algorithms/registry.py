"""The algorithms that a policy can name, and what each needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anondb.algorithms import datafly
from anondb.algorithms.lattice import Demand, Lattice, Levels


@dataclass(frozen=True)
class Algorithm:
    name: str
    title: str
    search: Callable[[Lattice, Demand], Levels | None]
    needs_hierarchies: bool
    heuristics: tuple[str, ...] = ()  # the first is the default


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "datafly",
            "greedy full-domain generalization (Sweeney 1998)",
            search=datafly.search,
            needs_hierarchies=True,
            heuristics=("distinct",),
        ),
    )
}
