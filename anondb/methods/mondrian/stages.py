"""The stages of mondrian: records are cut into partitions, each of which is released as what it has in common."""

from __future__ import annotations

from anondb.methods.mondrian import search as partitioning
from anondb.methods.mondrian.sql import Partitioning
from anondb.methods.mondrian.words import PartitionsFound
from anondb.run.counting import Counting
from anondb.run.search import judged_models, put_reference_down


class Partition(Counting):
    def decide(self) -> None:
        self.models = judged_models(self.plan, self.encoded)
        put_reference_down(self.db, self.names, self.encoded, self.models)
        outcome = self.outcome = partitioning.search(self.db, self._partitioning())
        self.finding = PartitionsFound(
            iterations=outcome.iterations,
            partitions=outcome.partitions or 0,
            columns=tuple(q.name for q in self.encoded.quasi if q.number in outcome.columns),
            bounds=self.plan.policy.method.bounds,
        )

    def write(self) -> int:
        return partitioning.write(self.job, self._partitioning(), self.encoded.has_null, self.fresh)

    def own_metrics(self) -> dict[str, float]:
        """Where records are cut: of the same labels, several partitions are one class."""
        assert isinstance(self.finding, PartitionsFound)
        return {"partitions": float(self.finding.partitions)}

    def _partitioning(self) -> Partitioning:
        return partitioning.of(self.plan, self.names, self.models, self.encoded.null_code)
