"""The engine: the few operations that touch rows in proportion to the source.

No other place sends a statement over the source or the rows of a release; what differs between plain PostgreSQL
and a distributed one differs here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from anondb.releases import against_sql, ledger_sql, values_sql
from anondb.run import coarse_sql, encode_sql, perturbed_sql, publish_sql, shared_sql, swap_sql, verify_sql
from anondb.run.masks import length_of
from anondb.run.plan import Place, Plan
from anondb.run.publish_sql import Chosen
from anondb.run.statement import CLASS_COUNTS, MANY, Answer, Runner, Statement, row
from anondb.sqltree.build import Node, Select
from anondb.sqltree.tables import Quasi, Relation, Scratch, SourceColumn

_ALONE = "where the rows are few or the server gives no processes, in the place of the steps before; "
_CHANGES = """
select c.came, c.gone, c.changed, c.told
from anondb.release_changes($1::text::regclass, $2::text::regclass, $3::text[]::name[], $4) as c
"""
_ROWS_OF_ROLE = "set local row_security = on"
_ALL_ROWS = "set local row_security = off"
_WITH_NULLS = "columns that hold NULLs are compared as arrays, in which NULL equals NULL"


class Engine(Protocol):
    """What the stages of a run ask for."""

    def planned(self, plan: Plan) -> Engine:
        """The same for a plan that the run has learned more of."""
        ...

    def count_combinations(self, names: Scratch) -> None:
        """The first pass: every combination of the source's own values, and how often it occurs."""

    def looks_varied(self, quasi: Sequence[Quasi], rows: int) -> list[int]:
        """How many different values each of the columns has in so many rows."""
        ...

    def longest_value(self, quasi: Quasi) -> int:
        """How many characters the longest value of a column has."""
        ...

    def count_values(self, names: Scratch, quasi: Quasi, level: int) -> None:
        """Before the first pass, of a column of many values: how often there are values of each label."""

    def count_originals(self, names: Scratch, quasi: Sequence[Quasi]) -> None:
        """For the measures, where values were not counted one by one: the classes that the originals make."""

    def measure_spread(self, names: Scratch) -> None:
        """Before it, where columns are released with noise: how far their values lie apart."""

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

    def insert_counted(self, names: Scratch, fresh: Relation, insert: Node, chosen: Sequence[Chosen]) -> int:
        """Rows that the first pass has counted as a whole, each as often as it was counted."""
        ...

    def insert_rows(self, name: str, insert: Node, note: str = "") -> int:
        """Rows that the run has counted or copied, into the release."""
        ...

    def make_rows(self, name: str, fresh: Relation, rows: Select) -> int:
        """The same, of rows that several processes may read: the table is made anew of them."""
        ...

    def count_written(self, fresh: Relation, quasi: Sequence[str]) -> tuple[int, ...]:
        """Rows, classes, the smallest and the largest class, and the sum of squared sizes, from its own rows."""
        ...

    def count_written_by(
        self, names: Scratch, fresh: Relation, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[int, ...]:
        """The same of rows that are counted by their sensitive values too, and kept so for the evaluation."""
        ...

    def count_persons(self, names: Scratch, chosen: Sequence[Chosen]) -> int:
        """The fewest persons of a class that was written."""
        ...

    def ask_release(
        self, name: str, question: Node | str, answers: Answer, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        """The answer to a question that only the rows of the release can answer."""
        ...

    def ask_again(self, ask: Callable[[Relation], Statement]) -> list[tuple[Any, ...]]:
        """The answer to what an evaluation has to ask of the source once more."""
        ...

    def copy_release(self, name: str, copy: Node) -> None:
        """A copy of the release's rows as the run has coded them, for questions that need the codes."""

    def replace_rows(self, place: Place, fresh: Relation) -> int:
        """Puts the new rows into a release that stands there; returns how many old ones are gone."""
        ...

    def key_faults(self) -> tuple[int, int]:
        """Records of the source without a key, and keys that several have."""
        ...

    def released_values(self, names: Scratch) -> None:
        """Adds sensitive values that only the last release has to what gets codes."""

    def follow_records(self, names: Scratch, chosen: Sequence[Chosen]) -> int:
        """The second pass where records are followed: what differs from the ledger."""
        ...

    def insert_followed(self, names: Scratch, fresh: Relation, chosen: Sequence[Chosen]) -> int:
        """The rows of the last release that stay, and those that enter."""
        ...

    def release_changes(
        self, place: Place, fresh: Relation, classes: Sequence[str], k: int
    ) -> tuple[int, ...]:
        """Rows that came and are gone since the last release, classes that changed, and those of them that tell."""
        ...

    def show_source(self, names: Scratch, columns: Sequence[SourceColumn], absent: str) -> None:
        """The source as it is compared with other releases, and who is kept out of this one, as a view of the run."""

    def ask_source(self, name: str, question: str, parameters: Sequence[object]) -> None:
        """Puts down what a comparison has to know of that view."""

    def strange_classes(self, fresh: Relation, series: int) -> tuple[int, int]:
        """Classes of a release whose rows are not those of the ledger, and its rows."""
        ...


@dataclass(frozen=True)
class PostgresEngine:
    """Plain PostgreSQL: one server has all rows."""

    db: Runner
    plan: Plan
    unlogged: set[Relation] = field(default_factory=set)  # tables that need not outlive a crash

    def planned(self, plan: Plan) -> PostgresEngine:
        return replace(self, plan=plan)

    def count_combinations(self, names: Scratch) -> None:
        plan = self.plan
        count = encode_sql.raw_frequencies(names, plan.source, plan.quasi, plan.counted, plan.unit)
        self.db.run(Statement("frequencies", count))

    def looks_varied(self, quasi: Sequence[Quasi], rows: int) -> list[int]:
        question = coarse_sql.looks_varied(self.plan.source, quasi, rows)
        answers = row(**{q.raw: 0 for q in quasi})
        note = "of columns that the server has no statistics of"
        return list(self.db.one(Statement("looks of values", question, answers=answers, note=note)))

    def longest_value(self, quasi: Quasi) -> int:
        return length_of(self.db, quasi, coarse_sql.longest(self.plan.source, quasi))

    def count_values(self, names: Scratch, quasi: Quasi, level: int) -> None:
        count = coarse_sql.values(names, self.plan.source, quasi, level)
        self.db.run(Statement(f"values {quasi.code}", count))

    def count_originals(self, names: Scratch, quasi: Sequence[Quasi]) -> None:
        self.db.run(Statement("originals", coarse_sql.originals(names, self.plan.source, quasi)))

    def measure_spread(self, names: Scratch) -> None:
        if self.plan.noisy:
            measures = perturbed_sql.measures(names, self.plan.source, self.plan.noisy)
            self.db.run(Statement("spread", measures, note="of columns that are released with noise"))

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

    def insert_counted(self, names: Scratch, fresh: Relation, insert: Node, chosen: Sequence[Chosen]) -> int:
        return self.insert_rows("insert release", insert)

    def insert_rows(self, name: str, insert: Node, note: str = "") -> int:
        return self.db.run(Statement(name, insert, note=note))

    def make_rows(self, name: str, fresh: Relation, rows: Select) -> int:
        self.db.run(Statement("make room", shared_sql.drop(fresh)))
        made = shared_sql.made_of(fresh, rows, unlogged=fresh in self.unlogged)
        return self.db.run(Statement(name, made))

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

    def count_persons(self, names: Scratch, chosen: Sequence[Chosen]) -> int:
        # both passes have read one snapshot, and the sizes of the classes are compared besides
        fewest = verify_sql.fewest_persons(names, chosen)
        [persons] = self.db.one(Statement("count persons", fewest, answers=row(persons=MANY)))
        return int(persons)

    def ask_release(
        self, name: str, question: Node | str, answers: Answer, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]]:
        return self.db.rows(Statement(name, question, parameters, answers))

    def ask_again(self, ask: Callable[[Relation], Statement]) -> list[tuple[Any, ...]]:
        return self.db.rows(ask(self.plan.source))

    def copy_release(self, name: str, copy: Node) -> None:
        self.db.run(Statement(name, copy))

    def replace_rows(self, place: Place, fresh: Relation) -> int:
        replace = swap_sql.replace_rows(fresh, place.relation, place.columns)
        [deleted, *_] = self.db.one(Statement("replace rows", replace, answers=row(deleted=MANY)))
        return int(deleted)

    def key_faults(self) -> tuple[int, int]:
        plan = self.plan
        question = ledger_sql.key_faults(plan.source, plan.followed.key)
        [empty, repeated, *_] = self.db.one(Statement("key", question, answers=row(empty=0, repeated=0)))
        return int(empty), int(repeated)

    def released_values(self, names: Scratch) -> None:
        plan = self.plan
        counted = [f"c{position}" for position, _ in enumerate(plan.counted, 1)]
        unit = ["u"] if plan.unit is not None else []
        columns = [*(q.raw for q in plan.quasi), *counted, *unit, "n"]
        for s in plan.sensitive:
            add = values_sql.released_values(names, plan.target, s, columns)
            self.db.run(Statement(f"released values {s.code}", add))

    def follow_records(self, names: Scratch, chosen: Sequence[Chosen]) -> int:
        plan = self.plan
        differs = ledger_sql.delta(names, plan.source, plan.kept, chosen, plan.followed)
        # a role sees its own series; rows of the source that it must not see ended the first pass
        self.db.run(Statement("own series", _ROWS_OF_ROLE))
        found = self.db.run(Statement("compare with ledger", differs, note=_WITH_NULLS))
        self.db.run(Statement("all rows", _ALL_ROWS))
        return found

    def insert_followed(self, names: Scratch, fresh: Relation, chosen: Sequence[Chosen]) -> int:
        plan = self.plan
        before = plan.target if not plan.followed.first and plan.places[0].replaces else None
        made = plan.places[0].columns
        anew = plan.distribution is None and shared_sql.can_make(made)
        rows = ledger_sql.released(names, before, plan.columns, chosen, made, typed=anew)
        if anew:
            return self.make_rows("insert release", fresh, rows)
        return self.insert_rows("insert release", ledger_sql.insert(fresh, rows))

    def show_source(self, names: Scratch, columns: Sequence[SourceColumn], absent: str) -> None:
        shown = against_sql.source(names, self.plan, self.plan.source, columns, absent)
        self.db.run(Statement("source to compare", shown))

    def ask_source(self, name: str, question: str, parameters: Sequence[object]) -> None:
        self.db.run(Statement(name, question, parameters))

    def strange_classes(self, fresh: Relation, series: int) -> tuple[int, int]:
        plan = self.plan
        quasi = [q.name for q in plan.quasi]
        question = ledger_sql.strange_classes(fresh, quasi, plan.kept, series)
        [[strange, rows]] = self.ask_release("compare with ledger", question, row(strange=0, rows=MANY))
        return int(strange), int(rows)

    def release_changes(
        self, place: Place, fresh: Relation, classes: Sequence[str], k: int
    ) -> tuple[int, ...]:
        tables = [swap_sql.name_of(place.relation), swap_sql.name_of(place.fresh(fresh))]
        # whoever waits to alter the old release need not wait for the rest of the run
        with self.db.savepoint(undo=True):
            [changes] = self.ask_release(
                f"changes{place.suffix}",
                _CHANGES,
                row(came=0, gone=0, changed=0, told=0),
                (*tables, list(classes), k),
            )
        return tuple(map(int, changes))
