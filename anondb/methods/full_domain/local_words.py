"""What local recoding found, and how it is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anondb.methods.full_domain.local import Round
from anondb.methods.full_domain.words import ENDED_BY_THE_CLOCK
from anondb.methods.method import Finding
from anondb.report.words import counted

if TYPE_CHECKING:
    from anondb.report.model import RunSummary
    from anondb.run.result import Result


@dataclass(frozen=True)
class RoundsFound(Finding):
    columns: tuple[str, ...]
    rounds: Sequence[Round]  # that have released anything, in their order
    score: float  # the loss, where a suppressed record has lost all
    checks: int  # nodes that were looked at, by the first search and on all ways
    most_checks: int | None  # that the search and the ways might make together
    repeatable: bool  # no clock has skipped a way, or ended the search
    first: Finding  # what the search found that came before the rounds

    def as_json(self) -> dict[str, Any]:
        first = {key: value for key, value in self.first.as_json().items() if key not in _OF_ONE_NODE}
        most = {} if self.most_checks is None else {"most_checks": self.most_checks}
        return first | {
            "recode": "local",
            "checks": self.checks,
            "objective": "loss",
            "score": self.score,
            "proven": False,
            "repeatable": self.repeatable,
            **most,
            "rounds": [
                {
                    "levels": dict(zip(self.columns, one.levels, strict=True)),
                    "records": one.records,
                    "loss": one.loss,
                }
                for one in self.rounds
            ],
        }

    @property
    def selected(self) -> str:
        return f"{counted(len(self.rounds), 'round')}: loss {self.score:.4f}"

    def counts(self) -> dict[str, float | None]:
        return {"rounds": len(self.rounds), "checks": self.checks}

    def shape(self) -> str:
        return "Each class has levels of its own."

    def way(self, result: Result) -> list[str]:
        lines = [
            f"{result.algorithm} released in {counted(len(self.rounds), 'round')}, having looked at "
            f"{self.checks:,} nodes; loss: {self.score:.6g}{'' if self.repeatable else ENDED_BY_THE_CLOCK}"
        ]
        for place, one in enumerate(self.rounds, 1):
            levels = ",".join(map(str, one.levels))
            lines.append(
                f"round {place}: {one.records:,} records at levels {levels} or lower, loss {one.loss:.4f}"
            )
        return lines


def summary(run: RunSummary) -> Iterator[str]:
    """What a report says of a run that recoded locally."""
    if not run.rounds:
        return
    first, *others = (f"{records:,} at a loss of {loss:.3f}" for records, loss in run.rounds)
    yield (
        f"Records were released in {counted(len(run.rounds), 'round')}, each with the records that those before it "
        f"had left: {', '.join([first, *others])}. Each class has the lowest labels that its records have in common."
    )


_OF_ONE_NODE = ("score", "objective", "bound", "gap", "most_checks")
"""What is said of the node of the first search, and not of the release."""
