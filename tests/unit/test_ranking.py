"""A ranking by weighted criteria: each from the best of a setting to its worst, where no release is worst in all."""

from __future__ import annotations

import pytest

from anondb.compare.ranking import checked, ranking, read_weights, sentence
from anondb.errors import UsageError
from anondb.report.model import ComparedRun


def run(algorithm: str, k: int = 5, **metrics: float | None) -> ComparedRun:
    return ComparedRun(algorithm, k, 3, metrics, failure="" if metrics else "no release")


def test_each_criterion_goes_from_the_best_to_the_worst_of_a_setting() -> None:
    """By hand: b lies a quarter of the way from a to c in loss, and has the most classes, which is best."""
    runs = [
        run("a", gen_iloss=0.2, classes=10),
        run("b", gen_iloss=0.3, classes=30),
        run("c", gen_iloss=0.6, classes=20),
    ]
    ranks = ranking(runs, read_weights("loss=60,classes=20"))
    assert [rank.algorithm for rank in ranks] == ["b", "a", "c"]
    assert [rank.score for rank in ranks] == pytest.approx([0.75 * 0.25, 0.25, 0.75 + 0.25 * 0.5])
    assert ranks[0].criteria == pytest.approx({"loss": 0.25, "classes": 0.0})
    assert "1. b 0.19, 2. a 0.25, 3. c 0.88" in sentence(ranks, checked({"loss": 60, "classes": 20}))


def test_a_score_is_the_mean_of_all_settings_and_no_release_is_the_worst() -> None:
    runs = [
        run("a", 2, gen_iloss=0.1),
        run("b", 2, gen_iloss=0.5),
        run("a", 9),
        run("b", 9, gen_iloss=0.9),
        run("a", 99),
        run("b", 99),
    ]
    first, second = ranking(runs, {"loss": 1.0})
    assert (first.score, second.score, first.settings) == (
        0.5,
        0.5,
        2,
    )  # nobody wins where nobody has a release


def test_a_criterion_that_not_all_have_counts_for_nobody_there() -> None:
    runs = [run("a", gen_iloss=0.1, seconds=9.0), run("b", gen_iloss=0.2, seconds=None)]
    assert [(rank.algorithm, rank.score) for rank in ranking(runs, {"loss": 0.1, "time": 0.9})] == [
        ("a", 0.0),
        ("b", 1.0),
    ]
    assert ranking(runs, {"time": 1.0}) == ()
    assert sentence((), {"time": 1.0}).startswith("No ranking by time 100%")


def test_algorithms_that_do_alike_share_the_best() -> None:
    ranks = ranking([run("a", seconds=1.0), run("b", seconds=1.0)], {"time": 1.0})
    assert {rank.score for rank in ranks} == {0.0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lose=1", 'did you mean "loss"'),
        ("loss=x", "is no number"),
        ("loss", "is no number"),
        ("loss=-1", "is not 0 or more"),
        ("loss=nan", "is not 0 or more"),
        ("loss=0,risk=0", "nothing to rank by"),
        ("loss=1,loss=2", "has two weights"),
    ],
)
def test_weights_that_mean_nothing_are_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError) as found:
        read_weights(text)
    assert said in f"{found.value.message} {found.value.hint}"
