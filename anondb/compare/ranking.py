"""One ranking of all algorithms by several criteria, each with a weight (Ayala-Rivera et al. 2014, section 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean

from anondb.errors import UsageError, did_you_mean
from anondb.evaluation.metrics import describe
from anondb.report.model import ComparedRun
from anondb.report.words import counted, listed, percent

CRITERIA = {
    "loss": "gen_iloss",
    "meaning": "sem_iloss",
    "risk": "prosecutor_mean",
    "linkage": "record_linkage_coverage",
    "suppressed": "suppressed",
    "classes": "classes",
    "time": "seconds",
    "memory": "bytes",
}
"""What can be weighted, and the metric of it."""

_EXAMPLE = "for example loss=40,risk=40,time=20"
_WORST = 1.0


@dataclass(frozen=True)
class Rank:
    """An algorithm in the ranking; of all its figures, 0 is the best in every setting and 1 the worst in every."""

    algorithm: str
    score: float
    criteria: Mapping[str, float]  # the same of each criterion by itself
    settings: int  # over which it is a mean


def checked(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights as shares of one; those of nothing are left out."""
    for name, weight in weights.items():
        if name not in CRITERIA:
            hint = did_you_mean(name, CRITERIA) or f"choose from {', '.join(CRITERIA)}"
            raise UsageError(f'there is no criterion "{name}"', hint=hint)
        if not (isfinite(weight) and weight >= 0):
            raise UsageError(f'the weight of "{name}" is not 0 or more', hint=_EXAMPLE)
    total = sum(weights.values())
    if not (isfinite(total) and total > 0):
        raise UsageError("the weights leave nothing to rank by", hint=_EXAMPLE)
    return {name: weight / total for name, weight in weights.items() if weight > 0}


def read_weights(text: str) -> dict[str, float]:
    """Weights as they are written: `loss=40,risk=40,time=20`."""
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        if name in weights:
            raise UsageError(f'"{name}" has two weights', hint=_EXAMPLE)
        try:
            weights[name] = float(number)
        except ValueError:
            raise UsageError(f'the weight of "{name}" is no number', hint=_EXAMPLE) from None
    return checked(weights)


def ranking(runs: Sequence[ComparedRun], weights: Mapping[str, float]) -> tuple[Rank, ...]:
    """Best first. In each setting every criterion is scaled from the best algorithm (0) to the worst (1); what gives
    no release there is worst in all. A criterion that is not known of all releases of a setting does not count there.
    """
    cells: dict[tuple[int, int, int | None], dict[str, ComparedRun]] = {}
    for run in runs:
        cells.setdefault((run.k, run.quasi, run.size), {})[run.algorithm] = run
    scaled = [found for cell in cells.values() if (found := _scaled(list(cell.values()), weights))]
    ranks = []
    for algorithm in dict.fromkeys(run.algorithm for run in runs):
        mine = [cell[algorithm] for cell in scaled if algorithm in cell]
        if mine:
            criteria = {
                name: fmean(known)
                for name in weights
                if (known := [values[name] for values in mine if name in values])
            }
            ranks.append(Rank(algorithm, fmean(_score(v, weights) for v in mine), criteria, len(mine)))
    return tuple(sorted(ranks, key=lambda rank: (rank.score, rank.algorithm)))


def sentence(ranks: Sequence[Rank], weights: Mapping[str, float]) -> str:
    """The ranking in plain words."""
    said = listed([f"{name} {percent(weight)}" for name, weight in weights.items()])
    if not ranks:
        return f"No ranking by {said}: nothing of it is known of all releases of a setting."
    places = ", ".join(f"{place}. {rank.algorithm} {rank.score:.2f}" for place, rank in enumerate(ranks, 1))
    return (
        f"Ranked by {said}: {places}. 0 is the best in every criterion and setting, 1 the worst in every; "
        f"over {counted(max(rank.settings for rank in ranks), 'setting')}."
    )


def _scaled(runs: Sequence[ComparedRun], weights: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Of each algorithm, where it lies between best and worst by each criterion that is known of all."""
    done = [run for run in runs if not run.failure]
    found: dict[str, dict[str, float]] = {run.algorithm: {} for run in runs}
    for name in weights:
        metric = CRITERIA[name]
        values = [run.metrics.get(metric) for run in done]
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            continue
        sign = -1 if describe(metric).better == "higher" else 1
        best, worst = min(sign * value for value in known), max(sign * value for value in known)
        for run in runs:
            found[run.algorithm][name] = _WORST
        for run, value in zip(done, known, strict=True):
            far = (sign * value - best) / (worst - best) if worst > best else 0.0
            found[run.algorithm][name] = far
    return found if any(found.values()) else {}


def _score(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights[name] * value for name, value in values.items()) / sum(weights[n] for n in values)
