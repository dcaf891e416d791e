"""What a release of linked tables is, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from anondb.methods.method import Finding
from anondb.policy.model import Name

if TYPE_CHECKING:
    from anondb.methods.full_domain.linked_search import LinkedSearch
    from anondb.methods.outcome import Levels
    from anondb.policy.model import Privacy
    from anondb.run.linked.encode import EncodedTables
    from anondb.run.linked.left_out import LeftOut
    from anondb.run.linked.plan import LinkedPlan
    from anondb.run.linked.verify import PublishedTables
    from anondb.run.result import Result


@dataclass(frozen=True)
class TableFound:
    """One of the tables: what its source had, and what became of it."""

    source: str
    target: str
    parent: str | None
    rows: int  # that have a person
    released: int
    orphans: int  # left out, as they have no parent
    cut: int  # left out, beyond the most rows of a person
    persons_by_rows: tuple[tuple[int, int], ...] = ()  # rows of a person, and how many persons have so many

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "target": self.target,
            "parent": self.parent,
            "rows": self.rows,
            "released": self.released,
            "suppressed": self.rows - self.released,
            "orphans": self.orphans,
            "cut": self.cut,
            "persons_by_rows": [list(pair) for pair in self.persons_by_rows],
        }


@dataclass(frozen=True)
class TablesFound(Finding):
    """The node that was chosen, and the tables."""

    levels: Mapping[str, int] = field()
    heights: Mapping[str, int] = field()
    tables: tuple[str, ...] = field()
    each: tuple[TableFound, ...]
    knows: int | str
    checks: int
    lattice: int
    proven: bool
    objective: str | None
    score: float | None

    @classmethod
    def of(
        cls,
        linked: LinkedPlan,
        search: LinkedSearch,
        outcome: Levels,
        encoded: EncodedTables,
        out: LeftOut,
        published: PublishedTables,
        profiles: Mapping[str, list[tuple[int, int]]],
        privacy: Privacy,
    ) -> Self:
        named = [str(Name(t.plan.target.schema, t.plan.target.name)) for t in linked.tables]
        figures = search.asking.figures(outcome.levels, out)
        objective = search.objective.name if search.asking.worth is not None else None
        each = tuple(
            TableFound(
                source=str(table.plan.policy.source),
                target=named[table.number],
                parent=None if table.parent is None else named[table.parent],
                rows=counts.rows,
                released=released,
                orphans=counts.orphans,
                cut=counts.cut,
                persons_by_rows=tuple(map(tuple, profiles.get(table.label, []))),  # type: ignore[arg-type]
            )
            for table, counts, released in zip(linked.tables, encoded.tables, published.rows, strict=True)
        )
        return cls(
            levels=dict(zip(linked.names, outcome.levels, strict=True)),
            heights={t.column(q.name): encoded.quasi(q.number).height for t, q in linked.quasi()},
            tables=tuple(named),
            each=each,
            knows=privacy.knows,
            checks=search.lattice.checks,
            lattice=search.lattice.size,
            proven=search.lattice.proven,
            objective=objective,
            score=search.objective.score(outcome.levels, figures) if objective else None,
        )

    def as_json(self) -> dict[str, Any]:
        found = {
            "knows": self.knows,
            "tables": [table.as_json() for table in self.each],
            "checks": self.checks,
            "lattice": self.lattice,
        }
        if self.objective is None:
            return found
        return found | {"objective": self.objective, "score": self.score, "proven": self.proven}

    @property
    def selected(self) -> str:
        return ", ".join(f"{name} {level}" for name, level in self.levels.items())

    def counts(self) -> dict[str, float | None]:
        return {
            "generalizations": sum(self.levels.values()),
            "checks": self.checks,
            "lattice": self.lattice,
        }

    def way(self, result: Result) -> list[str]:
        lines = [f"{result.algorithm} checked {self.checks} of {self.lattice:,} nodes"]
        if self.objective is not None and self.score is not None:
            lines.append(
                f"{self.objective}: {self.score:.6g}{'' if self.proven else '; a better node may exist'}"
            )
        return lines + [line for table in self.each for line in _of_table(table)]

    def promised(self, result: Result) -> str:
        return f"Whoever knows {self._known} of a person finds at least {result.k} persons who match."

    @property
    def _known(self) -> str:
        match self.knows:
            case 0:
                return "the own row"
            case "all":
                return "all rows of all tables"
        rows = f"{self.knows} row{'s' * (self.knows != 1)}"
        return f"the own row and {rows} of the tables below, each with those above it"


def _of_table(table: TableFound) -> list[str]:
    lines = [f"{table.target}: {table.released:,} of {table.rows:,} rows"]
    if table.orphans:
        lines[0] += f", {table.orphans:,} more without a parent"
    if table.cut:
        lines[0] += f", {table.cut:,} more beyond the most of a person"
    if table.persons_by_rows:
        shown = ", ".join(f"{rows:,}: {persons:,}" for rows, persons in table.persons_by_rows)
        lines.append(f"rows of a person in {table.target}, and how many persons have so many: {shown}")
    return lines
