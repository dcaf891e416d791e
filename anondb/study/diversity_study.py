"""What the study of (l, e)-diversity asks (Wang, Han, Wang): what e costs and gains, against l and against the size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Anatomized:
    """What came of one release in two tables."""

    records: int
    l: int  # noqa: E741 - the literature's name
    e: float
    classes: int
    suppressed: int
    loss: float  # the mean over the records
    loss_sum: float  # the same summed, as the source counts it
    dot: float
    seconds: float  # from the first pass to the verified tables

    @property
    def suppressed_share(self) -> float:
        return self.suppressed / self.records


@dataclass(frozen=True)
class DiversityStudy:
    """All figures of an experiment."""

    source: str
    quasi: tuple[str, ...]
    sensitive: str
    hierarchy: str
    fixed_l: int  # while the number of records varies
    seed: int
    releases: tuple[Anatomized, ...]
    failures: Mapping[str, str]  # setting → why it has no release

    @property
    def most(self) -> int:
        """The records while l varies."""
        return max(one.records for one in self.releases)

    @property
    def distances(self) -> list[float]:
        """The values of e."""
        return sorted({one.e for one in self.releases})

    def against_l(self, e: float) -> list[Anatomized]:
        return sorted(
            (one for one in self.releases if one.e == e and one.records == self.most), key=lambda one: one.l
        )

    def against_records(self, e: float) -> list[Anatomized]:
        return sorted(
            (one for one in self.releases if one.e == e and one.l == self.fixed_l),
            key=lambda one: one.records,
        )


@dataclass(frozen=True)
class Measured:
    """A figure that is drawn."""

    title: str
    axis: str
    of: Callable[[Anatomized], float]


MEASURES: Sequence[Measured] = (
    Measured("Information loss", "sum over the records", lambda one: one.loss_sum),
    Measured("Diversity of classes", "DOT", lambda one: one.dot),
    Measured("Time", "seconds", lambda one: one.seconds),
)
"""Of the source's figures: each against l and against the number of records."""


def as_json(study: DiversityStudy) -> dict[str, Any]:
    """The object that the command prints with --json."""
    return {
        "source": study.source,
        "quasi": list(study.quasi),
        "sensitive": study.sensitive,
        "hierarchy": study.hierarchy,
        "fixed_l": study.fixed_l,
        "seed": study.seed,
        "releases": rows(study),
        "failures": dict(study.failures),
    }


def rows(study: DiversityStudy) -> list[dict[str, Any]]:
    """One row a release."""
    return [asdict(one) | {"suppressed_share": one.suppressed_share} for one in study.releases]
