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
    needs_hierarchies: bool
    search: Callable[[Lattice, Demand], Levels | None] | None = None  # of a lattice of levels
    partitions: bool = False  # it cuts the records into classes instead
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
        Algorithm(
            "mondrian",
            "multidimensional partitioning (LeFevre et al. 2006)",
            needs_hierarchies=False,
            partitions=True,
        ),
    )
}
