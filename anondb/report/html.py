"""A report as one HTML file: no script, no network, light and dark, for the screen and for paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from anondb import files
from anondb.errors import UsageError
from anondb.methods.method import ReleaseMethod
from anondb.methods.registry import METHODS
from anondb.models.registry import MODELS, without_k
from anondb.report import lattice, report_charts, trees, words
from anondb.report.exposure import exposure
from anondb.report.model import ColumnReport, ReportData, ReportedMetric, Statement
from anondb.report.report_charts import Chart

if TYPE_CHECKING:
    from jinja2 import Environment

_STATEMENTS = 500  # that are shown of a run


def write(data: ReportData, path: Path | str) -> None:
    """Writes the report to a file."""
    files.write(path, render(data))


def render(data: ReportData) -> str:
    """The report as the text of an HTML file."""
    quasi = [metric for metric in data.metrics if metric.column]
    return page(
        "report.html",
        data=data,
        without_levels=_without_levels(data),
        summary=words.summary(data),
        exposure=list(_exposure(data)),
        tiles=list(_tiles(data)),
        demands=[(*words.demand(model), words.model_in_words(model)) for model in data.models],
        sizes=_sizes(data),
        lattice=None if data.lattice is None else lattice.chart(data.lattice),
        utility=_metric_table([m for m in data.metrics if m.section == "utility" and not m.column]),
        risk=_metric_table([m for m in data.metrics if m.section == "risk" and not m.column]),
        risk_chart=report_charts.risk([m for m in data.metrics if m.section == "risk"]),
        column_loss=report_charts.by_column(quasi, "utility"),
        column_risk=report_charts.by_column(quasi, "risk"),
        columns=[(column, _tree(column)) for column in data.columns],
        seconds=report_charts.seconds(data),
        stages=_stages(data.statements[:_STATEMENTS]),
        hidden_statements=max(0, len(data.statements) - _STATEMENTS),
        compared=[] if data.comparison is None else list(report_charts.comparison(data.comparison)),
        tradeoff=None if data.comparison is None else report_charts.tradeoff(data.comparison),
        comparison_table=None if data.comparison is None else report_charts.comparison_table(data.comparison),
        glossary=_glossary(data.metrics),
    )


def page(template: str, **parts: object) -> str:
    """A page of these parts, with the style that all pages share."""
    environment = _environment()
    style, *_ = environment.loader.get_source(environment, "report.css") if environment.loader else ("",)
    return environment.get_template(template).render(style=style, **parts)


class MetricTable(NamedTuple):
    """Metrics as a table shows them, a note once for all that it is about."""

    known: list[tuple[ReportedMetric, str]]  # with the note, unless the metric above has the same
    missing: dict[str, list[ReportedMetric]]  # why there is no value → of what


def _metric_table(metrics: Sequence[ReportedMetric]) -> MetricTable | None:
    known: list[tuple[ReportedMetric, str]] = []
    missing: dict[str, list[ReportedMetric]] = {}
    for metric in metrics:
        if metric.note and metric.before is None and metric.after is None:
            missing.setdefault(metric.note, []).append(metric)
        else:
            repeated = bool(known) and known[-1][0].note == metric.note
            known.append((metric, "" if repeated else metric.note))
    return MetricTable(known, missing) if metrics else None


class Tile(NamedTuple):
    """A number that is seen first."""

    value: str
    label: str


def _tiles(data: ReportData) -> Iterator[Tile]:
    run = data.run
    if run is None:
        return
    persons = any(model.variant == "persons" for model in data.models)
    apart = next((model for model in data.models if without_k([(model.kind, model.variant)])), None)
    if apart is None:
        yield Tile(f"{run.k:,}", f"{'persons' if persons else 'records'} in the smallest class")
    else:
        sign = MODELS[apart.kind].sign.removesuffix(" = ")
        yield Tile(words.number(apart.reached), f"is the {sign} of {apart.column}; there is no k")
    yield Tile(f"{run.released:,}", f"of {run.records:,} records released")
    yield Tile(f"{run.classes:,}", "classes")
    yield Tile(
        words.percent(run.suppressed / run.records if run.records else 0.0), "of the records suppressed"
    )
    chosen = {"gen_iloss": "of the detail given up", "prosecutor_max": "highest risk of a record"}
    if (method := METHODS.get(run.algorithm)) is not None:
        yield from (Tile(value, label) for value, label in method.headlines(run))
        chosen = {**method.headline_metrics, **chosen}
    for name, label in chosen.items():
        for metric in data.metrics:
            if metric.name == name and metric.column is None and metric.after is not None:
                yield Tile(words.formatted(metric.after, metric.unit), label)


def _without_levels(data: ReportData) -> str:
    method = None if data.run is None else METHODS.get(data.run.algorithm)
    return ReleaseMethod.without_levels if method is None else method.without_levels


def _exposure(data: ReportData) -> Iterator[tuple[str, str]]:
    if data.run is None or not data.run.released:
        return iter(())
    guesses = {
        m.about: m.after
        for m in data.metrics
        if m.name == "attribute_disclosure_max" and m.about and m.after is not None
    }
    columns = [(column.name, column.role, column.level) for column in data.columns]
    return exposure(columns, guesses, {(model.kind, model.column) for model in data.models})


def _sizes(data: ReportData) -> Chart | None:
    if data.class_sizes is None or not data.class_sizes.after:
        return None
    demanded = [model.demanded for model in data.models if model.kind == "k_anonymity"]
    return report_charts.class_sizes(data.class_sizes, int(demanded[0]) if demanded else None)


def _tree(column: ColumnReport) -> str | None:
    if column.tree is None or column.role != "quasi":
        return None
    return trees.drawing(column.name, column.tree, column.level, column.losses)


def _stages(statements: Sequence[Statement]) -> list[tuple[str, list[Statement], float]]:
    """The statements of each stage in their order, with the milliseconds of all."""
    stages = []
    for stage, group in groupby(statements, key=lambda statement: statement.stage):
        ran = list(group)
        stages.append((stage, ran, sum(statement.ms or 0.0 for statement in ran)))
    return stages


def _glossary(metrics: Sequence[ReportedMetric]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((m.label, m.definition) for m in metrics if m.definition))


def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise UsageError(
            "a report needs jinja2, and it is not installed", hint="pip install 'anondb[report]'"
        ) from None
    environment = Environment(
        loader=PackageLoader("anondb.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: words.printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"formatted": words.formatted, "counted": words.counted, "percent": words.percent}
    return environment
