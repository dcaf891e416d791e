"""Search: the algorithm decides; each node that it asks about is a question to the frequency set."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from anondb.errors import UnsatisfiableError, UsageError
from anondb.methods.full_domain import costs_sql as costs
from anondb.methods.full_domain import objective as objectives
from anondb.methods.full_domain.checks import Asking
from anondb.methods.full_domain.grid import Grid, check_size, is_large
from anondb.methods.full_domain.lattice import Demand, Lattice
from anondb.methods.full_domain.method import FullDomain
from anondb.methods.full_domain.objective import Objective
from anondb.methods.full_domain.sql import Costs
from anondb.methods.outcome import Levels
from anondb.models.model import ClassModel
from anondb.models.sql import Models
from anondb.run.encode import Encoded
from anondb.run.encode_sql import analyze
from anondb.run.plan import Options, Plan
from anondb.run.search import judged_models, put_reference_down
from anondb.run.statement import Runner, Statement, row
from anondb.sqltree.tables import Scratch

MEASURE = "wup"  # of the semantic objective and heuristic

_MINUTE, _ASKING, _VALUE = 60.0, 4e-3, 2e-8  # seconds: of a search, of a question, of a value that it reads
_FEWEST_CHECKS, _MOST_CHECKS = 300, 10_000


@dataclass(frozen=True)
class Search:
    """A search that is set up: what it looks through, what for, and what is best."""

    lattice: Lattice
    demand: Demand
    objective: Objective
    asking: Asking


def prepare(
    db: Runner,
    plan: Plan,
    names: Scratch,
    encoded: Encoded,
    options: Options,
    finer: Mapping[str, tuple[int, ...]] | None = None,
) -> Search:
    """Sets a search up: its models, its objective with the costs that it needs, its lattice.

    `finer` are the numbers of labels of columns at levels that no release can have.
    """
    privacy, method = plan.policy.privacy, plan.policy.method
    judged = judged_models(plan, encoded)
    put_reference_down(db, names, encoded, judged)
    demand = Demand(
        privacy.may_suppress(encoded.eligible),
        mask=privacy.suppress == "mask",
        monotone=judged.are_monotone,
        additive=judged.are_additive,
    )
    weights = [method.weights.get(q.name, 1.0) for q in encoded.quasi]
    word = "semantic" if method.heuristic == "semantic" else method.objective
    objective, cost = _objective(db, names, encoded, judged, demand, word, weights)
    asking = Asking(db, names, judged, demand, cost, encoded.nodes)
    deadline = float("inf") if options.time_limit is None else time.monotonic() + options.time_limit
    grid = _grid(encoded)
    most = options.checks
    if most is None and is_large(grid):
        most = usual_checks(asking.rollups.rows, len(encoded.quasi))
    lattice = Lattice(
        grid,
        _labels(encoded, finer or {}),
        asking,
        deadline,
        asking.rollups.rows,
        most_checks=most,
        seed=method.seed,
        tell=asking.tell,
        begins=tuple(q.min_level for q in encoded.quasi),
    )
    return Search(lattice, demand, objective, asking)


def find(method: FullDomain, plan: Plan, search: Search, options: Options) -> Levels:
    """The outcome: the algorithm's, or the node that the caller chose; raises if there is none."""
    lattice, demand = search.lattice, search.demand
    if options.levels is not None:
        return _chosen(plan, search, options.levels)
    found = method.search(lattice, demand, search.objective, plan.policy.method.heuristic)
    if found is None and lattice.is_spent():
        raise UnsatisfiableError(
            "no release was found in the time or the checks that were given",
            hint="raise --time-limit or --checks, or leave it out",
        )
    if found is None:
        # subsets of the columns may have ruled out every node, and then none was looked at
        lattice.check(lattice.grid.highest)
        raise UnsatisfiableError("no generalization satisfies the policy", hint=advice(plan, search))
    return found


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
    helps += dict.fromkeys(m.advice for m in privacy.models if isinstance(m, ClassModel))
    if privacy.suppress == "mask":
        helps.append('suppress = "remove"')
    return "; ".join(
        [*(["closest: " + "; ".join(lines)] if lines else []), "what would help: " + ", ".join(helps)]
    )


def require_in_range(plan: Plan, search: Search, levels: tuple[int, ...]) -> None:
    """Raises unless the levels of the last release are still levels of the hierarchies."""
    grid = search.lattice.grid
    fits = len(levels) == len(plan.quasi) and all(
        low <= level <= high for level, low, high in zip(levels, grid.lowest, grid.highest, strict=True)
    )
    if not fits:
        raise UnsatisfiableError(
            "the levels of the last release are no longer levels of these hierarchies",
            hint="run with --replan to search for others",
        )


def again(plan: Plan, search: Search, levels: tuple[int, ...]) -> Levels:
    """The levels of the last release, if they still satisfy the policy."""
    require_in_range(plan, search, levels)
    search.lattice.demand = search.demand
    figures = search.lattice.check(levels)
    if not search.demand.accepts(figures):
        raise UnsatisfiableError(
            f"the levels of the last release no longer satisfy the policy: {figures.outliers} records would have to "
            f"be suppressed, and {search.demand.budget} may be",
            hint="run with --replan to search for other levels",
        )
    return Levels(levels, figures.outliers)


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


def refuse_large(plan: Plan) -> None:
    """Refuses a lattice that is too large whatever the values are: before they are counted.

    How high a mask is, only the values say; until then it counts for the levels that it has at least.
    """
    lowest = [q.min_level for q in plan.quasi]
    highest = [max(q.min_level, q.height if q.max_level is None else q.max_level) for q in plan.quasi]
    check_size(Grid(lowest, highest))


def usual_checks(rows: int, columns: int) -> int:
    """How many checks of a frequency set take about a minute: of each, a part of every value, and the asking."""
    checks = _MINUTE / (_ASKING + rows * columns * _VALUE)
    return int(min(_MOST_CHECKS, max(_FEWEST_CHECKS, checks // 100 * 100)))


def _labels(encoded: Encoded, finer: Mapping[str, tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """How many labels of each column occur at each level, also where these were not coded; NULL has none of its own."""
    known = []
    for q, labels, has_null in zip(encoded.quasi, encoded.nodes, encoded.has_null, strict=True):
        below = finer.get(q.name, ())
        counted = tuple(found + (level > 0 and has_null) for level, found in enumerate(below))
        known.append((*counted, *labels[len(counted) :]))
    return tuple(known)


def _grid(encoded: Encoded) -> Grid:
    highest = []
    for q in encoded.quasi:
        if q.min_level > q.height or (q.max_level or 0) > q.height:
            raise UsageError(
                f'min_level or max_level of "{q.name}" is above the root of its hierarchy',
                hint=f"its levels go from 0 to {q.height}",
            )
        highest.append(q.height if q.max_level is None else q.max_level)
    return Grid([max(q.min_level, q.base) for q in encoded.quasi], highest)


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
