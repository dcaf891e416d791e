"""The stages of datafly, incognito and optimal: one level for each column, chosen in the lattice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from anondb.errors import UnsatisfiableError, UsageError
from anondb.methods.full_domain import search as searching
from anondb.methods.full_domain import suppress as suppressing
from anondb.methods.full_domain.cells import Cells
from anondb.methods.full_domain.method import FullDomain
from anondb.methods.full_domain.nodes import Account, lattice_account
from anondb.methods.full_domain.publish import put_down, write
from anondb.methods.full_domain.words import NodeFound
from anondb.methods.method import Job
from anondb.methods.outcome import Levels
from anondb.releases.following import RESTART, Followed
from anondb.releases.ledger import Ledger
from anondb.run.coarse import coarsened
from anondb.run.counting import Counting
from anondb.run.encode import chosen_levels
from anondb.run.plan import Options
from anondb.run.publish_sql import Chosen
from anondb.run.verify import measure_rows, verify


class Levelled(Counting):
    one_node = True  # is that of all records
    node: Levels
    finer: Mapping[str, tuple[int, ...]] = {}
    cells: Cells | None = None  # that are suppressed, where single cells are
    followed: Followed | None = None

    def __init__(self, job: Job, method: FullDomain) -> None:
        super().__init__(job)
        self.method = method
        self.ledger = Ledger(job, self.names, self.plan.followed) if self.plan.follows else None

    @property
    def known(self) -> tuple[int, ...] | None:
        """The levels of the last release, which stay."""
        return None if self.plan.following is None else self.plan.following.levels

    def encode(self) -> None:
        if self.job.options.checks is not None and not self.method.counts_checks:
            raise UsageError(
                f"{self.method.name} goes one way and no other, and has no number of checks",
                hint="leave --checks out, or take optimal",
            )
        if self.ledger is not None:
            self.ledger.require_key()
        if self.method.tracks_every_node and self.job.options.levels is None and self.known is None:
            searching.refuse_large(self.plan)
        self._coarsen()
        super().encode()

    def _coarsen(self) -> None:
        """Columns of many values are coded by the finest level that a release can have."""
        if not self.one_node:
            return  # what one round cannot release, another may
        if "semantic" in (self.plan.policy.method.objective, self.plan.policy.method.heuristic):
            return  # by the concepts of single values
        levels = self.job.options.levels or self.known
        coarse = coarsened(self.db, self.job.engine, self.plan, self.names, self.job.options, levels)
        self.plan, self.finer = coarse.plan, coarse.finer
        self.job = replace(self.job, plan=self.plan, engine=self.job.engine.planned(self.plan))

    def search(self) -> None:
        if self.ledger is not None and self.plan.followed.stays:
            self.decide()  # whoever is published stays, however few records the source has now
        else:
            super().search()

    def decide(self) -> None:
        self._set_up(self.job.options)
        levels = self.job.options.levels or self.known
        if self.ledger is not None and levels is not None and self.plan.followed.stays:
            searching.require_in_range(self.plan, self.looked_in, levels)
            self.node = Levels(levels, 0)
        elif self.known is not None and self.job.options.levels is None:
            self.node = searching.again(self.plan, self.looked_in, self.known)
        else:
            self.node = searching.find(self.method, self.plan, self.looked_in, self.job.options)
        self._release_node()

    def show_search(self) -> None:
        """Of the nodes that a search would look at, the lowest."""
        self._set_up(Options())
        lowest = self.looked_in.lattice.grid.lowest
        self.looked_in.lattice.check(lowest)
        self.node = Levels(lowest, 0)
        self._release_node()

    def write(self) -> int:
        if self.cells is not None:
            return suppressing.write(self.job, self.models, self.encoded, self._chosen(), self.fresh)
        chosen = self._chosen()
        if self.ledger is not None:
            return self._follow(self.ledger, chosen)
        return write(self.db, self.job.engine, self.plan, self.names, self.models, chosen, self.fresh)

    def _follow(self, ledger: Ledger, chosen: list[Chosen]) -> int:
        """Who enters, stays and leaves is decided by the ledger; what the classes of the source are is known."""
        ledger.open()
        put_down(self.db, self.names, self.models, chosen, first=self.plan.followed.first)
        self.followed = ledger.decide(chosen, self.encoded, self.models)
        left_out = self.followed.waiting + self.followed.withheld
        self.outcome = Levels(self.node.levels, left_out)
        may = self.plan.policy.privacy.may_suppress(self.encoded.eligible)
        ledger.refuse_changes(self.followed, may)
        if self.plan.followed.replanned and left_out > max(may, 0):
            raise UnsatisfiableError(
                f"{left_out} records could not follow into the new classes, and {may} may be left out",
                hint=f"leave --replan out, raise suppression, or {RESTART}",
            )
        return self.job.engine.insert_followed(self.names, self.fresh, chosen)

    def measure(self) -> None:
        if self.ledger is None:
            super().measure()
            return
        again, self.measured = self.measured, True
        self.published = measure_rows(
            self.job, self.names, self.encoded, self.models, self.fresh, again=again
        )
        if self.followed is not None and self.plan.unit is not None:
            self.published = replace(self.published, persons=self.followed.fewest)
        if self.followed is not None:
            self.ledger.verify(self.followed, self.fresh)

    def verify(self) -> None:
        if self.ledger is None or self.followed is None:
            super().verify()
            return
        privacy, published = self.plan.policy.privacy, self.published
        if self.plan.followed.stays:
            for model, reached in zip(privacy.models, published.models, strict=True):
                if published.rows and (failure := model.failure(reached)) is not None:
                    raise UnsatisfiableError(
                        f"at the levels of the last release {failure}",
                        hint="run with --replan to search for other levels",
                    )
        verify(privacy, published, self.written, expected=self.followed.published)
        if published.rows == 0 and not self.job.options.allow_empty:
            raise UnsatisfiableError(
                "every record would be suppressed",
                hint="lower suppression or k; --allow-empty publishes an empty release",
            )

    def lattice(self) -> Account | None:
        return lattice_account(self.looked_in, self.node, self.plan.policy.method.objective)

    def _set_up(self, options: Options) -> None:
        self.looked_in = searching.prepare(self.db, self.plan, self.names, self.encoded, options, self.finer)
        self.models = self.looked_in.asking.models

    def _chosen(self) -> list[Chosen]:
        return chosen_levels(self.encoded, self.node)

    def _release_node(self) -> None:
        """The records of the node that are in no class are left out, or released without some of their cells."""
        self.outcome = self.node
        if self.plan.policy.privacy.suppress == "cells":
            method = self.plan.policy.method
            self.outcome, self.cells = suppressing.search(
                self.job, self.models, self._chosen(), method.weight
            )
        self._note()

    def _note(self) -> None:
        lattice, levels = self.looked_in.lattice, self.node.levels
        figures, objective = lattice.check(levels), self.plan.policy.method.objective
        columns = self.encoded.quasi
        self.finding = NodeFound(
            levels={q.name: level for q, level in zip(columns, levels, strict=True)},
            heights={q.name: q.height for q in columns},
            checks=lattice.checks,
            rollups=self.looked_in.asking.rollups.made,
            lattice=lattice.size,
            proven=lattice.proven and self.job.options.levels is None,
            objective=objective,
            score=self.looked_in.objective.score(levels, figures) if objective else None,
            bound=self._bound(),
            most_checks=lattice.most_checks if objective else None,
            repeatable=not lattice.timed_out,
            cells=self.cells,
        )

    def _bound(self) -> float | None:
        """The score that no node can beat, where a search was cut short."""
        bound = self.looked_in.lattice.bound
        return None if bound is None else self.looked_in.objective.shown(bound)
