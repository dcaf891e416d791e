"""What partitioning found, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anondb.methods.method import Finding
from anondb.report.words import MOST_NAMED, counted, number, setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from anondb.report.model import ComparedRun, RunSummary
    from anondb.run.result import Result

EXACT_BOUNDS = (
    "Ranges end exactly at the least and the greatest value of their class, and so publish extremes of single "
    "persons; rounded bounds would not."
)

_NOTABLE = 0.05  # of the detail: a smaller loss is not worth a word


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
        if len(self.columns) > MOST_NAMED:
            return f"cut by {len(self.columns)} columns"
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


def skew(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """Where partitioning gets stuck: LeFevre et al. 2006 bound a class by 2d(k − 1) and the copies of one tuple.

    A class of copies alone loses nothing, so that only runs with a loss are told.
    """
    skewed = [
        (largest / run.k, -place, run, largest)
        for place, run in enumerate(runs)
        if run.metrics.get("iterations") is not None
        and (run.metrics.get("gen_iloss") or 0.0) >= _NOTABLE
        and (largest := run.metrics.get("class_size_max") or 0.0) > 2 * run.quasi * (run.k - 1) + run.k
    ]
    if not skewed:
        return
    times, _, run, largest = max(skewed, key=lambda candidate: candidate[:2])
    mean, cut = run.metrics.get("class_size_mean"), run.metrics.get("partitioned")
    usual = "" if mean is None else f", where the mean is {number(round(mean, 1))}"
    columns = (
        f" It cut by {cut:.0f} of {counted(run.quasi, 'column')}."
        if cut is not None and cut < run.quasi
        else ""
    )
    yield (
        f"{run.algorithm} suffers from skew, most at {setting(run)}: its largest class has {number(largest)} records, "
        f"{number(round(times))} times k{usual}.{columns} Values that many records share leave no cut with k records "
        'on both sides; strict = false lets such records go to either side, and split = "loss" looks for other cuts.'
    )


def summary(run: RunSummary) -> Iterator[str]:
    """What a report says of a run that cut its records."""
    if run.partitions is None:  # of a version that did not keep it
        return
    cut = f"The records were cut into {counted(run.partitions, 'partition')}"
    same = ", as some have the same labels" if run.classes < run.partitions else ""
    yield f"{cut}, which are {counted(run.classes, 'class', 'classes')} of the release{same}."
    if run.bounds == "exact":
        yield EXACT_BOUNDS
