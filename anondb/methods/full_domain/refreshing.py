"""The stages of a refresh whose statements are written down: at levels that the ledger has by then, and no search."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.methods.full_domain.method import FullDomain
from anondb.methods.full_domain.stages import Levelled
from anondb.methods.full_domain.words import NodeFound
from anondb.methods.method import Job
from anondb.methods.outcome import Levels
from anondb.releases.following import Followed
from anondb.run.account import Account
from anondb.run.later_sql import ChosenLater, Marks
from anondb.run.publish_sql import Chosen
from anondb.run.search import judged_models, put_reference_down
from anondb.run.verify import Published


class Refreshing(Levelled):
    """Those of a run, as far as its statements go; what is decided by their answers is written beside them."""

    def __init__(self, job: Job, method: FullDomain, levels: Sequence[int], marks: Sequence[Marks]) -> None:
        super().__init__(job, method)
        self.marks = marks
        self.node = self.outcome = Levels(tuple(levels), 0)

    def search(self) -> None:
        self.models = judged_models(self.plan, self.encoded)
        put_reference_down(self.db, self.names, self.encoded, self.models)

    def lattice(self) -> Account | None:
        return None

    def refreshed(self, published: Published, followed: Followed, suppressed: int) -> None:
        """Takes what was counted, for the record of the run."""
        self.published, self.followed = published, followed
        self.outcome = Levels(self.node.levels, suppressed)
        self.finding = NodeFound(
            levels={q.name: level for q, level in zip(self.encoded.quasi, self.node.levels, strict=True)},
            heights={q.name: q.height for q in self.encoded.quasi},
            checks=0,
            rollups=0,
            lattice=1,
            proven=False,
        )

    def _chosen(self) -> list[Chosen]:
        columns = zip(self.encoded.quasi, self.node.levels, self.encoded.has_null, self.marks, strict=True)
        return [ChosenLater(*column) for column in columns]
