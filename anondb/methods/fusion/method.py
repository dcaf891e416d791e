"""fusion: rare records take the values of the most similar ones (Martínez et al. 2012), to a policy and a run."""

from __future__ import annotations

from typing import ClassVar

from anondb.methods.fusion.fusion import VARIANTS
from anondb.methods.method import Job, ReleaseMethod, Stages
from anondb.policy.check import PolicyKeys, Spot
from anondb.policy.model import Policy


class Fusion(ReleaseMethod):
    name = "fusion"
    title = "rare records take the values of the most similar ones (Martínez et al. 2012)"
    options: ClassVar = {"variant": VARIANTS}
    keys = frozenset({"measure", "seed"})
    column_keys = frozenset({"hierarchy", "ontology", "unknown"})

    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        """It takes any columns: by ontology, by hierarchy, or by their values."""

    def refused_unit(self, policy: Policy) -> str | None:
        return self.counts_records(policy)

    def stages(self, job: Job) -> Stages:
        from anondb.methods.fusion.stages import Fusing

        self.refuse_levels(job.options)
        return Fusing(job)
