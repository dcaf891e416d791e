"""A run of le_diversity: the source is copied once, records are put into classes, two tables are released.

Anatomy (Xiao and Tao 2006) publishes the quasi-identifiers as they are; what is protected is the link to the
sensitive values, which lie in a table of their own and are known by class alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from anondb.errors import UnsatisfiableError, UsageError, VerificationError
from anondb.evaluation.metric_value import MetricValue, values_or_reasons
from anondb.evaluation.metrics import GROUPS
from anondb.methods.le_diversity import release_sql as released
from anondb.methods.le_diversity import sql as sql
from anondb.methods.le_diversity.decide import portion
from anondb.methods.le_diversity.follow import Apart
from anondb.methods.le_diversity.search import Search
from anondb.methods.le_diversity.sql import RecordScratch
from anondb.methods.le_diversity.tables import CLASS_ID, QUASI, SENSITIVE, part, parts
from anondb.methods.le_diversity.words import TablesFound
from anondb.methods.method import Job
from anondb.models.le_diversity import LeDiversity
from anondb.models.model import TOLERANCE
from anondb.policy.model import Column, Name, Role
from anondb.releases import values_sql
from anondb.releases.apart_sql import MARKS, marks
from anondb.releases.following import RESTART, Followed
from anondb.run import encode_sql as encoding
from anondb.run import frequency_sql as frequency
from anondb.run import linked_sql as linked
from anondb.run.account import binned, in_words
from anondb.run.encode import dictionary, prepare_hierarchy, take_keys
from anondb.run.evaluate import DISCLOSURE
from anondb.run.kept_columns import KeptColumns
from anondb.run.result import Result
from anondb.run.statement import MANY, METRIC_ROWS, SIZES, Statement, row
from anondb.sqltree.tables import Quasi, Sensitive

_ORDER = "ordered by class and then by a keyed hash of its own values, not as the source is"


@dataclass(frozen=True)
class Figures:
    """Of a release, counted from its own rows."""

    rows: int
    classes: int
    smallest: int
    largest: int
    l: float  # noqa: E741 - reached, with the policy's e
    loss: float | None
    loss_sum: float
    dot: float
    dod_min: float
    dod_max: float
    others: int  # classes that have not as many quasi-identifiers as sensitive values


class Anatomy:
    """The process of le_diversity, whose release is two tables."""

    written: int
    found: Figures
    k: int
    disclosed: tuple[MetricValue, ...] = ()
    report: dict[str, Any]
    followed: Followed | None = None
    joining: int = 0

    def __init__(self, job: Job) -> None:
        self.job, self.db, self.plan, self.options, self.fresh = job, job.db, job.plan, job.options, job.fresh
        self.names = RecordScratch(job.run)
        self.quasi: tuple[Quasi, ...] = self.plan.quasi
        self.sensitive: Sensitive = self.plan.sensitive[0]
        self.records = self.with_null = self.left = 0
        self.apart: Apart | None = None
        if self.plan.follows:
            self.apart = Apart(job, self.names, self.model, portion(self.model.l, self.plan.policy.privacy.k))

    @property
    def model(self) -> LeDiversity:
        [model] = self.plan.policy.privacy.models
        assert isinstance(model, LeDiversity)
        return model

    @property
    def suppressed(self) -> int:
        return self.left + self.with_null

    def encode(self) -> None:
        """The one pass over the source; all else is read from its copy."""
        db, plan, names = self.db, self.plan, self.names
        take_keys(db, self.job.engine, plan, names)
        known = None
        if self.apart is not None:
            self.apart.open()
            known = partial(marks, plan.followed, plan.columns, hidden=self.sensitive.column)
        self.records = self.job.engine.copy_records(
            "copy source", lambda source: sql.copy(names, source, plan.columns, known)
        )
        if self.records == 0 and not self.options.allow_empty:
            raise UsageError(
                f"source {plan.policy.source} is empty",
                hint="is it the right table? --allow-empty publishes an empty release",
            )
        if plan.policy.privacy.nulls == "suppress":
            out = sql.leave_out_nulls(names, plan.columns, plan.quasi)
            self.with_null = db.run(Statement("leave out nulls", out))
        db.run(Statement("frequencies", sql.frequencies(names, plan.columns, plan.quasi, self.sensitive)))
        follows = self.apart is not None and not plan.followed.first
        if follows:
            # what only the last release has is judged with it, and counts nothing
            last, columns = part(plan.target, SENSITIVE), [*(q.raw for q in self.quasi), "c1", "n"]
            added = values_sql.released_values(names, last, self.sensitive, columns)
            db.run(Statement("released values", added))
        self.quasi = tuple(prepare_hierarchy(db, plan, names, q) for q in self.quasi)
        self.sensitive = prepare_hierarchy(db, plan, names, self.sensitive)
        for coded in (*self.quasi, self.sensitive):
            dictionary(db, names, coded, self.options)
        db.run(Statement("paths", sql.paths(names, self.sensitive)))
        if follows:
            db.run(Statement("forget released values", values_sql.forget_released_values(names)))
        self.joining = self.records - self.with_null
        if self.apart is not None:
            self.joining = self.apart.set_aside()
        found = sql.numbered(names, plan.columns, self.quasi, self.sensitive, MARKS if self.apart else ())
        db.run(Statement("numbered records", found))
        db.run(Statement("forget copy", frequency.drop(names.copy)))
        db.run(Statement("statistics", encoding.analyze(names.numbered)))

    def search(self) -> None:
        """Maximal bucket first, and the rest to the nearest classes."""
        # of those who join a series, whoever fits no class is withheld, however many that are
        eligible = self.joining if self.apart is None or self.plan.followed.first else 0
        self.left = Search(self.job, self.names, self.quasi, self.model, eligible).left()

    def publish(self) -> None:
        """Fills the two tables."""
        db, names, plan = self.db, self.names, self.plan
        after = 0 if self.apart is None else self.apart.after
        db.run(Statement("class numbers", released.class_ids(names, after)))
        db.run(Statement("class statistics", encoding.analyze(names.classes)))
        written = set()
        hidden = self.sensitive.column
        shown = [column for column in plan.columns if column != hidden]
        for what, columns in ((QUASI, shown), (SENSITIVE, [hidden])):
            fresh = part(self.fresh, what)
            before = part(plan.target, what) if self.apart and not plan.followed.first else None
            written.add(
                self.job.engine.insert_rows(
                    f"insert release{what}",
                    released.insert(names, fresh, columns, plan.columns, before),
                    _ORDER,
                )
            )
        if len(written) > 1:
            raise VerificationError("the two tables have not the same records", hint="please report this")
        self.written = written.pop()
        if self.apart is not None:
            self.followed = self.apart.enter(self.joining)
            self.left = self.followed.waiting + self.followed.withheld
            may = plan.policy.privacy.may_suppress(self.records - self.with_null)
            self.apart.ledger.refuse_changes(self.followed, may)

    def measure(self) -> None:
        quasi, sensitive = parts(self.fresh)
        reached = released.reached(self.names, sensitive, self.sensitive)
        figures: list[Any] = list(
            self.db.one(
                Statement(
                    "reached",
                    reached,
                    (self.model.e, self.suppressed),
                    answers=row(
                        rows=MANY,
                        classes=1,
                        smallest=MANY,
                        largest=MANY,
                        l=float(MANY),
                        loss=0.0,
                        loss_sum=0.0,
                        dot=0.0,
                        dod_min=0.0,
                        dod_max=0.0,
                    ),
                )
            )
        )
        figures += self.db.one(
            Statement("compare classes", released.other_sizes(quasi, sensitive), answers=row(others=0))
        )
        self.found = Figures(*figures)
        if self.apart is not None:
            hidden = self.sensitive.column
            self.apart.verify(self.fresh, [c for c in self.plan.columns if c != hidden], self.found.rows)

    def verify(self) -> None:
        found, written = self.found, self.written
        privacy, model, expected = self.plan.policy.privacy, self.model, self.records - self.suppressed
        if self.followed is not None:
            expected = self.followed.published
        if not found.rows == written == expected or found.others:
            raise VerificationError(
                f"{expected} records were to be released, {written} were written and {found.rows} are there",
                hint="nothing was published; please report this",
            )
        fails = found.rows and (found.l < model.l - TOLERANCE or found.smallest < privacy.k)
        if fails and self.plan.follows and not self.plan.followed.first:
            raise UnsatisfiableError("a class of the last release does not meet this policy", hint=RESTART)
        if found.rows and (found.l < model.l - TOLERANCE or found.smallest < privacy.k):
            raise VerificationError(
                f'a class is not ({model.l}, {model.e:g})-diverse in "{model.column}", or below k',
                hint="nothing was published; please report this",
            )
        if found.rows == 0 and not self.options.allow_empty:
            raise UnsatisfiableError(
                "every record has a NULL in a quasi-identifier, and would be suppressed",
                hint='nulls = "value" keeps them; --allow-empty publishes all the same',
            )

    def kept(self) -> list[KeptColumns]:
        """Quasi-identifiers lie beside them as they were, which is what this method is for."""
        hidden, quasi = self.sensitive.column, {q.name for q in self.quasi}
        shown = [c for c in self.plan.columns if c.name not in quasi and c.name != hidden.name]
        in_quasi, in_sensitive = parts(self.fresh)
        return [(in_quasi, shown), (in_sensitive, [hidden])]

    @property
    def class_columns(self) -> list[str]:
        return [CLASS_ID.name]

    def evaluate(self) -> None:
        """The k of the quasi-identifiers, which are released as they are; the other figures are known."""
        names, quasi = [q.name for q in self.quasi], part(self.fresh, QUASI)
        self.k = self.job.engine.count_written(quasi, names)[2]
        if self.options.evaluate != "none" and self.found.rows:
            disclosed = values_or_reasons(self.db, GROUPS["disclosure"], self._disclosure)
            self.disclosed = tuple(replace(figure, column=self.model.column) for figure in disclosed)
        self.report = self._account()

    def _disclosure(self) -> list[MetricValue]:
        """How surely a class gives a value away: who is found in the one table has a class of the other."""
        column, sensitive = self.model.column, linked.relation_text(part(self.fresh, SENSITIVE))
        arguments = (sensitive, [CLASS_ID.name], column, None, None)
        return [
            MetricValue(*row)
            for row in self.db.rows(
                Statement(
                    f"disclosure of {column}",
                    DISCLOSURE,
                    arguments,
                    answers=METRIC_ROWS,
                )
            )
        ]

    def _account(self) -> dict[str, Any]:
        """What a report shows that only the run knows."""
        policy, model, found = self.plan.policy, self.model, self.found
        sizes = self.job.engine.ask_release("class sizes", released.sizes(part(self.fresh, QUASI)), SIZES)
        return {
            "columns": [self._column(column) for column in policy.columns],
            "models": [
                {"kind": "le_diversity", "demanded": model.l, "reached": found.l, "column": model.column,
                 "variant": f"e = {model.e:g}"}
            ],
            "suppression": {
                "allowed": policy.privacy.suppression,
                "how": "remove",
                "reasons": {
                    why: n
                    for why, n in (
                        ("that wait or are withheld" if self.apart else "that fit no class", self.left),
                        ("with a NULL in a quasi-identifier", self.with_null),
                    )
                    if n
                },
            },
            "lattice": None,
            "sizes": {"before": [], "after": binned(sizes, policy.privacy.k)},
        }  # fmt: skip

    @property
    def promise(self) -> str:
        return f"l = {self.model.l}, e = {self.model.e:g}"

    def result(self, seconds: dict[str, float]) -> Result:
        found, target = self.found, self.plan.target
        values = (
            MetricValue("information_loss", value=found.loss),
            MetricValue("information_loss_sum", value=found.loss_sum),
            MetricValue("dot", value=found.dot),
            MetricValue("dod_min", value=found.dod_min),
            MetricValue("dod_max", value=found.dod_max),
            MetricValue("suppressed_share", value=self.suppressed / self.records if self.records else 0.0),
            *self.disclosed,
        )
        tables = tuple(str(Name(table.schema, table.name)) for table in parts(target))
        return Result.of(
            self.job,
            TablesFound(tables, found.l),
            seconds,
            relation=part(target, QUASI),
            quasi=(CLASS_ID.name,),
            records=self.records,
            released=found.rows,
            suppressed=self.suppressed,
            classes=found.classes,
            k=self.k,
            metrics={
                "class_size_min": float(found.smallest),
                "class_size_mean": found.rows / found.classes if found.classes else 0.0,
                "class_size_max": float(found.largest),
                f"le_diversity:{self.model.column}": found.l,
            },
            metric_values=() if self.options.evaluate == "none" else values,
            report=self.report,
        )

    def show_search(self) -> None:
        self.search()

    def _column(self, column: Column) -> dict[str, Any]:
        """Where a column lies, and that it is exactly as it was."""
        found: dict[str, Any] = {"name": column.name, "role": str(column.role)}
        if column.role is Role.IDENTIFIER:
            return found
        hides = column.name == self.model.column
        lies = f"in {part(self.plan.target, SENSITIVE if hides else QUASI).name}"
        told = f"{lies}; {in_words(column.hierarchy)}" if hides else lies
        return found | {"hierarchy": told, "level": 0, "height": 0}
