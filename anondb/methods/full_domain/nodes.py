"""The nodes of a lattice that was searched, with what is known of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anondb.methods.full_domain import grid
from anondb.methods.full_domain.search import Search
from anondb.methods.lattice_listing import NodeState
from anondb.methods.outcome import Levels

MOST_NODES = 300  # of a lattice that is kept node by node

Account = dict[str, Any]


def node_states(search: Search, *, scored: bool) -> Iterator[NodeState]:
    """Every node in the order of its levels; `scored` where the policy has an objective."""
    lattice = search.lattice
    for node in lattice.grid.nodes():
        figures = lattice.checked.get(node)
        if figures is None:
            yield NodeState(node, lattice.state(node))
            continue
        accepted = search.demand.accepts(figures)
        score = search.objective.score(node, figures) if scored and accepted else None
        yield NodeState(node, lattice.state(node), figures.outliers, figures.classes, score)


def lattice_account(search: Search, outcome: Levels, objective: str | None) -> Account | None:
    """What a report shows of a lattice: its nodes if they are few, else how many there are at each height."""
    lattice = search.lattice
    if lattice.size > grid.MOST_NODES or len(lattice.grid.shape) > grid.MOST_COLUMNS:
        return None  # Datafly walks through lattices of any size, and nobody keeps track of their nodes
    kept: Account = {"chosen": list(outcome.levels), "score": objective or ""}
    if lattice.size <= MOST_NODES:
        nodes = node_states(search, scored=objective is not None)
        return kept | {"nodes": [[list(node.levels), node.state, node.score] for node in nodes]}
    heights = lattice.states_by_height()
    return kept | {"heights": [[height, state, count] for (height, state), count in heights.items()]}
