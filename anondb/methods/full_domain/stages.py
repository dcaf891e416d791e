"""The stages of datafly, incognito and optimal: one level for each column, chosen in the lattice."""

from __future__ import annotations

from anondb.errors import UsageError
from anondb.methods.full_domain import search as searching
from anondb.methods.full_domain import suppress as suppressing
from anondb.methods.full_domain.cells import Cells
from anondb.methods.full_domain.method import FullDomain
from anondb.methods.full_domain.nodes import Account, lattice_account
from anondb.methods.full_domain.publish import write
from anondb.methods.full_domain.words import NodeFound
from anondb.methods.method import Job
from anondb.methods.outcome import Levels
from anondb.run.counting import Counting
from anondb.run.encode import chosen_levels
from anondb.run.plan import Options
from anondb.run.publish_sql import Chosen


class Levelled(Counting):
    node: Levels
    cells: Cells | None = None  # that are suppressed, where single cells are

    def __init__(self, job: Job, method: FullDomain) -> None:
        super().__init__(job)
        self.method = method

    def encode(self) -> None:
        if self.job.options.checks is not None and not self.method.counts_checks:
            raise UsageError(
                f"{self.method.name} goes one way and no other, and has no number of checks",
                hint="leave --checks out, or take optimal",
            )
        if self.method.tracks_every_node and self.job.options.levels is None:
            searching.refuse_large(self.plan)
        super().encode()

    def decide(self) -> None:
        self._set_up(self.job.options)
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
        return write(self.db, self.job.engine, self.plan, self.names, self.models, chosen, self.fresh)

    def lattice(self) -> Account | None:
        return lattice_account(self.looked_in, self.node, self.plan.policy.method.objective)

    def _set_up(self, options: Options) -> None:
        self.looked_in = searching.prepare(self.db, self.plan, self.names, self.encoded, options)
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
