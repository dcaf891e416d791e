"""The figures of the study of GSL: by hand, and by naive definitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.hierarchies.build.ranking import ASPECTS
from anondb.study import gsl_study
from anondb.study.gsl_study import GSL, Judged, Outcome, Study
from tests.properties.examples import laws

Pair = tuple[float, float]


def study(figures: Sequence[Pair], *, distrn: Sequence[float] = (), built: int = 0) -> Study:
    """One round: GSL and SSE of each hierarchy; all else the same, unless it is said."""
    worse = len(figures) - built
    apart = distrn or [0.5] * len(figures)
    return Study(
        source="t", columns=("c",), records=10, measure="wup", seed=7,
        judged=tuple(
            Judged(str(place), "worse" if place < worse else "built", dict.fromkeys(GSL, gsl), f"{gsl:.1f}")
            for place, (gsl, _) in enumerate(figures)
        ),
        outcomes=tuple(
            Outcome(place, "datafly", 5, {"c": 1}, 0, {"semantic_sse": sse, "sem_iloss": sse / 10}, 1.0, 2.0)
            for place, (_, sse) in enumerate(figures)
        ),
        failures={},
        aspects={
            5: [
                dict(zip(ASPECTS, (gsl, 0.1, share, 3.0), strict=True))
                for (gsl, _), share in zip(figures, apart, strict=True)
            ]
        },
        score_seconds=0.5,
    )  # fmt: skip


def ranks(values: Sequence[float]) -> list[float]:
    """From 1; ties share the mean of their ranks."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


@laws
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=12))
def test_spearman_is_the_correlation_of_ranks(pairs: list[tuple[int, int]]) -> None:
    first, second = ranks([x for x, _ in pairs]), ranks([y for _, y in pairs])
    middle = (len(pairs) + 1) / 2
    shared = sum((x - middle) * (y - middle) for x, y in zip(first, second, strict=True))
    spreads = [sum((x - middle) ** 2 for x in side) for side in (first, second)]
    found = gsl_study.spearman([x for x, _ in pairs], [y for _, y in pairs])
    if 0 in spreads:
        assert found is None
    else:
        assert found == pytest.approx(shared / (spreads[0] * spreads[1]) ** 0.5)


def test_figures_that_differ_by_an_error_of_arithmetic_are_equal() -> None:
    assert gsl_study.spearman([0.1 + 0.2, 0.3, 0.3], [1, 2, 3]) is None
    assert gsl_study.spearman([0.1 + 0.2, 0.3, 0.4], [2, 1, 3]) == gsl_study.spearman([1, 1, 2], [2, 1, 3])
    assert gsl_study.spearman([0, 0, 0], [1, 2, 3]) is None
    assert gsl_study.spearman([1, 2], [1, 2]) is None


def test_hierarchies_that_are_no_perturbations_are_not_correlated() -> None:
    """0.1 and 9 would turn a perfect order into none."""
    found = study([(0.2, 1), (0.3, 2), (0.4, 3), (0.1, 9)], built=1)
    assert [one.rho for one in gsl_study.correlations(found)] == [pytest.approx(1)] * 6


def test_ratings_agree_with_steps_of_the_utility() -> None:
    """Ratings 0.2, 0.2, 0.4; steps 0, 1, 4: the one pair of a rating is of two steps, and no pair is of one step."""
    assert gsl_study.categories([1, 2, 5]) == [0, 1, 4]
    assert gsl_study.categories([3, 3]) == [0, 0]
    found = gsl_study.agreements(study([(0.2, 1), (0.21, 2), (0.4, 5)]))[0]
    assert (found.wallace_1, found.wallace_2) == (0, 1)
    alike = gsl_study.agreements(study([(0.2, 1), (0.21, 1.1), (0.4, 5)]))[0]
    assert [alike.wallace_1, alike.wallace_2, alike.nmi] == pytest.approx([1, 1, 1])


def test_there_are_35_weightings() -> None:
    found = list(gsl_study.weightings())
    assert len(found) == len(set(found)) == 35
    assert all(sum(weights) == 100 and not any(weight % 25 for weight in weights) for weights in found)


def test_the_evaluator_weighs_rewards() -> None:
    """Three candidates: the best of an aspect has 3, the next 2; two that share the second rank have 2 both."""
    assert gsl_study.rewards([0.3, 0.1, 0.3]) == [2, 3, 2]
    figures = study([(0.2, 1), (0.3, 2), (0.4, 3)], distrn=[1, 0, 0])
    # semq: 3, 2, 1; priv: 3 each; distrn: 1, 3, 3; isize: 3 each
    assert gsl_study.evaluated(figures.aspects[5], (50, 0, 50, 0)) == [200, 250, 200]
    assert gsl_study.evaluated(figures.aspects[5], (25, 25, 25, 25)) == [250, 275, 250]


def test_a_weighting_is_judged_by_what_it_chooses() -> None:
    found = {
        tuple(one.weights.values()): one
        for one in gsl_study.weighed(study([(0.2, 1), (0.3, 2), (0.4, 3)], distrn=[1, 0, 0]))
    }
    alone = found[100, 0, 0, 0]
    assert alone.rho == pytest.approx(1)
    assert (alone.place, alone.excess) == (1, 0)
    both = found[50, 0, 50, 0]
    assert (both.place, both.excess) == (2, 1)  # the second hierarchy: twice the least SSE
    assert found[0, 100, 0, 0].rho is None  # which is the same for all


def test_choosing_beforehand_makes_one_release_and_trying_makes_all() -> None:
    found = gsl_study.times(study([(0.2, 1), (0.3, 2), (0.4, 3)]))
    assert found is not None
    assert (found.apes, found.tas) == (0.5 + 1 + 2, 1 + 3 * 2)
    assert found.ratio == 2


def test_the_utility_is_averaged_over_all_k_before_it_is_ranked() -> None:
    """By hand: at each k two hierarchies change places, and their means do not."""
    one = study([(0.1, 1.0), (0.2, 5.0), (0.3, 3.0)])
    other = [replace(outcome, k=9, utility={"semantic_sse": sse, "sem_iloss": 0.0})
             for outcome, sse in zip(one.outcomes, (2.0, 1.0, 9.0), strict=True)]  # fmt: skip
    both = replace(one, outcomes=(*one.outcomes, *other))
    found = {(c.gsl, c.utility): c.rho for c in gsl_study.averaged_correlations(both)}
    assert found["static avg", "semantic_sse"] == pytest.approx(1.0)  # means 1.5, 3, 6
    single = [
        c.rho for c in gsl_study.correlations(both) if (c.gsl, c.utility) == ("static avg", "semantic_sse")
    ]
    assert single == pytest.approx([0.5, 0.5])


def test_a_hierarchy_without_a_release_at_some_k_has_no_mean_like_the_others() -> None:
    one = study([(0.1, 1.0), (0.2, 2.0), (0.3, 3.0), (0.4, 0.0)])
    again = [replace(outcome, k=9) for outcome in one.outcomes[:3]]
    both = replace(one, outcomes=(*one.outcomes, *again))
    assert [c.rho for c in gsl_study.averaged_correlations(both)] == pytest.approx([1.0] * 6)


def test_the_best_score_saves_a_share_of_what_the_worst_loses() -> None:
    found = gsl_study.improvements(study([(0.3, 8.0), (0.1, 2.0), (0.2, 1.0)]))
    assert [one.utility for one in found] == ["semantic_sse", "sem_iloss"]
    assert [one.share for one in found] == pytest.approx([0.75, 0.75])
