"""The report of an experiment with sets: the losses as lines over k, and every figure as a table."""

from __future__ import annotations

from importlib.metadata import version

from anondb.methods.mdav.mdav import DISTANCES, VARIANTS
from anondb.report import theme
from anondb.report.html import page
from anondb.report.report_charts import Chart, Table
from anondb.study import set_study
from anondb.study.set_study import BY, SEMANTIC, SetStudy

_MARKERS = "osD^v"
_DASHES = {SEMANTIC: "-", "non_semantic": "--", "texts": ":"}


def html(study: SetStudy) -> str:
    """The report as the text of an HTML file."""
    return page(
        "set_experiment.html",
        package=version("anondb"),
        title=f"Which distance of sets loses least? {study.source}",
        summary=list(set_study.summary(study)),
        charts=[_by_meaning(study), *(_with_twins(study, distance) for distance in DISTANCES)],
        losses=loss_table(study),
        logs=log_table(study),
    )


def loss_table(study: SetStudy) -> Table:
    """The table of the source."""
    means = study.means()
    rows = [[d, BY[v], *(f"{means[d, v, k]:,.2f}" for k in study.k)] for d in DISTANCES for v in VARIANTS]
    return Table(["Distance", "Compared", *(f"k = {k}" for k in study.k)], rows, words=(0, 1))


def log_table(study: SetStudy) -> Table:
    rows = [
        [
            "–" if log.seed is None else str(log.seed),
            f"{log.records:,}",
            f"{log.concepts:,}",
            f"{log.texts:,}",
            f"{log.unmapped:,}",
            log.tagger or "–",
        ]
        for log in study.logs
    ]
    head = ["Seed", "Records", "Concepts", "Texts", "Without a concept", "Tagger"]
    return Table(head, rows, words=(0, 5))


def _by_meaning(study: SetStudy) -> Chart:
    title = "The distances, by meaning"
    description = (
        "Information loss over k: the sum over records of the squared average distance to their centroid."
    )
    return _lines(study, title, description, [(distance, SEMANTIC) for distance in DISTANCES])


def _with_twins(study: SetStudy, distance: str) -> Chart:
    title = f"{distance} and its twins"
    description = (
        f"Information loss of {distance} by meaning, and where concepts or texts are the same or not."
    )
    return _lines(study, title, description, [(distance, variant) for variant in VARIANTS])


def _lines(study: SetStudy, title: str, description: str, settings: list[tuple[str, str]]) -> Chart:
    means, several = study.means(), len({distance for distance, _ in settings}) > 1
    names = [distance if several else BY[variant] for distance, variant in settings]
    with theme.canvas(280) as (drawn, axes):
        for place, (name, (distance, variant)) in enumerate(zip(names, settings, strict=True)):
            axes.plot(
                range(len(study.k)), [means[distance, variant, k] for k in study.k], label=name, linewidth=2,
                markersize=5, color=theme.SERIES[place % len(theme.SERIES)], marker=_MARKERS[place % len(_MARKERS)],
                linestyle="-" if several else _DASHES[variant],
            )  # fmt: skip
        axes.set_xticks(range(len(study.k)), [f"{k:,}" for k in study.k])
        axes.set_xlabel("k")
        axes.set_ylabel("information loss")
        axes.tick_params(axis="y", labelcolor=theme.MUTED)
        axes.grid(axis="y")
        drawn.legend(loc="outside upper left", ncols=3, handlelength=2.4)
        svg = theme.svg(drawn, title, description)
    rows = [
        [name, *(f"{means[distance, variant, k]:,.2f}" for k in study.k)]
        for name, (distance, variant) in zip(names, settings, strict=True)
    ]
    return Chart(title, description, svg, Table(["Setting", *(f"k = {k}" for k in study.k)], rows))
