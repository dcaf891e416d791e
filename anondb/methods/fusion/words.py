"""What a fusion found, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anondb.methods.method import Finding
from anondb.report.words import counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anondb.report.model import ReportData, RunSummary
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


def summary(data: ReportData, run: RunSummary) -> Iterator[str]:
    """What a report says of a run that fused records."""
    fused = run.fused
    if fused is None:  # of a version that did not keep it
        return
    if not fused.fusions:
        yield "No combination of values was too rare, and none was changed."
        return
    share = percent(fused.changed / run.records)
    yield (
        f"Of {counted(fused.tuples, 'different combination')} of values {fused.rare:,} had too few records. "
        f"{fused.fusions:,} took the values of a similar one, which changed {counted(fused.changed, 'record')} "
        f"({share}): what is released of these is not true of their persons."
    )
    kept = next((m for m in data.metrics if m.name == "semantic_quality" and m.column is None), None)
    if kept is not None and kept.after is not None:
        yield f"{percent(kept.after)} of the meaning of the quasi-identifiers is left."
