"""What all hierarchies have in common: those that list their values, and those that compute their labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:  # a policy is read without any SQL
    from typing import Self

    from anondb.policy.check import Key, Spot
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Coded, SourceColumn

ROOT = "*"
"""The label of the root of every generated hierarchy."""


class Hierarchy(ABC):
    """What a policy says a value becomes, level by level. Level 0 is the value itself."""

    tells_ranges: ClassVar[bool] = False
    """Its labels can be read as ranges of numbers or dates."""

    @property
    def lowest(self) -> int:
        """The lowest level that may be released."""
        return 0

    def misfit(self, column: SourceColumn) -> str | None:
        """What is wrong with it for a column of this type; None if it fits."""
        return None

    @abstractmethod
    def words(self) -> str:
        """What the policy says, as people say it."""


@dataclass(frozen=True)
class StoredVgh(Hierarchy):
    """A hierarchy in the catalogue, by its name."""

    name: str

    def words(self) -> str:
        return f"stored: {self.name}"


@dataclass(frozen=True)
class TableVgh(Hierarchy):
    """A hierarchy that a run holds in memory, and writes to its scratch tables."""


@dataclass(frozen=True)
class CsvVgh(TableVgh):
    """A hierarchy in a CSV file: one row a leaf, `leaf;level1;…;root`."""

    path: Path

    def words(self) -> str:
        return f"from the file {self.path.name}"


@dataclass(frozen=True)
class BuiltVgh(TableVgh):
    """A hierarchy that the run builds from the values of the column: the best of its candidates."""

    ontology: str

    def words(self) -> str:
        return f"built: from the values and {self.ontology}"


class Computed(Hierarchy):
    """A hierarchy that computes the labels of any value: all that is to be known of a form stands in its class."""

    keys: ClassVar[Mapping[str, Key]]
    """What a policy writes; the first one tells the form from others."""
    example: ClassVar[str]
    """How a policy writes it."""
    by_length: ClassVar[bool] = False
    """Its height is the length of the longest value, once the values are known."""

    @classmethod
    @abstractmethod
    def made(cls, spot: Spot, keys: Mapping[str, Any]) -> Self:
        """The hierarchy that the keys of a policy mean."""

    def fitted(self, column: SourceColumn) -> Computed:
        """Without levels that a column of this type does not have."""
        return self

    @property
    @abstractmethod
    def height(self) -> int:
        """The level of the root; 0 if only the values tell."""

    @abstractmethod
    def labels(self, coded: Coded, raw: Node) -> list[Node]:
        """The labels of a value, given as text, from level 1 to below the root; NULL for one that does not fit."""

    def order(self, coded: Coded, raw: Node) -> Node:
        """By what values are ordered; without it, by their bytes."""
        from anondb.sqltree.build import null

        return null()

    def read_back(self, coded: Coded, level: int, raw: Node) -> Node | None:
        """Whether its label at a level covers a value for whoever reads it, and no label of other values does.

        None where it depends on more than the value: then each label is read against all values.
        """
        return None

    def coarsened(self, coded: Coded, value: Node, level: int) -> Node | None:
        """A value that has the same labels from a level on as the value of a column, and is one for as many as can be.

        A function of the value alone, which a pass over the rows can take for the value; None where there is none.
        """
        return None

    def told_width(self, coded: Coded, raw: Node, level: int) -> Node | None:
        """How wide the range is that a label is read as, where that is not the width of its level."""
        return self.width(coded, raw, level)

    def width(self, coded: Coded, raw: Node, level: int) -> Node | None:
        """How wide the range of a value is at a level below the root; None where values are counted instead."""
        return None

    def is_ordered(self, coded: Coded) -> bool:
        """Whether the first and the last value in its order span all others."""
        return True

    def span(self, coded: Coded, raw: Node) -> Node:
        """From the least to the greatest value of a group of rows, in the unit of the widths."""
        raise AssertionError(self)


@dataclass(frozen=True)
class Values:
    """No hierarchy: the values themselves in their order, numbers and dates by size, all others by their bytes."""


@dataclass(frozen=True)
class Meaning(Values):
    """No hierarchy either: the values mean concepts, and are compared by them."""

    ontologies: tuple[str, ...]  # a value is looked up in the first that knows it


@dataclass(frozen=True)
class VghTable:
    """A whole hierarchy as rows of labels: `rows[i][0]` is a leaf, `rows[i][height]` the root, all of one length."""

    rows: tuple[tuple[str, ...], ...]

    @property
    def height(self) -> int:
        return len(self.rows[0]) - 1


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
