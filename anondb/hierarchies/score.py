"""What a score says of a hierarchy: the loss of each level, what it covers, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import RenderableType

from anondb.hierarchies import score_text


@dataclass(frozen=True)
class Method:
    """How a hierarchy is scored; with a table and a column, each leaf counts as often as it occurs there."""

    measure: str = "wup"
    aggregate: str = "max"
    weights: str | Sequence[float] = "uniform"
    table: str | None = None
    column: str | None = None
    unmapped: str = "error"

    def __str__(self) -> str:
        weights = self.weights if isinstance(self.weights, str) else ", ".join(map(str, self.weights))
        source = f", as often as in {self.table}.{self.column}" if self.table else ""
        return f"{self.measure}, {self.aggregate}, weights {weights}{source}"


@dataclass(frozen=True)
class Level:
    level: int
    loss: float | None  # none where nothing is known of it
    max: float | None
    avg: float | None
    deviation: float | None


@dataclass(frozen=True)
class Coverage:
    """How much of the hierarchy means something: leaves, and pairs of a leaf and an ancestor."""

    leaves: int
    mapped_leaves: int
    pairs: int
    mapped_pairs: int

    @property
    def share(self) -> float:
        return self.mapped_pairs / self.pairs


@dataclass(frozen=True)
class Transition:
    leaf: str
    level: int
    ancestor: str
    loss: float


@dataclass(frozen=True)
class Fault:
    """Something that is wrong, as anondb.vgh_faults tells it."""

    kind: str  # falling, no_hypernym, synonym, overlap
    level: int
    node: str
    other: str | None
    leaves: list[str] | None
    loss: float | None
    suggestion: str | None
    advice: str


@dataclass(frozen=True)
class Score:
    """The Generalization Semantic Loss of a hierarchy; printing it shows all of it."""

    vgh: str
    ontology: str
    method: Method
    gsl: float
    rating: str
    levels: tuple[Level, ...]
    coverage: Coverage
    worst: tuple[Transition, ...]
    faults: tuple[Fault, ...]

    def as_json(self) -> dict[str, Any]:
        """The object that `anondb vgh score --json` prints."""
        return {
            "vgh": self.vgh,
            "gsl": self.gsl,
            "rating": self.rating,
            "ontology": self.ontology,
            **asdict(self.method),
            "levels": [asdict(level) for level in self.levels],
            "coverage": asdict(self.coverage) | {"share": self.coverage.share},
            "worst": [asdict(transition) for transition in self.worst],
            "faults": [asdict(fault) for fault in self.faults],
        }

    def __rich__(self) -> RenderableType:
        return score_text.one(self)

    def __str__(self) -> str:
        return score_text.plain(self)


@dataclass(frozen=True)
class ScoreSet:
    """Several hierarchies side by side, best first, and the score of the set."""

    scores: tuple[Score, ...]
    gsl: float
    rating: str
    preferences: tuple[float, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        preferences = None if self.preferences is None else list(self.preferences)
        return {
            "scores": [score.as_json() for score in self.scores],
            "set": {"gsl": self.gsl, "rating": self.rating, "preferences": preferences},
        }

    def __rich__(self) -> RenderableType:
        return score_text.several(self)

    def __str__(self) -> str:
        return score_text.plain(self)


@dataclass(frozen=True)
class NodeSense:
    """What a node of a hierarchy means, and how that was found."""

    level: int
    label: str
    concept: str | None  # none where none was found
    meaning: str | None
    how: str
    confidence: float  # 0 a tie between senses, 1 nothing to choose between
    leaves: int  # for so many leaves below it
