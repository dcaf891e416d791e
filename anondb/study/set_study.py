"""What the study of sets asks (Batet, Erola, Sanchez, Castella-Roca): does meaning lose less, and which distance least?

Losses are those of whole centroids, as published: a release of a run leaves out what fewer than k records have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from anondb.methods.mdav.mdav import DISTANCES, VARIANTS

SEMANTIC, *TWINS = VARIANTS
BY = {"semantic": "by meaning", "non_semantic": "by equal concepts", "texts": "by equal texts"}
"""How records are compared, in words."""


@dataclass(frozen=True)
class Loss:
    """What one setting loses on one log."""

    log: int  # its place among all
    distance: str
    variant: str
    k: int
    loss: float
    classes: int
    seconds: float  # to compare all records, and to make the classes of this k


@dataclass(frozen=True)
class Log:
    """A log, and what of it the ontology knows."""

    records: int  # with a concept
    concepts: int
    texts: int
    unmapped: int
    tagger: str | None  # that found nouns in texts, where there was need
    seed: int | None = None  # of a synthetic one


@dataclass(frozen=True)
class SetStudy:
    """All figures of an experiment with sets of texts."""

    source: str
    ontology: str
    logs: tuple[Log, ...]
    k: tuple[int, ...]
    losses: tuple[Loss, ...]

    def means(self) -> Mapping[tuple[str, str, int], float]:
        """The mean loss of each distance, variant and k over the logs."""
        found: dict[tuple[str, str, int], list[float]] = {}
        for one in self.losses:
            found.setdefault((one.distance, one.variant, one.k), []).append(one.loss)
        return {setting: fmean(losses) for setting, losses in found.items()}

    def less_than(self, twin: str) -> tuple[int, int]:
        """In how many settings of distance and k meaning loses less than this twin, in the mean; and of how many."""
        means = self.means()
        pairs = [(means[d, SEMANTIC, k], means[d, twin, k]) for d in DISTANCES for k in self.k]
        return sum(own < other for own, other in pairs), len(pairs)

    def least(self) -> Mapping[int, str]:
        """For each k the distance that loses least by meaning, in the mean."""
        means = self.means()
        return {k: min(DISTANCES, key=lambda d: (means[d, SEMANTIC, k], d)) for k in self.k}


def summary(study: SetStudy) -> Iterator[str]:
    """What came out, in plain words; figures as they were counted, strong or not."""
    logs = study.logs
    many = "" if len(logs) == 1 else f" in the mean of {len(logs)} logs"
    records, concepts = fmean(log.records for log in logs), fmean(log.concepts for log in logs)
    yield (
        f"{records:,.0f} records of {study.source} with {concepts:,.0f} different concepts of {study.ontology}{many}: "
        "losses are sums of squared average distances."
    )
    for twin in TWINS:
        less, of = study.less_than(twin)
        yield f"Compared by meaning, records lose less than {BY[twin]} in {less} of {of} settings."
    for distance, times in Counter(study.least().values()).most_common():
        yield f"{distance} loses least in {times} of {len(study.k)} k."


def table_rows(study: SetStudy) -> list[dict[str, Any]]:
    """The table of the source: a row a distance and variant, its mean loss for each k."""
    means = study.means()
    return [
        {"distance": d, "variant": v, **{f"k = {k}": round(means[d, v, k], 4) for k in study.k}}
        for d in DISTANCES
        for v in VARIANTS
    ]


def rows(study: SetStudy) -> list[dict[str, Any]]:
    """One row a setting and log."""
    return [
        {"seed": study.logs[one.log].seed, **{k: v for k, v in asdict(one).items() if k != "log"}}
        for one in study.losses
    ]


def as_json(study: SetStudy) -> dict[str, Any]:
    """The object that `anondb experiment mdav --json` prints."""
    return {
        "source": study.source,
        "ontology": study.ontology,
        "k": list(study.k),
        "logs": [asdict(log) for log in study.logs],
        "table": table_rows(study),
        "losses": rows(study),
        "less_than": {twin: list(study.less_than(twin)) for twin in TWINS},
        "least": {str(k): distance for k, distance in study.least().items()},
    }
