"""Classes of sets that have to satisfy models of sensitive columns: those that fail are merged with the nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from anondb.errors import UnsatisfiableError
from anondb.methods.mdav import diversity_sql as sql
from anondb.methods.mdav.mdav import Share
from anondb.methods.method import Job
from anondb.models.model import ClassModel
from anondb.models.sql import Judged, Models
from anondb.run.statement import Statement, no_rows, row
from anondb.sqltree.tables import Relation, Scratch

_MERGE = "select anondb.mdav_merge($1)"


class Diversity:
    """Sees to the models of a policy while classes are made, and measures what the release reaches."""

    def __init__(self, job: Job, names: Scratch) -> None:
        self.db, self.plan, self.names = job.db, job.plan, names
        by_name = {one.name: one for one in job.plan.sensitive}
        wanted = [model for model in job.plan.policy.privacy.models if isinstance(model, ClassModel)]
        self.judged = tuple(Judged(model, by_name[model.column]) for model in wanted)
        sensitive = dict.fromkeys(one.sensitive for one in self.judged)
        self.models = Models(sql.counted(tuple(sensitive)), job.plan.policy.privacy.k, self.judged)
        self.merged = 0

    def prepare(self) -> None:
        """Codes the sensitive values, and refuses what not even a single class could satisfy."""
        if not self.judged:
            return
        sensitive = self.models.counted.sensitive
        self.db.run(Statement("sensitive values", sql.coded(self.names, sensitive, self.plan.kept)))
        for one in self.judged:
            example = row(values=int(one.model.demanded) + 1)
            [number] = self.db.one(
                Statement(f"count {one.sensitive.code}", sql.values(one.sensitive), answers=example)
            )
            if number and (reason := one.model.impossible(int(number))) is not None:
                raise UnsatisfiableError(reason[0], hint=reason[1])

    def see_to(self, share: Share) -> Share:
        """Merges classes until all satisfy the models; records without a concept that do not are left out."""
        while self.judged:
            question = sql.failing(
                self.names,
                self.models,
                with_concepts=share.with_concepts > 0,
                without=share.without > 0,
            )
            found = self.db.rows(Statement("failing classes", question, answers=no_rows("class")))
            failing = [int(number) for (number,) in found]
            if sql.NO_CLASS in failing:
                share = replace(share, without=0, suppressed=share.suppressed + share.without)
            with_concepts = [number for number in failing if number != sql.NO_CLASS]
            if not with_concepts:
                return share
            [merged] = self.db.one(Statement("merge", _MERGE, (with_concepts,), answers=row(merged=1)))
            if not merged:
                raise UnsatisfiableError(
                    "not even all records with concepts together satisfy the models of sensitive columns",
                    hint=f"choose {self.judged[0].model.advice}, or protect another column",
                )
            self.merged += int(merged)
        return share

    def reached(self, fresh: Relation, quasi: Sequence[str]) -> tuple[float, ...]:
        """What the release reaches of each model, from its own rows."""
        found = []
        for one in self.judged:
            question = one.model.measured(fresh, quasi, one.sensitive.name)
            assert question is not None  # compiling has refused others
            answers = row(reached=one.model.demanded)
            step = f"{one.model.step} {one.sensitive.code}"
            [reached] = self.db.one(Statement(step, question, answers=answers))
            found.append(float(reached))
        return tuple(found)
