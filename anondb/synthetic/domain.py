"""A domain: the attributes of a synthetic table, and how each of them is generated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Kind = Literal["text", "integer", "number", "date"]
KINDS: tuple[Kind, ...] = ("text", "integer", "number", "date")

OTHERWISE = "*"
"""The row of a conditional table for all values that have none of their own."""


class Range(NamedTuple):
    """Numbers from low to high, both included; one is drawn with equal chances. Days are counted from 0001-01-01."""

    low: float
    high: float


Value = str | Range
"""A text, or a range of numbers or days; a single one is a range from itself to itself."""

Weights = Mapping[Value, float]


@dataclass(frozen=True)
class Frequencies:
    """Distribution-based: values with their frequencies, or with the weights of a named distribution."""

    weights: Weights
    distribution: str | None = None
    sort: str | None = None


@dataclass(frozen=True)
class Conditional:
    """Distribution-based and attribute-based: frequencies for each combination of values of other attributes."""

    given: tuple[str, ...]
    rows: Mapping[tuple[str, ...], Weights]


@dataclass(frozen=True)
class Expression:
    """Attribute-based: computed from other attributes; `tree` names them as the file does."""

    text: str
    tree: Mapping[str, Any]
    given: tuple[str, ...]


@dataclass(frozen=True)
class Attribute:
    name: str
    kind: Kind
    generator: Frequencies | Conditional | Expression
    hidden: bool = False

    @property
    def needs(self) -> tuple[str, ...]:
        """The attributes that must be there before it."""
        return () if isinstance(self.generator, Frequencies) else self.generator.given


@dataclass(frozen=True)
class Domain:
    name: str
    attributes: tuple[Attribute, ...]
    distributions: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    title: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes if not attribute.hidden)
