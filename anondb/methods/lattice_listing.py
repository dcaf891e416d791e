"""A lattice of levels as it is listed: every node, with what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class NodeState:
    """A node: its levels, its state, and what was counted of one that was checked."""

    levels: tuple[int, ...]
    state: str  # anonymous, not anonymous, or pruned: nobody had to know
    suppressed: int | None = None  # records that would be left out
    classes: int | None = None
    score: float | None = None  # by the policy's objective

    def as_json(self) -> dict[str, Any]:
        return {
            "levels": list(self.levels),
            "state": self.state,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "score": self.score,
        }


@dataclass(frozen=True)
class OpenLattice:
    """All nodes of a lattice, and the one that a run would choose."""

    heights: Mapping[str, int]  # column → level of its root
    objective: str | None
    nodes: tuple[NodeState, ...]
    best: tuple[int, ...] | None
    checks: int
    proven: bool

    def as_json(self) -> dict[str, Any]:
        """The object that `anondb lattice --json` prints."""
        return {
            "columns": list(self.heights),
            "heights": dict(self.heights),
            "objective": self.objective,
            "lattice": len(self.nodes),
            "checks": self.checks,
            "best": None if self.best is None else list(self.best),
            "proven": self.proven,
            "nodes": [node.as_json() for node in self.nodes],
        }
