"""What builders of SQL know of a run: source and target by the user's names, all tables between by ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from anondb.hierarchies.forms import ROOT, Hierarchy, StoredVgh, TableVgh, Values
from anondb.sqltree.columns import DATE_TYPES as DATE_TYPES
from anondb.sqltree.columns import NUMERIC_TYPES as NUMERIC_TYPES
from anondb.sqltree.columns import TIMESTAMP_TYPES as TIMESTAMP_TYPES
from anondb.sqltree.columns import WHOLE_TYPES as WHOLE_TYPES
from anondb.sqltree.columns import SourceColumn as SourceColumn
from anondb.sqltree.released import TEXT, Typed
from anondb.sqltree.scratch import Scratch as Scratch

TEMPORARY = "pg_temp"
"""Where the tables of a run are."""
SHARED = "anondb_work"
"""Where those are that processes of a run read together: they are gone at its end, and nobody else ever sees them."""


@dataclass(frozen=True)
class Relation:
    schema: str
    name: str


@dataclass(frozen=True)
class ItemRows:
    """A table with a text in each row, and the column of it and of the source that says whose text it is."""

    relation: Relation
    key: str
    item: str


@dataclass(frozen=True)
class Coded(ABC):
    """A column that a run codes: the number by which the run's tables know it, and its hierarchy."""

    number: int
    column: SourceColumn
    hierarchy: Hierarchy | Values | None
    height: int  # the level of its root
    root: str = ROOT  # its label
    vgh: int | None = None  # catalogue id of a stored hierarchy
    length: int = 0  # of the longest value, for masks

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def roots(self) -> list[str]:
        """What its columns in the release have at the root, as texts: a range has no end then."""
        form = self.column.form
        if not isinstance(form, Typed):
            return [self.root]
        return [self.root if shown.word == TEXT else "(,)" for shown in form.shown]

    @property
    def lowest(self) -> int:
        """The lowest level that its hierarchy may be released at."""
        return self.hierarchy.lowest if isinstance(self.hierarchy, Hierarchy) else 0

    @property
    def is_ranged(self) -> bool:
        """Its values are points on a line, so that a range says what lies between two of them."""
        return isinstance(self.hierarchy, Values) and self.column.is_ranged

    @property
    def has_spellings(self) -> bool:
        """Several of its texts among the raw frequencies can be one value, by the equality of its type."""
        return self.column.compared_as is not None and self.column.has_spellings

    @property
    @abstractmethod
    def code(self) -> str:
        """Its column in the frequency set, and the name of its dictionary."""

    @property
    @abstractmethod
    def raw(self) -> str:
        """Its column among the raw frequencies."""


@dataclass(frozen=True)
class Quasi(Coded):
    """A quasi-identifier, with the levels that it may be released at."""

    min_level: int = 0
    max_level: int | None = None  # that of the root
    base: int = 0  # the finest level that the run codes: below it, values are counted and not told apart

    @property
    def is_coarse(self) -> bool:
        """Its values are counted by a label; what has to be known of themselves stands in a table of its own."""
        return self.base > 0

    @property
    def has_spellings(self) -> bool:
        # what a hierarchy lists are texts, each with labels of its own
        if isinstance(self.hierarchy, StoredVgh | TableVgh):
            return False
        return super().has_spellings and not self.column.has_one_text

    def as_range(self) -> Quasi:
        """Without its hierarchy, where a range of values says more: of numbers and dates that may be told at all."""
        if self.column.is_ranged and self.lowest == 0:
            return replace(self, hierarchy=Values(), height=1, root=ROOT)
        return self

    @property
    def code(self) -> str:
        return f"q{self.number}"

    @property
    def raw(self) -> str:
        return f"v{self.number}"

    def code_at(self, level: int) -> str:
        """Its column in the frequency set at a level below the root."""
        return self.code if level == 0 else f"{self.code}_{level}"


@dataclass(frozen=True)
class Sensitive(Coded):
    """A sensitive column that a privacy model looks at; without a hierarchy it has its values alone."""

    position: int = 0  # among the columns that the first pass counts besides the quasi-identifiers

    @property
    def code(self) -> str:
        return f"s{self.number}"

    @property
    def raw(self) -> str:
        return f"c{self.position}"


def released_names(quasi: Sequence[Coded]) -> list[str]:
    """The columns of a release that tell of these."""
    return [name for q in quasi for name in q.column.shown]
