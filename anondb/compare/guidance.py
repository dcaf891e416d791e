"""Which algorithm fits, by what a comparison has measured; in plain words, and with what the metrics mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anondb.evaluation.metrics import describe
from anondb.methods.registry import METHODS
from anondb.report.model import ComparedRun
from anondb.report.words import counted, formatted, listed, percent

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

Cell = tuple[int, int, int | None]
"""k, the number of columns and of rows: what algorithms are compared at."""


def guidance(runs: Sequence[ComparedRun]) -> tuple[str, ...]:
    """Advice, most important first; only of what the metrics say."""
    done = [run for run in runs if not run.failure]
    if not done:
        return (
            "No combination gave a release. A smaller k, more suppression or coarser hierarchies would help.",
        )
    return (*_goals(done), *_prices(done), *_of_methods(done), *_failures(runs))


def _goals(done: Sequence[ComparedRun]) -> Iterator[str]:
    """The best algorithm by each metric, over the cells in which all of them have a value."""
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
    """The values of each algorithm in the cells that all of them have."""
    by_algorithm: dict[str, dict[Cell, float]] = {}
    for run in done:
        value = run.metrics.get(name)
        if value is not None:
            by_algorithm.setdefault(run.algorithm, {})[run.k, run.quasi, run.size] = value
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
    """What a larger k, more columns and more rows cost, for the algorithm that loses least in the hardest setting."""
    known = [run for run in done if run.metrics.get("gen_iloss") is not None]
    if not known:
        return
    hardest = max(_hardness(run) for run in known)
    chosen = min(
        (run for run in known if _hardness(run) == hardest),
        key=lambda run: run.metrics["gen_iloss"] or 0.0,
    )
    mine = [run for run in known if run.algorithm == chosen.algorithm]
    quasi, size, k = _hardness(chosen)
    by_k = sorted((run for run in mine if _hardness(run)[:2] == (quasi, size)), key=lambda run: run.k)
    by_columns = sorted((run for run in mine if _hardness(run)[1:] == (size, k)), key=lambda run: run.quasi)
    by_size = sorted((run for run in mine if (run.quasi, run.k) == (quasi, k)), key=lambda run: run.size or 0)
    if by_k[0].k < by_k[-1].k:
        yield f"From k = {by_k[0].k:,} to k = {by_k[-1].k:,}, {_way(by_k)}."
    if by_columns[0].quasi < by_columns[-1].quasi:
        yield f"From {counted(by_columns[0].quasi, 'column')} to {by_columns[-1].quasi}, {_way(by_columns)}."
    if by_size[0].size != by_size[-1].size:
        first, last = by_size[0].metrics.get("seconds"), by_size[-1].metrics.get("seconds")
        took = "" if not first or not last else f"; it takes {last / first:.1f} times as long"
        yield f"From {by_size[0].size:,} rows to {by_size[-1].size:,}, {_way(by_size)}{took}."


def _hardness(run: ComparedRun) -> tuple[int, int, int]:
    return run.quasi, run.size or 0, run.k


def _way(runs: Sequence[ComparedRun]) -> str:
    """How the metrics change from the first run to the last."""
    first, last = runs[0].metrics, runs[-1].metrics
    changes = [
        f"{words} goes from {percent(low)} to {percent(high)}"
        for name, words in (("gen_iloss", "generalization loss"), ("prosecutor_mean", "average risk"))
        if (low := first.get(name)) is not None and (high := last.get(name)) is not None
    ]
    return f"with {runs[0].algorithm}, {' and '.join(changes)}"


def _of_methods(done: Sequence[ComparedRun]) -> Iterator[str]:
    for name, method in METHODS.items():
        yield from method.advice([run for run in done if run.algorithm == name], done)


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
