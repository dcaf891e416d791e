"""datafly, incognito and optimal: every column is released at one level, which a search in the lattice chooses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, ClassVar

from anondb.errors import UsageError
from anondb.methods.full_domain.objective import OBJECTIVES
from anondb.methods.method import Explorer, Job, ReleaseMethod, Stages
from anondb.models.model import ClassModel
from anondb.policy.check import PolicyKeys, Spot, Table
from anondb.policy.hierarchy_forms import ANY_TYPE
from anondb.policy.model import Method, Policy
from anondb.policy.names import quoted

if TYPE_CHECKING:
    from anondb.methods.full_domain.lattice import Demand, Lattice
    from anondb.methods.full_domain.objective import Objective
    from anondb.methods.outcome import Levels
    from anondb.methods.refresh import Refresh
    from anondb.report.model import ComparedRun, ReportData, RunSummary
    from anondb.run.later_sql import Marks

WEIGHTED = ("loss", "semantic", "height")
"""Objectives that are sums over the columns, so that a column can count more than another."""

LINKED = ("loss", "height")
"""Objectives of linked tables."""


GLOBAL, LOCAL = "global", "local"
RECODINGS = (GLOBAL, LOCAL)
"""All records at the levels of one node, or those of each round at their own."""
TEXTS = ("text",)
"""The form of labels in which both recodings and suppressed cells can be released."""
NOT_LOCAL = "leave recode out, or that key"


def _without_cells(policy: Policy) -> Policy:
    """The same, at one node, where only as many cells of a record as are needed are suppressed."""
    if policy.privacy.unit is not None or _is_relative(policy):
        raise UsageError(
            "single cells are not suppressed where persons are counted, or classes are compared with the release",
            hint='leave whole records out: suppress = "remove"',
        )
    if any(column.release != TEXTS for column in policy.quasi):
        raise UsageError("suppressed cells are texts", hint='leave release out, or suppress = "cells"')
    method = replace(policy.method, recode=GLOBAL)
    return replace(policy, method=method, privacy=replace(policy.privacy, suppress="cells"))


def _locally(policy: Policy) -> Policy:
    """The same in rounds, each with levels of its own; what none of them releases is left out."""
    privacy, weights = policy.privacy, policy.method.weights
    if privacy.suppress == "cells":
        privacy = replace(privacy, suppress="remove", stars="value")
        weights = weights if policy.method.objective is not None else {}
    forms = [column.name for column in policy.quasi if column.release != TEXTS]
    for reason in _not_local(privacy.unit is not None, privacy.suppress, policy.method.objective, forms):
        raise UsageError(f'recode = "local" is not possible here: {reason}', hint=NOT_LOCAL)
    return replace(policy, method=replace(policy.method, recode=LOCAL, weights=weights), privacy=privacy)


def _not_local(by_person: bool, suppress: str, objective: str | None, forms: Sequence[str]) -> list[str]:
    """What local recoding cannot do, with the reason; `forms` are the columns that are not released as texts."""
    of_columns = ", ".join(map(quoted, forms))
    refused = {
        f"the labels of a class are released as texts: release of {of_columns}": bool(forms),
        "rounds count records, and a person could be counted in several": by_person,
        f"what no round releases is left out, and nothing else is done with it: suppress = {quoted(suppress)}": (
            suppress != "remove"
        ),
        f"rounds lose as little as they can, and know no objective {quoted(objective or '')}": (
            objective not in (None, "loss")
        ),
    }
    return [reason for reason, holds in refused.items() if holds]


def _is_relative(policy: Policy) -> bool:
    return any(isinstance(model, ClassModel) and model.is_relative for model in policy.privacy.models)


def _by_preference(first: str) -> tuple[str, ...]:
    return (first, *(name for name in OBJECTIVES if name != first))


class FullDomain(ReleaseMethod):
    """What the three have in common: hierarchies, levels, a lattice."""

    column_keys = frozenset({"hierarchy", "min_level", "max_level", "release"})
    suppresses_cells = True
    labels_cover = True
    tracks_every_node: ClassVar[bool] = False
    """Its search knows something of each node, so that a lattice can be too large for it."""
    counts_checks: ClassVar[bool] = False
    """A caller can say how many checks its search may make."""

    def search(
        self, lattice: Lattice, demand: Demand, objective: Objective, heuristic: str | None = None
    ) -> Levels | None:
        """Walks through the lattice; its module is loaded when it is used: not all commands search."""
        module = import_module(f"anondb.methods.full_domain.{self.name}")
        outcome: Levels | None = module.search(lattice, demand, objective, heuristic)
        return outcome

    def refused_links(self, keys: Table) -> tuple[str, str] | None:
        """One lattice over the columns of all tables; what is best is said by columns, as classes are of one table."""
        if keys.get("heuristic") == "semantic":
            return (
                "the semantic heuristic weighs the columns of one table",
                'leave it out: heuristic = "distinct"',
            )
        objective = keys.get("objective")
        if objective in (None, *LINKED):
            return None
        return (
            f"the objective {objective} counts the classes of one table, and there are several",
            f"choose the objective from {', '.join(quoted(name) for name in LINKED)}",
        )

    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        for name in policy.quasi:
            if name not in policy.with_hierarchy:
                spot.at("columns", name, "hierarchy").report(
                    f"quasi-identifier {quoted(name)} has no hierarchy, and {self.name} needs one", ANY_TYPE
                )

        if policy.method.get("recode") == LOCAL and LOCAL in self.options.get("recode", ()):
            self._check_local(spot.at("method", "recode"), policy)

    def _check_local(self, spot: Spot, policy: PolicyKeys) -> None:
        privacy, objective = policy.privacy, policy.method.get("objective")
        forms = [n for n in policy.quasi if policy.columns.get(n, {}).get("release", TEXTS) != TEXTS]
        for reason in _not_local("unit" in privacy, privacy.get("suppress", "remove"), objective, forms):
            spot.report(f'recode = "local" is not possible here: {reason}', NOT_LOCAL)

    def refused_unit(self, policy: Policy) -> str | None:
        if policy.privacy.suppress != "cells":
            return None
        unit = policy.privacy.unit
        return f'suppress = "cells" counts records, and a person may have several: "{unit}" is not unique'

    def ways(self) -> Mapping[str, Callable[[Policy], Policy]]:
        local = {"local": _locally} if LOCAL in self.options.get("recode", ()) else {}
        return {**super().ways(), "cells": _without_cells, **local}

    def holds(self, policy: Policy) -> bool:
        # what is masked tells nothing of where it comes from, and the mean of a class is another one tomorrow
        texts = all(column.release == TEXTS for column in policy.quasi)
        return policy.privacy.suppress == "remove" and texts and policy.method.recode == GLOBAL

    def refreshing(self, job: Job, levels: Sequence[int], marks: Sequence[Marks]) -> Refresh | None:
        from anondb.methods.full_domain.refreshing import Refreshing

        return Refreshing(job, self, levels, marks) if self.holds(job.plan.policy) else None

    def explorer(self) -> Explorer:
        from anondb.methods.full_domain.explore import explored

        return lambda job, full: explored(self, job, full=full)

    def varied(self, method: Method, policy: Policy) -> Policy:
        without = [column.name for column in policy.quasi if column.hierarchy is None and not column.is_set]
        if without:
            columns = ", ".join(f'"{name}"' for name in without)
            raise UsageError(
                f"no hierarchy for {columns}, and {self.name} needs one",
                hint=f"{ANY_TYPE}; or compare algorithms that need none: mondrian",
            )
        return super().varied(method, policy)

    def summary(self, data: ReportData, run: RunSummary) -> Iterable[str]:
        from anondb.methods.full_domain.local_words import summary

        return summary(run)

    def stages(self, job: Job) -> Stages:
        if job.plan.policy.method.recode == LOCAL:
            from anondb.methods.full_domain.local_stages import Local

            return Local(job, self)
        from anondb.methods.full_domain.linked import LinkedTables
        from anondb.methods.full_domain.stages import Levelled

        return Levelled(job, self) if job.plan.linked is None else LinkedTables(job, self, job.plan.linked)


class Datafly(FullDomain):
    name = "datafly"
    title = "greedy full-domain generalization (Sweeney 1998)"
    options: ClassVar = {"heuristic": ("distinct", "semantic"), "recode": RECODINGS}
    keys = frozenset({"weights"})

    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        super().check(spot, policy)
        if "weights" in policy.method and policy.privacy.get("suppress") != "cells":
            spot.at("method", "weights").report(*self.unread_key("weights"))

    def taken_over(self, keys: Method, columns: Collection[str]) -> Method:
        """Weights say which cells are suppressed last; without that they mean nothing to it."""
        return replace(super().taken_over(keys, columns), weights={})

    def varied(self, method: Method, policy: Policy) -> Policy:
        if policy.privacy.suppress == "cells":
            names = {column.name for column in policy.quasi}
            weights = {name: weight for name, weight in policy.method.weights.items() if name in names}
            method = replace(method, weights=weights)
        return super().varied(method, policy)


class _ByObjective(FullDomain):
    """A search for the best node, by an objective."""

    keys = frozenset({"weights"})
    counts_checks = True

    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        """Weights mean something to some objectives, and where single cells are suppressed."""
        super().check(spot, policy)
        spot, keys = spot.at("method"), policy.method
        used = policy.privacy.get("suppress") == "cells" or keys.get("objective") in WEIGHTED
        if "weights" in keys and not used and not spot.at("objective").faulty:
            weighted = ", ".join(quoted(name) for name in self.options["objective"] if name in WEIGHTED)
            spot.at("weights").report(
                f"the objective {keys['objective']} counts records in classes, and weights are of columns",
                f"leave the weights out, or choose the objective from {weighted}",
            )

    def taken_over(self, keys: Method, columns: Collection[str]) -> Method:
        """Weights mean something to some objectives, and nothing where all columns that are left weigh nothing."""
        method = super().taken_over(keys, columns)
        weights = {name: weight for name, weight in keys.weights.items() if name in columns}
        weighs = method.objective in WEIGHTED and any(weights.get(name, 1.0) > 0 for name in columns)
        return replace(method, weights=weights if weighs else {})

    def load_ahead(self) -> None:
        """Loads what it computes with while the server counts: it takes as long as a dozen checks."""
        Thread(target=import_module, args=(f"{__package__}.optimal",), daemon=True).start()


class Incognito(_ByObjective):
    name = "incognito"
    title = "all anonymous nodes by subsets of the quasi-identifiers (LeFevre, DeWitt, Ramakrishnan 2005)"
    options: ClassVar = {"objective": _by_preference("classes")}
    tracks_every_node = True

    def refused_links(self, keys: Table) -> tuple[str, str]:
        return (
            f"{self.name} concludes from subsets of the columns of one table, and what is known of a person is rows of "
            "several",
            f"choose {Datafly.name} or {Optimal.name}",
        )

    def advice(self, runs: Sequence[ComparedRun], all_runs: Sequence[ComparedRun]) -> Iterable[str]:
        from anondb.methods.full_domain.words import cost_of_subsets

        return cost_of_subsets(runs, [run for run in all_runs if run.algorithm == Optimal.name])


class Optimal(_ByObjective):
    name = "optimal"
    title = "the best node with few checks: both directions of the lattice, and bounds on the objective"
    options: ClassVar = {"objective": _by_preference("loss"), "recode": RECODINGS}
    keys = frozenset({"weights", "seed"})
