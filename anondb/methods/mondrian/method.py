"""mondrian: multidimensional partitioning (LeFevre et al. 2006), to a policy and to a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from anondb.methods.method import Job, ReleaseMethod, Stages
from anondb.methods.mondrian.mondrian import BOUNDS, SPLITS
from anondb.policy.check import PolicyKeys, Spot, Table
from anondb.policy.model import Policy
from anondb.sqltree.tables import Quasi

if TYPE_CHECKING:
    from anondb.report.model import ComparedRun, ReportData, RunSummary


class Mondrian(ReleaseMethod):
    name = "mondrian"
    title = "multidimensional partitioning (LeFevre et al. 2006)"
    options: ClassVar = {"bounds": BOUNDS, "split": SPLITS}
    keys = frozenset({"strict"})
    labels_cover = True
    column_keys = frozenset({"hierarchy", "release"})

    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        """It takes any columns, with hierarchies or without."""

    def read_keys(self, spot: Spot, keys: Table) -> None:
        if keys["split"] == "loss" and keys.get("strict") is False:
            spot.at("strict").report(
                'split = "loss" never parts the records of one value, as strict = false would',
                "leave strict out, or split",
            )

    def coded(self, quasi: Quasi) -> Quasi:
        return quasi.as_range()

    def refused_unit(self, policy: Policy) -> str | None:
        return self.counts_records(policy)

    def counts_whole_rows(self, policy: Policy, *, repeat: bool) -> bool:
        """Relaxed, the records of one combination are dealt to several classes, which takes their counts."""
        return repeat or not policy.method.strict

    def ways(self) -> Mapping[str, Callable[[Policy], Policy]]:
        by_loss = {"split": "loss", "strict": True}
        return {"by loss": lambda policy: replace(policy, method=replace(policy.method, **by_loss))}

    def summary(self, data: ReportData, run: RunSummary) -> Iterable[str]:
        from anondb.methods.mondrian.words import summary

        return summary(run)

    def advice(self, runs: Sequence[ComparedRun], all_runs: Sequence[ComparedRun]) -> Iterable[str]:
        from anondb.methods.mondrian.words import skew

        return skew(runs)

    def stages(self, job: Job) -> Stages:
        from anondb.methods.mondrian.stages import Partition

        self.refuse_levels(job.options)
        return Partition(job)
