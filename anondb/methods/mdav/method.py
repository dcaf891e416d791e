"""mdav: microaggregation of sets of texts by their concepts (Batet et al. 2013), to a policy and to a run."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from anondb.errors import Problem, UsageError
from anondb.methods.mdav.mdav import DISTANCES, DRAWS, SET_TYPE, VARIANTS
from anondb.methods.method import Job, ReleaseMethod, Stages
from anondb.policy.check import PolicyKeys, Spot
from anondb.policy.model import Method, Policy, Role
from anondb.policy.names import quoted

if TYPE_CHECKING:
    pass


class Mdav(ReleaseMethod):
    name = "mdav"
    title = "microaggregation of sets of texts by their concepts (Batet et al. 2013)"
    options: ClassVar = {"variant": VARIANTS, "distance": DISTANCES, "draw": DRAWS}
    keys = frozenset({"seed"})
    column_keys = frozenset({"set", "items", "ontology"})
    class_models = False
    released_type = SET_TYPE

    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        """Its one quasi-identifier is a set."""
        quasi = {name: column for name, column in policy.columns.items() if column.get("role") is Role.QUASI}
        for name, column in quasi.items():
            if not (column.get("set") or "items" in column):
                spot.at("columns", name, "set").report(
                    f"quasi-identifier {quoted(name)} is no set, and {self.name} compares sets of texts",
                    'add set = true or items = { table, key, item }, or leave it out: role = "identifier"',
                )
            if len(column.get("ontology", ())) > 1:
                spot.at("columns", name, "ontology").report(
                    f"{self.name} compares sets by one ontology, and {quoted(name)} has several",
                    "name one of them",
                )
        if len(quasi) > 1:
            spot.at("columns", list(quasi)[-1], "set").report(
                f"{self.name} takes one quasi-identifier, and there are {len(quasi)}",
                'set role = "identifier" for the others',
            )
        for key, word in {"suppress": "mask", "nulls": "suppress"}.items():
            if policy.privacy.get(key) == word:
                spot.at("privacy", key).report(
                    f"{self.name} does not know {key} = {quoted(word)}",
                    "leave the key out: a record without texts is released as an empty set, with k - 1 others",
                )

    def unread_key(self, key: str) -> tuple[str, str]:
        if key in ("measure", "strict"):
            hint = 'leave the key out; variant = "non_semantic" compares without meaning'
            return f"{self.name} has no use for {key}", hint
        return super().unread_key(key)

    def refused_unit(self, policy: Policy) -> Problem | None:
        return self.counts_records(policy)

    def varied(self, method: Method, policy: Policy) -> Policy:
        if not any(column.is_set for column in policy.quasi):
            raise UsageError(
                "sets of texts are for mdav, and mdav for sets",
                hint="compare mdav with itself, by k: --algorithms mdav --k 2,3,5",
            )
        return super().varied(method, policy)

    def load_ahead(self) -> None:
        """Loads the tagger, if there is one."""
        from anondb.ontology.phrases import tagger

        with suppress(UsageError):  # whoever needs it will say so
            tagger()

    def stages(self, job: Job) -> Stages:
        from anondb.methods.mdav.stages import Microaggregation

        self.refuse_levels(job.options)
        return Microaggregation(job)
