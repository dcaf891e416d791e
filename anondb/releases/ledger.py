"""The ledger in a run: who enters the next release, who stays, who leaves; the decisions are taken in the database.

Each step is a statement that a plan prints; a procedure without Python can send the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from anondb.errors import UnsatisfiableError, UsageError, VerificationError
from anondb.methods.method import Job
from anondb.models.sql import Models
from anondb.releases import ledger_sql as sql
from anondb.releases import values_sql as values
from anondb.releases.following import DROP, REFUSE, RESTART, Followed, Following
from anondb.run.encode import Encoded
from anondb.run.encode_sql import analyze
from anondb.run.publish_sql import Chosen
from anondb.run.statement import MANY, Statement, row
from anondb.sqltree.tables import Relation, Scratch, Sensitive

_OPEN = "select anondb.ledger_open($1)"
_GROUPS = "select anondb.ledger_groups($1, $2, $3)"
_LEAVERS = "select anondb.ledger_leavers($1, $2, $3, $4)"
_DECIDE = "select anondb.ledger_decide($1, $2)"
_TRIALS = "select anondb.ledger_trials($1, $2)"
_BATCH = "select anondb.ledger_batch($1, $2)"
_REST = "select anondb.ledger_rest($1, $2)"
_SHARES = "select anondb.ledger_shares($1)"
_MERGE = "select anondb.ledger_merge()"
_DECIDE_CLOSED = "select anondb.ledger_decide_closed($1, $2)"
_ENTER = "select anondb.ledger_enter($1, $2, $3)"
_COUNTS = """
select c.published, c.classes, c.fewest, c.entered, c.left_it, c.moved, c.waiting, c.departed, c.withheld,
       c.persons, c.stirred, c.failed
from anondb.ledger_counts($1) as c
"""
# who has been published, and in which cohort, may be of another day than what is known of the cohorts
_STRAYS = "select anondb.ledger_strays($1)"


class Ledger:
    """The ledger of one run's series."""

    def __init__(self, job: Job, names: Scratch, following: Following) -> None:
        self.job, self.db, self.names, self.following = job, job.db, names, following
        assert following.series is not None
        self.series = following.series

    def open(self) -> None:
        """Its keys and temporary tables."""
        self.db.run(Statement("open ledger", _OPEN, (self.series,)))

    def require_key(self) -> None:
        """Raises unless each record of the source has a key, and one of its own where a key is of one record."""
        if self.following.key_is_unique:
            return
        empty, repeated = self.job.engine.key_faults()
        names = ", ".join(f'"{column.name}"' for column in self.following.key)
        if empty:
            raise UsageError(
                f"the key {names} is NULL in {empty} record{'s' * (empty != 1)}, and nobody could tell whose they are",
                hint="fill it, or leave these records out in a view of the source",
            )
        if repeated and not self.following.several:
            raise UsageError(
                f"the key {names} is not unique: {repeated} of its values occur in several records",
                hint='name the columns that tell records apart: key = ["patient", "admitted"]; '
                "or, where a person may have several, the person: unit under [privacy]",
            )

    def decide(self, chosen: list[Chosen], encoded: Encoded, judged: Models) -> Followed:
        """Compares the source with the ledger, and decides; the classes have been put down."""
        several = self.following.several
        repeated = bool(self.job.plan.counted) or self.job.plan.unit is not None
        self.db.run(Statement("combinations", sql.combinations(self.names, chosen, repeated=repeated)))
        self.db.run(Statement("combination statistics", analyze(self.names.combinations)))
        self.job.engine.follow_records(self.names, chosen)
        columns = values.judged_sensitive(judged.judged)
        for s in columns:
            self.db.run(Statement(f"codes {s.code}", values.codes(self.names, s, encoded.null_code(s))))
        if columns or self.following.leavers == DROP:
            self._decide_closed(columns, encoded, judged)
        else:
            self._decide_open()
        self.db.run(Statement("enter into ledger", _ENTER, (self.series, self.number, several)))
        self.db.run(Statement("published classes", values.published(self.names, self.series)))
        example = {f.name: 0 for f in fields(Followed)} | {"published": MANY, "fewest": MANY}
        return Followed(*map(int, self.db.one(Statement("count", _COUNTS, (self.series,), row(**example)))))

    def _decide_open(self) -> None:
        """Where nobody's values are looked at, all hangs on numbers of persons, and a cohort may be parted by delay."""
        k, several, following = self.job.plan.policy.privacy.k, self.following.several, self.following
        self.db.run(Statement("groups", _GROUPS, (k, several, False)))
        if following.first:
            self.db.run(Statement("judge classes", values.only_passed(self.names)))
        else:
            self.db.run(Statement("leavers", _LEAVERS, (self.series, k, several, following.replanned)))
        self.db.run(Statement("decide", _DECIDE, (following.leavers, following.replanned)))

    def _decide_closed(self, columns: list[Sensitive], encoded: Encoded, judged: Models) -> None:
        """Where models look at values, a cohort is judged once, when it is made, and is never parted.

        Nor is it where one who leaves takes it along: the smaller cohorts are, the fewer go with him.
        """
        k, several, following = self.job.plan.policy.privacy.k, self.following.several, self.following
        kept = [column.name for column in self.job.plan.kept]

        def judge(what: str, *kinds: str) -> None:
            for s in columns:
                parts = values.judge(self.names, judged, s, encoded.null_code(s), kinds)
                self.db.run(Statement(f"judge {what} {s.code}", parts))

        def count(what: str, *, shares: bool = False) -> None:
            for s in columns:
                cells = values.cells(s, kept.index(s.name) + 1, shares=shares)
                self.db.run(Statement(f"{what} {s.code}", cells))

        batch = following.batch
        if batch is None and not following.first:
            batch = self._batch(judge)
        self.db.run(Statement("groups", _GROUPS, (batch or k, several, True)))
        count("values")
        if following.first:
            self.db.run(Statement("judge classes", values.only_passed(self.names)))
        elif following.replanned:
            self.db.run(Statement("rest", _REST, (self.series, k)))
            judge("all", "enter", "move", "rest")
        else:
            judge("joiners", "enter")
        if batch is None:
            batch = self._batch(judge)
        [shares] = self.db.one(Statement("shares", _SHARES, (batch,), row(shares=0)))
        if shares:
            count("values of shares", shares=True)
            merged = 1
            while merged:
                judge("shares", "share")
                [merged] = self.db.one(Statement("merge shares", _MERGE, (), row(merged=0)))
        self.db.run(Statement("decide", _DECIDE_CLOSED, (following.leavers, following.replanned)))

    def _batch(self, judge: Callable[..., None]) -> int:
        """How many wait until they are judged, by the values that are published, and from then on."""
        k = self.job.plan.policy.privacy.k
        self.db.run(Statement("trials", _TRIALS, (self.series, k)))
        judge("trials", "trial")
        return int(self.db.one(Statement("batch", _BATCH, (self.series, k), row(batch=k)))[0])

    @property
    def number(self) -> int:
        """Of the release that is being made."""
        return self.following.number

    def verify(self, followed: Followed, fresh: Relation) -> None:
        """Raises unless the rows that were written are those of the ledger, in cohorts of k persons."""
        self.compare(followed, *self.job.engine.strange_classes(fresh, self.series))

    def compare(self, followed: Followed, strange: int, rows: int) -> None:
        """Raises where classes are strange, or members are not those of their cohorts."""
        [strays] = self.db.one(Statement("compare members", _STRAYS, (self.series,), row(strays=0)))
        if strange or strays:
            if not self.following.first:
                raise UsageError(
                    f"{strange} classes of the last release do not have the rows that the ledger knows, and {strays} "
                    "cohorts not their members: something was changed by hand, or restored from a backup alone",
                    hint=f"restore the release and the ledger from one backup, or {RESTART}",
                )
            raise VerificationError(
                f"{strange} classes and {strays} cohorts are not as the ledger has them",
                hint="nothing was published; please report this",
            )
        k = self.job.plan.policy.privacy.k
        if rows and followed.fewest < k:
            raise VerificationError(
                f"a cohort of the ledger has {followed.fewest} persons, below k = {k}",
                hint="nothing was published; please report this",
            )

    def refuse_changes(self, followed: Followed, may_wait: int) -> None:
        """Where the policy says so, nothing is published unless nobody has to wait or to stay."""
        if self.following.changes != REFUSE or self.following.first:
            return
        held = followed.withheld - followed.failed
        if followed.departed or held or followed.waiting + followed.failed > may_wait:
            raise UnsatisfiableError(
                f"the source has changed: {followed.persons} persons in {followed.stirred} classes could be told "
                "by whoever compares this release with the last",
                hint='set changes = "hold" to let them wait until they are enough, or changes = "free"',
            )
