"""The search of lattices too large to prove: it is held against all nodes of lattices that are small enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb.methods.full_domain import anytime, bounding, datafly, optimal
from anondb.methods.full_domain import objective as objectives
from anondb.methods.full_domain.bounding import lower_bound
from anondb.methods.full_domain.grid import Grid, Partial
from anondb.methods.full_domain.lattice import Demand, Lattice, NodeFigures
from anondb.methods.full_domain.objective import OBJECTIVES, Objective
from tests.properties.search_tables import Table, tables


class Drawn:
    """A table of 300 records whose columns hang together, and hierarchies of two or three levels."""

    def __init__(self, seed: int) -> None:
        dice = Random(seed)
        self.k, self.records = dice.choice([2, 3, 5]), 300
        kinds = [dice.randrange(12) for _ in range(self.records)]
        self.codes, self.costs = [], []  # of each column, at each level: of each record
        for _ in range(dice.choice([6, 7])):
            leaves = dice.choice([4, 8, 9])
            of_kind = [dice.randrange(leaves) for _ in range(12)]
            leaf = np.array(
                [of_kind[kind] if dice.random() < 0.7 else dice.randrange(leaves) for kind in kinds]
            )
            widths = [1, *dice.choice([[2], [2, 4], [3, 6]]), leaves]
            self.codes.append([leaf // width for width in widths])
            sizes = [Counter(value // width for value in range(leaves)) for width in widths]
            self.costs.append(
                [
                    np.array([(size[value // width] - 1) / (leaves - 1) for value in leaf])
                    for size, width in zip(sizes, widths, strict=True)
                ]
            )
        self.demand = Demand(dice.choice([0, 15, 300]), monotone=True)

    def ask(self, levels: Partial) -> NodeFigures:
        keys = np.zeros(self.records, "int64")
        cost = np.zeros(self.records)
        for column, level in enumerate(levels):
            if level is not None:
                keys = keys * 10 + self.codes[column][level]
                cost += self.costs[column][level] / len(levels)
        _, place, sizes = np.unique(keys, return_inverse=True, return_counts=True)
        left_out = sizes[place] < self.k
        outliers = int(left_out.sum())
        return NodeFigures(int((sizes >= self.k).sum()), outliers, outliers, 0, float(cost[left_out].sum()))

    def lattice(self, checks: int | None = None, seed: int = 0) -> Lattice:
        nodes = tuple(tuple(len(np.unique(codes)) for codes in column) for column in self.codes)
        grid = Grid([0] * len(nodes), [len(column) - 1 for column in nodes])
        return Lattice(grid, nodes, self.ask, most_checks=checks, seed=seed)

    def objective(self) -> Objective:
        means = [[float(costs.mean()) for costs in column] for column in self.costs]
        most = [[float(costs.max()) for costs in column] for column in self.costs]
        return objectives.make("loss", costs=means, highest=most, nodes=(), records=self.records, k=self.k)


def found_within_a_tenth(seeds: Sequence[int]) -> int:
    """In how many tables as good a node is found as a look at all nodes finds."""
    found = 0
    for seed in seeds:
        table = Drawn(seed)
        whole = table.lattice()
        best = optimal.best_of(whole, table.demand, table.objective(), np.ones(whole.grid.shape, "bool"))
        short = table.lattice(whole.size // 10)
        there = anytime.search(short, table.demand, table.objective())
        assert best is not None
        assert there is not None
        assert short.checks <= whole.size // 10
        penalties = [table.objective().penalty(one.levels, table.ask(one.levels)) for one in (best, there)]
        assert penalties[0] <= penalties[1]
        found += penalties[0] == penalties[1]
    return found


def test_within_a_tenth_of_the_checks_the_best_node_is_found() -> None:
    assert found_within_a_tenth(range(10)) == 10


@pytest.mark.nightly
def test_within_a_tenth_of_the_checks_the_best_node_is_found_in_95_of_100_tables() -> None:
    assert found_within_a_tenth(range(100)) >= 95


@settings(max_examples=100)
@given(tables(), st.sampled_from(OBJECTIVES), st.integers(1, 40))
def test_what_is_found_is_accepted_and_never_worse_than_what_datafly_finds(
    table: Table, name: str, checks: int
) -> None:
    lattice, objective = table.lattice(), table.objective(name)
    lattice.most_checks = checks
    found = anytime.search(lattice, table.demand, objective)
    greedy = datafly.search(table.lattice(), table.demand, objective)
    assert (found is None) <= (greedy is None)
    if found is not None and greedy is not None:
        assert table.demand.accepts(table.ask(found.levels))
        penalties = [objective.penalty(one.levels, table.ask(one.levels)) for one in (found, greedy)]
        assert penalties[0] <= penalties[1]


@settings(max_examples=100)
@given(tables(), st.sampled_from(OBJECTIVES), st.integers(0, 40))
def test_no_node_has_less_penalty_than_the_bound(table: Table, name: str, checks: int) -> None:
    objective = table.objective(name)
    bound = lower_bound(table.lattice(), table.demand, objective, checks)
    short = table.lattice()
    short.most_checks = checks + 1
    optimal.search(short, table.demand, objective)
    for node in table.every_node():
        if table.demand.accepts(table.ask(node)):
            penalty = objective.penalty(node, table.ask(node))
            assert bound <= penalty
            assert short.bound is None or short.bound <= penalty


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.sampled_from(["loss", "semantic"]), st.integers(0, 60), st.integers(1, 3))
def test_groups_of_any_size_bound_every_node_from_below(
    monkeypatch: pytest.MonkeyPatch, table: Table, name: str, checks: int, columns: int
) -> None:
    monkeypatch.setattr(bounding, "_COLUMNS", columns)
    objective = table.objective(name)
    bound = lower_bound(table.lattice(), table.demand, objective, checks)
    accepted = [node for node in table.every_node() if table.demand.accepts(table.ask(node))]
    assert all(bound <= objective.penalty(node, table.ask(node)) for node in accepted)


def test_the_same_seed_and_number_of_checks_look_at_the_same_nodes_and_more_checks_find_nothing_worse() -> (
    None
):
    table, nodes, penalties = Drawn(7), [], []
    for checks in (100, 100, 200, 800):
        lattice = table.lattice(checks, seed=3)
        found = anytime.search(lattice, table.demand, table.objective())
        assert found is not None
        nodes.append(list(lattice.checked))
        penalties.append(table.objective().penalty(found.levels, table.ask(found.levels)))
    assert nodes[0] == nodes[1]
    assert penalties == sorted(penalties, reverse=True)


def test_a_lattice_of_any_size_is_searched_with_what_the_checks_say_alone() -> None:
    columns = 40
    costs = [[0.0, 0.3, 1.0]] * columns
    grid = Grid([0] * columns, [2] * columns)

    def ask(levels: Partial) -> NodeFigures:
        left_out = 0 if sum(level or 0 for level in levels) >= columns else 1000
        return NodeFigures(10, left_out, left_out, 0)

    lattice = Lattice(grid, ((9, 3, 1),) * columns, ask, most_checks=2_000)
    objective = objectives.make("loss", costs=costs, highest=costs, nodes=(), records=1000, k=2)
    found = optimal.search(lattice, Demand(0, monotone=True), objective)
    assert found is not None
    assert lattice.proven is False
    assert lattice.bound is not None
    best = objective.penalty(found.levels, lattice.check(found.levels))
    assert lattice.bound <= best < inf
    assert best == pytest.approx(0.3)
