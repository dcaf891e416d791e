"""The catalogue of metrics: whole, without doubles, and known wherever figures are shown."""

from __future__ import annotations

import pytest

from anondb.evaluation import metrics
from anondb.evaluation.metric import Metric
from anondb.report.words import percent


def test_a_name_is_in_the_catalogue_once() -> None:
    names = [metric.name for metric in metrics.CATALOGUE]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("metric", metrics.CATALOGUE, ids=lambda metric: metric.name)
def test_a_metric_has_a_sentence_and_a_short_label(metric: Metric) -> None:
    assert metric.definition.endswith(".")
    assert len(metric.label) <= 40


@pytest.mark.parametrize("threshold", ["0.05", "0.1", "0.2", "0.33", "0.5", "0.9", "1"])
def test_a_threshold_reads_as_percentages_do_everywhere(threshold: str) -> None:
    label = metrics.describe(f"prosecutor_above_{threshold}").label
    assert label == f"Records at risk above {percent(float(threshold))}"


def test_only_a_metric_that_takes_a_suffix_is_found_by_the_start_of_a_name() -> None:
    assert metrics.find("seconds_publish") == metrics.find("seconds")
    assert metrics.find("gen_iloss_more") is None
