"""The database as Python values: all that compiling a policy reads of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from anondb.errors import UsageError
from anondb.hierarchies.forms import VghTable
from anondb.sqltree.tables import Relation, SourceColumn

SCHEMAS = ("anondb", "anondb_work")
"""Our own: the catalogue with the functions, and the scratch of runs."""


@dataclass(frozen=True)
class Distribution:
    """How the rows of a source are spread over the workers of a cluster."""

    column: str | None  # by which they lie apart; none where a view has no such column
    shards: int
    tables: tuple[Relation, ...]  # that are distributed: the source, or those below a view
    oids: tuple[int, ...] = ()  # of these


@dataclass(frozen=True)
class SourceInfo:
    """The source as the catalogue has it."""

    relation: Relation
    columns: tuple[SourceColumn, ...]
    rows: float = 0.0  # by the server's statistics; 0 where it has none
    key: tuple[str, ...] = ()  # the columns of its primary key
    size: float = 0.0  # rows that its pages may hold, where there are no statistics; endless for a view
    distribution: Distribution | None = None


@dataclass(frozen=True)
class TargetInfo:
    """The target's place, and what stands there now."""

    relation: Relation
    schema_exists: bool = True
    oid: int | None = None  # of what stands there
    kind: str = ""  # its pg_class.relkind
    ours: bool = False  # made by an earlier run
    may_replace: bool = True  # this role may drop it
    columns: tuple[SourceColumn, ...] = ()  # of what is ours


@dataclass(frozen=True)
class StoredInfo:
    """A hierarchy of the catalogue."""

    id: int
    height: int
    root: str


@dataclass(frozen=True)
class BuiltInfo:
    """A hierarchy that was built for a column, as the best of its candidates, and how it was made of the base."""

    table: VghTable
    candidate: str  # base, 1, 2, …
    candidates: int
    made_by: tuple[str, ...]
    gsl: float | None  # none for numbers, which mean nothing


@dataclass(frozen=True)
class Snapshot:
    """All that compiling reads of the database."""

    source: SourceInfo
    target: TargetInfo
    hierarchies: Mapping[str, StoredInfo]
    items: Mapping[str, SourceInfo] = field(default_factory=dict)  # tables of items, by the column they make
    built: Mapping[str, BuiltInfo | UsageError] = field(default_factory=dict)  # by column, once the run has
    tables: tuple[
        TargetInfo, ...
    ] = ()  # the tables of a release that has several; they lie beside the target
    outlived: tuple[TargetInfo, ...] = ()  # an earlier release of the target, in another shape
    ontologies: tuple[str, ...] = ()  # looked up where the policy names one
