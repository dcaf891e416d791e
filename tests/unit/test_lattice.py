"""The lattice: what is known of its nodes after checks, and which lattices are refused. No database."""

from __future__ import annotations

import time
from math import exp, prod

import pytest

from anondb.errors import UsageError
from anondb.methods.full_domain import incognito, optimal
from anondb.methods.full_domain.grid import MOST_NODES, Grid, Node, Partial, check_size
from anondb.methods.full_domain.lattice import Demand, Lattice, NodeFigures
from anondb.methods.full_domain.objective import OBJECTIVES, Objective, make
from anondb.methods.registry import METHODS

# of each column, at each level: how many labels occur
NODES = ((74, 15, 8, 4, 1), (2, 1), (5, 1), (7, 3, 1), (41, 5, 1), (14, 6, 1), (16, 8, 4, 1))
RECORDS = 30_000


def lattice(outliers: dict[Partial, int], demand: Demand) -> Lattice:
    """Three by three nodes with these outliers, all of them hopeless, each checked."""
    made = Lattice(
        Grid((0, 0), (2, 2)), ((9, 3, 1),) * 2, lambda node: NodeFigures(1, outliers[node], outliers[node], 0)
    )
    made.demand = demand
    for node in outliers:
        made.check(node)
    return made


def states(of: Lattice) -> str:
    return " ".join(of.state(node)[0] for node in of.grid.nodes())


@pytest.mark.parametrize(
    ("outliers", "demand", "expected"),
    [
        pytest.param({}, Demand(0), "p p p p p p p p p", id="nothing-was-checked"),
        pytest.param({(1, 1): 0}, Demand(0), "p p p p a a p a a", id="what-is-above-passes-too"),
        pytest.param({(1, 1): 1}, Demand(0), "n n p n n p p p p", id="what-is-below-fails-too"),
        pytest.param({(1, 1): 2}, Demand(2, monotone=True), "p p p p a a p a a", id="within-the-budget"),
        pytest.param({(1, 1): 2}, Demand(2), "p p p p a p p p p", id="not-where-a-model-is-not-monotone"),
        pytest.param(
            {(1, 1): 2},
            Demand(2, mask=True, monotone=True),
            "p p p p a p p p p",
            id="not-where-records-are-masked",
        ),
        pytest.param({(1, None): 5}, Demand(2), "n n n n n n p p p", id="a-subset-that-fails"),
        pytest.param({(None, 0): 1}, Demand(2), "p p p p p p p p p", id="a-subset-that-passes-says-nothing"),
        pytest.param({(0, 1): 9, (1, 2): 0}, Demand(2, monotone=True), "n n p p p a p p a", id="both"),
    ],
)
def test_a_node_is_known_by_its_own_check_or_by_those_of_others(
    outliers: dict[Partial, int], demand: Demand, expected: str
) -> None:
    assert states(lattice(outliers, demand)) == expected


def test_states_follow_further_checks() -> None:
    made = lattice({(1, 1): 1, (2, 2): 0}, Demand(0))
    del made.checked[2, 2]
    assert made.state((2, 2)) == "pruned"
    made.check((2, 2))
    assert made.state((2, 2)) == "anonymous"


def test_the_closest_nodes_are_those_of_all_columns_that_leave_out_fewest_records() -> None:
    made = lattice({(2, 2): 7, (1, 2): 7, (2, 0): 7, (0, 0): 9, (1, 0): 8, (2, None): 1}, Demand(0))
    assert [node for node, _ in made.closest(4)] == [(2, 0), (1, 2), (2, 2), (1, 0)]
    assert made.closest(1)[0][1].outliers == 7


@pytest.mark.parametrize("heights", [[9] * 7, [1] * 40, [0] * 33])
def test_a_lattice_that_no_search_can_keep_track_of_is_refused_before_it_is_built(heights: Node) -> None:
    grid = Grid([0] * len(heights), heights)
    with pytest.raises(UsageError, match="quasi-identifiers has") as refused:
        check_size(grid)
    assert refused.value.hint is not None
    assert "max_level" in refused.value.hint
    assert "optimal or datafly" in refused.value.hint
    with pytest.raises(UsageError):
        incognito.search(Lattice(grid, (), _never), Demand(0), _objective("loss"))


def test_a_lattice_of_a_million_nodes_is_not_refused() -> None:
    assert MOST_NODES >= 10**6
    check_size(Grid([0] * 6, [9] * 6))


def _never(_: Partial) -> NodeFigures:
    raise AssertionError("nothing is asked")


def _figures(node: Partial) -> NodeFigures:
    """As of a table of 30,000 records spread over its combinations of values."""
    groups = prod(NODES[c][level] for c, level in enumerate(node) if level is not None)
    left_out = int(RECORDS * exp(-RECORDS / groups / 5)) if RECORDS / groups < 200 else 0
    classes = min(groups, (RECORDS - left_out) // 5)
    squares = (RECORDS - left_out) ** 2 // max(classes, 1)
    return NodeFigures(classes, left_out, left_out, squares, left_out * 0.5, groups)


def _objective(name: str) -> Objective:
    costs = [[(labels[0] / n - 1) / (labels[0] - 1) for n in labels] for labels in NODES]
    return make(name, costs=costs, highest=costs, nodes=NODES, records=RECORDS, k=5)


@pytest.mark.parametrize("budget", [0, 1500])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_few_nodes_are_checked_and_little_time_is_spent_between_checks(name: str, budget: int) -> None:
    made = Lattice(Grid([0] * len(NODES), [len(labels) - 1 for labels in NODES]), NODES, _figures)
    began = time.process_time()
    found = optimal.search(made, Demand(budget, monotone=True), _objective(name))
    assert found is not None
    assert made.checks < made.size / 5
    assert (time.process_time() - began) / made.checks < 0.02


def test_the_first_objective_of_an_algorithm_is_its_default() -> None:
    assert METHODS["incognito"].options["objective"][0] == "classes"
    assert METHODS["optimal"].options["objective"][0] == "loss"
    assert set(METHODS["optimal"].options["objective"]) == set(OBJECTIVES)
    assert set(METHODS["incognito"].options["objective"]) == set(OBJECTIVES)
    assert METHODS["datafly"].options["heuristic"] == ("distinct", "semantic")
