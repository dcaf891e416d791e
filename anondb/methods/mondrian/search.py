"""The search and the publishing of algorithms that cut the records into partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType

from anondb.errors import UnsatisfiableError
from anondb.hierarchies.forms import Values
from anondb.methods.full_domain.costs_sql import cost_table
from anondb.methods.method import Job
from anondb.methods.mondrian import classes_sql as classes
from anondb.methods.mondrian import cuts_sql as cuts
from anondb.methods.mondrian import halves_sql as halves
from anondb.methods.mondrian import loss_sql as loss
from anondb.methods.mondrian import mondrian
from anondb.methods.mondrian import sql as partition
from anondb.methods.mondrian import tree_sql as trees
from anondb.methods.mondrian.mondrian import Halves, Widths
from anondb.methods.mondrian.sql import Condition, Partitioning
from anondb.methods.outcome import Classes
from anondb.models import sql as models
from anondb.models.sql import Models
from anondb.run.encode_sql import analyze
from anondb.run.plan import Plan
from anondb.run.statement import MANY, Runner, Statement, row
from anondb.run.typed import write_values
from anondb.sqltree.build import Node
from anondb.sqltree.tables import Relation, Scratch, Sensitive


def of(plan: Plan, names: Scratch, judged: Models, null_code: Callable[[Sensitive], int]) -> Partitioning:
    """What the policy asks of partitions."""
    conditions = [
        Condition(one.sensitive.code, partial(models.grouped_holds, names, one)) for one in judged.judged
    ]
    looked_at = [(s, null_code(s)) for s in judged.counted.sensitive]
    method = plan.policy.method
    return Partitioning(
        names,
        judged.counted.quasi,
        judged.k,
        method.strict,
        conditions,
        looked_at,
        by_loss=method.split == "loss",
        exact=method.bounds == "exact",
    )


def search(db: Runner, p: Partitioning) -> Classes:
    """Cuts the frequency set; the outcome is a table of its combinations and their partitions."""
    db.run(Statement("places", partition.places(p)))
    db.run(Statement("index of places", partition.index_places(p)))
    db.run(Statement("statistics of places", analyze(p.names.places)))
    if p.by_loss:
        _put_trees_down(db, p)
    for number, table in enumerate(partition.tables(p), 1):
        db.run(Statement(f"partitions {number}", table))
    db.run(Statement("whole", partition.whole(p)))
    for condition in p.conditions:
        [holds] = db.one(
            Statement(
                f"whole holds {condition.column}",
                partition.whole_holds(p, condition),
                answers=row(holds=True),
            )
        )
        if not holds:
            raise UnsatisfiableError(
                "the table as a whole does not satisfy the policy, so that no part of it is released",
                hint="lower the demands on the sensitive columns",
            )
    made = mondrian.search(_Open(db, p))
    columns = tuple(sorted(made.columns))
    return Classes(p.names.partitioned, made.iterations, columns, partitions=made.partitions)


def _put_trees_down(db: Runner, p: Partitioning) -> None:
    """What the nodes above each value cost, which cuts are compared by."""
    if with_levels := [q for q in p.quasi if not isinstance(q.hierarchy, Values)]:
        db.run(Statement("costs", cost_table(p.names, with_levels)))
        db.run(Statement("statistics of costs", analyze(p.names.costs)))
    db.run(Statement("trees", trees.tree(p)))
    db.run(Statement("statistics of trees", analyze(p.names.tree)))


def write(
    job: Job,
    p: Partitioning,
    has_null: Sequence[bool],
    fresh: Relation,
    labels: Node | None = None,
) -> int:
    """Fills the new table; returns the rows written. Reads the source unless it was counted whole.

    `labels` makes the classes of an algorithm that labels them in its own way.
    """
    names, db, plan = p.names, job.db, job.plan
    db.run(Statement("statistics of partitions", analyze(names.partitioned)))
    db.run(Statement("class labels", classes.classes(p) if labels is None else labels))
    chosen = classes.chosen_of(p, has_null)
    write_values(db, names, chosen, lambda: classes.classified(p))
    db.run(Statement("statistics of classes", analyze(names.classes)))
    if plan.whole_rows:
        rows = classes.insert_rows(p, fresh, plan.columns, plan.kept)
        return job.engine.insert_counted(names, fresh, rows, chosen)
    db.run(Statement("combinations", classes.combinations(p)))
    db.run(Statement("combination statistics", analyze(names.combinations)))
    return job.engine.insert_records(names, fresh, chosen)


@dataclass
class _Open:
    """The open partitions in the database."""

    db: Runner
    p: Partitioning
    round: int = 0
    partitions: int = 1
    cuts: int = 0  # of this round
    statements: dict[tuple[object, ...], Node] = field(default_factory=dict)

    def rank(self) -> Widths:
        self.round += 1
        if self.p.by_loss:
            self.db.run(Statement(f"nodes {self.round}", self._statement(loss.items)))
            self.db.run(Statement(f"statistics of nodes {self.round}", analyze(self.p.names.items)))
        self.db.run(
            Statement(
                f"ranks {self.round}",
                self._statement(self._of.ranks),
                note="the search goes on with all open partitions until no cut is allowable; one round is shown",
            )
        )
        return Widths(
            *self.db.one(
                Statement(
                    f"open {self.round}",
                    self._statement(self._of.rank_figures),
                    answers=row(partitions=MANY if self.round == 1 else 0, columns=1, parts=2),
                )
            )
        )

    def cut(self, rank: int, numbered_from: int) -> int:
        step = f"{self.round}, column {rank}"
        made = self.db.run(Statement(f"cut {step}", self._statement(self._of.cut, rank), (numbered_from,)))
        for number, condition in enumerate(self.p.conditions, 1):
            refused = self.db.run(
                Statement(f"refuse {step}, model {number}", self._statement(halves.refuse, condition))
            )
            made -= refused
        self.cuts += made
        return made

    def split(self) -> Halves:
        figures = loss.figures if self.p.by_loss else halves.figures
        large, more, columns = self.db.one(
            Statement(
                f"halves {self.round}", self._statement(figures), answers=row(large=1, more=1, columns=(1,))
            )
        )
        # what there is none of need not be looked for
        if self.cuts != self.partitions:
            self.db.run(Statement(f"uncut {self.round}", self._statement(halves.close_uncut)))
        if large < self.cuts + more:
            self.db.run(Statement(f"small halves {self.round}", self._statement(halves.close_small)))
        if large:
            self.db.run(Statement(f"large halves {self.round}", self._statement(halves.large)))
        self.db.run(Statement(f"done {self.round}", self._statement(partition.empty_round)))
        self.p, self.partitions, self.cuts = self.p.next_round(), large, 0
        return Halves(large, more, tuple(columns))

    def close(self) -> None:
        self.db.run(Statement("close", halves.close_all(self.p)))

    @property
    def _of(self) -> ModuleType:
        """Who builds the statements that choose cuts."""
        return loss if self.p.by_loss else cuts

    def _statement(self, build: Callable[..., Node], *arguments: object) -> Node:
        """Every other round has the same statements, and a tree takes longer to build than to run, sometimes."""
        key = (build, self.p.turn, *arguments)
        if key not in self.statements:
            self.statements[key] = build(self.p, *arguments)
        return self.statements[key]
