"""le_diversity over time: classes that were released stay as they are, and those who join are dealt by themselves."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.errors import UsageError
from anondb.methods.le_diversity.sql import RecordScratch
from anondb.methods.le_diversity.tables import parts
from anondb.methods.method import Job
from anondb.models.le_diversity import LeDiversity
from anondb.releases.following import RESTART, Followed
from anondb.releases.ledger import Ledger
from anondb.releases.values_sql import column_code
from anondb.run.linked_sql import relation_text
from anondb.run.statement import MANY, Statement, row
from anondb.sqltree.build import scratch
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation, SourceColumn

_APART = """
select a.joining, a.waiting, a.departed, a.left_it, a.withheld, a.failed, a.persons, a.stirred
from anondb.ledger_apart($1, $2::text::regclass, $3, $4) as a
"""
_LAST = "select anondb.ledger_last_class($1)"
_ENTER = """
select e.published, e.classes_published, e.fewest, e.failed
from anondb.ledger_apart_enter($1, $2, $3::text::regclass, $4::text::regclass, $5, $6) as e
"""
_VERIFY = """
select count(*) filter (where not v.holds)
from anondb.verify_apart($1::text::regclass, $2::text::regclass, $3, $4::name[], $5, $6) as v
"""
PORTIONS = 10  # of a class, wait until they are judged: so that few of them find no class


class Apart:
    """The ledger of a series whose releases are two tables."""

    def __init__(self, job: Job, names: RecordScratch, model: LeDiversity, portion: int) -> None:
        self.job, self.db, self.names, self.model = job, job.db, names, model
        self.following = job.plan.followed
        self.ledger = Ledger(job, names, self.following)
        self.share = PORTIONS * model.l * portion
        self.after = 0

    def open(self) -> None:
        self.ledger.require_key()
        if not self.following.first and not all(place.replaces for place in self.job.plan.places):
            raise UsageError("the release has other columns than the last one", hint=RESTART)
        self.ledger.open()

    def set_aside(self) -> int:
        """Takes those whom the ledger knows, or who wait, from the copied records; returns how many are to be dealt."""
        batch = 0 if self.following.first else self.following.batch or self.share
        given = (self.ledger.series, _name(self.names.copy), batch, self.following.leavers)
        example = row(
            joining=MANY, waiting=0, departed=0, left=0, withheld=0, failed=0, persons=MANY, stirred=0
        )
        found = self.db.one(Statement("compare with ledger", _APART, given, example))
        joining, waiting, departed, left, withheld, failed, persons, stirred = map(int, found)
        self.found = Followed(
            0, 0, 0, 0, left, 0, waiting, departed, withheld, persons, stirred, failed
        )  # what is published is known when it is
        [self.after] = self.db.one(Statement("last class", _LAST, (self.ledger.series,), row(last=0)))
        return joining

    def enter(self, joining: int) -> Followed:
        """Enters the new classes, and those who have found none."""
        code = column_code(self.model.column)
        given = (
            self.ledger.series,
            self.ledger.number,
            _name(self.names.rec),
            _name(self.names.classes),
            code,
            float(self.share),
        )
        example = row(published=MANY, classes=1, fewest=MANY, failed=0)
        entered = self.db.one(Statement("enter into ledger", _ENTER, given, example))
        published, classes, fewest, failed = map(int, entered)
        f = self.found
        self.found = Followed(
            published,
            classes,
            fewest,
            joining - failed,
            f.left,
            0,
            f.waiting,
            f.departed,
            f.withheld + failed,
            f.persons,
            f.stirred,
            f.failed + failed,
        )
        return self.found

    def verify(self, fresh: Relation, shown: Sequence[SourceColumn], rows: int) -> None:
        """Raises unless both tables are what the ledger knows."""
        persons, apart = parts(fresh)
        given = (
            relation_text(persons),
            relation_text(apart),
            self.ledger.series,
            [column.name for column in shown],
            self.model.column,
            float(self.model.l),
        )
        [strange] = self.db.one(Statement("compare with ledger", _VERIFY, given, row(strange=0)))
        self.ledger.compare(self.found, int(strange), rows)


def _name(temporary: str) -> str:
    return render(scratch(temporary))
