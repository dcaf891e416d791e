"""le_diversity: sensitive values in a table of their own, by classes of no close relatives (Wang et al.)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from anondb.errors import Problem, UsageError
from anondb.hierarchies.forms import Hierarchy
from anondb.methods.le_diversity.policy import check
from anondb.methods.le_diversity.tables import CLASS_ID, QUASI, SENSITIVE, parts
from anondb.methods.method import Job, ReleaseMethod, Stages, hides_values
from anondb.models.le_diversity import LeDiversity as Model
from anondb.models.model import SensitiveModel
from anondb.policy.check import PolicyKeys, Spot
from anondb.policy.model import Method, Policy, Role
from anondb.policy.names import LONGEST
from anondb.sqltree.tables import Quasi, SourceColumn

if TYPE_CHECKING:
    from anondb.run.plan import Place
    from anondb.run.snapshot import Snapshot


class LeDiversity(ReleaseMethod):
    name = "le_diversity"
    title = (
        "sensitive values that are no close relatives share a class, apart from their records (Wang et al.)"
    )
    keys = frozenset({"seed"})
    models = (Model,)
    refused_shuffle = "its classes have their quasi-identifiers as they are, beside which values are read"
    # What fits no class is left out, mostly records of the most frequent values. A share that is counted in a
    # release is off by no more than the share of what was left out: a fifth is the most that nobody asked for.
    suppression = 0.2

    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        """Its model says what it has to know."""
        check(self.name, spot, policy)

    def without_model(self, model: type[SensitiveModel]) -> str:
        return f"{self.name} sees to {Model.title} alone"

    def refused_comparison(self, others: Collection[str]) -> UsageError | None:
        """Its figures are of other things: what of the sensitive column its two tables tell."""
        if not others:
            return None
        return UsageError(
            f"{self.name} generalizes nothing, and is not compared with algorithms that do",
            hint=f"compare it with itself: --algorithms {self.name} --sizes 5000,10000 --seeds 5",
        )

    def refused_form(self, column: str, hierarchy: Hierarchy) -> str | None:
        return hides_values(self.name, column, hierarchy)

    def refused_unit(self, policy: Policy) -> str | None:
        return self.counts_records(policy)

    def coded(self, quasi: Quasi) -> Quasi:
        return quasi.as_range()

    def holds(self, policy: Policy) -> bool:
        return True  # a class that was released stays as it is

    def counts_whole_rows(self, policy: Policy, *, repeat: bool) -> bool:
        return False

    def suffixes(self) -> tuple[str, ...]:
        return QUASI, SENSITIVE

    def places(
        self, policy: Policy, columns: Sequence[SourceColumn], snapshot: Snapshot
    ) -> tuple[Place, ...]:
        """Quasi-identifiers as they are, and the sensitive column apart from them."""
        from anondb.run.plan import Place
        from anondb.run.snapshot import TargetInfo

        [model] = policy.privacy.models
        hidden = model.column
        tables = {
            QUASI: [c.as_released for c in columns if c.name != hidden],
            SENSITIVE: [c for c in columns if c.name == hidden],
        }
        targets = snapshot.tables or [TargetInfo(there) for there in parts(snapshot.target.relation)]
        return tuple(
            Place.at(target, [CLASS_ID, *own], suffix)
            for target, (suffix, own) in zip(targets, tables.items(), strict=True)
        )

    def problems(self, policy: Policy) -> Iterator[Problem]:
        """Names that the two tables cannot have."""
        length = len((policy.target.table + SENSITIVE).encode())
        if length > LONGEST:
            yield Problem(
                policy.place,
                f"target {policy.target} with {SENSITIVE} is {length} bytes long, and PostgreSQL keeps {LONGEST}",
                "choose a shorter name for target",
            )
        for column in policy.columns:
            if column.name == CLASS_ID.name and column.role is not Role.IDENTIFIER:
                yield Problem(
                    f"{policy.place} [columns.{column.name}]",
                    f'the two tables of the release have a column "{CLASS_ID.name}" of their own',
                    'give it another name in a view of the source, or set role = "identifier"',
                )

    def varied(self, method: Method, policy: Policy) -> Policy:
        return replace(policy, method=method)

    def stages(self, job: Job) -> Stages:
        from anondb.methods.le_diversity.stages import Anatomy

        self.refuse_levels(job.options)
        return Anatomy(job)
