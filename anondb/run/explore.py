"""Explore: every node of a policy's lattice with what is known of it; nothing is published."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anondb.db.connection import Door, one_snapshot
from anondb.db.execute import Executor, Step
from anondb.db.install.upgrade import require_current
from anondb.errors import UsageError
from anondb.methods.full_domain import search as searching
from anondb.methods.full_domain.grid import Node
from anondb.methods.full_domain.method import FullDomain
from anondb.methods.full_domain.nodes import NodeState, node_states
from anondb.methods.full_domain.search import Search
from anondb.methods.registry import method_of
from anondb.policy.model import Policy
from anondb.run.encode import encode
from anondb.run.engine import PostgresEngine
from anondb.run.plan import Options
from anondb.run.prepare import prepare
from anondb.run.search import refuse_impossible

MOST_NODES = 200_000  # in a listing of all


@dataclass(frozen=True)
class OpenLattice:
    """All nodes of a lattice, and the one that a run would choose."""

    heights: Mapping[str, int]  # column → level of its root
    objective: str | None
    nodes: tuple[NodeState, ...]
    best: Node | None
    checks: int
    proven: bool

    def as_json(self) -> dict[str, Any]:
        """The object that `anondb lattice --json` prints."""
        return {
            "columns": list(self.heights),
            "heights": dict(self.heights),
            "objective": self.objective,
            "lattice": len(self.nodes),
            "checks": self.checks,
            "best": None if self.best is None else list(self.best),
            "proven": self.proven,
            "nodes": [node.as_json() for node in self.nodes],
        }


def explore(
    door: Door,
    policy: Policy,
    options: Options,
    *,
    full: bool = False,
    observe: Callable[[Step], None] = lambda step: None,
) -> OpenLattice:
    """Searches as a run would, and tells what it knows of each node; `full` checks every one."""
    method = method_of(policy)
    if not isinstance(method, FullDomain):
        raise UsageError(
            f"{policy.method.algorithm} cuts the records into classes, and has no lattice",
            hint="change the algorithm to datafly, incognito or optimal",
        )
    with door.open() as connection:
        require_current(connection)
        with one_snapshot(connection, "exploring the lattice", undo=True):
            db = Executor(connection, observe)
            plan = prepare(db, connection, policy, options, replace=True)
            names = plan.scratch(0)
            encoded = encode(db, PostgresEngine(db, plan), plan, names, options)
            refuse_impossible(plan, encoded)
            search = searching.prepare(db, plan, names, encoded, options)
            return _opened(method, policy, search, {q.name: q.height for q in encoded.quasi}, full=full)


def _opened(
    method: FullDomain, policy: Policy, search: Search, heights: Mapping[str, int], *, full: bool
) -> OpenLattice:
    lattice, keys = search.lattice, policy.method
    if lattice.size > MOST_NODES:
        raise UsageError(
            f"the lattice has {lattice.size:,} nodes, too many to list",
            hint="set max_level or min_level of some columns; run finds the best node all the same",
        )
    best = method.search(lattice, search.demand, search.objective, keys.heuristic)
    checks, proven = lattice.checks, lattice.proven
    if full:
        for number in range(lattice.size):
            if lattice.out_of_time():
                break
            lattice.check(lattice.grid.node(number))
    return OpenLattice(
        heights,
        keys.objective,
        tuple(node_states(search, scored=keys.objective is not None)),
        None if best is None else best.levels,
        lattice.checks if full else checks,
        proven,
    )
