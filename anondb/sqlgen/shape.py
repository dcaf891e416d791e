"""What the builders know of a run: the two edges by the user's names, everything between by ours."""

from __future__ import annotations

from dataclasses import dataclass

from anondb.hierarchy.model import ROOT, CsvVgh, Dates, Intervals, Mask, StoredVgh

# Types whose equal values have equal texts, so that the fast typed grouping and the text agree.
# For all others (numeric 1.0 = 1.00, float8 -0 = 0, interval '1 mon' = '30 days', …) the text decides.
_EQUAL_AS_TEXT = frozenset(
    "bool int2 int4 int8 oid text varchar bpchar name char date time timestamp timestamptz uuid".split()
)
_TEXT_TYPES = frozenset("text varchar bpchar".split())
NUMERIC_TYPES = frozenset("int2 int4 int8 numeric float4 float8".split())
DATE_TYPES = frozenset("date timestamp timestamptz".split())
TIMESTAMP_TYPES = DATE_TYPES - {"date"}


@dataclass(frozen=True)
class SourceColumn:
    """A column of the source as the catalogue has it."""

    name: str
    type: str  # as format_type() spells it
    base: str  # pg_type.typname of its base type: int4, text, timestamptz, …
    collation: str | None = None  # qualified and quoted, where it is not the type's own

    @property
    def equal_as_text(self) -> bool:
        return self.base in _EQUAL_AS_TEXT

    @property
    def is_text(self) -> bool:
        return self.base in _TEXT_TYPES


@dataclass(frozen=True)
class Relation:
    schema: str
    name: str


@dataclass(frozen=True)
class Quasi:
    """A quasi-identifier: the number by which the run's tables know it, and its hierarchy."""

    number: int
    column: SourceColumn
    hierarchy: StoredVgh | CsvVgh | Intervals | Dates | Mask
    height: int  # the level of its root
    root: str = ROOT  # its label
    vgh: int | None = None  # catalogue id of a stored hierarchy
    length: int = 0  # of the longest value, for masks

    @property
    def name(self) -> str:
        return self.column.name


@dataclass(frozen=True)
class Scratch:
    """The temporary tables of one run."""

    run: int

    @property
    def raw(self) -> str:
        """Distinct combinations of the source's own values, with their counts."""
        return f"r{self.run}_raw"

    @property
    def freq(self) -> str:
        """The frequency set: the same in codes."""
        return f"r{self.run}_freq"

    def leaves(self, quasi: Quasi) -> str:
        """Rows of a hierarchy file: a leaf and its labels at every level."""
        return f"r{self.run}_h{quasi.number}"

    def dictionary(self, quasi: Quasi) -> str:
        """Each value that occurs: its leaf code, and code and label at every level."""
        return f"r{self.run}_q{quasi.number}"

    def lookup(self, quasi: Quasi) -> str:
        """Each value that occurs, with the code and the label that the outcome gives it."""
        return f"r{self.run}_m{quasi.number}"

    @property
    def classes(self) -> str:
        """The classes of the outcome that are released: key, class number, released labels."""
        return f"r{self.run}_class"
