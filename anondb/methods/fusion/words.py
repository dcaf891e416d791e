"""What a fusion found, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anondb.methods.method import Finding

if TYPE_CHECKING:
    from anondb.run.result import Result


@dataclass(frozen=True)
class FusionsFound(Finding):
    tuples: int  # different combinations of values by meaning
    rare: int  # those of them that had fewer than k records
    fusions: int  # those of them that took the values of another
    changed: int  # records that took the values of another
    unknown: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Column → texts that its ontology does not know, and how many records have them."""

    def as_json(self) -> dict[str, Any]:
        counts = {"tuples": self.tuples, "rare": self.rare, "fusions": self.fusions}
        unknown = {column: {"texts": t, "records": n} for column, (t, n) in self.unknown.items()}
        return counts | {"changed": self.changed, "unknown": unknown}

    @property
    def selected(self) -> str:
        return f"fused {self.fusions:,} of {self.tuples:,}"

    def counts(self) -> dict[str, float | None]:
        return {
            "partitioned": 0, "tuples": self.tuples, "rare": self.rare, "fusions": self.fusions,
            "changed": self.changed,
        }  # fmt: skip

    def way(self, result: Result) -> list[str]:
        return [
            f"{self.fusions:,} of {self.tuples:,} different combinations of values, and "
            f"{self.changed:,} of {result.records:,} records with them, took the values of a similar one",
            *(
                f"{texts:,} text{'s' * (texts != 1)} of {column}, of {records:,} record{'s' * (records != 1)}, "
                f"{'is' if texts == 1 else 'are'} unknown to its ontology"
                for column, (texts, records) in self.unknown.items()
                if texts
            ),
        ]
