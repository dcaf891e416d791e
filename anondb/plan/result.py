"""What a run gives back: the figures that the command line prints and the history keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anondb.sqlgen.shape import Relation


@dataclass(frozen=True)
class Result:
    run: int
    algorithm: str
    source: str
    target: str
    relation: Relation  # where the release stands
    levels: Mapping[str, int]  # column → level
    heights: Mapping[str, int]  # column → level of its root
    records: int
    released: int
    suppressed: int
    classes: int
    k: int  # reached
    checks: int  # lattice nodes that were checked
    lattice: int  # lattice nodes in all
    seconds: Mapping[str, float]  # per stage
    metrics: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The object that `anondb run --json` prints."""
        return {
            "run": self.run,
            "algorithm": self.algorithm,
            "source": self.source,
            "target": self.target,
            "levels": dict(self.levels),
            "heights": dict(self.heights),
            "records": self.records,
            "released": self.released,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "k": self.k,
            "checks": self.checks,
            "lattice": self.lattice,
            "seconds": {stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            "metrics": dict(self.metrics),
        }
