"""A process takes a plan to a release, stage by stage; which one it is depends on the kind of algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from anondb.run.kept_columns import Lying
from anondb.run.plan import Options, Plan
from anondb.run.result import Result
from anondb.run.statement import Runner
from anondb.sqltree.tables import Relation


@dataclass(frozen=True)
class Job:
    """What a process is given: the plan, who runs its statements, and where the release is written."""

    db: Runner
    plan: Plan
    options: Options
    run: int
    fresh: Relation


class Process(Protocol):
    """The stages in their order. What one finds, the process keeps for the next."""

    fresh: Relation  # where the release is: written first, and at the target once it is swapped in

    def encode(self) -> None:
        """Reads the source, once."""

    def search(self) -> None:
        """Decides what is released."""

    def publish(self) -> None:
        """Fills the tables that are made for it."""

    def measure(self) -> None:
        """Counts what was written, from its own rows."""

    def verify(self) -> None:
        """Raises unless that is what the policy promises."""

    def kept(self) -> Sequence[Lying]:
        """Where the columns lie that were written as they are."""
        ...

    def evaluate(self) -> None:
        """Measures what it is worth and what it gives away."""

    @property
    def promise(self) -> str:
        """What the comment on a release says that it satisfies."""
        ...

    def result(self, seconds: dict[str, float]) -> Result:
        """What became of it all."""
        ...
