"""The process of algorithms that generalize: the source is counted, and a release searched in its frequencies."""

from __future__ import annotations

from anondb.db.introspect import target_text
from anondb.errors import UnsatisfiableError
from anondb.evaluation.figure import Figure
from anondb.methods.full_domain import search as searching
from anondb.methods.process import Job
from anondb.run import stages
from anondb.run.account import Account, account
from anondb.run.evaluate import Evaluating, evaluate
from anondb.run.kept_columns import Lying
from anondb.run.result import Result
from anondb.run.verify import Published, measure, verify


class Generalization:
    """Datafly, Incognito, optimal, Mondrian; and fusion, whose classes take the values of one of their records."""

    encoded: stages.Encoded
    found: searching.Found
    written: int
    published: Published
    figures: tuple[Figure, ...] = ()
    report: Account

    def __init__(self, job: Job) -> None:
        self.job, self.db, self.plan, self.fresh = job, job.db, job.plan, job.fresh
        self.names = job.plan.scratch(job.run)

    def encode(self) -> None:
        stages.take_keys(self.db, self.plan, self.names)
        self.encoded = stages.encode(self.db, self.plan, self.names, self.job.options)

    def search(self) -> None:
        searching.refuse_impossible(self.plan, self.encoded)
        self.found = searching.search(self.db, self.plan, self.names, self.encoded, self.job.options)

    def publish(self) -> None:
        found = self.found
        self.written = stages.write(
            self.db, self.plan, self.names, self.encoded, found.models, found.outcome, self.fresh
        )

    def measure(self) -> None:
        found = self.found
        self.published = measure(
            self.db, self.plan, self.names, self.encoded, found.models, found.outcome, self.fresh
        )

    def verify(self) -> None:
        privacy = self.plan.policy.privacy
        left_out = 0 if privacy.suppress == "mask" else self.found.outcome.suppressed
        verify(privacy, self.published, self.written, expected=self.encoded.eligible - left_out)
        if self.published.rows == 0 and not self.job.options.allow_empty:
            raise UnsatisfiableError(
                "every record would be suppressed",
                hint="lower suppression or k; --allow-empty publishes an empty release",
            )

    def kept(self) -> list[Lying]:
        return [(self.fresh, self.plan.kept)]

    def evaluate(self) -> None:
        wanted, found = self.job.options.evaluate, self.found
        run = Evaluating(self.db, self.plan, self.names, self.encoded, found.outcome, self.fresh)
        if wanted != "none" and self.published.rows:
            self.figures = tuple(evaluate(run, self.published, full=wanted == "full"))
        self.report = account(run, found, self.published, evaluated=bool(self.figures))

    @property
    def promise(self) -> str:
        return f"k = {self.plan.policy.privacy.k}"

    def result(self, seconds: dict[str, float]) -> Result:
        plan, encoded, published, outcome = self.plan, self.encoded, self.published, self.found.outcome
        return Result(
            run=self.job.run,
            algorithm=plan.policy.method.algorithm,
            source=str(plan.policy.source),
            target=target_text(plan.target),
            relation=plan.target,
            quasi=tuple(q.name for q in encoded.quasi),
            records=encoded.records,
            released=published.rows,
            suppressed=outcome.suppressed + encoded.with_null,
            classes=published.classes,
            k=published.smallest if published.persons is None else published.persons,
            seconds=seconds,
            **self.found.facts,
            metrics={
                **published.class_sizes(),
                **published.reached(plan.policy.privacy),
                **self._partitions(),
            },
            figures=self.figures,
            report=self.report,
        )

    def _partitions(self) -> dict[str, float]:
        """Where records are cut: of the same labels, several of them are one class."""
        made = self.found.facts.get("partitions")
        return {} if made is None else {"partitions": float(made)}
