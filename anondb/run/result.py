"""What a run gives back: the figures that the command line prints and the history keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anondb.evaluation.figure import Figure, by_column, by_key, notes
from anondb.policy.model import Role, is_kept
from anondb.run.kept import Kept
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
    levels: Mapping[str, int] = field(default_factory=dict)  # column → level, where there are levels
    heights: Mapping[str, int] = field(default_factory=dict)  # column → level of its root
    checks: int | None = None  # lattice nodes that were checked, where there is a lattice
    rollups: int = 0  # frequency sets that were kept at higher levels, to answer from
    lattice: int | None = None  # lattice nodes in all
    proven: bool = False  # no other node is better, by the policy's objective
    objective: str | None = None  # of algorithms that have one
    score: float | None = None  # what the objective makes of the chosen node
    iterations: int | None = None  # partitions that were looked at, where records are partitioned
    partitions: int | None = None  # those that were left; of the same labels, several are one class
    partitioned: tuple[str, ...] = ()  # the columns that were cut
    bounds: str | None = None  # of the ranges that partitions are released as
    tuples: int | None = None  # different combinations of values by meaning, where records are fused
    rare: int | None = None  # those of them that had fewer than k records
    fusions: int | None = None  # those of them that took the values of another
    changed: int | None = None  # records that took the values of another
    unknown: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Column → texts that its ontology does not know, and how many records have them, where records are fused."""
    concepts: int | None = None  # different ones, where records have sets of texts
    ontology: str | None = None  # that those concepts are of
    unmapped: int | None = None  # texts of such records that mean no concept, and are not released
    tables: tuple[str, ...] = ()  # of a release that has several
    kept: tuple[Kept, ...] = ()  # columns released as they are that know records apart
    built: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # column → its hierarchy
    metrics: Mapping[str, float] = field(default_factory=dict)  # of the release's classes and models
    figures: tuple[Figure, ...] = ()  # of utility and risk
    report: Mapping[str, Any] = field(default_factory=dict)  # what else a report shows (`plan.reporting`)

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
            "declared_harmless": [name for name, role, _ in self.columns if role == Role.OTHER],
            "surest_guess": self.surest_guess,
            **self._search(),
            **({"built": dict(self.built)} if self.built else {}),
            **({"kept": [one.as_json() for one in self.kept]} if self.kept else {}),
            "seconds": {stage: round(seconds, 4) for stage, seconds in self.seconds.items()},
            "metrics": self.all_metrics(),
            "notes": notes(self.figures),
        }

    @property
    def columns(self) -> list[tuple[str, str, int | None]]:
        """Name, role and level of each column of the source; no level where there are none."""
        return [(one["name"], one["role"], one.get("level")) for one in self.report.get("columns", ())]

    @property
    def unchanged(self) -> list[str]:
        """The columns whose values are released as they were."""
        return [name for name, role, level in self.columns if is_kept(role, level)]

    @property
    def surest_guess(self) -> dict[str, float]:
        """Of each sensitive column, the largest share of one value in a class; nothing without an evaluation."""
        return {
            figure.column: figure.value
            for figure in self.figures
            if figure.name == "attribute_disclosure_max" and figure.column and figure.value is not None
        }

    def as_kept(self) -> dict[str, Any]:
        """The same as the history keeps it: with what a report shows besides."""
        return self.as_json() | {"report": dict(self.report)}

    def by_column(self) -> dict[tuple[str, str], float]:
        """Every figure by its name and its column, which is empty for the whole release."""
        return {(name, ""): value for name, value in self.metrics.items()} | by_column(self.figures)

    def all_metrics(self) -> dict[str, float]:
        """Every figure by its name, `name:column` for those of a column."""
        return by_key(self.by_column())

    def _search(self) -> dict[str, Any]:
        """How the search went, in the terms of its kind."""
        if self.tables:
            return {"tables": list(self.tables)}
        if self.iterations is not None:
            told = {"iterations": self.iterations, "partitions": self.partitions}
            return told | {"partitioned": list(self.partitioned), "bounds": self.bounds}
        if self.concepts is not None:
            return {"concepts": self.concepts, "unmapped": self.unmapped}
        if self.fusions is not None:
            told = {"tuples": self.tuples, "rare": self.rare, "fusions": self.fusions}
            unknown = {column: {"texts": t, "records": n} for column, (t, n) in self.unknown.items()}
            return told | {"changed": self.changed, "unknown": unknown}
        found = {"checks": self.checks, "rollups": self.rollups, "lattice": self.lattice}
        if self.objective is None:
            return found
        return found | {"objective": self.objective, "score": self.score, "proven": self.proven}


def told_of(result: Result, kept: tuple[Kept, ...]) -> Result:
    """The result with its kept columns; risk, which looks at quasi-identifiers alone, says what it leaves out."""
    names = [f'"{one.column}"' for one in kept if one.identifies]
    if not names:
        return replace(result, kept=kept)
    note = f"by quasi-identifiers alone: {', '.join(names)} {'tells' if len(names) == 1 else 'tell'} records apart"
    figures = (
        replace(figure, note=f"{figure.note}; {note}" if figure.note else note)
        if figure.name == "prosecutor_max" and figure.column is None
        else figure
        for figure in result.figures
    )
    return replace(result, kept=kept, figures=tuple(figures))
