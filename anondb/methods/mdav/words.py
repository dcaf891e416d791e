"""What a microaggregation of sets found, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anondb.methods.method import Finding
from anondb.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anondb.report.model import ReportData
    from anondb.run.result import Result
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Relation


@dataclass(frozen=True)
class SetsFound(Finding):
    concepts: int  # different ones
    texts: int  # of records, each once
    unmapped: int  # those that mean no concept, and are not released
    by_concept: tuple[str, Sequence[str]] | None = None  # column and ontologies, where texts differ
    merged: int = 0  # classes, with the nearest, as their sensitive values were too much alike

    def as_json(self) -> dict[str, Any]:
        return {"concepts": self.concepts, "unmapped": self.unmapped}

    @property
    def selected(self) -> str:
        return f"sets of {self.concepts:,} concepts"

    def counts(self) -> dict[str, float | None]:
        return {"partitioned": 0}

    def class_sizes(self, release: Relation, quasi: Sequence[str]) -> Node:
        from anondb.methods.mdav import sql

        if self.by_concept is None:
            return super().class_sizes(release, quasi)
        return sql.class_sizes(release, *self.by_concept)

    def way(self, result: Result) -> list[str]:
        lines = [
            f"{result.algorithm} grouped sets of {self.concepts:,} different concepts; "
            f"{self.unmapped:,} of {self.texts:,} text{'s' * (self.texts != 1)} mean none of the ontology, "
            "and are not released"
        ]
        if self.merged:
            lines.append(
                f"{self.merged:,} class{'es' * (self.merged != 1)} took in the nearest, for l-diversity"
            )
        return lines


def summary(data: ReportData) -> Iterator[str]:
    """What a report says of sets of texts."""
    for dropped in (m.after for m in data.metrics if m.name == "texts_unmapped"):
        yield (
            "Released sets are synthetic: each has the concepts of its class's most central record, and what it says "
            "is not true of its person."
        )
        if dropped:
            yield f"{counted(round(dropped), 'text')} without a concept of the ontology left no trace in them."
