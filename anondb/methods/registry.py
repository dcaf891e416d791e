"""The algorithms that a policy can name, and what each needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from threading import Thread

from anondb.methods.full_domain.lattice import Demand, Lattice, Levels
from anondb.methods.full_domain.objective import OBJECTIVES, Objective
from anondb.methods.fusion.fusion import VARIANTS
from anondb.methods.mdav import mdav

Search = Callable[[Lattice, Demand, Objective, str | None], Levels | None]


def _search_of(name: str) -> Search:
    """The search in an algorithm's module, which is loaded when it is used: not all commands search."""

    def search(
        lattice: Lattice, demand: Demand, objective: Objective, heuristic: str | None = None
    ) -> Levels | None:
        module = import_module(f"anondb.methods.full_domain.{name}")
        found: Levels | None = module.search(lattice, demand, objective, heuristic)
        return found

    return search


@dataclass(frozen=True)
class Algorithm:
    name: str
    title: str
    needs_hierarchies: bool
    search: Search | None = None  # of a lattice of levels
    partitions: bool = False  # it cuts the records into classes instead
    fuses: bool = False  # its classes take the values of one of their records
    anatomizes: bool = False  # it releases sensitive values apart from their records, in a table of their own
    meanings: bool = False  # it compares values by an ontology and a measure
    variants: tuple[str, ...] = ()  # the first is the default
    draws: bool = False  # at random, by a seed
    sets: bool = False  # its one quasi-identifier is a set of texts
    models: bool = True  # it can satisfy demands on sensitive columns
    heuristics: tuple[str, ...] = ()  # the first is the default
    objectives: tuple[str, ...] = ()  # the first is the default

    @property
    def cuts(self) -> bool:
        """Whether its classes are made by cuts between values."""
        return self.partitions and not (self.fuses or self.anatomizes or self.sets)


def _by_preference(first: str) -> tuple[str, ...]:
    return (first, *(name for name in OBJECTIVES if name != first))


ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm(
            "datafly",
            "greedy full-domain generalization (Sweeney 1998)",
            search=_search_of("datafly"),
            needs_hierarchies=True,
            heuristics=("distinct", "semantic"),
        ),
        Algorithm(
            "incognito",
            "all anonymous nodes by subsets of the quasi-identifiers (LeFevre, DeWitt, Ramakrishnan 2005)",
            search=_search_of("incognito"),
            needs_hierarchies=True,
            objectives=_by_preference("classes"),
        ),
        Algorithm(
            "optimal",
            "the best node with few checks: both directions of the lattice, and bounds on the objective",
            search=_search_of("optimal"),
            needs_hierarchies=True,
            objectives=_by_preference("loss"),
        ),
        Algorithm(
            "mondrian",
            "multidimensional partitioning (LeFevre et al. 2006)",
            needs_hierarchies=False,
            partitions=True,
        ),
        Algorithm(
            "fusion",
            "rare records take the values of the most similar ones (Martínez et al. 2012)",
            needs_hierarchies=False,
            partitions=True,
            fuses=True,
            meanings=True,
            variants=VARIANTS,
            draws=True,
            models=False,
        ),
        Algorithm(
            "mdav",
            "microaggregation of sets of texts by their concepts (Batet et al. 2013)",
            needs_hierarchies=False,
            partitions=True,
            meanings=True,
            sets=True,
            variants=mdav.VARIANTS,
            draws=True,
            models=False,
        ),
        Algorithm(
            "le_diversity",
            "sensitive values that are no close relatives share a class, apart from their records (Wang et al.)",
            needs_hierarchies=False,
            partitions=True,
            anatomizes=True,
            draws=True,
        ),
    )
}


def load_ahead(name: str) -> None:
    """Loads what a search computes with while the server counts: it takes as long as a dozen checks."""
    if ALGORITHMS[name].objectives:
        Thread(target=import_module, args=("numpy",), daemon=True).start()
