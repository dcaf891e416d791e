"""What the dynamic study asks: does a score that knows the data's frequencies foretell utility better?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from anondb.study.gsl_study import UTILITY, spearman

SCORES = ("dynamic", "static")


@dataclass(frozen=True)
class DynamicOutcome:
    """One hierarchy on the data of one scenario: its scores beforehand, and its utility averaged over all k."""

    hierarchy: int
    scenario: str
    dynamic: float
    static: float
    utility: Mapping[str, float]
    levels: Mapping[int, int]  # level that was released → by how many of the k


@dataclass(frozen=True)
class DynamicStudy:
    hierarchies: int
    height: int
    records: int  # of each set of data
    measure: str
    seed: int
    outcomes: tuple[DynamicOutcome, ...]


@dataclass(frozen=True)
class ScenarioCorrelation:
    """Spearman's, over the hierarchies of one scenario."""

    scenario: str
    score: str
    utility: str
    rho: float | None


def correlations(study: DynamicStudy) -> list[ScenarioCorrelation]:
    """One for each scenario, score and utility."""
    by_scenario: dict[str, list[DynamicOutcome]] = {}
    for outcome in study.outcomes:
        by_scenario.setdefault(outcome.scenario, []).append(outcome)
    return [
        ScenarioCorrelation(
            scenario,
            score,
            utility,
            spearman(
                [getattr(outcome, score) for outcome in outcomes],
                [outcome.utility[utility] for outcome in outcomes],
            ),
        )
        for (scenario, outcomes), score, utility in product(by_scenario.items(), SCORES, UTILITY)
    ]


def levels_reached(study: DynamicStudy) -> dict[int, int]:
    """Level → on how many sets of data some k has led to it."""
    reached: dict[int, int] = dict.fromkeys(range(study.height + 1), 0)
    for outcome in study.outcomes:
        for level in outcome.levels:
            reached[level] += 1
    return reached


def as_json(study: DynamicStudy) -> dict[str, Any]:
    """The object that `anondb experiment gsl --study dynamic --json` prints."""
    return {
        "study": "dynamic",
        "hierarchies": study.hierarchies,
        "height": study.height,
        "records": study.records,
        "measure": study.measure,
        "seed": study.seed,
        "correlations": [vars(one) for one in correlations(study)],
        "levels_reached": levels_reached(study),
        "trials": rows(study),
    }


def rows(study: DynamicStudy) -> list[dict[str, Any]]:
    """One row a hierarchy and scenario."""
    return [
        {
            "hierarchy": outcome.hierarchy,
            "scenario": outcome.scenario,
            "gsl_dynamic": outcome.dynamic,
            "gsl_static": outcome.static,
            **outcome.utility,
            "levels": " ".join(f"{level}×{number}" for level, number in sorted(outcome.levels.items())),
        }
        for outcome in study.outcomes
    ]
