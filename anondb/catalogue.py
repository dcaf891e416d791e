"""The database as Python values: all that compiling a policy reads of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anondb.sqlgen.shape import Relation, SourceColumn

SCHEMAS = ("anondb", "anondb_work")
"""Our own: the catalogue with the functions, and the scratch of runs."""


@dataclass(frozen=True)
class SourceInfo:
    """The source as the catalogue has it."""

    relation: Relation
    columns: tuple[SourceColumn, ...]
    rows: float = 0.0  # by the server's statistics; 0 where it has none


@dataclass(frozen=True)
class TargetInfo:
    """The target's place, and what stands there now."""

    relation: Relation
    schema_exists: bool = True
    oid: int | None = None  # of what stands there
    kind: str = ""  # its pg_class.relkind
    ours: bool = False  # made by an earlier run
    may_replace: bool = True  # this role may drop it


@dataclass(frozen=True)
class StoredInfo:
    """A hierarchy of the catalogue."""

    id: int
    height: int
    root: str


@dataclass(frozen=True)
class Snapshot:
    """All that compiling reads of the database."""

    source: SourceInfo
    target: TargetInfo
    hierarchies: Mapping[str, StoredInfo]
