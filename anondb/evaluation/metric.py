"""A metric: what a figure of a release or of a run is called, what it means, and which direction is good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["lower", "higher", "none"]
Format = Literal["share", "percent", "count", "number", "bytes"]  # a share is of 1, a percentage of 100
# column: one for each quasi-identifier, mostly with one for the whole release; run: what was done, not what came of it
# a sensitive column, or one of numbers, is what a metric is about, and no part of a whole
Scope = Literal["release", "column", "sensitive column", "numbers", "run"]
Group = Literal["models", "utility", "values", "clusters", "linkage", "risk", "disclosure", "run"]


@dataclass(frozen=True)
class Metric:
    """An entry of the catalogue in metrics.py."""

    name: str
    label: str
    group: Group
    direction: Direction
    format: Format
    scope: Scope
    definition: str
    suffix: str = (
        ""  # what may follow the name: a threshold as in prosecutor_above_0.05, or the stage of a run
    )
    linked: bool = False  # needs to know whose record is whose

    @property
    def is_about_column(self) -> bool:
        return self.scope in ("sensitive column", "numbers")

    @property
    def better(self) -> str:
        """The direction as people read it: nothing where neither is better."""
        return "" if self.direction == "none" else self.direction
