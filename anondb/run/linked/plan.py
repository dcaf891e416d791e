"""What a run knows of linked tables before it reads a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from anondb.sqltree.tables import Quasi, Relation, Scratch, SourceColumn

if TYPE_CHECKING:
    from anondb.run.plan import Plan


@dataclass(frozen=True)
class TablePlan:
    """One of the tables, with the plan that it would have alone."""

    number: int  # parents come before their children; the table of the persons is 0
    plan: Plan
    label: str  # how its columns are told from those of the others
    parent: int | None = None
    key: tuple[tuple[SourceColumn, SourceColumn], ...] = ()  # its columns, and those of the parent

    @property
    def suffix(self) -> str:
        return self.plan.places[0].suffix

    def fresh(self, beside: Relation) -> Relation:
        """Where it is written before it is verified."""
        return self.plan.places[0].fresh(beside)

    def column(self, name: str) -> str:
        """A column as reports of several tables call it."""
        return f"{self.label}.{name}"


@dataclass(frozen=True)
class LinkedPlan:
    """Tables that are released together: a tree, from that of the persons down."""

    tables: tuple[TablePlan, ...]
    unit: SourceColumn  # of the first table

    @property
    def root(self) -> TablePlan:
        return self.tables[0]

    @property
    def lower(self) -> tuple[TablePlan, ...]:
        return self.tables[1:]

    def children(self, table: TablePlan) -> list[TablePlan]:
        return [other for other in self.tables if other.parent == table.number]

    def path(self, table: TablePlan) -> list[TablePlan]:
        """The table and those above it, from that of the persons down."""
        above = [] if table.parent is None else self.path(self.tables[table.parent])
        return [*above, table]

    def depth(self, table: TablePlan) -> int:
        return len(self.path(table)) - 1

    @property
    def is_flat(self) -> bool:
        """All tables hang below that of the persons."""
        return all(self.depth(table) <= 1 for table in self.tables)

    def quasi(self) -> Iterator[tuple[TablePlan, Quasi]]:
        """The quasi-identifiers of all tables, in the order of their levels."""
        for table in self.tables:
            for quasi in table.plan.quasi:
                yield table, quasi

    @property
    def names(self) -> list[str]:
        return [table.column(quasi.name) for table, quasi in self.quasi()]


@dataclass(frozen=True)
class LinkedScratch:
    """The tables that a run of linked tables makes for itself."""

    run: int
    several_processes: list[bool] = field(
        default_factory=list
    )  # not empty once several are to read some of them
    shared: set[str] = field(default_factory=set)  # those of them that all processes of the run can read

    @property
    def keys(self) -> Scratch:
        return Scratch(self.run)

    def rows(self, table: TablePlan) -> str:
        """The rows of a table: rid, parent, person; words of codes, its own and of all above; kept values c1 …"""
        return f"r{self.run}_rows{table.number}"

    def column(self, quasi: Quasi) -> Scratch:
        """What is made of a single column: raw values with their counts, the dictionary, costs."""
        return Scratch(self.run, f"_c{quasi.number}")

    @property
    def sensitive(self) -> Scratch:
        """What is made of the sensitive columns of the persons' table."""
        return Scratch(self.run, "_s")

    @property
    def choices(self) -> str:
        """What may be known of a person, and who matches: each choice, and each person, once."""
        return f"r{self.run}_choice"

    @property
    def paths(self) -> str:
        """The paths of labels that lead to rows, each with a number of persons that it has at least."""
        return f"r{self.run}_path"

    @property
    def doubtful(self) -> str:
        """The persons of those paths that might have too few."""
        return f"r{self.run}_doubtful"

    @property
    def lost(self) -> str:
        """The paths that have lost persons in the last round, and how many."""
        return f"r{self.run}_lost"

    @property
    def trees(self) -> str:
        """All rows of all tables at a node: rid, parent, person, table, depth, and the path of labels."""
        return f"r{self.run}_tree"

    @property
    def gone(self) -> str:
        """The persons who are left out."""
        return f"r{self.run}_gone"

    @property
    def last(self) -> str:
        """The persons whom the last round has found to be left out."""
        return f"r{self.run}_last"

    @property
    def last_rows(self) -> str:
        """The rows that the last round has found to be left out."""
        return f"r{self.run}_lastrow"

    @property
    def touched(self) -> str:
        """The choices that have lost persons in the last round."""
        return f"r{self.run}_touched"

    @property
    def failing(self) -> str:
        """The choices that fail a demand."""
        return f"r{self.run}_failing"

    @property
    def known(self) -> str:
        """Each choice, and each person who matches it, with a sensitive value, from the written rows."""
        return f"r{self.run}_known"

    @property
    def values(self) -> str:
        """The persons with the codes of the sensitive values of their own row."""
        return f"r{self.run}_value"

    def values_of(self, table: TablePlan) -> str:
        """The persons, each with every value of the sensitive columns of a table below."""
        return f"r{self.run}_value{table.number}"

    def codes(self, table: TablePlan) -> str:
        """Each row of a table with the number of the tree that hangs on it."""
        return f"r{self.run}_code{table.number}"

    def labels(self, quasi: Quasi) -> str:
        return f"r{self.run}_label{quasi.number}"
