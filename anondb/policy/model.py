"""A policy as Python values: what to release, from where, how, and what it must satisfy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anondb.hierarchies.forms import Hierarchy
    from anondb.models.model import SensitiveModel


class Role(StrEnum):
    """What a column is to an attacker, and so what happens to it."""

    IDENTIFIER = "identifier"  # left out of the release
    QUASI = "quasi"  # generalized
    SENSITIVE = "sensitive"  # released as it is; the diversity models look at it
    OTHER = "other"  # released as it is
    PSEUDONYM = "pseudonym"  # released as a keyed code


def is_kept(role: str, level: int | None) -> bool:
    """Whether a column of this role, at this level of its hierarchy if it has one, is released as it was."""
    return role in (Role.SENSITIVE, Role.OTHER) or (role == Role.QUASI and level == 0)


@dataclass(frozen=True)
class Name:
    """The name of a table as the catalogue spells it; without a schema it is looked up in the search path."""

    schema: str | None
    table: str

    def __str__(self) -> str:
        parts = (part for part in (self.schema, self.table) if part is not None)
        return ".".join(
            part if part.isidentifier() else '"' + part.replace('"', '""') + '"' for part in parts
        )


@dataclass(frozen=True)
class Items:
    """The texts of a record as rows of another table, which name the record by a column that both have."""

    table: Name
    key: str
    item: str


@dataclass(frozen=True)
class DateShift:
    """By whose secret number of days dates move, and how many that may be."""

    by: str  # the column that names the person
    days: int


@dataclass(frozen=True)
class Column:
    name: str
    role: Role
    hierarchy: Hierarchy | None = None
    min_level: int = 0
    max_level: int | None = None  # None: up to the root
    set: bool = False  # an array of texts
    stop_words: tuple[str, ...] | None = None  # words of its texts that say nothing; None: the usual ones
    items: Items | None = None  # its texts are rows of another table
    ontology: tuple[
        str, ...
    ] = ()  # by which its values are compared, in order of preference, instead of a hierarchy
    unknown: str | None = None  # "accept": many of its texts may mean nothing to its ontology
    keep: str | None = None  # "identifying": released as it is, although persons can be told by it
    release: tuple[str, ...] = ("text",)  # the forms of its labels; of several each has a column
    type: str = "uuid"  # of a pseudonym; or text
    shift: DateShift | None = None  # dates move with their person
    noise: Decimal | None = None  # by what share of its standard deviation numbers are moved
    round: Decimal | str | None = None  # what numbers become multiples of; or a unit of dates
    shuffle: bool = False  # values are exchanged within each class

    @property
    def is_set(self) -> bool:
        return self.set or self.items is not None


@dataclass(frozen=True)
class Parent:
    """Whose rows the rows of a table are: of the table with this target, by columns here and there."""

    table: Name
    key: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LinkedTable:
    """One of several tables that are released together."""

    source: Name
    target: Name
    columns: tuple[Column, ...]
    parent: Parent | None = None  # None: the table of the persons
    models: tuple[SensitiveModel, ...] = ()  # of its sensitive columns


@dataclass(frozen=True)
class Privacy:
    k: int = 1  # which demands nothing: a policy may leave k out where another model protects
    suppression: float = 0.0
    suppress: str = "remove"  # or "mask", or "cells"; of linked tables "rows"
    stars: str = "value"  # of suppressed cells; or "match": one matches anything
    nulls: str = "value"  # or "suppress"
    unit: str | None = None  # the column that names the person; k then counts persons
    models: tuple[SensitiveModel, ...] = ()  # of sensitive columns
    changes: str | None = None  # towards the last release: hold, refuse or free; None: as the method can
    leavers: str = "delay"  # who left a cohort that is held; or drop
    against: tuple[
        str, ...
    ] = ()  # other releases that it is judged together with; a star stands for anything
    knows: int | str = 1  # of linked tables: how many rows below the person's an attacker knows, or "all"
    max_rows: int | None = None  # of linked tables: of a person in each table below
    orphans: str = "refuse"  # of linked tables: rows without a parent; or "leave out"
    suppression_rows: float = 0.0  # of linked tables: the share of rows that may be left out

    @property
    def stars_match(self) -> bool:
        """A suppressed cell counts as any value, so that k is no size of classes."""
        return self.suppress == "cells" and self.stars == "match"

    def may_suppress(self, records: int) -> int:
        """How many of so many records may be left out; exact, where 0.29 * 100 would be 28.999…"""
        return _share_of(self.suppression, records)

    def may_suppress_rows(self, rows: int) -> int:
        return _share_of(self.suppression_rows, rows)


def _share_of(share: float, number: int) -> int:
    return int(Fraction(repr(share)) * number)


@dataclass(frozen=True)
class Method:
    algorithm: str
    heuristic: str | None = None
    objective: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict, hash=False)
    variant: str | None = None
    measure: str | None = None  # of the similarity of concepts
    seed: int = 0  # of what is drawn at random
    distance: str | None = None  # of two sets
    draw: str | None = None  # mdav: for what terms are drawn, a class or each record
    bounds: str = "rounded"  # mondrian: of ranges; or exact
    split: str = "width"  # mondrian: what cuts are chosen by; or loss
    recode: str = "global"  # datafly, optimal: "local" for rounds with levels of their own
    strict: bool = True  # mondrian: records of one value are never parted

    def weight(self, column: str) -> float:
        return self.weights.get(column, 1.0)


LAYOUTS = ("auto", "local", "distributed")
"""Where the release of a distributed source may lie."""


@dataclass(frozen=True)
class Policy:
    """What to release, from where, how, and what it must satisfy; checked, so that a run can take it.

    ```python
    policy = anondb.Policy.from_dict(
        {
            "source": "hospital.admissions",
            "target": "share.admissions",
            "privacy": {"k": 5, "suppression": 0.02},
            "method": {"algorithm": "datafly"},
            "columns": {"name": {"role": "identifier"}, "zip": {"role": "quasi", "hierarchy": {"mask": "right"}}},
        }
    )
    ```
    """

    source: Name
    target: Name
    privacy: Privacy
    method: Method
    columns: tuple[Column, ...]  # in the order of the file
    text: str  # the file as it was read
    place: str  # what errors call it: the file's name
    sha256: str  # of what the policy says, not of how it is written
    scope: str | None = None  # of its pseudonyms; None: the target's name
    key: tuple[str, ...] = ()  # the columns that name a record from release to release
    target_layout: str = "auto"  # where the release of a distributed source lies
    classes_sha256: str = ""  # the same without what it says of other releases
    tables: tuple[
        LinkedTable, ...
    ] = ()  # where it has several; source, target and columns are those of the persons

    # what reads a policy imports this module, so these import it when they are called
    @staticmethod
    def load(path: Path | str) -> Policy:
        """The policy in a TOML file; relative paths in it start at its folder."""
        from anondb.policy.load import load

        return load(path)

    @staticmethod
    def parse(text: str) -> Policy:
        """The policy in the text of a TOML file; relative paths in it start at the current folder."""
        from anondb.policy.load import parse

        return parse(text)

    @staticmethod
    def from_dict(mapping: Mapping[str, Any]) -> Policy:
        """The policy in a dict that is built as the TOML file is; it goes through the same checks."""
        from anondb.policy.accept import from_dict

        return from_dict(mapping)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """The quasi-identifiers, in the order of the file."""
        return tuple(column for column in self.columns if column.role is Role.QUASI)

    @property
    def sensitive(self) -> tuple[Column, ...]:
        """The sensitive columns, in the order of the file."""
        return tuple(column for column in self.columns if column.role is Role.SENSITIVE)
