"""What the study of GSL asks (Ayala-Rivera et al.): does the score of a hierarchy foretell the utility of its releases?

Everything here is counted from figures of trials: no table is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from statistics import fmean, median
from typing import Any

from anondb.hierarchies.build.ranking import ASPECTS

GSL = ("static max", "static avg", "dynamic avg")
"""The scores: of the leaves as they are, or as often as they occur. Where all occur, dynamic max is static max."""

_LEADING = ("static avg", "dynamic avg", "static max")
"""The means first: they foretell best."""

UTILITY = ("semantic_sse", "sem_iloss")
CLUSTERED = {"rand_loss": "rand", "nmi_loss": "nmi"}
"""What clusterings of the originals and of the release have not in common: 1 minus the metric."""

STEP = 25  # of the weights
CATEGORIES = 5  # as many as ratings

Weights = tuple[int, ...]  # of ASPECTS; their sum is 100


@dataclass(frozen=True)
class Judged:
    """A hierarchy of each column, before any data is anonymized with them."""

    name: str
    kind: str  # "worse": the base, and what was made worse of it; "built": other candidates for the evaluator
    gsl: Mapping[str, float]
    rating: str  # of static max


@dataclass(frozen=True)
class Outcome:
    """What came of one trial: a release made with the hierarchies of one place."""

    hierarchy: int  # place among the judged ones
    algorithm: str
    k: int
    levels: Mapping[str, int]
    suppressed: int
    utility: Mapping[str, float]
    read: float  # seconds, as all seconds here
    rest: float  # to anonymize, write, verify, and measure the utility


@dataclass(frozen=True)
class Study:
    """All figures of an experiment; in `aspects`, for each k, those of each hierarchy."""

    source: str
    columns: tuple[str, ...]
    records: int
    measure: str
    seed: int
    judged: tuple[Judged, ...]
    outcomes: tuple[Outcome, ...]
    failures: Mapping[str, str]  # trial → why it has no release
    aspects: Mapping[int, Sequence[Mapping[str, float]]]
    score_seconds: float  # to judge all hierarchies by all aspects, for one k

    @property
    def utilities(self) -> tuple[str, ...]:
        """What was measured of every release."""
        return tuple(self.outcomes[0].utility)

    def rounds(self, kinds: Collection[str] = ("worse", "built")) -> dict[tuple[str, int], list[Outcome]]:
        """The releases of each algorithm and k, made with hierarchies of these kinds."""
        rounds: dict[tuple[str, int], list[Outcome]] = {}
        for outcome in self.outcomes:
            if self.judged[outcome.hierarchy].kind in kinds:
                rounds.setdefault((outcome.algorithm, outcome.k), []).append(outcome)
        return rounds


@dataclass(frozen=True)
class Correlation:
    """Spearman's, of a score and a utility in one round; none where either is the same for all hierarchies."""

    algorithm: str
    k: int
    gsl: str
    utility: str
    rho: float | None


@dataclass(frozen=True)
class AveragedCorrelation:
    """Spearman's, of a score and the mean utility over all k, for one algorithm: what the published study reports."""

    algorithm: str
    gsl: str
    utility: str
    rho: float | None


@dataclass(frozen=True)
class Improvement:
    """By how much the best hierarchy loses less than the worst, as a share of the worst's loss."""

    algorithm: str
    k: int
    utility: str
    share: float | None


@dataclass(frozen=True)
class CategoryAgreement:
    """Do hierarchies of one rating give releases of one category? 1 is best, for all three figures."""

    algorithm: str
    k: int
    utility: str
    wallace_1: float
    wallace_2: float
    nmi: float


@dataclass(frozen=True)
class Weighting:
    """What comes of choosing by these weights, as a mean over the rounds."""

    weights: Mapping[str, int]
    rho: float | None  # of the evaluator's score and the negative SSE: 1 is best
    place: float  # of the winner's SSE among all, 1 is best
    excess: float  # its SSE above the least one, as a share of it


@dataclass(frozen=True)
class Times:
    """Choosing beforehand (APES) against trying all (TAS), as a mean over the rounds; reading counts once in both."""

    apes: float
    tas: float

    @property
    def ratio(self) -> float:
        return self.tas / self.apes


def correlations(study: Study) -> list[Correlation]:
    """Correlations of every score with every utility, in every round, over hierarchies that differ only in meaning."""
    return [
        Correlation(algorithm, k, gsl, utility, spearman(*_pairs(study, outcomes, gsl, utility)))
        for (algorithm, k), outcomes in study.rounds(["worse"]).items()
        for gsl, utility in product(GSL, study.utilities)
    ]


def averaged_correlations(study: Study) -> list[AveragedCorrelation]:
    """Of every algorithm by itself: the score of each hierarchy against its mean utility over all k that it has."""
    by_algorithm: dict[str, dict[int, list[Outcome]]] = {}
    for (algorithm, _), outcomes in study.rounds(["worse"]).items():
        for outcome in outcomes:
            by_algorithm.setdefault(algorithm, {}).setdefault(outcome.hierarchy, []).append(outcome)
    averaged = []
    for (algorithm, by_hierarchy), gsl, utility in product(by_algorithm.items(), _LEADING, study.utilities):
        # a mean over fewer k is no mean over the others
        most = max(map(len, by_hierarchy.values()))
        whole = {place: of_one for place, of_one in by_hierarchy.items() if len(of_one) == most}
        scores = [study.judged[place].gsl[gsl] for place in whole]
        means = [fmean(outcome.utility[utility] for outcome in of_one) for of_one in whole.values()]
        averaged.append(AveragedCorrelation(algorithm, gsl, utility, spearman(scores, means)))
    return averaged


def improvements(study: Study) -> list[Improvement]:
    """What the hierarchy of the best score saves against that of the worst, in every round."""
    improved = []
    for (algorithm, k), outcomes in study.rounds(["worse"]).items():
        by_score = sorted(outcomes, key=lambda outcome: study.judged[outcome.hierarchy].gsl["static avg"])
        for utility in study.utilities:
            best, worst = by_score[0].utility[utility], by_score[-1].utility[utility]
            share = (worst - best) / worst if worst > 0 else None
            improved.append(Improvement(algorithm, k, utility, share))
    return improved


def _pairs(
    study: Study, outcomes: Sequence[Outcome], gsl: str, utility: str
) -> tuple[list[float], list[float]]:
    return (
        [study.judged[outcome.hierarchy].gsl[gsl] for outcome in outcomes],
        [outcome.utility[utility] for outcome in outcomes],
    )


def spread(numbers: Iterable[float | None]) -> tuple[float, float, float] | None:
    """The least, the median and the greatest of the known correlations."""
    known = [number for number in numbers if number is not None]
    return (min(known), median(known), max(known)) if known else None


def agreements(study: Study) -> list[CategoryAgreement]:
    """The ratings against as many steps of the utility, in every round."""
    from anondb.evaluation.clustering import compare

    agreements = []
    for ((algorithm, k), outcomes), utility in product(study.rounds(["worse"]).items(), study.utilities):
        ratings = list(dict.fromkeys(outcome.rating for outcome in study.judged))
        rated = [ratings.index(study.judged[outcome.hierarchy].rating) for outcome in outcomes]
        agreed = compare(rated, categories([outcome.utility[utility] for outcome in outcomes]))
        figures = agreed.wallace_1, agreed.wallace_2, agreed.nmi
        agreements.append(CategoryAgreement(algorithm, k, utility, *figures))
    return agreements


def categories(values: Sequence[float]) -> list[int]:
    """Steps of equal width from the least to the greatest value; a single one where all are the same."""
    low, high = min(values), max(values)
    if not _clearly_less(low, high):
        return [0] * len(values)
    return [min(CATEGORIES - 1, int((value - low) / (high - low) * CATEGORIES)) for value in values]


def weightings() -> Iterator[Weights]:
    """All weights of the aspects in steps of 25 that sum to 100: 35."""
    steps = range(0, 101, STEP)
    return (weights for weights in product(steps, repeat=len(ASPECTS)) if sum(weights) == 100)


def rewards(scores: Sequence[float]) -> list[int]:
    """Number of candidates + 1 − rank; low scores first, ties share the better rank."""
    rounded = [round(score, 9) for score in scores]  # as anondb.rank_vghs does
    return [len(rounded) - sum(other < score for other in rounded) for score in rounded]


def evaluated(aspects: Sequence[Mapping[str, float]], weights: Weights) -> list[float]:
    """E(V) = Σ w · reward of each candidate; the greatest wins, and of equal ones the first."""
    of_aspect = [rewards([aspects_of_one[name] for aspects_of_one in aspects]) for name in ASPECTS]
    return [
        float(sum(weight * reward for weight, reward in zip(weights, own, strict=True)))
        for own in zip(*of_aspect, strict=True)
    ]


def weighed(study: Study) -> list[Weighting]:
    """What each of the 35 weightings would have chosen."""
    weighted = []
    for weights in weightings():
        rhos, places, excesses = [], [], []
        for (_, k), outcomes in study.rounds().items():
            score = evaluated(study.aspects[k], weights)
            scores = [score[outcome.hierarchy] for outcome in outcomes]
            losses = [outcome.utility["semantic_sse"] for outcome in outcomes]
            rhos.append(spearman(scores, [-loss for loss in losses]))
            chosen = losses[scores.index(max(scores))]
            places.append(1 + sum(_clearly_less(loss, chosen) for loss in losses))
            least = min(losses)
            excesses.append(round((chosen - least) / least, 9) if least > 0 else 0.0)
        known = [rho for rho in rhos if rho is not None]
        named = dict(zip(ASPECTS, weights, strict=True))
        weighted.append(Weighting(named, fmean(known) if known else None, fmean(places), fmean(excesses)))
    return weighted


def _clearly_less(first: float, second: float) -> bool:
    """Whether the first is less by more than an error of arithmetic."""
    return second - first > 1e-9 * max(abs(first), abs(second))


def times(study: Study) -> Times | None:
    """Σ (anonymize + write + utility) over all candidates, against the scores of all and the release of the best."""
    apes, tas = [], []
    for (_, k), outcomes in study.rounds().items():
        score = evaluated(study.aspects[k], (100, 0, 0, 0))
        read = fmean(outcome.read for outcome in outcomes)
        best = max(outcomes, key=lambda outcome: (score[outcome.hierarchy], -outcome.hierarchy))
        apes.append(study.score_seconds + read + best.rest)
        tas.append(read + sum(outcome.rest for outcome in outcomes))
    return Times(fmean(apes), fmean(tas)) if apes else None


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The correlation of the ranks; none with fewer than three pairs, or where one side is the same for all."""
    if len(first) < 3 or not all(_clearly_less(min(side), max(side)) for side in (first, second)):
        return None
    from scipy.stats import spearmanr

    # figures that differ by an error of arithmetic are equal
    return float(spearmanr(*([float(f"{x:.9g}") for x in side] for side in (first, second))).statistic)


def as_json(study: Study) -> dict[str, Any]:
    """The object that `anondb experiment gsl --json` prints."""
    spent = times(study)
    return {
        "source": study.source,
        "columns": list(study.columns),
        "records": study.records,
        "measure": study.measure,
        "seed": study.seed,
        "hierarchies": [asdict(entry) for entry in study.judged],
        "trials": rows(study),
        "failures": dict(study.failures),
        "averaged_correlations": [asdict(entry) for entry in averaged_correlations(study)],
        "improvements": [asdict(entry) for entry in improvements(study)],
        "correlations": [asdict(entry) for entry in correlations(study)],
        "agreements": [asdict(entry) for entry in agreements(study)],
        "weightings": [asdict(entry) for entry in weighed(study)],
        "seconds": None
        if spent is None
        else {"score": study.score_seconds, **asdict(spent), "ratio": spent.ratio},
    }


def rows(study: Study) -> list[dict[str, Any]]:
    """One row a release, with the scores of its hierarchies."""
    return [
        {
            "hierarchy": study.judged[outcome.hierarchy].name,
            "kind": study.judged[outcome.hierarchy].kind,
            "algorithm": outcome.algorithm,
            "k": outcome.k,
            **{f"gsl_{name.replace(' ', '_')}": study.judged[outcome.hierarchy].gsl[name] for name in GSL},
            "rating": study.judged[outcome.hierarchy].rating,
            **study.aspects[outcome.k][outcome.hierarchy],
            **outcome.utility,
            "levels": " ".join(f"{column}={level}" for column, level in outcome.levels.items()),
            "suppressed": outcome.suppressed,
            "seconds": round(outcome.read + outcome.rest, 4),
        }
        for outcome in study.outcomes
    ]
