"""fusion: rare records take the values of the most similar ones (Martínez et al. 2012), to a policy and a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from anondb.hierarchies.forms import Hierarchy
from anondb.methods.fusion.fusion import VARIANTS
from anondb.methods.method import Job, ReleaseMethod, Stages, hides_values
from anondb.policy.check import PolicyKeys, Spot
from anondb.policy.model import Policy

if TYPE_CHECKING:
    from anondb.report.model import ReportData, RunSummary


class Fusion(ReleaseMethod):
    name = "fusion"
    title = "rare records take the values of the most similar ones (Martínez et al. 2012)"
    options: ClassVar = {"variant": VARIANTS}
    keys = frozenset({"measure", "seed"})
    column_keys = frozenset({"hierarchy", "ontology", "unknown"})
    without_levels = "what is rare has the value of a similar record"
    headline_metrics: ClassVar = {"semantic_quality": "of the meaning left"}

    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        """It takes any columns: by ontology, by hierarchy, or by their values."""

    def refused_form(self, column: str, hierarchy: Hierarchy) -> str | None:
        return hides_values(self.name, column, hierarchy)

    def refused_unit(self, policy: Policy) -> str | None:
        return self.counts_records(policy)

    def summary(self, data: ReportData, run: RunSummary) -> Iterable[str]:
        from anondb.methods.fusion.words import summary

        return summary(data, run)

    def headlines(self, run: RunSummary) -> Iterable[tuple[str, str]]:
        return () if run.fused is None else ((f"{run.fused.changed:,}", "records changed"),)

    def stages(self, job: Job) -> Stages:
        from anondb.methods.fusion.stages import Fusing

        self.refuse_levels(job.options)
        return Fusing(job)
