"""The report of an experiment: scores against utility as charts, and every figure as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version

from anondb.report import charts, theme
from anondb.report.charts import Bars
from anondb.report.html import page
from anondb.report.report_charts import Chart, Table
from anondb.report.words import NONE, counted, formatted, listed, percent
from anondb.study import gsl_study
from anondb.study.gsl_study import GSL, UTILITY, Study, Weighting

NAMES = {"semantic_sse": "SSE", "sem_iloss": "SemILoss", "rand_loss": "1 − Rand", "nmi_loss": "1 − NMI"}
_FORETOLD = "dynamic avg"  # the score that is drawn
_MARKERS = "osD^vP"
_DASHES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1)), (0, (1, 1)))


def html(study: Study) -> str:
    """The report as the text of an HTML file."""
    return page(
        "experiment.html",
        package=version("anondb"),
        title=f"Does GSL foretell utility? {study.source}",
        summary=summary(study),
        scatters=[
            _scatter(study, algorithm)
            for algorithm in dict.fromkeys(outcome.algorithm for outcome in study.outcomes)
        ],
        rho=_rho(study),
        times=_times(study),
        averaged=averaged_table(study),
        improvements=improvement_table(study),
        correlations=correlation_table(study),
        agreements=agreement_table(study),
        weightings=weighting_table(gsl_study.weighed(study)),
        hierarchies=_hierarchy_table(study),
        failures=Table(["Trial", "Why"], list(study.failures.items()), words=(0, 1)),
    )


def summary(study: Study) -> list[str]:
    """What came out, in plain words; figures as they were counted, strong or not."""
    worse = sum(hierarchy.kind == "worse" for hierarchy in study.judged)
    built = len(study.judged) - worse
    sentences = [
        f"{counted(len(study.outcomes), 'release')} of {counted(study.records, 'record')} of {study.source}, "
        f"generalized by {listed(study.columns)}: {worse} hierarchies of falling quality, {counted(built, 'other')}."
    ]
    sentences += _averaged(study)
    for name in GSL:
        spread = gsl_study.spread(
            correlation.rho
            for correlation in gsl_study.correlations(study)
            if correlation.gsl == name and correlation.utility == UTILITY[0]
        )
        if spread is None:
            sentences.append(
                f"GSL ({name}) and SSE: no correlation can be told, as one of them never differs."
            )
            continue
        low, middle, high = spread
        sentences.append(
            f"GSL ({name}) and SSE, round by round: {middle:.2f} in the median, from {low:.2f} to {high:.2f}."
        )
    return [*sentences, *_choices(study)]


def _averaged(study: Study) -> Iterator[str]:
    """What leads: each algorithm by itself, the mean scores, the utility averaged over all k."""
    for correlation in gsl_study.averaged_correlations(study):
        if correlation.utility == UTILITY[0] and correlation.gsl == "static avg":
            rho = "cannot be told" if correlation.rho is None else f"{correlation.rho:.2f}"
            yield (
                f"{correlation.algorithm}: Spearman's rank correlation of GSL (static avg) and the SSE "
                f"averaged over all k: {rho}."
            )


def averaged_table(study: Study) -> Table:
    """A row an algorithm; a column for each score and utility, the latter averaged over all k."""
    rows: dict[str, list[str]] = {}
    for correlation in gsl_study.averaged_correlations(study):
        rows.setdefault(correlation.algorithm, []).append(two_digits(correlation.rho))
    first = next(iter(rows), None)
    head = [
        f"{correlation.gsl}, {NAMES[correlation.utility]}"
        for correlation in gsl_study.averaged_correlations(study)
        if correlation.algorithm == first
    ]
    return Table(["Algorithm", *head], [[algorithm, *cells] for algorithm, cells in rows.items()])


def improvement_table(study: Study) -> Table:
    """What the best-scored hierarchy saves against the worst-scored: the least and the greatest share over all k."""
    shares: dict[tuple[str, str], list[float]] = {}
    for improvement in gsl_study.improvements(study):
        if improvement.share is not None:
            shares.setdefault((improvement.algorithm, improvement.utility), []).append(improvement.share)
    rows = [
        [algorithm, NAMES[utility], percent(min(of_rounds)), percent(max(of_rounds))]
        for (algorithm, utility), of_rounds in shares.items()
    ]
    return Table(["Algorithm", "Utility", "Saved, least", "Saved, most"], rows, words=(0, 1))


def _choices(study: Study) -> Iterator[str]:
    alone = next(
        (weighting for weighting in gsl_study.weighed(study) if weighting.weights["semq"] == 100), None
    )
    spent = gsl_study.times(study)
    if alone is None or spent is None:
        return
    number = len(study.judged)
    yield (
        f"Chosen by GSL alone, the release is place {alone.place:.1f} of {number} by its SSE in the mean, "
        f"{percent(alone.excess)} above the least."
    )
    yield (
        f"Choosing beforehand takes {spent.apes:.2f} s, trying all {number} takes {spent.tas:.2f} s: "
        f"{spent.ratio:.1f} times as long."
    )


def correlation_table(study: Study) -> Table:
    """A row a round; a column for each score and utility."""
    rounds: dict[tuple[str, int], list[str]] = {}
    for correlation in gsl_study.correlations(study):
        rounds.setdefault((correlation.algorithm, correlation.k), []).append(two_digits(correlation.rho))
    head = [f"{gsl}, {NAMES[utility]}" for gsl in GSL for utility in study.utilities]
    rows = [[algorithm, f"{k:,}", *cells] for (algorithm, k), cells in rounds.items()]
    return Table(["Algorithm", "k", *head], rows)


def agreement_table(study: Study) -> Table:
    rows = [
        [
            agreement.algorithm,
            f"{agreement.k:,}",
            NAMES[agreement.utility],
            *map(two_digits, (agreement.wallace_1, agreement.wallace_2, agreement.nmi)),
        ]
        for agreement in gsl_study.agreements(study)
    ]
    return Table(["Algorithm", "k", "Utility", "Wallace I", "Wallace II", "NMI"], rows, words=(0, 2))


def weighting_table(weightings: Sequence[Weighting]) -> Table:
    """What the evaluator chooses by each of these, as a mean over the rounds."""
    rows = [
        [
            ", ".join(f"{name} {weight}" for name, weight in weighting.weights.items() if weight),
            two_digits(weighting.rho),
            f"{weighting.place:.1f}",
            percent(weighting.excess),
        ]
        for weighting in weightings
    ]
    return Table(["Weights", "Correlation", "Place of the choice", "SSE above the least"], rows)


def _hierarchy_table(study: Study) -> Table:
    rows = [
        [hierarchy.name, *(f"{hierarchy.gsl[name]:.4f}" for name in GSL), hierarchy.rating]
        for hierarchy in study.judged
    ]
    return Table(["Hierarchy", *(f"GSL {name}" for name in GSL), "Rating"], rows, words=(0, len(GSL) + 1))


def _scatter(study: Study, algorithm: str) -> Chart:
    title = f"GSL and SSE of {algorithm}"
    description = (
        f"Each point is a release: the score of its hierarchy before ({_FORETOLD}), and its SSE by record. "
        "Where GSL foretells utility, the points of a k rise to the right."
    )
    series: dict[str, list[tuple[float, float]]] = {}
    for (name, k), outcomes in study.rounds(["worse"]).items():
        if name == algorithm:
            series[f"k = {k}"] = [
                (
                    study.judged[outcome.hierarchy].gsl[_FORETOLD],
                    outcome.utility["semantic_sse"] / study.records,
                )
                for outcome in outcomes
            ]
    with theme.canvas(300) as (drawn, axes):
        for place, (name, points) in enumerate(series.items()):
            axes.scatter(
                [x for x, _ in points], [y for _, y in points], s=26, label=name,
                color=theme.SERIES[place % len(theme.SERIES)], marker=_MARKERS[place % len(_MARKERS)],
            )  # fmt: skip
        axes.set_xlabel(f"GSL, {_FORETOLD}")
        axes.set_ylabel("SSE by record")
        axes.tick_params(axis="y", labelcolor=theme.MUTED)
        axes.grid()
        drawn.legend(loc="outside upper left", ncols=3, handletextpad=0.1, columnspacing=1.0)
        svg = theme.svg(drawn, title, description)
    rows = [[name, f"{x:.4f}", f"{y:.4f}"] for name, points in series.items() for x, y in points]
    return Chart(title, description, svg, Table(["Round", "GSL", "SSE by record"], rows))


def _rho(study: Study) -> Chart:
    title = "How surely GSL foretells SSE"
    description = (
        "Spearman's rank correlation over k: 1 if a better score always means a better release, 0 for chance."
    )
    ks = list(dict.fromkeys(outcome.k for outcome in study.outcomes))
    rhos = {
        (correlation.algorithm, correlation.gsl, correlation.k): correlation.rho
        for correlation in gsl_study.correlations(study)
        if correlation.utility == UTILITY[0]
    }
    lines: Mapping[str, Sequence[float | None]] = {
        f"{algorithm}, {gsl}": [rhos.get((algorithm, gsl, k)) for k in ks]
        for algorithm in dict.fromkeys(outcome.algorithm for outcome in study.outcomes)
        for gsl in GSL
    }
    with theme.canvas(240 + 18 * len(lines)) as (drawn, axes):
        for place, (name, values) in enumerate(lines.items()):
            known = [(step, value) for step, value in enumerate(values) if value is not None]
            axes.plot(
                [step for step, _ in known], [value for _, value in known], label=name, linewidth=2, markersize=5,
                color=theme.SERIES[place % len(theme.SERIES)], marker=_MARKERS[place % len(_MARKERS)],
                linestyle=_DASHES[place % len(_DASHES)],
            )  # fmt: skip
        axes.axhline(0, color=theme.MUTED, linewidth=1)
        axes.set_xticks(range(len(ks)), [f"{k:,}" for k in ks])
        axes.set_xlabel("k")
        axes.set_ylim(min([0.0, *(rho for rho in rhos.values() if rho is not None)]) - 0.05, 1.05)
        axes.tick_params(axis="y", labelcolor=theme.MUTED)
        axes.grid(axis="y")
        drawn.legend(loc="outside upper left", handlelength=2.4)
        svg = theme.svg(drawn, title, description)
    rows = [[name, *map(two_digits, values)] for name, values in lines.items()]
    return Chart(title, description, svg, Table(["Algorithm and score", *(f"k = {k}" for k in ks)], rows))


def _times(study: Study) -> Chart | None:
    spent = gsl_study.times(study)
    if spent is None:
        return None
    title = "Seconds to choose a hierarchy"
    description = (
        "Beforehand: all are scored, and one release is made. Trying all: a release of each. "
        "The mean over the algorithms and k; reading the data counts once in both."
    )
    rows = ["beforehand (APES)", "trying all (TAS)"]
    seconds = [round(spent.apes, 2), round(spent.tas, 2)]
    svg = charts.bars(title, description, rows, [Bars("seconds", theme.AFTER, seconds)], "number")
    table = Table(["Way", "Seconds"], [[row, formatted(s)] for row, s in zip(rows, seconds, strict=True)])
    return Chart(title, description, svg, table)


def two_digits(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"
