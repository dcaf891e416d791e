"""What partitioning found, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anondb.methods.method import Finding

if TYPE_CHECKING:
    from anondb.run.result import Result

EXACT_BOUNDS = (
    "Ranges end exactly at the least and the greatest value of their class, and so publish extremes of single "
    "persons; rounded bounds would not."
)


@dataclass(frozen=True)
class PartitionsFound(Finding):
    iterations: int  # partitions that were looked at
    partitions: int  # those that were left; of the same labels, several are one class
    columns: tuple[str, ...]  # that were cut
    bounds: str  # of the ranges that partitions are released as

    def as_json(self) -> dict[str, Any]:
        counts = {"iterations": self.iterations, "partitions": self.partitions}
        return counts | {"partitioned": list(self.columns), "bounds": self.bounds}

    @property
    def selected(self) -> str:
        return f"cut by {', '.join(self.columns)}" if self.columns else "one class"

    def counts(self) -> dict[str, float | None]:
        return {"iterations": self.iterations, "partitioned": len(self.columns)}

    def shape(self) -> str:
        cut = ", ".join(self.columns)
        return f"Classes differ in: {cut}." if cut else "All records are in one class."

    def way(self, result: Result) -> list[str]:
        way = (
            f"{result.algorithm} looked at {self.iterations:,} partitions; "
            f"{self.partitions:,} are left, and make {result.classes:,} classes by their labels"
        )
        return [way, EXACT_BOUNDS] if self.bounds == "exact" else [way]
