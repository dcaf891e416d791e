"""The stages of fusion: rare combinations take the values of similar ones, and are released as those."""

from __future__ import annotations

from dataclasses import replace

from anondb.methods.fusion import search as fusing
from anondb.methods.fusion import sql
from anondb.methods.mondrian import search as partitioning
from anondb.run.counting import Counting
from anondb.run.evaluate import Evaluating
from anondb.run.search import judged_models, put_reference_down


class Fusing(Counting):
    fusion: sql.Fusion

    def decide(self) -> None:
        self.models = judged_models(self.plan, self.encoded)
        values = [labels[0] for labels in self.encoded.nodes]
        accepted = {column.name for column in self.plan.policy.columns if column.unknown == "accept"}
        put_reference_down(self.db, self.names, self.encoded, self.models)
        asked = fusing.of(self.plan, self.names, self.encoded.quasi)
        found = fusing.search(self.db, asked, self.models, values, accepted)
        self.fusion, self.outcome, self.finding = found

    def write(self) -> int:
        partitions = partitioning.of(self.plan, self.names, self.models, self.encoded.null_code)
        labels = sql.classes(self.fusion)
        return partitioning.write(self.job, partitions, self.encoded.has_null, self.fresh, labels)

    def evaluated(self) -> Evaluating:
        return replace(super().evaluated(), by_meaning=fusing.ByMeaning(self.db, self.fusion))
