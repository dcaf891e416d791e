"""The engine: the few operations that touch rows in proportion to the source.

No other place sends a statement over the source or the rows of a release; what differs between plain PostgreSQL
and a distributed one differs here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from anondb.run import encode_sql, publish_sql, shared_sql, swap_sql, verify_sql
from anondb.run.plan import Place, Plan
from anondb.run.publish_sql import Chosen
from anondb.run.statement import CLASS_COUNTS, MANY, Answer, Runner, Statement, row
from anondb.sqltree.build import Node
from anondb.sqltree.tables import Relation, Scratch

_ALONE = "where the rows are few or the server gives no processes, in the place of the steps before; "
_WITH_NULLS = "columns that hold NULLs are compared as arrays, in which NULL equals NULL"


class Engine(Protocol):
    """What the stages of a run ask for."""

    def count_combinations(self, names: Scratch) -> None:
        """The first pass: every combination of the source's own values, and how often it occurs."""

    def copy_records(self, name: str, copy: Callable[[Relation], Node]) -> int:
        """The first pass of methods that work on records: `copy` makes the statement that copies them."""
        ...

    def create_release(self, fresh: Relation, *, kept: bool) -> None:
        """Makes the empty tables that the release is written to first."""

    def prepare_release(self, fresh: Relation) -> None:
        """What has to be done to the empty tables before rows come."""

    def insert_records(self, names: Scratch, fresh: Relation, chosen: Sequence[Chosen]) -> int:
        """The second pass: every record of the source whose combination of values is released."""
        ...

    def insert_rows(self, name: str, insert: Node, note: str = "") -> int:
        """Rows that the run has counted or copied, into the release."""
        ...

    def count_written(self, fresh: Relation, quasi: Sequence[str]) -> tuple[int, ...]:
        """Rows, classes, the smallest and the largest class, and the sum of squared sizes, from its own rows."""
        ...

    def count_written_by(
        self, names: Scratch, fresh: Relation, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[int, ...]:
        """The same of rows that are counted by their sensitive values too, and kept so for the evaluation."""
        ...

    def ask_release(
        self, name: str, question: Node | str, answers: Answer, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        """The answer to a question that only the rows of the release can answer."""
        ...

    def copy_release(self, name: str, copy: Node) -> None:
        """A copy of the release's rows as the run has coded them, for questions that need the codes."""

    def replace_rows(self, place: Place, fresh: Relation) -> int:
        """Puts the new rows into a release that stands there; returns how many old ones are gone."""
        ...


@dataclass(frozen=True)
class PostgresEngine:
    """Plain PostgreSQL: one server has all rows."""

    db: Runner
    plan: Plan
    unlogged: set[Relation] = field(default_factory=set)  # tables that need not outlive a crash

    def count_combinations(self, names: Scratch) -> None:
        plan = self.plan
        count = encode_sql.raw_frequencies(names, plan.source, plan.quasi, plan.counted, plan.unit)
        self.db.run(Statement("frequencies", count))

    def copy_records(self, name: str, copy: Callable[[Relation], Node]) -> int:
        return self.db.run(Statement(name, copy(self.plan.source)))

    def create_release(self, fresh: Relation, *, kept: bool) -> None:
        for place in self.plan.places:
            # what is copied to where a release stands need not outlive a crash
            unlogged = kept and place.replaces
            if unlogged:
                self.unlogged.add(place.fresh(fresh))
            made = publish_sql.create_release(place.fresh(fresh), place.columns, unlogged=unlogged)
            self.db.run(Statement(f"create release{place.suffix}", made))

    def prepare_release(self, fresh: Relation) -> None:
        """Nothing: the tables are where their rows will be."""

    def insert_records(self, names: Scratch, fresh: Relation, chosen: Sequence[Chosen]) -> int:
        plan = self.plan
        if len(plan.places) == 1 and shared_sql.can_make(plan.places[0].columns):
            question = Statement("processes", shared_sql.gains(names), answers=row(gains=None))
            [gains] = self.db.one(question)
            if gains is not False:  # a plan does not know, and shows both
                written = self._create_of_records(names, fresh, chosen)
            if gains is True:
                return written
        insert = publish_sql.insert_records(names, plan.source, fresh, plan.columns, chosen)
        return self.insert_rows("insert release", insert, _ALONE + _WITH_NULLS)

    def _create_of_records(self, names: Scratch, fresh: Relation, chosen: Sequence[Chosen]) -> int:
        """Makes the table anew from a query: that can be planned for several processes, an INSERT cannot."""
        plan, unlogged = self.plan, fresh in self.unlogged
        statements = [
            Statement("share keys", shared_sql.keys(names), note="where several processes pay"),
            Statement("share combinations", shared_sql.combinations(names, chosen)),
            Statement("key statistics", shared_sql.analyze(names.keys)),
            Statement("combination statistics", shared_sql.analyze(names.combinations)),
            Statement("make room", shared_sql.drop(fresh)),
        ]
        for statement in statements:
            self.db.run(statement)
        made = shared_sql.release(
            names, plan.source, fresh, plan.columns, chosen, plan.places[0].columns, unlogged=unlogged
        )
        written = self.db.run(Statement("insert release", made, note=_WITH_NULLS))
        self.db.run(Statement("forget what was shared", shared_sql.forget(names)))
        return written

    def insert_rows(self, name: str, insert: Node, note: str = "") -> int:
        return self.db.run(Statement(name, insert, note=note))

    def count_written(self, fresh: Relation, quasi: Sequence[str]) -> tuple[int, ...]:
        counts = publish_sql.class_figures(publish_sql.class_sizes(fresh, quasi))
        [sizes] = self.ask_release("count classes", counts, CLASS_COUNTS)
        return tuple(map(int, sizes))

    def count_written_by(
        self, names: Scratch, fresh: Relation, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[int, ...]:
        self.db.run(Statement("count rows", verify_sql.written(names, fresh, quasi, sensitive)))
        self.db.run(Statement("row statistics", encode_sql.analyze(names.written)))
        counts = publish_sql.class_figures(verify_sql.written_sizes(names, quasi))
        return tuple(map(int, self.db.one(Statement("count classes", counts, answers=CLASS_COUNTS))))

    def ask_release(
        self, name: str, question: Node | str, answers: Answer, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        return self.db.rows(Statement(name, question, parameters, answers))

    def copy_release(self, name: str, copy: Node) -> None:
        self.db.run(Statement(name, copy))

    def replace_rows(self, place: Place, fresh: Relation) -> int:
        replace = swap_sql.replace_rows(fresh, place.relation, place.columns)
        [deleted, *_] = self.db.one(Statement("replace rows", replace, answers=row(deleted=MANY)))
        return int(deleted)
