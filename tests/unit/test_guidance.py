"""Guidance says what the figures say: the best by each, the price, skew, the cost of a search, what failed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anondb.compare.guidance import guidance
from anondb.report.model import ComparedRun


def told(runs: list[ComparedRun], begin: str) -> list[str]:
    return [advice for advice in guidance(runs) if advice.startswith(begin)]


def run(algorithm: str, k: int = 5, quasi: int = 3, **metrics: float | None) -> ComparedRun:
    return ComparedRun(algorithm, k, quasi, metrics)


def test_the_algorithm_that_loses_least_keeps_most_detail() -> None:
    runs = [run("datafly", gen_iloss=0.4), run("incognito", gen_iloss=0.3), run("mondrian", gen_iloss=0.125)]
    [advice] = told(runs, "To keep detail")
    assert advice.startswith(
        "To keep detail: mondrian (generalization loss: mondrian 12.5%, incognito 30%, datafly 40%). GenILoss: "
    )


def test_more_classes_are_better_and_fewer_seconds() -> None:
    runs = [run("datafly", classes=10.0, seconds=0.5), run("mondrian", classes=50.0, seconds=2.0)]
    assert told(runs, "For many small groups: mondrian (classes: mondrian 50, datafly 10)")
    assert told(runs, "For speed: datafly (seconds: datafly 0.5, mondrian 2)")


def test_the_best_is_best_in_most_settings_whatever_the_mean() -> None:
    losses = {"datafly": [0.1, 0.1, 0.9], "mondrian": [0.2, 0.2, 0.2]}
    runs = [
        run(name, k, gen_iloss=loss)
        for name, row in losses.items()
        for k, loss in zip((2, 5, 10), row, strict=True)
    ]
    [advice] = told(runs, "To keep detail")
    assert "datafly, best in 2 of 3 settings" in advice
    assert "mean of all: datafly 36.7%, mondrian 20%" in advice


def test_settings_that_not_all_have_are_not_compared() -> None:
    runs = [
        run("datafly", 2, gen_iloss=0.9),
        run("datafly", 5, gen_iloss=0.1),
        run("mondrian", 5, gen_iloss=0.2),
    ]
    assert "datafly (generalization loss: datafly 10%, mondrian 20%)" in told(runs, "To keep detail")[0]
    assert not told([run("datafly", 2, gen_iloss=0.9), run("mondrian", 5, gen_iloss=0.2)], "To keep detail")


def test_equals_are_told_as_equals() -> None:
    runs = [run("datafly", gen_iloss=0.25), run("optimal", gen_iloss=0.25)]
    assert told(runs, "To keep detail: datafly and optimal do equally well (generalization loss 25%)")


def test_one_algorithm_is_not_compared_but_its_price_is_told() -> None:
    runs = [
        run("mondrian", 2, gen_iloss=0.02, prosecutor_mean=0.4),
        run("mondrian", 50, gen_iloss=0.3, prosecutor_mean=0.02),
        run("mondrian", 50, 1, gen_iloss=0.01, prosecutor_mean=0.01),
    ]
    assert guidance(runs) == (
        "From k = 2 to k = 50, with mondrian, generalization loss goes from 2% to 30% "
        "and average risk goes from 40% to 2%.",
        "From 1 column to 3, with mondrian, generalization loss goes from 1% to 30% "
        "and average risk goes from 1% to 2%.",
    )


def partitioned(largest: float, **metrics: float | None) -> ComparedRun:
    known: dict[str, float | None] = {"gen_iloss": 0.3, "iterations": 9.0, "partitioned": 2.0}
    return run("mondrian", 5, 3, **known | {"class_size_max": largest, "class_size_mean": 10.0} | metrics)


def test_skew_is_told_where_a_class_is_larger_than_cuts_can_explain() -> None:
    """2d(k − 1) + k = 2 · 3 · 4 + 5 = 29 records."""
    assert not told([partitioned(29)], "mondrian suffers")
    [advice] = told([partitioned(60)], "mondrian suffers from skew, most at k = 5 with 3 columns")
    assert "60 records, 12 times k, where the mean is 10. It cut by 2 of 3 columns." in advice
    assert "strict = false" in advice


def test_large_classes_that_lose_nothing_are_no_skew() -> None:
    assert not told([partitioned(60, gen_iloss=0.01)], "mondrian suffers")
    assert not told([partitioned(60, iterations=None)], "mondrian suffers")


def test_the_dearest_search_of_incognito_is_told_with_what_the_bounds_save() -> None:
    runs = [
        run("incognito", 2, 3, checks=30.0, lattice=60.0, seconds=0.5),
        run("incognito", 2, 4, checks=90.0, lattice=120.0, seconds=1.25),
        run("optimal", 2, 4, checks=12.0, lattice=120.0, seconds=0.25),
    ]
    [advice] = told(
        runs, "incognito costs most at k = 2 with 4 columns: it made 90 checks and took 1.25 seconds"
    )
    assert "a lattice of 120 nodes (75%;" in advice
    assert advice.endswith("optimal finds the best node with fewer checks (here 12).")


def test_what_gave_no_release_is_told_with_its_reason() -> None:
    failed = [ComparedRun("datafly", k, 3, failure="no hierarchy") for k in (2, 5)]
    assert told([*failed, run("datafly", 9), run("mondrian")], "datafly gave no release") == [
        "datafly gave no release in 2 of 3 settings: no hierarchy."
    ]
    [nothing] = guidance(failed)
    assert nothing.startswith("No combination gave a release.")


FIGURES = (
    "gen_iloss",
    "sem_iloss",
    "classes",
    "prosecutor_mean",
    "seconds",
    "checks",
    "lattice",
    "iterations",
)
NUMBERS = st.none() | st.floats(0, 1e6)
RUNS = st.lists(
    st.builds(
        ComparedRun,
        st.sampled_from(["datafly", "incognito", "mondrian", "optimal"]),
        st.integers(1, 100),
        st.integers(1, 6),
        st.dictionaries(
            st.sampled_from([*FIGURES, "class_size_max", "class_size_mean", "partitioned"]), NUMBERS
        ),
        failure=st.sampled_from(["", "", "no release"]),
    )
)


@given(RUNS)
def test_whatever_is_known_there_are_only_whole_sentences(runs: list[ComparedRun]) -> None:
    for advice in guidance(runs):
        assert advice[-1] == "."
        assert not {"None", "nan"} & set(advice.split())


@given(RUNS)
def test_whoever_is_said_to_be_best_is_beaten_in_fewer_settings_than_it_wins(runs: list[ComparedRun]) -> None:
    """Of two algorithms that have figures in the same settings, by counting."""
    values = {
        (one.algorithm, one.k, one.quasi): one.metrics.get("gen_iloss") for one in runs if not one.failure
    }
    pair = {
        key: value for key, value in values.items() if key[0] in ("datafly", "mondrian") and value is not None
    }
    both = [
        (pair["datafly", k, quasi], value)
        for (name, k, quasi), value in pair.items()
        if name == "mondrian" and ("datafly", k, quasi) in pair
    ]
    only = [ComparedRun(*key, {"gen_iloss": value}) for key, value in pair.items()]
    advice = told(only, "To keep detail")
    assert bool(advice) == bool(both)
    datafly, mondrian = sum(a < b for a, b in both), sum(b < a for a, b in both)
    if datafly != mondrian:
        assert advice[0].startswith(f"To keep detail: {'datafly' if datafly > mondrian else 'mondrian'}")
