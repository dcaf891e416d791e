"""Which frequency sets are kept: decisions alone, no database."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from anondb.methods.full_domain.grid import Partial
from anondb.methods.full_domain.rollup import Rollups, at_most_as_general

NODES = st.tuples(*[st.sampled_from([0, 1, 2, None])] * 3)


def test_without_a_kept_set_every_node_is_counted_from_the_frequency_set() -> None:
    assert Rollups(1000).source((0, 0)) == (None, 1000)


def test_a_node_is_counted_from_the_smallest_set_that_is_at_most_as_general() -> None:
    rollups = Rollups(1000)
    for node, rows in (((1, 0), 200), ((1, 1), 50), ((0, 2), 20)):
        rollups.note(node, rows, 1000)
        assert rollups.keep(node, rows) == []
    assert rollups.source((2, 1)) == ((1, 1), 50)
    assert rollups.source((1, 0)) == ((1, 0), 200)
    assert rollups.source((0, 1)) == (None, 1000)
    assert rollups.source((2, 2)) == ((0, 2), 20)
    assert rollups.made == 3


def test_a_column_that_is_left_out_is_more_general_than_its_root() -> None:
    rollups = Rollups(1000)
    rollups.note((1, 3), 100, 1000)
    rollups.keep((1, 3), 100)
    assert rollups.source((1, None)) == ((1, 3), 100)
    rollups.note((None, 0), 10, 1000)
    rollups.keep((None, 0), 10)
    assert rollups.source((1, 3)) == ((1, 3), 100)
    assert rollups.source((None, 2)) == ((None, 0), 10)


def test_a_set_is_kept_once_it_would_have_spared_three_times_what_it_costs() -> None:
    rollups = Rollups(1000)
    assert rollups.note((1, 1), 100, 1000) is None
    # each of these would have read 900 rows less; it costs 1000 to make
    said = [rollups.note(node, 90, 1000) for node in ((1, 2), (2, 1), (2, 2), (1, 3))]
    assert said == [None, None, None, (1, 1)]


def test_a_set_that_is_not_much_smaller_is_not_worth_keeping() -> None:
    rollups = Rollups(1000)
    rollups.note((1, 1), 251, 1000)
    assert all(rollups.note((1, 1 + n), 251, 1000) is None for n in range(50))


def test_what_is_kept_is_not_asked_for_again() -> None:
    rollups = Rollups(1000)
    for n in range(4):
        rollups.note((1, 1 + n), 100, 1000)
    assert rollups.note((1, 1), 100, 1000) == (1, 1)
    rollups.keep((1, 1), 100)
    for n in range(50):
        _, rows = rollups.source((1, 2 + n))
        assert rows == 100
        assert rollups.note((1, 2 + n), 90, rows) is None


def test_the_least_recently_used_set_is_dropped_where_the_budget_is_passed() -> None:
    rollups = Rollups(1000, budget=250)
    for node in ((1, 0), (0, 1)):
        rollups.note(node, 100, 1000)
        assert rollups.keep(node, 100) == []
    rollups.source((1, 0))
    rollups.note((2, 2), 100, 1000)
    assert rollups.keep((2, 2), 100) == [(0, 1)]
    assert rollups.source((0, 1)) == (None, 1000)


def test_a_set_that_is_larger_than_the_budget_is_dropped_itself() -> None:
    rollups = Rollups(1000, budget=250)
    rollups.note((1, 0), 100, 1000)
    assert rollups.keep((1, 0), 300) == [(1, 0)]
    assert rollups.source((1, 0)) == (None, 1000)


def test_rows_that_also_count_sensitive_values_are_expected_of_the_next_sets() -> None:
    rollups = Rollups(1000)
    rollups.note((1, 0), 100, 1000)
    rollups.keep((1, 0), 500)  # five rows a group
    rollups.note((0, 1), 60, 1000)
    assert all(rollups.note((0, 2 + n), 60, 1000) is None for n in range(50))


@given(st.lists(st.tuples(NODES, st.integers(1, 400)), max_size=80), st.integers(0, 300))
def test_sources_can_answer_and_what_is_kept_stays_within_the_budget(
    checks: list[tuple[Partial, int]], budget: int
) -> None:
    rollups, kept = Rollups(400, budget), dict[Partial, int]()
    for node, groups in checks:
        key, rows = rollups.source(node)
        able = [n for other, n in kept.items() if at_most_as_general(other, node)]
        assert rows == min([*able, 400])
        assert key is None or kept[key] == rows
        chosen = rollups.note(node, groups, rows)
        if chosen is not None:
            assert chosen not in kept
            kept[chosen] = max(g for other, g in checks if other == chosen)
            for dropped in rollups.keep(chosen, kept[chosen]):
                del kept[dropped]
        assert sum(kept.values()) <= budget


def test_thousands_of_checked_nodes_are_taken_down_in_no_time() -> None:
    rollups = Rollups(10**6)
    began = time.process_time()
    for n in range(5000):
        node = tuple(n // 4**c % 4 for c in range(9))
        rollups.note(node, 300_000 - n, rollups.source(node)[1])
    assert time.process_time() - began < 5
