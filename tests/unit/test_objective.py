"""Objectives: the figures that users see and those that searches minimize, computed by hand. No database."""

from __future__ import annotations

import pytest

from anondb.methods.full_domain.lattice import NodeFigures
from anondb.methods.full_domain.objective import OBJECTIVES, Objective, make, normalized

# ten records; at the node (1, 0) two classes of three and five, and two records in smaller ones
FIGURES = NodeFigures(classes=2, outliers=2, hopeless=2, squares=34, outlier_cost=0.5, groups=4)
NODE = (1, 0)


def objective(name: str, weights: list[float] | None = None) -> Objective:
    return make(
        name,
        costs=[[0.0, 0.4, 1.0], [0.2, 1.0]],
        highest=[[0.0, 0.5, 1.0], [0.3, 1.0]],
        nodes=[[6, 3, 1], [4, 1]],
        records=10,
        k=3,
        weights=weights,
    )


@pytest.mark.parametrize(
    ("name", "score", "penalty"),
    [
        ("loss", 0.3 + 0.15, 0.45),  # the mean of 0.4 and 0.2; two records cost 2 and not 0.5, of ten
        ("semantic", 0.45, 0.45),
        ("classes", 2, -2),
        ("average_class_size", 10 / (2 * 3), -2),
        ("discernibility", 34 + 2 * 10, 54),
        ("height", 1, 1),
    ],
)
def test_a_score_is_in_the_unit_of_the_literature_and_a_penalty_is_minimized(
    name: str, score: float, penalty: float
) -> None:
    assert objective(name).score(NODE, FIGURES) == pytest.approx(score)
    assert objective(name).penalty(NODE, FIGURES) == pytest.approx(penalty)
    assert objective(name).name == name


def test_weights_weigh_the_columns_and_not_the_suppressed_records() -> None:
    assert objective("loss", [3.0, 1.0]).score(NODE, FIGURES) == pytest.approx(0.3 + 0.05 + 0.15)
    assert objective("height", [3.0, 0.5]).score((2, 1), FIGURES) == pytest.approx(6.5)
    assert normalized([3.0, 1.0]) == [0.75, 0.25]
    assert normalized([0.0, 0.0]) == [0.0, 0.0]


def test_no_class_has_no_average_size() -> None:
    assert objective("average_class_size").score(NODE, NodeFigures(0, 10, 10, 0)) is None


@pytest.mark.parametrize(
    ("name", "floor", "above", "given"),
    [
        ("classes", -3, -2, -2),  # twelve combinations, but three classes of three at most
        ("discernibility", 30, 34 + 2 * 3, 8 * 3 + 2 * 10),
    ],
)
def test_bounds_follow_from_classes_of_at_least_k(name: str, floor: int, above: int, given: int) -> None:
    assert objective(name).floor(NODE) == floor
    assert objective(name).floor_above(FIGURES) == above
    assert objective(name).floor_given(2) == given


def test_classes_that_failed_other_models_can_be_released_further_up() -> None:
    # nine suppressed records in large classes make three classes of three at most, and no more than there are
    failed = NodeFigures(classes=1, outliers=9, hopeless=0, squares=9, groups=3)
    assert objective("classes").floor_above(failed) == -3
    uncounted = NodeFigures(classes=1, outliers=9, hopeless=0, squares=9)
    assert objective("classes").floor_above(uncounted) == -4


def test_a_word_that_is_no_objective_is_refused() -> None:
    assert len(set(OBJECTIVES)) == 6
    with pytest.raises(ValueError, match="no objective"):
        objective("beauty")
