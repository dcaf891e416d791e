"""Search: the algorithm decides; each node that it asks about is a question to the frequency set."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anondb.errors import UnsatisfiableError, UsageError
from anondb.methods.full_domain import costs_sql as costs
from anondb.methods.full_domain import objective as objectives
from anondb.methods.full_domain.checks import Asking
from anondb.methods.full_domain.grid import Grid
from anondb.methods.full_domain.lattice import Demand, Lattice, Levels
from anondb.methods.full_domain.objective import Objective
from anondb.methods.full_domain.sql import Costs
from anondb.methods.fusion import search as fusing
from anondb.methods.mondrian import search as partitioning
from anondb.methods.outcome import Classes
from anondb.methods.registry import ALGORITHMS
from anondb.models import sql as models
from anondb.models.sql import Closeness, Diversity, Models
from anondb.run.encode_sql import analyze
from anondb.run.plan import Options, Plan
from anondb.run.stages import Encoded
from anondb.run.statement import Runner, Statement, row
from anondb.sqltree.tables import Scratch

MEASURE = "wup"  # of the semantic objective and heuristic


@dataclass(frozen=True)
class Search:
    """A search that is set up: what it looks through, what for, and what is best."""

    lattice: Lattice
    demand: Demand
    objective: Objective
    asking: Asking


@dataclass(frozen=True)
class Found:
    """What a search has come to, and what the result says of the way there."""

    outcome: Levels | Classes
    models: Models
    facts: Mapping[str, Any]
    search: Search | None = None  # of a lattice


def search(db: Runner, plan: Plan, names: Scratch, encoded: Encoded, options: Options) -> Found:
    """The outcome of the policy's algorithm: levels in a lattice, or classes of partitioned records."""
    algorithm = ALGORITHMS[plan.policy.method.algorithm]
    if not algorithm.partitions:
        return _levelled(plan, encoded, prepare(db, plan, names, encoded, options), options)
    if options.levels is not None:
        raise UsageError(
            f"{algorithm.name} has no levels", hint="leave --levels out, or change the algorithm"
        )
    judged = judged_models(plan, encoded)
    if algorithm.fuses:
        values = [labels[0] for labels in encoded.nodes]
        accepted = {column.name for column in plan.policy.columns if column.unknown == "accept"}
        outcome = fusing.search(db, fusing.of(plan, names, encoded.quasi), values, accepted)
        facts = {"tuples": outcome.tuples, "rare": outcome.rare, "fusions": outcome.iterations}
        return Found(outcome, judged, {**facts, "changed": outcome.changed, "unknown": outcome.unknown})
    _reference(db, names, encoded, judged)
    outcome = partitioning.search(db, partitioning.of(plan, names, judged, encoded.null_code))
    cut = tuple(q.name for q in encoded.quasi if q.number in outcome.columns)
    counts = {"iterations": outcome.iterations, "partitions": outcome.partitions}
    return Found(outcome, judged, {**counts, "partitioned": cut, "bounds": plan.policy.method.bounds})


def _levelled(plan: Plan, encoded: Encoded, search: Search, options: Options) -> Found:
    outcome, lattice = find(plan, search, options), search.lattice
    figures, objective = lattice.check(outcome.levels), plan.policy.method.objective
    facts = {
        "levels": {q.name: level for q, level in zip(encoded.quasi, outcome.levels, strict=True)},
        "heights": {q.name: q.height for q in encoded.quasi},
        "checks": lattice.checks,
        "rollups": search.asking.rollups.made,
        "lattice": lattice.size,
        "proven": lattice.proven and options.levels is None,
        "objective": objective,
        "score": search.objective.score(outcome.levels, figures) if objective else None,
    }
    return Found(outcome, search.asking.models, facts, search)


def prepare(db: Runner, plan: Plan, names: Scratch, encoded: Encoded, options: Options) -> Search:
    """Sets a search up: its models, its objective with the costs that it needs, its lattice."""
    privacy, method = plan.policy.privacy, plan.policy.method
    judged = judged_models(plan, encoded)
    _reference(db, names, encoded, judged)
    demand = Demand(
        privacy.may_suppress(encoded.eligible),
        mask=privacy.suppress == "mask",
        monotone=not judged.closeness and all(model.is_monotone for model in judged.diversity),
    )
    weights = [method.weights.get(q.name, 1.0) for q in encoded.quasi]
    word = "semantic" if method.heuristic == "semantic" else method.objective
    objective, cost = _objective(db, names, encoded, judged, demand, word, weights)
    asking = Asking(db, names, judged, demand, cost, encoded.rows)
    deadline = float("inf") if options.time_limit is None else time.monotonic() + options.time_limit
    lattice = Lattice(_grid(encoded), encoded.nodes, asking, deadline)
    return Search(lattice, demand, objective, asking)


def find(plan: Plan, search: Search, options: Options) -> Levels:
    """The outcome: the algorithm's, or the node that the caller chose; raises if there is none."""
    lattice, demand = search.lattice, search.demand
    if options.levels is not None:
        return _chosen(plan, search, options.levels)
    method = plan.policy.method
    look = ALGORITHMS[method.algorithm].search
    assert look is not None
    found = look(lattice, demand, search.objective, method.heuristic)
    if found is None and not lattice.proven:
        raise UnsatisfiableError(
            "no release was found in the time that was given", hint="raise --time-limit, or leave it out"
        )
    if found is None:
        # subsets of the columns may have ruled out every node, and then none was looked at
        lattice.check(lattice.grid.highest)
        raise UnsatisfiableError("no generalization satisfies the policy", hint=advice(plan, search))
    return found


def judged_models(plan: Plan, encoded: Encoded) -> Models:
    """The policy's models on the columns as the run has coded them."""
    by_name = {s.name: s for s in encoded.counted.sensitive}
    privacy = plan.policy.privacy
    return Models(
        encoded.counted,
        privacy.k,
        tuple(Diversity(by_name[m.column], m.l, m.kind, m.c) for m in privacy.l_diversity),
        tuple(Closeness(by_name[m.column], m.t, m.distance) for m in privacy.t_closeness),
    )


def refuse_impossible(plan: Plan, encoded: Encoded) -> None:
    """What not even a release of a single class could satisfy, told before anything is searched."""
    privacy = plan.policy.privacy
    if encoded.eligible == 0:
        return
    if encoded.eligible < privacy.k:
        raise UnsatisfiableError(
            f"k = {privacy.k} is larger than the table: {encoded.eligible} records to release",
            hint="lower k, or take a larger table",
        )
    for model in privacy.l_diversity:
        [number] = [s.number for s in encoded.counted.sensitive if s.name == model.column]
        values = encoded.values[number - 1] + encoded.sensitive_null[number - 1]
        if values < model.l:
            raise UnsatisfiableError(
                f'l = {model.l:g} is larger than the number of values of "{model.column}", which is {values}',
                hint="lower l",
            )


def advice(plan: Plan, search: Search) -> str:
    """The nodes that came closest, and what would help."""
    lattice, privacy = search.lattice, plan.policy.privacy
    names = [q.name for q in plan.quasi]
    closest = lattice.closest(3)
    lines = []
    for levels, figures in closest:
        shown = ", ".join(f"{name} {level}" for name, level in zip(names, levels, strict=True))
        lines.append(f"at levels {shown}, {figures.outliers} records would have to be suppressed")
    helps = []
    if closest:
        least = closest[0][1].outliers
        if least > search.demand.budget:
            helps.append(f"a suppression that allows {least} records")
    if any(q.max_level is not None and q.max_level < q.height for q in plan.quasi):
        helps.append("a higher max_level")
    if privacy.k > 1:
        helps.append("a smaller k")
    if privacy.l_diversity:
        helps.append("a smaller l")
    if privacy.t_closeness:
        helps.append("a larger t")
    if privacy.suppress == "mask":
        helps.append('suppress = "remove"')
    return "; ".join(
        [*(["closest: " + "; ".join(lines)] if lines else []), "what would help: " + ", ".join(helps)]
    )


def _chosen(plan: Plan, search: Search, levels: tuple[int, ...]) -> Levels:
    names = [q.name for q in plan.quasi]
    if len(levels) != len(names):
        raise UsageError(
            f"{len(levels)} levels are given for {len(names)} quasi-identifiers",
            hint=f"give one for each, in this order: {', '.join(names)}",
        )
    grid = search.lattice.grid
    for name, level, low, high in zip(names, levels, grid.lowest, grid.highest, strict=True):
        if not low <= level <= high:
            raise UsageError(
                f'level {level} of "{name}" is out of range', hint=f"its levels go from {low} to {high}"
            )
    search.lattice.demand = search.demand
    figures = search.lattice.check(levels)
    if not search.demand.accepts(figures):
        wrong = f"would have to be suppressed, and {search.demand.budget} may be"
        if figures.outliers <= search.demand.budget:
            wrong = "would be masked, and do not satisfy it as a class of their own"
        raise UnsatisfiableError(
            f"these levels do not satisfy the policy: {figures.outliers} records {wrong}",
            hint="anondb lattice lists the levels that do",
        )
    return Levels(levels, figures.outliers)


def _reference(db: Runner, names: Scratch, encoded: Encoded, judged: Models) -> None:
    """What t-closeness compares with, and the trees by which it measures."""
    for s in {model.sensitive: None for model in judged.closeness}:
        db.run(Statement(f"totals {s.code}", models.totals(names, s)))
    for s in {m.sensitive: None for m in judged.closeness if m.distance == "hierarchical"}:
        db.run(Statement(f"ancestors {s.code}", models.ancestors(names, s, encoded.null_code(s))))


def _grid(encoded: Encoded) -> Grid:
    highest = []
    for q in encoded.quasi:
        if q.min_level > q.height or (q.max_level or 0) > q.height:
            raise UsageError(
                f'min_level or max_level of "{q.name}" is above the root of its hierarchy',
                hint=f"its levels go from 0 to {q.height}",
            )
        highest.append(q.height if q.max_level is None else q.max_level)
    return Grid([q.min_level for q in encoded.quasi], highest)


def _objective(
    db: Runner,
    names: Scratch,
    encoded: Encoded,
    judged: Models,
    demand: Demand,
    word: str | None,
    weights: list[float],
) -> tuple[Objective, Costs | None]:
    """The objective that a policy names, and what its checks have to ask for."""
    means: list[list[float]] = []
    highest: list[list[float]] = []
    cost = None
    if word in ("loss", "semantic"):
        measure = MEASURE if word == "semantic" else None
        db.run(Statement("costs", costs.cost_table(names, encoded.quasi, measure=measure)))
        db.run(Statement("cost statistics", analyze(names.costs)))
        for q in encoded.quasi:
            rows = db.rows(
                Statement(
                    f"costs {q.code}",
                    costs.column_costs(names, q, by_leaf=measure is not None),
                    answers=row(level=1, total=0.0, most=0.0),
                )
            )
            found = {level: (total / max(encoded.eligible, 1), most) for level, total, most in rows}
            if measure is None:
                found[q.height] = (1.0, 1.0)  # of NULLs too: at the root they can no longer be told
            levels = [found.get(level, (0.0, 0.0)) for level in range(q.height + 1)]
            means.append([mean for mean, _ in levels])
            highest.append([most for _, most in levels])
        if demand.budget:
            cost = Costs(objectives.normalized(weights), by_leaf=measure is not None, budget=demand.budget)
    made = objectives.make(
        word or "height",
        costs=means,
        highest=highest,
        nodes=encoded.nodes,
        records=encoded.eligible,
        k=judged.k,
        weights=weights,
    )
    return made, cost
