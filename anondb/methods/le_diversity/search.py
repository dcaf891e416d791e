"""The search of le_diversity: classes of the largest buckets, as long as there are any, and where the rest goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil

from anondb.errors import UnsatisfiableError
from anondb.methods.le_diversity import sql
from anondb.methods.le_diversity.decide import portion, suffices
from anondb.methods.le_diversity.sql import RecordScratch
from anondb.methods.method import Job
from anondb.models.le_diversity import LeDiversity
from anondb.policy.model import Privacy
from anondb.run import encode_sql as encoding
from anondb.run import frequency_sql as frequency
from anondb.run.statement import MANY, Answer, Runner, Statement, no_rows, row
from anondb.sqltree.tables import Quasi


@dataclass
class Search:
    """Puts the numbered records into classes."""

    job: Job
    names: RecordScratch
    quasi: Sequence[Quasi]
    model: LeDiversity
    eligible: int

    @property
    def db(self) -> Runner:
        return self.job.db

    @property
    def privacy(self) -> Privacy:
        return self.job.plan.policy.privacy

    @property
    def taken(self) -> int:
        return portion(self.model.l, self.privacy.k)

    @property
    def seed(self) -> int:
        return self.job.plan.policy.method.seed

    def left(self) -> int:
        """The records that are left out; raises where these are more than may be."""
        classes, left = self._first()
        if classes and left:
            left -= self._join()
        if self.eligible and not suffices(classes, left, self.privacy.may_suppress(self.eligible)):
            raise UnsatisfiableError(self._refusal(classes, left), hint=self._hint(classes, left))
        return left

    def _first(self) -> tuple[int, int]:
        """Classes of the largest buckets; of what they leave, new buckets are made, until no class comes of them."""
        db, names = self.db, self.names
        classes, left = self._counted("", names.numbered, row(classes=1, left=MANY))
        db.run(Statement("buckets", sql.buckets(names), self._asked))
        db.run(
            Statement("first classes", sql.first_classes(names), (self.model.l, self.taken, self.seed)),
        )
        db.run(Statement("forget numbers", frequency.drop(names.numbered)))
        db.run(Statement("statistics of records", encoding.analyze(names.rec)))
        for turn in count(2):
            if classes == 0 or left < self.model.l * self.taken:
                break
            db.run(Statement("forget counts", frequency.drop(names.counts)))
            # a value that several buckets were near to, or that chained them, may go with what these have left
            further, rest = self._counted(f" {turn}", names.rec, row(classes=1, left=1), of_rest=True)
            if further == 0:
                break
            db.run(Statement("forget buckets", frequency.drop(names.buckets)))
            db.run(Statement(f"buckets {turn}", sql.buckets(names), self._asked))
            db.run(Statement(f"rest {turn}", sql.rest(names)))
            given = (self.model.l, self.taken, self.seed, classes)
            db.run(Statement(f"classes {turn}", sql.further_classes(names), given))
            db.run(Statement("forget rest", frequency.drop(names.rest)))
            classes, left = classes + further, rest
        return classes, left

    @property
    def _asked(self) -> tuple[object, ...]:
        return self.model.l, self.model.e, self.taken

    def _counted(self, turn: str, records: str, answers: Answer, *, of_rest: bool = False) -> tuple[int, int]:
        """The classes that come of records, and how many of these they leave: known from the counts of values."""
        db, names = self.db, self.names
        db.run(Statement(f"counts{turn}", sql.counts(names, records, rest=of_rest)))
        db.run(Statement("statistics of counts", encoding.analyze(names.counts)))
        classes, left = db.one(
            Statement(f"outlook{turn}", sql.first_left(names), self._asked, answers=answers)
        )
        return classes, left

    def _join(self) -> int:
        """Records that are left join the nearest classes that stay diverse with them; returns how many have."""
        db, names, model = self.db, self.names, self.model
        _, _, hopeful = db.one(
            Statement(
                "left over", sql.left_over(names), (model.e,), answers=row(classes=1, left=1, hopeful=1)
            )
        )
        if not hopeful:
            return 0
        for column in ("rid", "class"):
            db.run(Statement(f"index of {column}", sql.index(names, column)))
        joined: int
        [joined] = db.one(
            Statement(
                "join nearest",
                sql.join_nearest(names, self.quasi),
                (model.l, model.e, self.seed),
                answers=row(joined=1),
                note="where records are left that a class may take",
            )
        )
        return joined

    def _refusal(self, classes: int, left: int) -> str:
        model, privacy = self.model, self.privacy
        if classes == 0:
            each = f" with {self.taken} records each, which k = {privacy.k} takes" if self.taken > 1 else ""
            return (
                f'no class can be made: "{model.column}" has too few values that are more than '
                f"e = {model.e:g} apart for l = {model.l}{each}"
            )
        may = privacy.may_suppress(self.eligible)
        return f"{left} records fit no class and would have to be suppressed, and {may} may be"

    def _hint(self, classes: int, left: int) -> str:
        """What would do: the largest l and e, or the least suppression."""
        db, names, model, privacy = self.db, self.names, self.model, self.privacy
        may = privacy.may_suppress(self.eligible)
        db.run(Statement("forget counts", frequency.drop(names.counts)))
        db.run(Statement("counts of all", sql.counts(names, names.rec)))
        given = (model.l, model.e, privacy.k, may)
        found = db.rows(Statement("feasible", sql.feasible(names), given, answers=no_rows("l", "e")))
        if found:
            fits = ", or ".join(f"l = {l} with e = {e:g}" for l, e in found)  # noqa: E741
            hint = f"{fits} would leave few enough"
        else:
            hint = "not even l = 2 with e = 0 would leave few enough"
        if self.taken > 1:
            hint += f", and so may a k of {model.l} or less"
        if classes:
            hint += f"; what was asked for takes suppression = {ceil(left / self.eligible * 10**4) / 10**4:g}"
        return hint
