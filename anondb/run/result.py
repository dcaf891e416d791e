"""What a run gives back: the metrics that the command line prints and the history keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anondb.evaluation.metric_value import MetricValue, by_column, by_key, notes
from anondb.methods.method import Finding, Job
from anondb.policy.model import Name, Role, is_kept
from anondb.releases.following import Followed
from anondb.run import account_reader
from anondb.run.kept import Kept, LinkedRows
from anondb.run.plan import Plan
from anondb.run.run_account import VERSION
from anondb.sqltree.tables import Relation


@dataclass(frozen=True)
class Result:
    run: int
    algorithm: str
    source: str
    target: str
    relation: Relation  # where the release stands
    quasi: tuple[str, ...]  # the columns that classes are told apart by
    records: int
    released: int
    suppressed: int
    classes: int
    k: int  # reached
    seconds: Mapping[str, float]  # per stage
    finding: Finding  # what the method found on its way
    kept: tuple[Kept, ...] = ()  # columns released as they are that know records apart
    linked: tuple[LinkedRows, ...] = ()  # what its pseudonyms give away
    built: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # column → its hierarchy
    metrics: Mapping[str, float] = field(default_factory=dict)  # of the release's classes and models
    metric_values: tuple[MetricValue, ...] = ()  # of utility and risk
    report: Mapping[str, Any] = field(default_factory=dict)  # what else a report shows (`plan.reporting`)
    series: Mapping[str, Any] = field(default_factory=dict)  # how it follows the release before it
    against: Mapping[str, Any] = field(default_factory=dict)  # what it tells together with other releases
    warnings: tuple[str, ...] = ()  # what is exposed beside the release itself

    @classmethod
    def of(cls, job: Job, finding: Finding, seconds: Mapping[str, float], **counts: Any) -> Result:
        """The result of a job, with what its method has found and counted."""
        plan = job.plan
        return cls(
            run=job.run,
            algorithm=plan.policy.method.algorithm,
            source=str(plan.policy.source),
            target=str(Name(plan.target.schema, plan.target.name)),
            relation=counts.pop("relation", plan.target),
            seconds=seconds,
            finding=finding,
            **counts,
        )

    @property
    def levels(self) -> Mapping[str, int]:
        """Column → level, where whole columns have levels."""
        return self.finding.levels

    @property
    def heights(self) -> Mapping[str, int]:
        """Column → level of its root, of the same columns."""
        return self.finding.heights

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of a release that has several."""
        return self.finding.tables

    def as_json(self) -> dict[str, Any]:
        """The object that `anondb run --json` prints."""
        return {
            "run": self.run,
            "algorithm": self.algorithm,
            "source": self.source,
            "target": self.target,
            "levels": dict(self.levels),
            "heights": dict(self.heights),
            "records": self.records,
            "released": self.released,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "k": self.k,
            "released_as_is": self.unchanged,
            **({"release": self.forms} if self.forms else {}),
            "declared_harmless": [name for name, role, _ in self.columns if role == Role.OTHER],
            "surest_guess": self.surest_guess,
            **self.finding.as_json(),
            **({"built": dict(self.built)} if self.built else {}),
            **({"kept": [column.as_json() for column in self.kept]} if self.kept else {}),
            **({"pseudonyms": [column.as_json() for column in self.linked]} if self.linked else {}),
            **({"series": dict(self.series)} if self.series else {}),
            **({"against": dict(self.against)} if self.against else {}),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            "seconds": {stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            "metrics": self.all_metrics(),
            "notes": notes(self.metric_values),
        }

    @property
    def columns(self) -> list[tuple[str, str, int | None]]:
        """Name, role and level of each column of the source; no level where there are none."""
        return [
            (column["name"], column["role"], column.get("level")) for column in self.report.get("columns", ())
        ]

    @property
    def forms(self) -> dict[str, str]:
        """Quasi-identifiers that are released as numbers, dates or ranges, and as which."""
        columns = self.report.get("columns", ())
        return {column["name"]: column["release"] for column in columns if column.get("release")}

    @property
    def unchanged(self) -> list[str]:
        """The columns whose values are released as they were."""
        return [name for name, role, level in self.columns if is_kept(role, level)]

    @property
    def surest_guess(self) -> dict[str, float]:
        """Of each sensitive column, the largest share of one value in a class; nothing without an evaluation."""
        return {
            metric.column: metric.value
            for metric in self.metric_values
            if metric.name == "attribute_disclosure_max" and metric.column and metric.value is not None
        }

    def as_kept(self) -> dict[str, Any]:
        """The same as the history keeps it: with what a report shows besides."""
        return account_reader.parsed(
            self.as_json() | {"report": dict(self.report), "version": VERSION}
        ).to_json()

    def by_column(self) -> dict[tuple[str, str], float]:
        """Every metric by its name and its column, which is empty for the whole release."""
        return {(name, ""): value for name, value in self.metrics.items()} | by_column(self.metric_values)

    def all_metrics(self) -> dict[str, float]:
        """Every metric by its name, `name:column` for those of a column."""
        return by_key(self.by_column())


def with_series(result: Result, plan: Plan, followed: Followed | None, warnings: tuple[str, ...]) -> Result:
    """The result with its place among the releases of its target."""
    if plan.following is None:
        return result
    series = {"release": plan.following.number, "changes": plan.following.changes}
    if followed is not None:
        series |= followed.as_json()
    return replace(result, series=series, warnings=warnings)


def with_kept_columns(result: Result, kept: tuple[Kept, ...]) -> Result:
    """The result with its kept columns; risk, which looks at quasi-identifiers alone, says what it leaves out."""
    names = [f'"{column.column}"' for column in kept if column.identifies]
    if not names:
        return replace(result, kept=kept)
    note = f"by quasi-identifiers alone: {', '.join(names)} {'tells' if len(names) == 1 else 'tell'} records apart"
    metric_values = (
        replace(metric, note=f"{metric.note}; {note}" if metric.note else note)
        if metric.name == "prosecutor_max" and metric.column is None
        else metric
        for metric in result.metric_values
    )
    return replace(result, kept=kept, metric_values=tuple(metric_values))
