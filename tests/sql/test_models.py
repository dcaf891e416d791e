"""Privacy models on the histogram of one class: against their definitions, and a linear program."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from anondb.db.connection import Connection
from tests.servers import new_database

laws = settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
counts_of_a_class = st.lists(st.integers(1, 30), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def one_database(server: str, template: str) -> Iterator[Connection]:
    """The functions read and write nothing: one database serves all examples."""
    with (
        new_database(server, template) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        yield connection


@pytest.fixture
def ask(one_database: Connection) -> Any:
    def answer(call: str, *parameters: Any) -> Any:
        [(found,)] = one_database.execute(f"select anondb.{call}".encode(), parameters).fetchall()
        return found

    return answer


# diversity


@pytest.mark.parametrize("same", [1, 2, 3, 4, 7, 10, 100, 1000])
def test_equal_counts_have_an_entropy_of_exactly_their_number(ask: Any, same: int) -> None:
    for n in (1, 3, 10, 12345):
        assert ask("entropy_l(%s::bigint[])", [n] * same) == same


@laws
@given(counts_of_a_class)
def test_entropy_l_is_exp_of_the_entropy(ask: Any, counts: list[int]) -> None:
    shares = [n / sum(counts) for n in counts]
    expected = math.exp(-sum(p * math.log(p) for p in shares))
    assert ask("entropy_l(%s::bigint[])", counts) == pytest.approx(expected, abs=1e-9)
    assert ask("entropy_l(%s::bigint[])", [0, *counts, None]) == ask("entropy_l(%s::bigint[])", counts)


def recursive(counts: Sequence[int], c: Fraction, l: int) -> bool:  # noqa: E741
    """Machanavajjhala et al. 2007, definition 4.2; "1-diversity is always satisfied"."""
    r = sorted((n for n in counts if n), reverse=True)
    return bool(r) and (l <= 1 or r[0] < c * sum(r[l - 1 :]))


def test_recursive_diversity_by_hand(ask: Any) -> None:
    # of 5, 3, 2: 5 < 2 * (3 + 2), but not 5 < 2 * 2
    assert ask("recursive_l(array[2, 5, 3], 2)") == 2
    assert ask("recursive_l(array[2, 5, 3], 2.5)") == 2  # 5 < 2.5 * 2 is not strict
    assert ask("recursive_l(array[2, 5, 3], 2.51)") == 3
    assert ask("recursive_l(array[2, 5, 3], 1)") == 1  # 5 < 1 * 5 is not strict
    assert ask("recursive_l(array[7], 100)") == 1
    assert ask("is_recursive(array[2, 5, 3], 2, 2)") is True
    assert ask("is_recursive(array[2, 5, 3], 2, 3)") is False


def test_the_strict_comparison_is_not_fooled_by_binary_fractions(ask: Any) -> None:
    """0.1 * 3 > 0.3 in floating point: 3 < 0.3 * 10 and the like would become true."""
    for tenths in range(1, 40):
        counts = [tenths] * 11  # r2 + ... + r11 = 10 * tenths
        for c in (Fraction(tenths, 10), Fraction(1, 10), Fraction(7, 10)):
            expected = max(l for l in range(1, 12) if recursive(counts, c, l))  # noqa: E741
            assert ask("recursive_l(%s::bigint[], %s)", counts, float(c)) == expected


@laws
@given(counts_of_a_class, st.integers(1, 60))
def test_recursive_l_is_the_greatest_l_that_the_definition_allows(
    ask: Any, counts: list[int], tenths: int
) -> None:
    c = Fraction(tenths, 10)
    holds = [l for l in range(1, len(counts) + 2) if recursive(counts, c, l)]  # noqa: E741
    assert ask("recursive_l(%s::bigint[], %s)", [*counts, 0], float(c)) == max(holds)
    found = [ask("is_recursive(%s::bigint[], %s, %s)", counts, float(c), l) for l in range(1, 10)]  # noqa: E741
    assert found == [l in holds for l in range(1, 10)]  # noqa: E741


@pytest.mark.parametrize("nothing", ["'{}'", "null", "array[0, null]::bigint[]"])
def test_an_empty_class_has_no_diversity(ask: Any, nothing: str) -> None:
    assert ask(f"entropy_l({nothing})") == 0
    assert ask(f"recursive_l({nothing}, 2)") == 0
    assert ask(f"is_recursive({nothing}, 2, 1)") is False


# closeness


@dataclass(frozen=True)
class Tree:
    """The ancestors of each value, level by level, the values themselves first; above the last is the root."""

    levels: tuple[tuple[int, ...], ...]

    @property
    def nodes(self) -> list[int]:
        return [node for level in self.levels for node in level]

    def distance(self, a: int, b: int) -> float:
        height = len(self.levels)
        return next((i for i, level in enumerate(self.levels) if level[a] == level[b]), height) / height


@dataclass(frozen=True)
class Example:
    counts: tuple[int, ...]  # of a class, by value
    reference: tuple[int, ...]  # of all rows, the class among them
    tree: Tree
    order: tuple[int, ...]  # in which the values of the class are told

    @property
    def histogram(self) -> tuple[list[int], list[int]]:
        codes = [value for value in self.order if self.counts[value]]
        return [value + 1 for value in codes], [self.counts[value] for value in codes]

    @property
    def shares(self) -> tuple[list[float], list[float]]:
        """Of the class and of all rows, over the values that occur."""
        pairs = [(n, m) for n, m in zip(self.counts, self.reference, strict=True) if m]
        return [n / sum(self.counts) for n, _ in pairs], [m / sum(self.reference) for _, m in pairs]

    @property
    def occurring(self) -> list[int]:
        return [value for value, m in enumerate(self.reference) if m]


@st.composite
def examples(draw: st.DrawFn) -> Example:
    m = draw(st.integers(1, 7))
    counts = draw(st.lists(st.integers(0, 5), min_size=m, max_size=m).filter(any))
    others = draw(st.lists(st.integers(0, 9), min_size=m, max_size=m))
    levels = [draw(st.permutations(range(1, m + 1)))]
    for _ in range(draw(st.integers(0, 3))):
        above = draw(st.lists(st.integers(0, 4), min_size=8, max_size=8))  # of each node
        levels.append([above[node] for node in levels[-1]])
    return Example(
        tuple(counts),
        tuple(a + b for a, b in zip(counts, others, strict=True)),
        Tree(tuple(tuple(level) for level in levels)),
        tuple(draw(st.permutations(range(m)))),
    )


def transport(p: Sequence[float], q: Sequence[float], distance: np.ndarray[Any, Any]) -> float:
    """The least work that turns one distribution into the other: a linear program over all flows."""
    m = len(p)
    leaves, enters = np.kron(np.eye(m), np.ones((1, m))), np.kron(np.ones((1, m)), np.eye(m))
    found = linprog(distance.ravel(), A_eq=np.vstack([leaves, enters]), b_eq=[*p, *q], method="highs")
    assert found.success
    return float(found.fun)


def by(example: Example, distance: Any) -> float:
    values = example.occurring
    return transport(*example.shares, np.array([[distance(a, b) for b in values] for a in values]))


@laws
@given(examples())
def test_the_equal_distance_is_the_least_work(ask: Any, example: Example) -> None:
    expected = pytest.approx(by(example, lambda a, b: float(a != b)), abs=1e-9)
    told = (*example.histogram, list(example.reference))
    assert ask("emd_equal(%s::int[], %s::bigint[], %s::float8[])", *told) == expected
    known = (*told, sum(example.reference))
    assert ask("emd_equal(%s::int[], %s::bigint[], %s::float8[], %s)", *known) == expected


@laws
@given(examples())
def test_the_ordered_distance_is_the_least_work(ask: Any, example: Example) -> None:
    place = {value: i for i, value in enumerate(example.occurring)}
    apart = max(len(place) - 1, 1)
    expected = pytest.approx(by(example, lambda a, b: abs(place[a] - place[b]) / apart), abs=1e-9)
    told = (*example.histogram, list(example.reference))
    assert ask("emd_ordered(%s::int[], %s::bigint[], %s::float8[])", *told) == expected
    prepared = "emd_ordered(%s::int[], %s::bigint[], null, anondb.ordered_reference(%s::float8[]))"
    assert ask(prepared, *told) == expected


@laws
@given(examples())
def test_the_hierarchical_distance_is_the_least_work_on_the_tree(ask: Any, example: Example) -> None:
    expected = pytest.approx(by(example, example.tree.distance), abs=1e-9)
    height, reference = len(example.tree.levels), list(example.reference)
    told = (*example.histogram, reference, example.tree.nodes, height)
    call = "emd_hierarchical(%s::int[], %s::bigint[], %s::float8[], %s::int[], %s"
    assert ask(f"{call})", *told) == expected
    prepared = f"{call}, anondb.hierarchical_reference(%s::float8[], %s::int[], %s))"
    assert ask(prepared, *told, reference, example.tree.nodes, height) == expected


@laws
@given(examples(), st.integers(2, 1000))
def test_counts_and_shares_of_the_reference_say_the_same(ask: Any, example: Example, total: int) -> None:
    counts = [float(n) or None for n in example.reference]
    shares = [n / total for n in example.reference]
    for call in (
        "emd_equal(%s::int[], %s::bigint[], %s::float8[])",
        "emd_ordered(%s::int[], %s::bigint[], %s::float8[])",
    ):
        left, right = (ask(call, *example.histogram, reference) for reference in (counts, shares))
        assert left == pytest.approx(right, abs=1e-9)
    tree = (example.tree.nodes, len(example.tree.levels))
    call = "emd_hierarchical(%s::int[], %s::bigint[], %s::float8[], %s::int[], %s)"
    left, right = (ask(call, *example.histogram, reference, *tree) for reference in (counts, shares))
    assert left == pytest.approx(right, abs=1e-9)


def test_the_papers_own_example(ask: Any) -> None:
    """Li et al. 2007, 4.3: of nine salaries 3k to 11k, {3k, 4k, 5k} lies 0.375 away, {6k, 8k, 11k} 0.167."""
    salaries = "array_fill(1::float8, array[9])"
    assert ask(f"emd_ordered(array[1, 2, 3], array[1, 1, 1], {salaries})") == 0.375
    assert ask(f"emd_ordered(array[4, 6, 9], array[1, 1, 1], {salaries})") == pytest.approx(1 / 6, abs=1e-12)
    assert ask(f"emd_equal(array[1, 2, 3], array[1, 1, 1], {salaries})") == pytest.approx(2 / 3, abs=1e-12)


def test_the_hierarchical_distance_by_hand(ask: Any) -> None:
    # flu and pneumonia under lung, ulcer and gastritis under stomach; a class of flu alone, all equally frequent:
    # 1/4 stays, 1/4 comes from pneumonia (1 of 2 levels), 2/4 from the stomach (2 of 2)
    tree = "array[1, 1, 1, 1], array[1, 2, 3, 4, 1, 1, 2, 2], 2"
    assert ask(f"emd_hierarchical(array[1], array[3], {tree})") == 0.625
    assert ask(f"emd_hierarchical(array[4, 1], array[2, 2], {tree})") == 0.25


def test_exact_tenths_are_exact(ask: Any) -> None:
    """A distance of 0.1 must not fail t = 0.1, in whatever order shares are added."""
    for tenths in range(10):
        reference = [10 - tenths, tenths]
        assert ask("emd_equal(array[1], array[7], %s::float8[])", reference) == tenths / 10
        assert ask("emd_ordered(array[1], array[7], %s::float8[])", reference) == tenths / 10
        tree = "array[5, 9], 1)"
        assert ask(f"emd_hierarchical(array[1], array[7], %s::float8[], {tree}", reference) == tenths / 10


@pytest.mark.parametrize(
    "call",
    [
        "emd_equal('{}', '{}', array[1, 2])",
        "emd_equal(null, null, array[1, 2])",
        "emd_equal('{}', '{}', '{}')",
        "emd_ordered('{}', '{}', array[1, 2])",
        "emd_ordered('{}', '{}', '{}')",
        "emd_ordered(array[1], array[3], array[5])",  # one value: there is nowhere to go
        "emd_ordered(array[2], array[3], array[0, 5, null])",
        "emd_hierarchical('{}', '{}', array[1, 2], array[1, 2], 1)",
        "emd_hierarchical(null, null, '{}', '{}', 1)",
        "emd_hierarchical(array[1], array[3], array[5], array[1], 1)",
    ],
)
def test_nothing_is_no_distance_apart(ask: Any, call: str) -> None:
    assert ask(call) == 0
