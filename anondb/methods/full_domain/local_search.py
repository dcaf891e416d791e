"""Local recoding in the database: ways are tried, and the one that loses least is released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from anondb.errors import UnsatisfiableError
from anondb.methods.full_domain import local_sql as sql
from anondb.methods.full_domain.grid import Node
from anondb.methods.full_domain.lattice import Lattice
from anondb.methods.full_domain.local import Recoded, Round, rounds
from anondb.methods.full_domain.publish import leave_distant_out
from anondb.models.sql import Models
from anondb.run import frequency_sql as frequency
from anondb.run.encode import Encoded
from anondb.run.encode_sql import analyze
from anondb.run.statement import MANY, Answer, Runner, Statement, row

_OF_EVERY_ROUND = "the run asks this of each node on its way; the first is shown"


@dataclass(frozen=True)
class Attempt:
    """A way, and what classes are compared with on it."""

    way: Sequence[Node]
    reference: bool = True  # all records; else what is released in the end, alone


@dataclass
class Recoding:
    """Tries ways with the records of a run."""

    db: Runner
    names: sql.Rounds
    encoded: Encoded
    models: Models
    weights: Sequence[float]  # of each quasi-identifier; they sum to 1
    most: int | None = None  # nodes that may be looked at, after the first way
    looked: int = 0  # nodes, over all ways, and those of no way twice
    _last: Attempt | None = field(default=None)  # whose classes lie in the tables

    def best(self, attempts: Sequence[Attempt], budget: int, lattice: Lattice) -> Recoded:
        """Of the ways that suppress no more than they may, the one that loses least.

        Once there is one, no way is begun after the deadline, nor one that may take more looks than are left.
        """
        found: list[tuple[float, int, Recoded]] = []
        for place, attempt in enumerate(attempts):
            if found and (not attempt.reference or lattice.out_of_time()):
                break
            if found and self.most is not None and self.looked + len(attempt.way) > self.most:
                continue
            recoded = self.along(attempt)
            self.looked += recoded.looked
            if recoded.suppressed <= budget:
                found.append((recoded.score, place, recoded))
        if not found:
            raise UnsatisfiableError(
                "no way of local recoding satisfies the policy as a whole",
                hint="leave recode out; or raise suppression, or a limit of [privacy] that compares classes with all",
            )
        _, place, recoded = min(found, key=lambda one: one[:2])
        return recoded if self._last is attempts[place] else self.along(attempts[place])

    def along(self, attempt: Attempt) -> Recoded:
        """The classes of a way, in the tables of the run."""
        if self._last is not None:
            for table in (self.names.partitioned, self.names.classes):
                self.db.run(Statement("forget another way", frequency.drop(table)))
        self._last = attempt
        counted, quasi = self.models.counted, self.encoded.quasi
        self.db.run(Statement("nothing yet", sql.nothing_yet(self.names, counted)))
        rest = _Rest(self, attempt.reference)
        rounds(rest, attempt.way)
        rest.suppress()
        self.db.run(Statement("part statistics", analyze(self.names.partitioned)))
        self.db.run(
            Statement(
                "classes",
                sql.classes(self.names, quasi, self.weights),
                note="each class has the lowest labels that its records have in common",
            )
        )
        self.db.run(Statement("class statistics", analyze(self.names.classes)))
        if self.models.judged:
            self.db.run(Statement("judge classes", sql.judged(self.names, self.models)))
            leave_distant_out(self.db, self.names, self.names.node, self.models)
            self.db.run(Statement("leave out classes", sql.leave_out(self.names)))
            self.db.run(Statement("forget judgement", frequency.drop(self.names.node)))
        found = self.db.rows(Statement("rounds", sql.figures(self.names), answers=_ROUNDS))
        return Recoded(
            tuple(
                Round(rest.released[place - 1], records, loss / records)
                for place, records, loss in found
                if place <= len(rest.released)
            ),
            self.encoded.eligible,
            rest.looked,
        )


_ROUNDS = Answer(("round", "records", "loss"), ((1, MANY, 0.0),))


@dataclass
class _Rest:
    """What no round has released yet, in the tables of the run."""

    recoding: Recoding
    reference: bool
    released: list[Node] = field(default_factory=list)
    records: int = 0
    looked: int = 0
    _turn: int = 0
    _parts: int = 0
    _found: tuple[int, int] | None = None  # of the classes that were looked at last

    def __post_init__(self) -> None:
        self.records = self.recoding.encoded.eligible

    def look(self, levels: Node) -> int:
        one = self.recoding
        self._forget()
        name = f"round {len(self.released) + 1} at {','.join(map(str, levels))}"
        taken = sql.take(one.names, self._turn, one.models, levels, self._parts, reference=self.reference)
        one.db.run(Statement(name, taken, note=_OF_EVERY_ROUND))
        self.looked += 1
        classes, records = one.db.one(
            Statement("what it would release", sql.taken(one.names), answers=row(classes=1, records=1))
        )
        self._found = classes, records
        return int(records)

    def release(self, levels: Node) -> None:
        one, counted = self.recoding, self.recoding.models.counted
        assert self._found is not None
        classes, records = self._found
        self.released.append(levels)
        one.db.run(Statement("class codes statistics", analyze(one.names.taken)))
        aside = sql.put_aside(one.names, self._turn, counted, levels, len(self.released))
        one.db.run(Statement("put round aside", aside))
        one.db.run(Statement("what is left", sql.left_over(one.names, self._turn, counted, levels)))
        before, self._turn = self._turn, self._turn + 1
        if before:
            one.db.run(Statement("forget what was left", frequency.drop(one.names.rest(before))))
        one.db.run(Statement("statistics of what is left", analyze(one.names.rest(self._turn))))
        self._parts += classes
        self.records -= records

    def suppress(self) -> None:
        """Those that are still there are released in no round."""
        one = self.recoding
        self._forget()
        left = sql.suppressed(one.names, self._turn, one.models.counted)
        one.db.run(Statement("suppressed", left))
        if self._turn:
            one.db.run(Statement("forget what was left", frequency.drop(one.names.rest(self._turn))))

    def _forget(self) -> None:
        if self._found is not None:
            self.recoding.db.run(Statement("forget round", frequency.drop(self.recoding.names.taken)))
            self._found = None
