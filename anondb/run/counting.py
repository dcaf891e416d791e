"""The stages of methods that count the source: a release is searched in its frequencies, and written from them."""

from __future__ import annotations

from abc import ABC, abstractmethod

from anondb.errors import UnsatisfiableError
from anondb.evaluation.metric_value import MetricValue
from anondb.methods.method import Finding, Job
from anondb.methods.outcome import Classes, Levels
from anondb.models.sql import Models
from anondb.run import encode
from anondb.run.account import Account, account
from anondb.run.evaluate import Evaluating, evaluate
from anondb.run.kept_columns import KeptColumns
from anondb.run.result import Result
from anondb.run.search import refuse_impossible
from anondb.run.verify import Published, measure, verify
from anondb.sqltree.tables import released_names


class Counting(ABC):
    """What full-domain methods, Mondrian and fusion have in common; they differ in their search and their labels."""

    encoded: encode.Encoded
    models: Models
    outcome: Levels | Classes
    finding: Finding
    written: int
    published: Published
    measured = False
    metric_values: tuple[MetricValue, ...] = ()
    report: Account

    def __init__(self, job: Job) -> None:
        self.job, self.db, self.plan, self.fresh = job, job.db, job.plan, job.fresh
        self.names = job.plan.scratch(job.run)

    def encode(self) -> None:
        encode.take_keys(self.db, self.job.engine, self.plan, self.names)
        self.encoded = encode.encode(self.db, self.job.engine, self.plan, self.names, self.job.options)

    def search(self) -> None:
        refuse_impossible(self.plan, self.encoded)
        self.decide()

    @abstractmethod
    def decide(self) -> None:
        """The search itself: sets models, outcome and finding."""

    def show_search(self) -> None:
        self.decide()

    @abstractmethod
    def write(self) -> int:
        """Fills the new table; returns the rows written."""

    def publish(self) -> None:
        self.written = self.write()

    def measure(self) -> None:
        again = self.measured
        self.measured = True
        self.published = measure(
            self.job, self.names, self.encoded, self.models, self.outcome, self.fresh, again=again
        )

    def verify(self) -> None:
        privacy = self.plan.policy.privacy
        left_out = 0 if privacy.suppress == "mask" else self.outcome.suppressed
        verify(privacy, self.published, self.written, expected=self.encoded.eligible - left_out)
        if self.published.rows == 0 and not self.job.options.allow_empty:
            raise UnsatisfiableError(
                "every record would be suppressed",
                hint="lower suppression or k; --allow-empty publishes an empty release",
            )

    def kept(self) -> list[KeptColumns]:
        return [(self.fresh, self.plan.kept)]

    @property
    def class_columns(self) -> list[str]:
        return released_names(self.encoded.quasi)

    def evaluate(self) -> None:
        wanted, run = self.job.options.evaluate, self.evaluated()
        if wanted != "none" and self.published.rows:
            self.metric_values = tuple(evaluate(run, self.published, full=wanted == "full"))
        self.report = account(run, self.published, self.lattice(), evaluated=bool(self.metric_values))

    def evaluated(self) -> Evaluating:
        """What all metrics of the run need to know."""
        return Evaluating(
            self.db, self.plan, self.names, self.encoded, self.outcome, self.fresh, engine=self.job.engine
        )

    def lattice(self) -> Account | None:
        """What a report shows of the lattice that was searched, if there is one."""
        return None

    @property
    def promise(self) -> str:
        privacy = self.plan.policy.privacy
        return f"k = {privacy.k}" + (" where a star matches anything" if privacy.stars_match else "")

    def result(self, seconds: dict[str, float]) -> Result:
        plan, encoded, published = self.plan, self.encoded, self.published
        return Result.of(
            self.job,
            self.finding,
            seconds,
            quasi=tuple(released_names(encoded.quasi)),
            records=encoded.records,
            released=published.rows,
            suppressed=self.outcome.suppressed + encoded.with_null,
            classes=published.classes,
            k=published.smallest if published.persons is None else published.persons,
            metrics={
                **published.class_sizes(),
                **published.reached(plan.policy.privacy),
                **self.own_metrics(),
            },
            metric_values=self.metric_values,
            report=self.report,
        )

    def own_metrics(self) -> dict[str, float]:
        """What this method keeps besides what all do."""
        return {}
