"""The choices of a node, and the fixpoint of leaving out: what is left out takes its support from others."""

from __future__ import annotations

from collections.abc import Sequence

from anondb.errors import UsageError
from anondb.models.sql import Models
from anondb.policy.model import Privacy
from anondb.run.encode_sql import analyze
from anondb.run.linked import choices_sql as sql
from anondb.run.linked import models_sql as judged_by
from anondb.run.linked import paths, paths_sql, places_sql, rows_sql
from anondb.run.linked.encode import EncodedTables
from anondb.run.linked.left_out import UNTIL, LeftOut
from anondb.run.linked.models_sql import LowerDiversity
from anondb.run.linked.plan import LinkedPlan, LinkedScratch, TablePlan
from anondb.run.statement import MANY, Runner, Statement, row, touched
from anondb.sqltree.build import Node

MOST_PAIRS = 50_000_000
_MOST_ANEW = 100  # each keeps its lock to the end of the run
Levels = Sequence[int]


class Choices:
    """Asks what a node would leave out; afterwards the scratch tables say who is left."""

    def __init__(
        self,
        db: Runner,
        linked: LinkedPlan,
        names: LinkedScratch,
        encoded: EncodedTables,
        privacy: Privacy,
        models: Models | None = None,
        lower: Sequence[LowerDiversity] = (),
    ) -> None:
        self.db, self.linked, self.names, self.encoded = db, linked, names, encoded
        self.privacy, self.models, self.lower = privacy, models, tuple(lower)
        self.by_rows = privacy.suppress == "rows"
        self.most_persons = privacy.may_suppress(encoded.persons)
        self.all_rows = sum(table.rows for table in encoded.tables[1:])
        self.most_rows = privacy.may_suppress_rows(self.all_rows) if self.by_rows else 0
        self.asked: tuple[tuple[int, ...], LeftOut] | None = None  # of whom the scratch tables tell
        self.most_of: dict[int, int] = {}  # rows of a person, by the numbers of the tables
        self.anew = 0  # so many scratch tables were dropped and made again
        self.there: set[str] = set()  # scratch tables that have been made
        self.made: list[str] = []  # scratch tables of the node that was asked about last

    @property
    def keys(self) -> Sequence[str]:
        return sql.PAIR_KEYS if self.privacy.knows == 2 else sql.KEYS

    def refuse_work(self) -> None:
        """What is too much to compare is told before it is begun."""
        if self.privacy.knows != 2:
            return
        [pairs] = self.db.one(
            Statement("pairs", sql.pair_work(self.names, self.linked), answers=row(pairs=0))
        )
        if pairs > MOST_PAIRS:
            raise UsageError(
                f"with knows = 2 there are {pairs:,} pairs of rows to compare, more than {MOST_PAIRS:,}",
                hint="bound the rows of a person by max_rows, or set knows = 1",
            )

    def left_out(self, levels: Sequence[int], *, whole: bool = False) -> LeftOut:
        """What a node leaves out; `whole` even where more than the policy allows."""
        out = self._left_out(levels, whole=whole)
        self.asked = (tuple(levels), out) if out.exact else None
        return out

    def _left_out(self, levels: Sequence[int], *, whole: bool) -> LeftOut:
        self.forget()
        if paths.can_count(self, levels):
            return paths.left_out(self, levels, whole=whole)
        if not whole and (bound := self._quickly(levels)) is not None:
            return bound
        self.make(sql.nobody(self.names), self.names.gone, "persons left out")
        if self.by_rows:
            return self._by_rows(levels, whole)
        self._choices(levels)
        persons, last, indexed = 0, 0, False
        while True:
            last = self._round(own=False, again=last > 0)
            persons += last
            if last and persons > self.most_persons and not whole:
                return LeftOut(persons, exact=False, sure=persons if self.monotone else 0)
            if last == 0:
                out = self._rows_of_gone()
                sure = persons if self.monotone else 0
                return LeftOut(persons, sum(out), sure=sure, tables=(persons, *out))
            if not indexed:
                self._index()
                indexed = True
            self.make(sql.touched(self.names, self.keys), self.names.touched, "choices that lost persons")
            self._remove(self.names.choices)

    def settled(self, levels: Sequence[int]) -> LeftOut:
        """What a node that satisfies the policy leaves out; the scratch tables tell who is left."""
        if self.asked is not None and self.asked[0] == tuple(levels):
            return self.asked[1]
        return self.left_out(levels, whole=True)

    def forget(self) -> None:
        self.made.clear()

    def _quickly(self, levels: Sequence[int]) -> LeftOut | None:
        """A bound by counting rows, where it is enough to refuse a node."""
        tables = self.linked.tables if self.privacy.knows else self.linked.tables[:1]
        for table in tables:
            question = sql.rare_rows(
                self.names, self.linked, self.encoded.words, table, levels, self.privacy.k
            )
            [rows] = self.db.one(Statement(f"rare rows {table.label}", question, answers=row(rows=0)))
            persons = -(-rows // max(self._most(table), 1))
            lower = table.parent is not None and self.by_rows
            if not lower and persons > self.most_persons:
                return LeftOut(persons, exact=False, sure=persons)
            if lower and rows > self.most_rows:
                return LeftOut(0, rows, exact=False)
        return None

    def _most(self, table: TablePlan) -> int:
        """The most rows that a person has in a table."""
        if table.number not in self.most_of:
            question = rows_sql.most_rows(self.names, table)
            asked = Statement(f"most rows {table.label}", question, answers=row(most=1))
            self.most_of[table.number] = 1 if table.parent is None else int(self.db.one(asked)[0])
        return self.most_of[table.number]

    @property
    def monotone(self) -> bool:
        """Whoever is left out here is left out wherever less is generalized: sets that support themselves stay so."""
        judged = self.models is None or self.models.are_monotone
        return judged and not self.lower and not (self.by_rows and self.privacy.knows == 2)

    def _rows_of_gone(self) -> list[int]:
        """Rows below the persons' of those who are left out."""
        of_tables = paths_sql.rows_of_gone(self.names, self.linked)
        return list(
            self.db.one(
                Statement(
                    "rows of persons left out",
                    of_tables,
                    answers=row(**{f"t{table.number}": 0 for table in self.linked.lower}),
                )
            )
        )

    def _choices(self, levels: Sequence[int]) -> None:
        names, linked, words, knows = self.names, self.linked, self.encoded.words, self.privacy.knows
        if knows == "all":
            of = {table.number: names.codes(table) for table in linked.tables}
            for table in reversed(linked.tables):
                self.make(
                    sql.codes(names, linked, words, levels, table, of),
                    names.codes(table),
                    f"trees of {table.label}",
                )
            made = sql.tree_choices(names, names.codes(linked.root))
        elif knows == 2:
            self._trees(levels)
            made = sql.pair_choices(names, linked, words, levels)
        else:
            made = sql.single_choices(names, linked, words, levels, int(knows))
        self.make(made, names.choices, "choices")

    def _index(self) -> None:
        """What is left out touches few choices: by these, each further round is short."""
        for step, columns in (("by person", ["person"]), ("by choice", list(self.keys))):
            index = f"{self.names.choices}_{columns[0]}"
            if index not in self.there:
                self.there.add(index)
                made = places_sql.index(index, self.names.choices, columns)
                self.db.run(Statement(f"index of choices {step}", made))
        self.db.run(Statement("choice statistics", analyze(self.names.choices)))

    def _trees(self, levels: Sequence[int]) -> None:
        if self.names.trees not in self.made:
            made = sql.trees(self.names, self.linked, self.encoded.words, levels)
            self.make(made, self.names.trees, "paths of rows")
            self.db.run(Statement("path statistics", analyze(self.names.trees)))

    def _round(self, *, own: bool, again: bool = False) -> int:
        """Finds the failing choices, and notes the persons who are left out for them; again, among those that
        have lost persons: what no model compares with others fails for nothing else."""
        names = self.names
        if self.models is not None:
            judged_by.refresh(self.db, names, self.models)
        parts = judged_by.failing_parts(
            names, self.keys, self.privacy.k, self.models, self.lower, touched_only=again
        )
        self.make(sql.failing(names, self.keys, parts), names.failing, "failing choices")
        found = sql.failing_persons(names, self.keys, own=own)
        last = self.make(found, names.last, "persons of failing choices")
        if last:
            self.db.run(Statement("note persons", sql.note_persons(names), note=UNTIL))
        if not own:
            self._drop(names.failing)
        if not last:
            self._drop(names.last)
        return last

    def _remove(self, *tables: str) -> None:
        for table in tables:
            gone = sql.without_persons(self.names, table)
            self.db.run(Statement("leave persons out", gone, note=UNTIL))
        self._drop(self.names.last)

    def _by_rows(self, levels: Sequence[int], whole: bool) -> LeftOut:
        """Rows of failing choices go, with all below them; persons only for their own row."""
        names, words, linked = self.names, self.encoded.words, self.linked
        self._trees(levels)
        persons = 0
        while True:
            made = judged_by.choices_of_trees(names, linked, words, levels, self.privacy.knows)
            self.make(made, names.choices, "choices")
            last = self._round(own=True)
            persons += last
            rows = self.make(sql.failing_rows(names, self.keys), names.last_rows, "rows of failing choices")
            self._drop(names.failing)
            if last:
                self._remove(names.trees)
            if rows:
                self.db.run(Statement("leave rows out", sql.without_rows(names), note=UNTIL))
            self._drop(names.last_rows)
            self._drop(names.choices)
            left = self.db.one(
                Statement(
                    "rows left",
                    judged_by.rows_left(names, linked),
                    answers=row(**{f"t{table.number}": MANY for table in linked.lower}),
                )
            )
            out = [counted.rows - n for counted, n in zip(self.encoded.tables[1:], left, strict=True)]
            exact, beyond = not (last or rows), persons > self.most_persons or sum(out) > self.most_rows
            if exact or (beyond and not whole):
                sure = persons if self.monotone else 0
                return LeftOut(persons, sum(out), exact, sure, (persons, *out) if exact else ())

    def make(self, create: Node, name: str, step: str) -> int:
        """Fills a scratch table, which is made once: a lock on each that is made is held to the end of the run."""
        self.made.append(name)
        if name in self.there and self.names.several_processes and self.anew < _MOST_ANEW:
            # an INSERT is the work of one process
            self.anew += 1
            self.db.run(Statement("forget", places_sql.drop(self.names, [name])))
            self._forget_indexes(name)
            self.there.remove(name)
        if name not in self.there:
            self.there.add(name)
            return self.db.run(Statement(step, create, answers=touched(0)))
        self.db.run(Statement("forget", places_sql.emptied(self.names, name)))
        for index in self._forget_indexes(name):
            self.db.run(Statement("forget index", places_sql.without_index(index)))
        return self.db.run(Statement(step, places_sql.filled(self.names, create), answers=touched(0)))

    def _forget_indexes(self, name: str) -> list[str]:
        indexes = [index for index in self.there if index.startswith(f"{name}_")]
        self.there.difference_update(indexes)
        return indexes

    def _drop(self, name: str) -> None:
        """Its rows count no more."""
        self.made.remove(name)
