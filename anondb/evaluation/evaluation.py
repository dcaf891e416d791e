"""What is known of a release: the metrics that its run kept, or those of two tables, in one form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from anondb.errors import UsageError
from anondb.evaluation import metrics
from anondb.evaluation.metric_value import MetricValue, by_column, by_key, notes
from anondb.run.run_account import KeptRun


@dataclass(frozen=True)
class Evaluation:
    """The metrics of a release, in the order of the catalogue."""

    original: str
    release: str
    records: int
    released: int
    suppressed: int
    classes: int
    k: int  # reached
    metric_values: tuple[MetricValue, ...]
    run: int | None = None  # of ours, that made it
    algorithm: str | None = None
    finished: str | None = None  # when, as ISO 8601 has it

    def as_json(self) -> dict[str, Any]:
        """The object that `anondb evaluate --json` prints; metrics and notes as `anondb run --json` has them."""
        facts = {
            name: value for name, value in vars(self).items() if name != "metric_values" and value is not None
        }
        return {
            **facts,
            "metrics": by_key(by_column(self.metric_values)),
            "notes": notes(self.metric_values),
            "figures": [{"family": group_of(metric.name), **asdict(metric)} for metric in self.metric_values],
        }

    def metric(self, name: str) -> MetricValue | None:
        """The value for the whole release."""
        return next((m for m in self.metric_values if m.name == name and m.column is None), None)

    @property
    def figures(self) -> tuple[MetricValue, ...]:
        """The older name of `metric_values`."""
        return self.metric_values

    def figure(self, name: str) -> MetricValue | None:
        """The older name of `metric`."""
        return self.metric(name)


def group_of(name: str) -> str:
    """The group of a metric; one that the catalogue does not have is of utility."""
    return metrics.describe(name).group


def ordered(values: Iterable[MetricValue]) -> tuple[MetricValue, ...]:
    """As people read them; those of one metric keep their order."""
    return tuple(sorted(values, key=lambda metric: (metrics.place(metric.name), metric.name)))


def _of_every_run(name: str) -> bool:
    """Also of a run that is not evaluated."""
    metric = metrics.describe(name)
    return metric.group == "models" or metric.scope == "run"


def of_run(kept: KeptRun) -> Evaluation:
    """What a run kept of its release."""
    if all(_of_every_run(name.removesuffix("_before")) for name, _ in kept.metrics):
        raise _not_evaluated(kept)
    account = kept.account
    return Evaluation(
        kept.source,
        kept.target,
        records=account.records,
        released=account.released,
        suppressed=account.suppressed,
        classes=account.classes,
        k=account.k,
        metric_values=ordered(_kept_values(kept)),
        run=kept.run,
        algorithm=kept.algorithm,
        finished=None if kept.finished_at is None else kept.finished_at.isoformat(timespec="seconds"),
    )


def _not_evaluated(kept: KeptRun) -> UsageError:
    if not kept.account.released:
        return UsageError(
            f"run {kept.run} released no records, so there is nothing to evaluate",
            hint="raise suppression or lower k in the policy, and run it again",
        )
    return UsageError(
        f"run {kept.run} was not evaluated",
        hint="run its policy again with --evaluate basic or full, while the link to the originals is known; "
        "or compare two tables: anondb evaluate --original … --release … --quasi …",
    )


def _kept_values(kept: KeptRun) -> Iterable[MetricValue]:
    """Puts values, what they were before, and notes together again."""
    values = {_named(name, column): value for (name, column), value in kept.metrics.items()}
    reasons = {_named(key, ""): note for key, note in kept.account.notes.items()}
    before = {key: _without_before(key) for key in values if key[0].endswith("_before")}
    keys = {*reasons, *(key for key in values if key not in before), *before.values()}
    befores = {of: values[key] for key, of in before.items()}
    places = {column.name: place for place, column in enumerate(kept.account.columns)}
    for key in sorted(keys, key=lambda key: (places.get(key[1], -1), key)):
        name, column = key
        yield MetricValue(name, column or None, values.get(key), reasons.get(key), befores.get(key))


def _named(name: str, column: str) -> tuple[str, str]:
    """Name and column of a metric; some are kept with the column in their name, as JSON has it."""
    if column:
        return name, column
    metric, _, of_column = name.partition(":")
    return metric, of_column


def _without_before(key: tuple[str, str]) -> tuple[str, str]:
    return key[0].removesuffix("_before"), key[1]
