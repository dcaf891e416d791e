"""The value of a metric: what the evaluation of a run keeps, and that of any two tables gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anondb.errors import AnondbError, EndedError

if TYPE_CHECKING:
    from anondb.run.statement import Runner


@dataclass(frozen=True)
class MetricValue:
    """What a release reaches of a metric, in one column or as a whole; of risk also what it was before."""

    name: str
    column: str | None = None
    value: float | None = None
    note: str | None = None  # why there is no value, or what it leaves out
    before: float | None = None

    @property
    def key(self) -> str:
        """How JSON names it."""
        return self.name if self.column is None else f"{self.name}:{self.column}"


def values_or_reasons(
    db: Runner, names: Sequence[str], compute: Callable[[], Iterable[MetricValue]]
) -> list[MetricValue]:
    """What computing these metrics gives; if it fails, each with the reason, and the transaction goes on."""
    try:
        with db.savepoint():
            return list(compute())
    except EndedError:
        raise
    except AnondbError as error:
        return [MetricValue(name, note=error.message) for name in names]


def by_column(values: Iterable[MetricValue]) -> dict[tuple[str, str], float]:
    """The values by name and column, which is empty for the whole release; what was before has a name of its own."""
    by_name = {}
    for metric in values:
        if metric.value is not None:
            by_name[metric.name, metric.column or ""] = metric.value
        if metric.before is not None:
            by_name[f"{metric.name}_before", metric.column or ""] = metric.before
    return by_name


def by_key(values: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """The values by one name, `name:column` for those of a column."""
    return {f"{name}:{column}" if column else name: value for (name, column), value in values.items()}


def notes(values: Iterable[MetricValue]) -> dict[str, str]:
    """What has to be said of metrics, by their keys."""
    return {metric.key: metric.note for metric in values if metric.note}
