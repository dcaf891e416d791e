"""What a ranking says of hierarchies: four aspects of each, their ranks, the weighted sum, and how it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from anondb.errors import UsageError

ASPECTS = ("semq", "priv", "distrn", "isize")
"""Semantic quality, privacy vulnerability, distortion for k, interval size; lower is better for all."""

_EXAMPLE = "for example --weights semq=40,priv=20,distrn=20,isize=20"


@dataclass(frozen=True)
class RankingMethod:
    """How hierarchies are ranked; with a table and a column, each leaf counts as often as it occurs there."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(ASPECTS, 25.0))
    k: int = 5
    measure: str = "wup"
    aggregate: str = "max"
    table: str | None = None
    column: str | None = None


@dataclass(frozen=True)
class Aspect:
    score: float | None  # none where the aspect does not apply: ranges of numbers have no meaning
    rank: int | None


@dataclass(frozen=True)
class Spread:
    """Statistics of a tree: the depths of its leaves, the children of its inner nodes, or the nodes at each depth."""

    mean: float
    deviation: float
    minimum: int
    maximum: int


@dataclass(frozen=True)
class Ranked:
    """A hierarchy and its place; `score` is the weighted sum of the rewards."""

    vgh: str
    score: float
    rank: int
    aspects: Mapping[str, Aspect]
    leaves: int
    ancestors: int
    structure: Mapping[str, Spread]


@dataclass(frozen=True)
class Ranking:
    """Hierarchies, best first."""

    method: RankingMethod
    ranked: tuple[Ranked, ...]

    @property
    def winner(self) -> str:
        return self.ranked[0].vgh

    def as_json(self) -> dict[str, Any]:
        """The object that `anondb vgh rank --json` prints."""
        return {
            "winner": self.winner,
            **asdict(self.method),
            "ranked": [asdict(ranked) for ranked in self.ranked],
        }


def read_weights(text: str) -> dict[str, float]:
    """Weights as they are written: `semq=40,priv=20,distrn=20,isize=20`; an aspect that is left out counts nothing."""
    weights = dict.fromkeys(ASPECTS, 0.0)
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name.strip() not in weights:
            raise UsageError(f'there is no aspect "{name.strip()}"', hint=_EXAMPLE)
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise UsageError(f'the weight of "{name.strip()}" is no number', hint=_EXAMPLE) from None
    return weights
