"""Which algorithm fits, by what a comparison has measured; in plain words, and with what the figures mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anondb.evaluation.metrics import describe
from anondb.report.model import ComparedRun
from anondb.report.words import counted, formatted, listed, number, percent

_GOALS = {
    "gen_iloss": "To keep detail",
    "sem_iloss": "To keep meaning",
    "semantic_sse": "To keep meaning",
    "classes": "For many small groups",
    "prosecutor_mean": "For a low risk",
    "seconds": "For speed",
}
_NOTABLE = 0.05  # of the detail
_MEANING = {  # where the definition is not plain enough by itself
    "classes": "Classes are groups of records that look the same: more of them tell more apart.",
    "prosecutor_mean": "It is the mean chance to pick the record of a person whose quasi-identifiers are known. Every "
    "release satisfies the policy; a lower risk than it asks for mostly comes of larger classes, and so of more loss.",
}

Cell = tuple[int, int]
"""k and the number of columns: what algorithms are compared at."""


def guidance(runs: Sequence[ComparedRun]) -> tuple[str, ...]:
    """Advice, most important first; only of what the figures say."""
    done = [run for run in runs if not run.failure]
    if not done:
        return (
            "No combination gave a release. A smaller k, more suppression or coarser hierarchies would help.",
        )
    return (*_goals(done), *_prices(done), *_skew(done), *_cost(done), *_failures(runs))


def _goals(done: Sequence[ComparedRun]) -> Iterator[str]:
    """The best algorithm by each measure, over the cells in which all of them have a figure."""
    for name, goal in _GOALS.items():
        by_algorithm = _shared(done, name)
        if len(by_algorithm) > 1:
            yield f"{goal}: {_best(name, by_algorithm)}. {_MEANING.get(name, describe(name).definition)}"


def _best(name: str, by_algorithm: Mapping[str, Mapping[Cell, float]]) -> str:
    """The algorithm that is best in most cells, and how the others do."""
    meant = describe(name)
    sign = -1 if meant.better == "higher" else 1
    cells = list(next(iter(by_algorithm.values())))
    best = {cell: min(sign * values[cell] for values in by_algorithm.values()) for cell in cells}
    wins = {
        algorithm: sum(sign * values[cell] == best[cell] for cell in cells)
        for algorithm, values in by_algorithm.items()
    }
    means = {algorithm: sum(values.values()) / len(cells) for algorithm, values in by_algorithm.items()}
    label = meant.label[0].lower() + meant.label[1:]
    if all(won == len(cells) for won in wins.values()):
        same = formatted(next(iter(means.values())), meant.format)
        return f"{listed(list(wins))} do equally well ({label} {same})"
    winner = min(wins, key=lambda algorithm: (-wins[algorithm], sign * means[algorithm]))
    others = sorted(
        (algorithm for algorithm in means if algorithm != winner),
        key=lambda algorithm: sign * means[algorithm],
    )
    metrics = ", ".join(
        f"{algorithm} {formatted(means[algorithm], meant.format)}" for algorithm in (winner, *others)
    )
    if len(cells) == 1:
        return f"{winner} ({label}: {metrics})"
    return f"{winner}, best in {wins[winner]} of {len(cells)} settings ({label}, mean of all: {metrics})"


def _shared(done: Sequence[ComparedRun], name: str) -> dict[str, dict[Cell, float]]:
    """The figures of each algorithm in the cells that all of them have."""
    by_algorithm: dict[str, dict[Cell, float]] = {}
    for run in done:
        value = run.metrics.get(name)
        if value is not None:
            by_algorithm.setdefault(run.algorithm, {})[run.k, run.quasi] = value
    if not by_algorithm:
        return {}
    cells = [
        cell
        for cell in next(iter(by_algorithm.values()))
        if all(cell in values for values in by_algorithm.values())
    ]
    return (
        {algorithm: {cell: values[cell] for cell in cells} for algorithm, values in by_algorithm.items()}
        if cells
        else {}
    )


def _prices(done: Sequence[ComparedRun]) -> Iterator[str]:
    """What a larger k and more columns cost, for the algorithm that loses least in the hardest setting."""
    known = [run for run in done if run.metrics.get("gen_iloss") is not None]
    if not known:
        return
    hardest = max((run.quasi, run.k) for run in known)
    chosen = min(
        (run for run in known if (run.quasi, run.k) == hardest),
        key=lambda run: run.metrics["gen_iloss"] or 0.0,
    )
    mine = [run for run in known if run.algorithm == chosen.algorithm]
    by_k = sorted((run for run in mine if run.quasi == chosen.quasi), key=lambda run: run.k)
    by_columns = sorted((run for run in mine if run.k == chosen.k), key=lambda run: run.quasi)
    if by_k[0].k < by_k[-1].k:
        yield f"From k = {by_k[0].k:,} to k = {by_k[-1].k:,}, {_way(by_k)}."
    if by_columns[0].quasi < by_columns[-1].quasi:
        yield f"From {counted(by_columns[0].quasi, 'column')} to {by_columns[-1].quasi}, {_way(by_columns)}."


def _way(runs: Sequence[ComparedRun]) -> str:
    """How the figures change from the first run to the last."""
    first, last = runs[0].metrics, runs[-1].metrics
    changes = [
        f"{words} goes from {percent(low)} to {percent(high)}"
        for name, words in (("gen_iloss", "generalization loss"), ("prosecutor_mean", "average risk"))
        if (low := first.get(name)) is not None and (high := last.get(name)) is not None
    ]
    return f"with {runs[0].algorithm}, {' and '.join(changes)}"


def _skew(done: Sequence[ComparedRun]) -> Iterator[str]:
    """Where partitioning gets stuck: LeFevre et al. 2006 bound a class by 2d(k − 1) and the copies of one tuple.

    A class of copies alone loses nothing, so that only runs with a loss are told.
    """
    skewed = [
        (largest / run.k, -place, run, largest)
        for place, run in enumerate(done)
        if run.metrics.get("iterations") is not None
        and (run.metrics.get("gen_iloss") or 0.0) >= _NOTABLE
        and (largest := run.metrics.get("class_size_max") or 0.0) > 2 * run.quasi * (run.k - 1) + run.k
    ]
    if not skewed:
        return
    times, _, run, largest = max(skewed, key=lambda candidate: candidate[:2])
    mean, cut = run.metrics.get("class_size_mean"), run.metrics.get("partitioned")
    usual = "" if mean is None else f", where the mean is {number(round(mean, 1))}"
    columns = (
        f" It cut by {cut:.0f} of {counted(run.quasi, 'column')}."
        if cut is not None and cut < run.quasi
        else ""
    )
    yield (
        f"{run.algorithm} suffers from skew, most at {_at(run)}: its largest class has {number(largest)} records, "
        f"{number(round(times))} times k{usual}.{columns} Values that many records share leave no cut with k records "
        "on both sides; strict = false lets such records go to either side."
    )


def _cost(done: Sequence[ComparedRun]) -> Iterator[str]:
    """Where incognito, which searches subsets of columns, is slow, and how many checks optimal needs there."""
    mine = [
        run
        for run in done
        if run.algorithm == "incognito" and run.metrics.get("checks") and run.metrics.get("lattice")
    ]
    if not mine:
        return
    worst = max(mine, key=lambda run: (run.metrics["checks"] or 0.0, run.quasi, -run.k))
    checks, nodes = worst.metrics["checks"] or 0.0, worst.metrics["lattice"] or 1.0
    seconds = worst.metrics.get("seconds")
    took = "" if seconds is None else f" and took {number(round(seconds, 2))} seconds"
    others = [
        run for run in done if run.algorithm == "optimal" and (run.k, run.quasi) == (worst.k, worst.quasi)
    ]
    needed = "".join(f" (here {number(run.metrics.get('checks') or 0.0)})" for run in others)
    yield (
        f"incognito costs most at {_at(worst)}: it made {number(checks)} checks{took}, in a lattice of "
        f"{number(nodes)} nodes ({percent(checks / nodes)}; smaller sets of columns are checked too). Each further "
        f"column multiplies the lattice by its levels; optimal finds the best node with fewer checks{needed}."
    )


def _failures(runs: Sequence[ComparedRun]) -> Iterator[str]:
    by_algorithm: dict[str, list[ComparedRun]] = {}
    for run in runs:
        if run.failure:
            by_algorithm.setdefault(run.algorithm, []).append(run)
    for algorithm, failed in by_algorithm.items():
        reasons = list(dict.fromkeys(run.failure for run in failed))
        more = "" if len(reasons) == 1 else f", and {counted(len(reasons) - 1, 'other reason')}"
        settings = sum(run.algorithm == algorithm for run in runs)
        yield f"{algorithm} gave no release in {len(failed)} of {counted(settings, 'setting')}: {reasons[0]}{more}."


def _at(run: ComparedRun) -> str:
    return f"k = {run.k:,} with {counted(run.quasi, 'column')}"
