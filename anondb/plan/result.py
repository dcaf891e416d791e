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
    rollups: int  # frequency sets that were kept at higher levels, to answer from
    lattice: int  # lattice nodes in all
    proven: bool  # no other node is better, by the policy's objective
    objective: str | None  # of algorithms that have one
    score: float | None  # what the objective makes of the chosen node
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
            "rollups": self.rollups,
            "lattice": self.lattice,
            **(
                {"objective": self.objective, "score": self.score, "proven": self.proven}
                if self.objective
                else {}
            ),
            "seconds": {stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            "metrics": dict(self.metrics),
        }
