"""mdav: microaggregation of sets of texts by their concepts (Batet et al. 2013), to a policy and to a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from anondb.errors import Problem, UsageError
from anondb.methods.mdav.compile import ARRAYS, coded_set, item_rows, with_item_columns
from anondb.methods.mdav.mdav import DISTANCES, DRAWS, SET_TYPE, VARIANTS
from anondb.methods.method import Job, ReleaseMethod, Stages
from anondb.models.l_diversity import LDiversity
from anondb.models.model import SensitiveModel
from anondb.policy.check import PolicyKeys, Spot
from anondb.policy.model import Column, Method, Policy, Role
from anondb.policy.names import quoted
from anondb.sqltree.tables import ItemRows, SourceColumn

if TYPE_CHECKING:
    from anondb.report.model import ReportData, RunSummary
    from anondb.run.snapshot import Snapshot


class Mdav(ReleaseMethod):
    name = "mdav"
    title = "microaggregation of sets of texts by their concepts (Batet et al. 2013)"
    options: ClassVar = {"variant": VARIANTS, "distance": DISTANCES, "draw": DRAWS}
    keys = frozenset({"seed", "weights"})
    column_keys = frozenset({"set", "items", "ontology", "stop_words"})
    models = (LDiversity,)
    refused_shuffle = "its records are released by their number, with what is copied beside it"

    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        """One quasi-identifier is a set; those beside it are compared as they are."""
        quasi = {name: column for name, column in policy.columns.items() if column.get("role") is Role.QUASI}
        sets = [name for name, column in quasi.items() if column.get("set") or "items" in column]
        beside = [name for name in quasi if name not in sets]
        if quasi and not sets:
            name = next(iter(quasi))
            spot.at("columns", name, "set").report(
                f"quasi-identifier {quoted(name)} is no set, and {self.name} compares sets of texts",
                'add set = true or items = { table, key, item }, or leave it out: role = "identifier"',
            )
        for name in beside if sets else []:
            for key in quasi[name].keys() & {"hierarchy", "ontology"}:
                spot.at("columns", name, key).report(
                    f"{quoted(name)} is compared beside a set as it is, without {key}", "leave the key out"
                )
        if sets and beside and policy.method.get("draw") == "record":
            spot.at("method", "draw").report(
                f'with draw = "record" sets alone are told apart by meaning, and {quoted(beside[0])} is none',
                'leave the key out, or set role = "identifier" for the others',
            )
        if len(sets) > 1:
            spot.at("columns", sets[-1], "set").report(
                f"{self.name} takes one set, and there are {len(sets)}",
                'set role = "identifier" for the others',
            )
        for key, word in {"suppress": "mask", "nulls": "suppress"}.items():
            if policy.privacy.get(key) == word:
                spot.at("privacy", key).report(
                    f"{self.name} does not know {key} = {quoted(word)}",
                    "leave the key out: a record without texts is released as an empty set, with k - 1 others",
                )

        if LDiversity.name in policy.privacy and policy.method.get("draw") == "record":
            spot.at("method", "draw").report(
                f'with draw = "record" records need not look alike, and {LDiversity.name} needs classes',
                'leave the key out: draw = "class" gives the records of a class the same terms',
            )

    def unread_key(self, key: str) -> tuple[str, str]:
        if key in ("measure", "strict"):
            hint = 'leave the key out; variant = "non_semantic" compares without meaning'
            return f"{self.name} has no use for {key}", hint
        return super().unread_key(key)

    def without_model(self, model: type[SensitiveModel]) -> str:
        return f"{self.name} protects by k and {LDiversity.name}, and merges no classes for {model.name}"

    def with_own_columns(self, policy: Policy, snapshot: Snapshot) -> tuple[Snapshot, Sequence[Problem]]:
        return with_item_columns(policy, snapshot)

    def item_rows(self, policy: Policy, snapshot: Snapshot) -> ItemRows | None:
        return item_rows(policy, snapshot)

    def own_form(self, place: str, column: Column, source: SourceColumn) -> dict[str, Any] | Problem | None:
        return coded_set(place, source) if column.is_set else None

    def released(self, column: SourceColumn) -> SourceColumn:
        type_ = SET_TYPE if column.base in ARRAYS else "text"
        return replace(column, type=type_, base="text", collation=None)

    def refused_unit(self, policy: Policy) -> str | None:
        return self.counts_records(policy)

    def counts_whole_rows(self, policy: Policy, *, repeat: bool) -> bool:
        return False

    def varied(self, method: Method, policy: Policy) -> Policy:
        if not any(column.is_set for column in policy.quasi):
            raise UsageError(
                "sets of texts are for mdav, and mdav for sets",
                hint="compare mdav with itself, by k: --algorithms mdav --k 2,3,5",
            )
        return super().varied(method, policy)

    def summary(self, data: ReportData, run: RunSummary) -> Iterable[str]:
        from anondb.methods.mdav.words import summary

        return summary(data)

    def load_ahead(self) -> None:
        """Loads the tagger, if there is one."""
        from anondb.ontology.phrases import tagger

        with suppress(UsageError):  # whoever needs it will say so
            tagger()

    def stages(self, job: Job) -> Stages:
        from anondb.methods.mdav.stages import Microaggregation

        self.refuse_levels(job.options)
        return Microaggregation(job)
