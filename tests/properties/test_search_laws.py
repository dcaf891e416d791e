"""The lattice searches against brute force, on random small tables held in memory."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from anondb.methods.full_domain import datafly, incognito, optimal
from anondb.methods.full_domain.bounds import Bounds
from anondb.methods.full_domain.grid import Grid, Node, counts_above, counts_below
from anondb.methods.full_domain.lattice import Demand, NodeFigures
from anondb.methods.full_domain.objective import OBJECTIVES, Objective
from anondb.methods.outcome import Levels
from tests.properties.search_tables import ENTROPY, Table, tables


def below(lower: Node, upper: Node) -> bool:
    return all(a <= b for a, b in zip(lower, upper, strict=True))


def brute_force(table: Table, objective: Objective) -> Node | None:
    accepted = [node for node in table.every_node() if table.demand.accepts(table.ask(node))]
    keys = [(objective.penalty(node, table.ask(node)), sum(node), node) for node in accepted]
    return min(keys)[2] if keys else None


@settings(max_examples=250)
@given(tables(), st.sampled_from(OBJECTIVES))
def test_optimal_and_incognito_find_the_node_that_brute_force_finds(table: Table, name: str) -> None:
    objective = table.objective(name)
    expected = brute_force(table, objective)
    for algorithm in (optimal, incognito):
        lattice = table.lattice()
        found = algorithm.search(lattice, table.demand, objective)
        assert (found.levels if found else None) == expected, algorithm.__name__
        assert lattice.proven
        if found:
            assert found.suppressed == lattice.checked[found.levels].outliers


def test_a_node_is_found_though_a_more_general_one_fails() -> None:
    """Entropy 2-diversity, two records may be suppressed: of (0101)(00) the second class; of (010100) all."""
    table = Table(
        records=((0, 0), (0, 0), (0, 0), (0, 0), (1, 0), (1, 0)),
        values=(0, 1, 0, 1, 0, 0),
        paths=(((0, 0, 0), (1, 0, 0)), ((0, 0),)),
        k=2,
        models=((ENTROPY, Fraction(2)),),
        demand=Demand(2),
        lowest=(0, 0),
        highest=(2, 1),
        weights=(1.0, 1.0),
        costs=(((0.0, 0.0), (1.0, 1.0), (1.0, 1.0)), ((0.0,), (1.0,))),
    )
    assert [table.ask((level, 0)).outliers for level in range(3)] == [2, 6, 6]
    assert table.ask((2, 0)).hopeless == 0
    for algorithm in (optimal, incognito):
        for name in OBJECTIVES:
            assert algorithm.search(table.lattice(), table.demand, table.objective(name)) == Levels((0, 0), 2)


@settings(max_examples=150)
@given(tables())
def test_incognito_misses_no_node_that_passes(table: Table) -> None:
    lattice = table.lattice()
    passing = incognito.all_passing(lattice, table.demand)
    for node in table.every_node():
        accepted = table.demand.accepts(table.ask(node))
        if table.demand.implied_above:
            assert bool(passing[lattice.grid.place(node)]) == accepted
        else:
            assert passing[lattice.grid.place(node)] or not accepted


@settings(max_examples=150)
@given(tables(), st.sampled_from(OBJECTIVES), st.sampled_from([datafly, incognito, optimal]))
def test_what_a_search_says_of_a_node_is_true(table: Table, name: str, algorithm: object) -> None:
    lattice = table.lattice()
    algorithm.search(lattice, table.demand, table.objective(name))  # type: ignore[attr-defined]
    for node in table.every_node():
        state = lattice.state(node)
        if state == "pruned":
            assert node not in lattice.checked
        else:
            assert (state == "anonymous") == table.demand.accepts(table.ask(node))


@settings(max_examples=100)
@given(tables(), st.sampled_from(OBJECTIVES))
def test_no_bound_is_above_a_penalty_that_it_bounds(table: Table, name: str) -> None:
    objective = table.objective(name)
    grid = table.lattice().grid
    floors, rises = objective.floors(grid), objective.rises(grid)
    accepted = [node for node in table.every_node() if table.demand.accepts(table.ask(node))]
    for node in accepted:
        figures, place = table.ask(node), grid.place(node)
        penalty = objective.penalty(node, figures)
        assert objective.floor(node) == floors[place]
        assert floors[place] <= penalty
        if figures.outliers == 0 and objective.known_unchecked(0):
            assert floors[place] == penalty
        assert objective.floor_given(figures.outliers) <= penalty
        if rises is not None:
            assert floors[place] + figures.outliers * rises[place] <= penalty + 1e-10
        for lower in table.every_node():
            if below(lower, node):
                assert objective.floor_above(table.ask(lower)) <= penalty


@settings(max_examples=100)
@given(tables(), st.sampled_from(OBJECTIVES), st.data())
def test_no_bound_that_checks_have_taught_is_above_a_penalty(
    table: Table, name: str, data: st.DataObject
) -> None:
    """Whatever nodes are checked, accepted or not, and in whatever order."""
    objective = table.objective(name)
    grid = table.lattice().grid
    bounds = Bounds(grid, objective)
    for node in data.draw(st.lists(st.sampled_from(table.every_node()), max_size=12)):
        bounds.learn(node, table.ask(node))
    for node in table.every_node():
        figures = table.ask(node)
        if table.demand.accepts(figures):
            assert bounds.floors[grid.place(node)] <= objective.penalty(node, figures)


@settings(max_examples=100)
@given(tables(), st.sampled_from(OBJECTIVES))
def test_a_node_with_more_outliers_than_are_harmless_is_no_better(table: Table, name: str) -> None:
    objective = table.objective(name)
    figures = [(node, table.ask(node)) for node in table.every_node()]
    for node, found in figures:
        penalty = objective.penalty(node, found)
        for other, with_more in figures:
            if with_more.outliers > objective.harmless(penalty):
                assert objective.penalty(other, with_more) >= penalty


@settings(max_examples=100)
@given(tables())
def test_the_oracle_keeps_what_the_database_promises_of_hopeless_records(table: Table) -> None:
    nodes = table.every_node()
    for lower, upper in product(nodes, nodes):
        if below(lower, upper) and table.demand.budget:
            assert table.ask(lower).hopeless >= table.ask(upper).hopeless
        if below(lower, upper) and table.ask(upper).hopeless > table.demand.budget:
            assert table.ask(lower).outliers > table.demand.budget
    if table.demand.monotone:
        assert all(table.ask(node).hopeless == table.ask(node).outliers for node in nodes)


@settings(max_examples=60)
@given(tables(), st.sampled_from(OBJECTIVES), st.integers(0, 6))
def test_a_search_that_runs_out_of_time_has_the_best_of_what_it_saw(
    table: Table, name: str, checks: int
) -> None:
    objective = table.objective(name)
    for algorithm in (optimal, incognito):
        lattice = table.lattice()

        def ask(levels: tuple[int | None, ...], lattice=lattice) -> NodeFigures:  # type: ignore[no-untyped-def]
            if len(lattice.checked) >= checks:
                lattice.deadline = time.monotonic() - 1
            return table.ask(levels)

        lattice.ask = ask
        found = algorithm.search(lattice, table.demand, objective)
        seen = [node for node in lattice.checked_nodes() if table.demand.accepts(table.ask(node))]
        best = min(
            ((objective.penalty(node, table.ask(node)), sum(node), node) for node in seen), default=None
        )
        assert (found.levels if found else None) == (best[2] if best else None)
        if lattice.proven:
            assert (found.levels if found else None) == brute_force(table, objective)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=5), st.data())
def test_boxes_and_counts_agree_with_the_order_of_the_lattice(
    heights: list[int], data: st.DataObject
) -> None:
    lowest = [data.draw(st.integers(0, height)) for height in heights]
    grid = Grid(lowest, heights)
    nodes = list(grid.nodes())
    assert nodes == list(product(*[range(a, b + 1) for a, b in zip(lowest, heights, strict=True)]))
    assert [grid.number(node) for node in nodes] == list(range(grid.size))
    assert grid.levels().ravel().tolist() == [sum(node) for node in nodes]
    node = data.draw(st.sampled_from(nodes))
    members = grid.filled(0, "bool")
    for member in data.draw(st.lists(st.sampled_from(nodes))):
        members[grid.place(member)] = True
    for box, counts, inside in (
        (grid.below(node), counts_below(members), [below(other, node) for other in nodes]),
        (grid.above(node), counts_above(members), [below(node, other) for other in nodes]),
    ):
        marked = grid.filled(0, "bool")
        marked[box] = True
        assert marked.ravel().tolist() == inside
        assert counts[grid.place(node)] == (marked & members).sum()
