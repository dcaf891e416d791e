"""The dynamic study of GSL: the data it draws, the k that lead to each release, its correlations."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.hierarchies.forms import VghTable
from anondb.study.dynamic_data import RECORDS, SCENARIOS, branches, drawn, ks_by_release, mean_by_level
from anondb.study.dynamic_study import DynamicOutcome, DynamicStudy, correlations, levels_reached
from tests.properties.examples import laws

TABLE = VghTable(
    tuple(
        (f"{kind}{number}", kind, "low" if kind in "ab" else "high", "*")
        for kind in "abcd"
        for number in range(3)
    )
)
LOSSES = {row[0]: {"a": 0.1, "b": 0.4, "c": 0.2, "d": 0.3}[row[1]] for row in TABLE.rows}


def test_there_are_ten_scenarios_from_one_end_to_the_other() -> None:
    assert len(SCENARIOS) == 10
    assert (SCENARIOS[0].name, SCENARIOS[-1].name) == ("05w90b05r", "90w05b05r")
    assert all(sum(scenario) == 100 for scenario in SCENARIOS)


def test_branches_are_of_the_highest_level_that_has_three() -> None:
    """By hand: two nodes below the root, four below these; b loses most and a least."""
    parts = branches(TABLE, LOSSES)
    assert parts is not None
    assert (sorted(parts.worst), sorted(parts.best)) == (["b0", "b1", "b2"], ["a0", "a1", "a2"])
    assert len(parts.rest) == 6
    assert branches(VghTable((("x", "*"), ("y", "*"))), {"x": 0.1, "y": 0.2}) is None


def test_values_are_drawn_in_the_shares_of_the_scenario_and_by_the_seed() -> None:
    parts = branches(TABLE, LOSSES)
    assert parts is not None
    values = drawn(parts, SCENARIOS[0], 7)
    kinds = Counter(value[0] for value in values)
    assert (len(values), kinds["b"], kinds["a"]) == (RECORDS, 55, 990)
    assert values == drawn(parts, SCENARIOS[0], 7) != drawn(parts, SCENARIOS[0], 8)


@laws
@given(
    st.lists(st.integers(0, 200), min_size=12, max_size=12).filter(any),
    st.integers(0, 100),
)
def test_each_k_leads_to_the_lowest_level_that_leaves_out_few_enough(
    numbers: list[int], may_suppress: int
) -> None:
    values = [row[0] for row, number in zip(TABLE.rows, numbers, strict=True) for _ in range(number)]
    found = ks_by_release(TABLE, values, may_suppress)
    of = {row[0]: row for row in TABLE.rows}
    for (level, left_out), ks in found.items():
        for k in ks:
            small = []
            for lower in range(level + 1):
                sizes = Counter(of[value][lower] for value in values)
                small.append(sum(size for size in sizes.values() if size < k))
            assert small[level] == left_out <= may_suppress
            assert all(number > may_suppress for number in small[:level])


def test_each_level_counts_the_same() -> None:
    """By hand: level 1 loses 2 for three k and 6 for one, level 2 loses 9 for one."""
    ks = {(1, 0): [30, 31, 32], (1, 5): [33], (2, 0): [34]}
    assert mean_by_level({(1, 0): 2.0, (1, 5): 6.0, (2, 0): 9.0}, ks) == pytest.approx((3 + 9) / 2)


def test_correlations_are_of_the_hierarchies_of_one_scenario() -> None:
    outcomes = [
        DynamicOutcome(
            place, scenario, 0.1 * place, 0.3 - 0.1 * place,
            {"semantic_sse": float(place), "sem_iloss": 1.0}, {2: 71},
        )
        for scenario in ("x", "y")
        for place in range(3)
    ]  # fmt: skip
    study = DynamicStudy(3, 4, RECORDS, "wup", 7, tuple(outcomes))
    found = {(one.scenario, one.score, one.utility): one.rho for one in correlations(study)}
    assert found["x", "dynamic", "semantic_sse"] == pytest.approx(1.0)
    assert found["y", "static", "semantic_sse"] == pytest.approx(-1.0)
    assert found["x", "dynamic", "sem_iloss"] is None
    assert levels_reached(study) == {0: 0, 1: 0, 2: 6, 3: 0, 4: 0}
