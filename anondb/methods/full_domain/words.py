"""What a search in a lattice found, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anondb.methods.full_domain.cells import Cells
from anondb.methods.method import Finding
from anondb.report.words import number, percent, setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anondb.report.model import ComparedRun
    from anondb.run.result import Result

ENDED_BY_THE_CLOCK = "; ended by the clock, so that another run may find another"


@dataclass(frozen=True)
class NodeFound(Finding):
    """The node that was chosen, and what was looked at."""

    levels: Mapping[str, int] = field()  # column → level
    heights: Mapping[str, int] = field()  # column → level of its root
    checks: int  # nodes that were checked
    rollups: int  # frequency sets that were kept at higher levels, to answer from
    lattice: int  # nodes in all
    proven: bool  # no other node is better, by the policy's objective
    objective: str | None = None  # of methods that have one
    score: float | None = None  # what the objective makes of the chosen node
    bound: float | None = None  # what it makes of no node, where the best was not proven
    most_checks: int | None = None  # that the search might make
    cells: Cells | None = None  # that are suppressed, where single cells are
    repeatable: bool = True  # the same number of checks finds the same node: no clock has ended the search

    @property
    def gap(self) -> float | None:
        """How much better than the chosen node another one could be."""
        if self.proven:
            return 0.0
        return None if self.bound is None or self.score is None else abs(self.score - self.bound)

    def as_json(self) -> dict[str, Any]:
        looked: dict[str, Any] = {"checks": self.checks, "rollups": self.rollups, "lattice": self.lattice}
        if self.cells is not None:
            looked |= {"suppressed_cells": self.cells.as_json()}
        if self.objective is None:
            return looked
        found = {"objective": self.objective, "score": self.score, "proven": self.proven}
        if not self.proven:
            found |= {"bound": self.bound, "gap": self.gap, "repeatable": self.repeatable}
        if self.most_checks is not None:
            found |= {"most_checks": self.most_checks}
        return looked | found

    @property
    def selected(self) -> str:
        return ", ".join(f"{name} {level}" for name, level in self.levels.items())

    def counts(self) -> dict[str, float | None]:
        return {
            "generalizations": sum(self.levels.values()),
            "checks": self.checks,
            "lattice": self.lattice,
        }

    def way(self, result: Result) -> list[str]:
        rolled = f", {self.rollups} roll-ups" if self.rollups else ""
        way = f"{result.algorithm} checked {self.checks} of {self.lattice:,} nodes{rolled}"
        starred = [] if self.cells is None else [self.cells.sentence]
        if self.objective is None or self.score is None:
            return [way, *starred]
        return [way, *starred, f"{self.objective}: {self.score:.6g}{self._doubt()}"]

    def _doubt(self) -> str:
        """What is not known of the best node."""
        if self.proven:
            return ""
        doubt = "; a better node may exist"
        if self.bound is not None:
            doubt += f", none better than {self.bound:.6g}"
        return doubt if self.repeatable else doubt + ENDED_BY_THE_CLOCK


def cost_of_subsets(runs: Sequence[ComparedRun], of_optimal: Sequence[ComparedRun]) -> Iterator[str]:
    """Where incognito, which searches subsets of columns, is slow, and how many checks optimal needs there."""
    mine = [run for run in runs if run.metrics.get("checks") and run.metrics.get("lattice")]
    if not mine:
        return
    worst = max(mine, key=lambda run: (run.metrics["checks"] or 0.0, run.quasi, -run.k))
    checks, nodes = worst.metrics["checks"] or 0.0, worst.metrics["lattice"] or 1.0
    seconds = worst.metrics.get("seconds")
    took = "" if seconds is None else f" and took {number(round(seconds, 2))} seconds"
    others = [run for run in of_optimal if (run.k, run.quasi) == (worst.k, worst.quasi)]
    needed = "".join(f" (here {number(run.metrics.get('checks') or 0.0)})" for run in others)
    yield (
        f"incognito costs most at {setting(worst)}: it made {number(checks)} checks{took}, in a lattice of "
        f"{number(nodes)} nodes ({percent(checks / nodes)}; smaller sets of columns are checked too). Each further "
        f"column multiplies the lattice by its levels; optimal finds the best node with fewer checks{needed}."
    )
