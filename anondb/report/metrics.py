"""Metrics as a report shows them: each with what the catalogue of metrics says of it."""

from __future__ import annotations

from anondb.evaluation import metrics
from anondb.evaluation.metric import Metric
from anondb.report.model import ReportedMetric

# where a report shows a group; the models have a part of their own, and what a run did is shown by comparisons
_SECTIONS = {
    "utility": "utility",
    "values": "utility",
    "clusters": "utility",
    "risk": "risk",
    "linkage": "risk",
    "disclosure": "risk",
}
_GROUPS = list(_SECTIONS)


def section_of(metric: Metric) -> str:
    """Utility or risk; empty for what is neither, or only a count that is neither good nor bad."""
    return _SECTIONS.get(metric.group, "") if metric.better or metric.group == "values" else ""


def place(name: str) -> tuple[int, int] | None:
    """Where a metric of utility or risk stands in a report; None for any other."""
    metric = metrics.find(name)
    if metric is None or not section_of(metric):
        return None
    return _GROUPS.index(metric.group), metrics.place(name)


def reported(
    name: str,
    after: float | None = None,
    *,
    before: float | None = None,
    column: str | None = None,
    note: str = "",
    section: str = "",
) -> ReportedMetric:
    """A metric with its definition; `section` is for metrics that the catalogue does not have."""
    metric = metrics.describe(name)
    about = column if metric.is_about_column else None
    return ReportedMetric(
        name=name,
        label=metric.label if about is None else f"{metric.label}: {about}",
        definition=metric.definition,
        section=section or section_of(metric) or "utility",
        better=metric.better,
        unit=metric.format,
        before=before,
        after=after,
        column=None if about is not None else column,
        note=note,
        about=about,
    )
