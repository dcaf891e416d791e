"""What a microaggregation of sets found, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anondb.methods.method import Finding

if TYPE_CHECKING:
    from anondb.run.result import Result


@dataclass(frozen=True)
class SetsFound(Finding):
    column: str  # that holds the sets
    concepts: int  # different ones
    ontology: str  # that they are of
    texts: int  # of records, each once
    unmapped: int  # those that mean no concept, and are not released

    def as_json(self) -> dict[str, Any]:
        return {"concepts": self.concepts, "unmapped": self.unmapped}

    @property
    def selected(self) -> str:
        return f"sets of {self.concepts:,} concepts"

    def counts(self) -> dict[str, float | None]:
        return {"partitioned": 0}

    def class_sizes(self) -> tuple[str, str]:
        return self.column, self.ontology

    def way(self, result: Result) -> list[str]:
        return [
            f"{result.algorithm} grouped sets of {self.concepts:,} different concepts; "
            f"{self.unmapped:,} of {self.texts:,} text{'s' * (self.texts != 1)} mean none of the ontology, "
            "and are not released"
        ]
