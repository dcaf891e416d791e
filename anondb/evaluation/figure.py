"""A figure of a release: what the evaluation of a run keeps, and that of any two tables gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measure of a release, by column or of the whole; of risk also what it was before."""

    name: str
    column: str | None = None
    value: float | None = None
    note: str | None = None  # why there is no value, or what it leaves out
    before: float | None = None

    @property
    def key(self) -> str:
        """How JSON names it."""
        return self.name if self.column is None else f"{self.name}:{self.column}"


def by_column(figures: Iterable[Figure]) -> dict[tuple[str, str], float]:
    """The values by name and column, which is empty for the whole release; what was before has a name of its own."""
    found = {}
    for figure in figures:
        if figure.value is not None:
            found[figure.name, figure.column or ""] = figure.value
        if figure.before is not None:
            found[f"{figure.name}_before", figure.column or ""] = figure.before
    return found


def by_key(found: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """The values by one name, `name:column` for those of a column."""
    return {f"{name}:{column}" if column else name: value for (name, column), value in found.items()}


def notes(figures: Iterable[Figure]) -> dict[str, str]:
    """What has to be said of figures, by their keys."""
    return {figure.key: figure.note for figure in figures if figure.note}
