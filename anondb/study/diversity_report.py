"""The report of an experiment with (l, e)-diversity: loss, diversity and time as charts and as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version

from anondb.report import theme
from anondb.report.html import page
from anondb.report.report_charts import Chart, Table
from anondb.report.words import counted, listed, number, percent
from anondb.study.diversity_study import MEASURES, Anatomized, DiversityStudy, Measured

_MARKERS = "osD^vP"
_DASHES = ("-", "--", ":", "-.")


def html(study: DiversityStudy) -> str:
    """The report as the text of an HTML file."""
    return page(
        "diversity_experiment.html",
        package=version("anondb"),
        title=f"(l, e)-diversity: {study.source}",
        summary=summary(study),
        against_l=[_against_l(study, measured) for measured in MEASURES],
        against_records=[_against_records(study, measured) for measured in MEASURES],
        releases=release_table(study.releases),
        fixed_l=study.fixed_l,
        most=study.most,
        failures=Table(["Setting", "Why"], list(study.failures.items()), words=(0, 1)),
    )


def summary(study: DiversityStudy) -> list[str]:
    """What came out, in plain words; figures as they were counted."""
    sentences = [
        f"{counted(len(study.releases), 'release')} of {study.source} in two tables: {listed(study.quasi)} as they "
        f"are, and {study.sensitive} apart from them, by {study.hierarchy}."
    ]
    for e in study.distances:
        found = study.against_l(e)
        if not found:
            continue
        few = [one for one in found if one.suppressed_share <= 0.1]
        largest = f"l = {few[-1].l}" if few else "no l that was tried"
        sentences.append(
            f"With e = {e:g}, {largest} leaves at most a tenth of {counted(study.most, 'record')} out; at "
            f"l = {found[-1].l} it is {percent(found[-1].suppressed_share)}, and DOT {number(found[-1].dot)}."
        )
    return sentences


def release_table(releases: Sequence[Anatomized]) -> Table:
    rows = [
        [
            f"{one.records:,}", f"{one.l}", f"{one.e:g}", f"{one.classes:,}", percent(one.suppressed_share),
            f"{one.loss:.4f}", f"{one.loss_sum:,.1f}", f"{one.dot:.4f}", f"{one.seconds:.2f}",
        ]
        for one in sorted(releases, key=lambda one: (one.records, one.l, one.e))
    ]  # fmt: skip
    head = ["Records", "l", "e", "Classes", "Left out", "Loss", "Loss, sum", "DOT", "Seconds"]
    return Table(head, rows, words=())


def _against_l(study: DiversityStudy, measured: Measured) -> Chart:
    return _lines(
        f"{measured.title} by l",
        f"{measured.title} ({measured.axis}) of releases of {counted(study.most, 'record')}, by l, a line for each e.",
        measured,
        [(e, study.against_l(e)) for e in study.distances],
        ("l", lambda one: one.l),
    )


def _against_records(study: DiversityStudy, measured: Measured) -> Chart:
    return _lines(
        f"{measured.title} by records",
        f"{measured.title} ({measured.axis}) of releases with l = {study.fixed_l}, by records, a line for each e.",
        measured,
        [(e, study.against_records(e)) for e in study.distances],
        ("records", lambda one: one.records),
    )


def _lines(
    title: str,
    description: str,
    measured: Measured,
    lines: Sequence[tuple[float, Sequence[Anatomized]]],
    across: tuple[str, Callable[[Anatomized], int]],
) -> Chart:
    name, place_of = across
    with theme.canvas(260) as (drawn, axes):
        for number, (e, found) in enumerate(lines):
            axes.plot(
                [place_of(one) for one in found], [measured.of(one) for one in found], label=f"e = {e:g}",
                linewidth=2, markersize=5, color=theme.SERIES[number % len(theme.SERIES)],
                marker=_MARKERS[number % len(_MARKERS)], linestyle=_DASHES[number % len(_DASHES)],
            )  # fmt: skip
        places = sorted({place_of(one) for _, found in lines for one in found})
        if len(places) <= 8:
            axes.set_xticks(
                places, [f"{place:,}" if place < 10_000 else f"{place / 1000:g}k" for place in places]
            )
        axes.set_xlabel(name)
        axes.set_ylabel(measured.axis)
        highest = max((measured.of(one) for _, found in lines for one in found), default=0.0)
        axes.set_ylim(0, 1.08 * highest or 1)
        axes.tick_params(axis="y", labelcolor=theme.MUTED)
        axes.grid(axis="y")
        drawn.legend(loc="outside upper left", ncols=3, handlelength=2.4)
        svg = theme.svg(drawn, title, description)
    rows = [
        [f"{e:g}", f"{place_of(one):,}", f"{measured.of(one):.4f}"] for e, found in lines for one in found
    ]
    return Chart(title, description, svg, Table(["e", name, measured.axis], rows, words=()))
