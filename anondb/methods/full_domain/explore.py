"""Every node of a policy's lattice with what is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anondb.errors import UsageError
from anondb.methods.full_domain import search as searching
from anondb.methods.full_domain.nodes import node_states
from anondb.methods.lattice_listing import OpenLattice
from anondb.run.encode import encode, take_keys
from anondb.run.search import refuse_impossible

if TYPE_CHECKING:
    from anondb.methods.full_domain.method import FullDomain
    from anondb.methods.method import Job

MOST_NODES = 200_000  # in a listing of all


def explored(method: FullDomain, job: Job, *, full: bool) -> OpenLattice:
    """Searches as a run would, and tells what it knows of each node; `full` checks every one."""
    plan, names = job.plan, job.plan.scratch(job.run)
    if plan.scope is not None or plan.noisy:
        take_keys(job.db, job.engine, plan, names)
    encoded = encode(job.db, job.engine, plan, names, job.options)
    refuse_impossible(plan, encoded)
    search = searching.prepare(job.db, plan, names, encoded, job.options)
    lattice, keys = search.lattice, plan.policy.method
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
        {q.name: q.height for q in encoded.quasi},
        keys.objective,
        tuple(node_states(search, scored=keys.objective is not None)),
        None if best is None else best.levels,
        lattice.checks if full else checks,
        proven,
    )
