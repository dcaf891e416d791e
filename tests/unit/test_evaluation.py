"""What a run kept is put together again as it was: values, what they were before, and notes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anondb.evaluation.evaluation import group_of, of_run, ordered
from anondb.evaluation.metric_value import MetricValue, by_column, by_key, notes
from anondb.evaluation.metrics import GROUPS
from anondb.run.account_reader import read
from anondb.run.run_account import KeptRun

NAMES = st.sampled_from([name for names in GROUPS.values() for name in names])
COLUMNS = st.none() | st.sampled_from(["age", "a:b", "x_before", ":", "Größe"])
VALUES = st.none() | st.floats(0, 1)
FIGURES = st.builds(
    MetricValue,
    NAMES,
    COLUMNS,
    VALUES,
    st.none() | st.sampled_from(["no column has concepts", "a: b"]),
    VALUES,
).filter(lambda f: f.value is not None or f.before is not None or f.note is not None)
COUNTS = {"records": 9, "released": 8, "suppressed": 1, "classes": 2, "k": 3}


@given(st.lists(FIGURES, unique_by=lambda f: (f.name, f.column), min_size=1))
def test_what_a_run_kept_comes_back_whole(figures: list[MetricValue]) -> None:
    figures.append(MetricValue("marketer", "evaluated", 0.5))
    kept = KeptRun(
        7, "s", "t", "datafly", None, read(COUNTS | {"notes": notes(figures)}), {**by_column(figures)}
    )
    found = of_run(kept)
    assert set(found.metric_values) == set(figures)
    assert len(found.metric_values) == len(figures)
    assert found.as_json()["metrics"] == by_key(by_column(figures))
    assert found.as_json()["notes"] == notes(figures)
    assert (found.run, found.records, found.released, found.suppressed, found.k) == (7, 9, 8, 1, 3)


@given(st.permutations(["record_linkage_coverage", "gen_iloss", "prosecutor_above_0.2", "prosecutor_above_0.05",
                        "attribute_disclosure_max", "l_diversity_distinct", "unheard_of", "rand"]))  # fmt: skip
def test_figures_are_read_family_by_family_and_thresholds_from_low_to_high(names: list[str]) -> None:
    read = [figure.name for figure in ordered(MetricValue(name) for name in names)]
    assert read == [
        "l_diversity_distinct",
        "gen_iloss",
        "rand",
        "record_linkage_coverage",
        "prosecutor_above_0.05",
        "prosecutor_above_0.2",
        "attribute_disclosure_max",
        "unheard_of",
    ]
    assert group_of("prosecutor_above_0.05") == "risk"
    assert group_of("unheard_of") == "utility"


def test_the_columns_of_a_kept_run_are_in_the_order_of_its_policy() -> None:
    figures = [MetricValue("gen_iloss", column, 0.5) for column in (None, "zip", "age")]
    order = {"report": {"columns": [{"name": "zip"}, {"name": "age"}]}}
    kept = KeptRun(7, "s", "t", "datafly", None, read(COUNTS | order), by_column(figures))
    assert [figure.column for figure in of_run(kept).metric_values] == [None, "zip", "age"]
