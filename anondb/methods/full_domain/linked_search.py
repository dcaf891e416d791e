"""A lattice over the columns of all tables: what a node leaves out, what it is worth, and Datafly's way by halves."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from anondb.errors import UnsatisfiableError, UsageError
from anondb.methods.full_domain import costs_sql as costs
from anondb.methods.full_domain.datafly import choose
from anondb.methods.full_domain.grid import Grid, Node, Partial
from anondb.methods.full_domain.lattice import Demand, Lattice, NodeFigures
from anondb.methods.full_domain.method import FullDomain
from anondb.methods.full_domain.objective import Additive, Height, Objective, normalized, weighted
from anondb.methods.outcome import Levels
from anondb.run import frequency_sql as frequency
from anondb.run.encode_sql import analyze
from anondb.run.linked.choices import Choices
from anondb.run.linked.encode import EncodedTables
from anondb.run.linked.left_out import LeftOut
from anondb.run.linked.plan import LinkedPlan, LinkedScratch
from anondb.run.plan import Options, Plan
from anondb.run.statement import Runner, Statement, row


@dataclass(frozen=True)
class LinkedFigures(NodeFigures):
    """What a node would give: outliers are persons."""

    rows: int = 0  # of the tables below that are left out
    exact: bool = True


@dataclass(frozen=True)
class LinkedDemand(Demand):
    """What a node must satisfy: a budget of persons, and one of rows."""

    most_rows: int | None = None  # None: what is left out of the tables below follows from the persons

    def accepts(self, figures: NodeFigures) -> bool:
        assert isinstance(figures, LinkedFigures)
        few_rows = self.most_rows is None or figures.rows <= self.most_rows
        return figures.exact and figures.outliers <= self.budget and few_rows

    def rejects_below(self, figures: NodeFigures) -> bool:
        assert isinstance(figures, LinkedFigures)
        too_many = self.monotone and self.most_rows is not None and figures.rows > self.most_rows
        return too_many or super().rejects_below(figures)

    @property
    def implied_above(self) -> bool:
        return self.monotone


@dataclass(frozen=True)
class LinkedLoss(Additive):
    """The mean loss over the columns of all tables; what a table leaves out has lost all."""

    by_rows: bool = False  # rows are lost where no person is

    def known_unchecked(self, budget: int) -> bool:
        return budget == 0 and not self.by_rows

    def rises(self, grid: Grid) -> None:  # type: ignore[override]
        """A person who is left out may have few rows, or none, in the tables below."""
        return


@dataclass(frozen=True)
class Worth:
    """What is lost by leaving rows out, as a share of all cells."""

    weights: Sequence[float]  # of each column; they sum to 1
    means: Sequence[Sequence[float]]  # of each column at each level: its mean loss
    of_table: Sequence[Sequence[int]]  # the places of the columns of each table
    rows: Sequence[int]  # of each table

    def lost(self, levels: Sequence[int], out: Sequence[int]) -> float:
        """What those rows add that are left out, which else had lost as much as all rows of their table on average."""
        total = 0.0
        for places, rows, gone in zip(self.of_table, self.rows, out, strict=True):
            kept = sum(self.weights[c] * (1 - self.means[c][levels[c]]) for c in places)
            total += kept * gone / max(rows, 1)
        return total


class LinkedAsking:
    """Puts the questions of a search to the rows of all tables."""

    def __init__(self, choices: Choices, demand: LinkedDemand, worth: Worth | None) -> None:
        self.choices, self.demand, self.worth = choices, demand, worth

    def __call__(self, levels: Partial) -> LinkedFigures:
        node = tuple(level for level in levels if level is not None)
        out = self.choices.left_out(node)
        return self.figures(node, out)

    def figures(self, node: Node, out: LeftOut) -> LinkedFigures:
        cost = 0.0
        if self.worth is not None and out.exact:
            # so that the objective, which counts persons, comes to what all tables have lost
            cost = out.persons - self.choices.encoded.persons * self.worth.lost(node, out.tables)
        return LinkedFigures(
            0, out.persons, out.sure, 0, cost, masked_passes=False, rows=out.rows, exact=out.exact
        )


@dataclass(frozen=True)
class LinkedSearch:
    """A search that is set up."""

    lattice: Lattice
    demand: LinkedDemand
    objective: Objective
    asking: LinkedAsking


def prepare(
    db: Runner,
    plan: Plan,
    linked: LinkedPlan,
    names: LinkedScratch,
    encoded: EncodedTables,
    choices: Choices,
    options: Options,
) -> LinkedSearch:
    privacy, method = plan.policy.privacy, plan.policy.method
    choices.refuse_work()
    demand = LinkedDemand(
        choices.most_persons,
        monotone=choices.monotone,
        additive=choices.monotone,
        most_rows=choices.most_rows if privacy.suppress == "rows" else None,
    )
    quasi = [encoded.quasi(q.number) for _, q in linked.quasi()]
    weights = [method.weights.get(q.name, 1.0) for q in quasi]
    worth = None
    if method.objective == "loss":
        means, highest = costs_of(db, names, linked, encoded)
        shares = normalized(weights)
        numbers = [[q.number - 1 for q in table.plan.quasi] for table in linked.tables]
        worth = Worth(shares, means, numbers, [table.rows for table in encoded.tables])
        objective: Objective = LinkedLoss(
            "loss",
            weighted(means, shares),
            weighted(highest, shares),
            encoded.persons,
            by_rows=choices.by_rows,
        )
    else:
        objective = Height(weights)
    asking = LinkedAsking(choices, demand, worth)
    lattice = Lattice(
        _grid(linked, encoded),
        tuple(encoded.columns[q.number].nodes[0] for _, q in linked.quasi()),
        asking,
        float("inf") if options.time_limit is None else time.monotonic() + options.time_limit,
        rows=sum(table.rows for table in encoded.tables),
    )
    return LinkedSearch(lattice, demand, objective, asking)


def find(
    method: FullDomain, plan: Plan, linked: LinkedPlan, search: LinkedSearch, options: Options
) -> Levels:
    """The outcome: the algorithm's, or the node that the caller chose; raises if there is none."""
    lattice, demand = search.lattice, search.demand
    lattice.demand = demand
    if options.levels is not None:
        return _chosen(linked, search, options.levels)
    found: Levels | None
    if method.tracks_every_node:
        found = method.search(lattice, demand, search.objective, plan.policy.method.heuristic)
    else:
        found = _first_on_the_way(lattice, demand)
    if found is None and not lattice.proven:
        raise UnsatisfiableError(
            "no release was found in the time that was given", hint="raise --time-limit, or leave it out"
        )
    if found is None:
        top = search.asking.choices.left_out(lattice.grid.highest, whole=True)
        raise UnsatisfiableError(
            "no generalization satisfies the policy", hint=_advice(plan, linked, search, top)
        )
    return found


def way_up(nodes: Sequence[Sequence[int]], lowest: Node, highest: Node) -> list[Node]:
    """Datafly's way: it hangs on how many labels there are, and not on what is found on it."""
    way, levels = [lowest], list(lowest)
    while True:
        distinct = [nodes[column][level] for column, level in enumerate(levels)]
        column = choose(distinct, levels, highest)
        if column is None:
            return way
        levels[column] += 1
        way.append(tuple(levels))


def _first_on_the_way(lattice: Lattice, demand: LinkedDemand) -> Levels | None:
    """The first node that satisfies the demand; by halves, where all that come later do too."""
    way = way_up(lattice.nodes, lattice.grid.lowest, lattice.grid.highest)
    if demand.implied_above:
        low, high = 0, len(way)
        while low < high and not lattice.out_of_time():
            middle = (low + high) // 2
            if demand.accepts(lattice.check(way[middle])):
                high = middle
            else:
                low = middle + 1
        way = way[high:] if lattice.proven else []
    for node in way:
        if lattice.out_of_time():
            break
        figures = lattice.check(node)
        if demand.accepts(figures):
            return Levels(node, figures.outliers)
    return None


def _chosen(linked: LinkedPlan, search: LinkedSearch, levels: tuple[int, ...]) -> Levels:
    names, grid = linked.names, search.lattice.grid
    if len(levels) != len(names):
        raise UsageError(
            f"{len(levels)} levels are given for {len(names)} quasi-identifiers",
            hint=f"give one for each, in this order: {', '.join(names)}",
        )
    for name, level, low, high in zip(names, levels, grid.lowest, grid.highest, strict=True):
        if not low <= level <= high:
            raise UsageError(
                f'level {level} of "{name}" is out of range', hint=f"its levels go from {low} to {high}"
            )
    figures = search.lattice.check(levels)
    if not search.demand.accepts(figures):
        out = search.asking.choices.left_out(levels, whole=True)
        raise UnsatisfiableError(
            f"these levels do not satisfy the policy: {_told(out)} would have to be left out",
            hint="raise a level, or what may be suppressed",
        )
    return Levels(levels, figures.outliers)


def _told(out: LeftOut) -> str:
    return f"{out.persons:,} persons and {out.rows:,} rows of the tables below"


def _advice(plan: Plan, linked: LinkedPlan, search: LinkedSearch, top: LeftOut) -> str:
    privacy = plan.policy.privacy
    helps = [f"suppression that allows {top.persons:,} persons"]
    if privacy.suppress == "rows":
        helps.append(f"suppression_rows that allows {top.rows:,} rows")
    else:
        helps.append('suppress = "rows", with suppression_rows')
    if privacy.knows in (1, 2, "all"):
        helps.append("a smaller knows, if an attacker knows less")
    if privacy.k > 2:
        helps.append("a smaller k")
    named = ", ".join(linked.names)
    return (
        f"even with {named} as general as they may be, {_told(top)} would be left out; what would help: "
        f"{', '.join(helps)}"
    )


def costs_of(
    db: Runner, names: LinkedScratch, linked: LinkedPlan, encoded: EncodedTables
) -> tuple[list[list[float]], list[list[float]]]:
    """Of each column at each level the mean loss over its rows, and that of the row that loses most."""
    means: list[list[float]] = []
    highest: list[list[float]] = []
    for table, declared in linked.quasi():
        q = encoded.quasi(declared.number)
        of_column = names.column(q)
        db.run(Statement(f"costs {q.code}", costs.cost_table(of_column, [q])))
        db.run(Statement(f"cost statistics {q.code}", analyze(of_column.costs)))
        answers = row(level=1, total=0.0, most=0.0)
        asked = costs.column_costs(of_column, q, by_leaf=False)
        rows = db.rows(Statement(f"cost of {table.label} {q.code}", asked, answers=answers))
        records = max(encoded.columns[q.number].records, 1)
        found = {level: (total / records, most) for level, total, most in rows}
        found[q.height] = (1.0, 1.0)
        db.run(Statement("forget costs", frequency.drop(of_column.costs)))
        levels = [found.get(level, (0.0, 0.0)) for level in range(q.height + 1)]
        means.append([mean for mean, _ in levels])
        highest.append([most for _, most in levels])
    return means, highest


def _grid(linked: LinkedPlan, encoded: EncodedTables) -> Grid:
    lowest, highest = [], []
    for table, declared in linked.quasi():
        q = encoded.quasi(declared.number)
        if q.min_level > q.height or (q.max_level or 0) > q.height:
            raise UsageError(
                f'min_level or max_level of "{table.column(q.name)}" is above the root of its hierarchy',
                hint=f"its levels go from 0 to {q.height}",
            )
        lowest.append(q.min_level)
        highest.append(q.height if q.max_level is None else q.max_level)
    return Grid(lowest, highest)
