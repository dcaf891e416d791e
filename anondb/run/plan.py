"""What a run knows before it reads a row."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from anondb.errors import UsageError
from anondb.hierarchies.forms import VghTable
from anondb.policy.model import Name, Policy
from anondb.releases.following import Following
from anondb.run.linked.plan import LinkedPlan
from anondb.run.snapshot import BuiltInfo, Distribution, TargetInfo
from anondb.sqltree.released import Noise, Pseudonym, Shift, Shuffled
from anondb.sqltree.tables import ItemRows, Quasi, Relation, Scratch, Sensitive, SourceColumn

EVALUATIONS = ("basic", "full", "none")
STAGES = ("prepare", "encode", "search", "publish", "verify", "evaluate", "swap")
"""Of a run, in order."""

_LONGEST_WAIT = 2_000_000  # seconds; PostgreSQL counts milliseconds in 31 bits


@dataclass(frozen=True)
class Place:
    """A table of a release: where it goes, with which columns, and what stood there when the run began."""

    relation: Relation
    columns: tuple[SourceColumn, ...]  # in the types that are released
    suffix: str = ""  # of its name, where a release has several tables
    oid: int | None = None  # of what stands there
    replaces: bool = False  # that is a release of ours with the same columns: its rows are replaced

    @classmethod
    def at(cls, target: TargetInfo, columns: Sequence[SourceColumn], suffix: str = "") -> Place:
        """The table of a release with these columns, where another one may stand."""
        made = cls(target.relation, tuple(columns), suffix, target.oid)
        there = cls(target.relation, target.columns)
        return replace(made, replaces=target.ours and there.signature == made.signature)

    def fresh(self, beside: Relation) -> Relation:
        """Where it is written first."""
        return Relation(self.relation.schema, beside.name + self.suffix)

    @property
    def signature(self) -> tuple[list[str], list[str], list[str | None]]:
        """Names, types and collations of the columns."""
        return (
            [c.name for c in self.columns],
            [c.type for c in self.columns],
            [c.collation for c in self.columns],
        )


@dataclass(frozen=True)
class Rival:
    """Another release, which whoever has this one may have too."""

    relation: Relation
    judged: bool = False  # it is of the same source, so that rows that one of the two has tell something

    def __str__(self) -> str:
        return str(Name(self.relation.schema, self.relation.name))


@dataclass(frozen=True)
class Plan:
    """A policy that fits the database."""

    policy: Policy
    source: Relation
    target: Relation
    columns: tuple[SourceColumn, ...]  # of the release, in the source's order
    quasi: tuple[Quasi, ...]
    sensitive: tuple[Sensitive, ...] = ()  # those that a privacy model looks at
    unit: SourceColumn | None = None  # names the person, where a person may have several records
    files: Mapping[str, VghTable] = field(default_factory=dict)  # hierarchies from CSV or built, by column
    built: Mapping[str, BuiltInfo] = field(default_factory=dict)  # how the latter came about, by column
    items: ItemRows | None = None  # where the texts of a set are, if not in the source
    whole_rows: bool = False  # rows repeat: the first pass counts them as a whole, and there is no second
    places: tuple[Place, ...] = ()  # the tables of the release
    linked: LinkedPlan | None = None  # of several tables of the same persons
    rows: float = 0.0  # of the source, as far as the server knows; of what has no size, all that there can be
    following: Following | None = None  # how it follows the release before it
    against: tuple[Rival, ...] = ()  # the releases that it is judged together with
    distribution: Distribution | None = None  # of the source, where it is spread over a cluster
    spread: bool = False  # the release is, too
    single: bool = False  # a key of the source says that no two records are equal
    at_any_level: bool = False  # its statements are written before the levels are known

    @property
    def followed(self) -> Following:
        """The same, where it is known that there is one."""
        assert self.following is not None
        return self.following

    @property
    def follows(self) -> bool:
        """Single records are followed from release to release."""
        return self.following is not None and self.following.judged

    @property
    def scope(self) -> str | None:
        """Of what keys give: pseudonyms, and days by which dates move; None where there are none."""
        if not any(isinstance(column.form, Pseudonym | Shift) for column in self.columns):
            return None
        return self.policy.scope or str(Name(self.target.schema, self.target.name))

    @property
    def noisy(self) -> tuple[SourceColumn, ...]:
        """The columns that are released with noise."""
        return tuple(column for column in self.columns if isinstance(column.form, Noise))

    @property
    def changes(self) -> frozenset[str]:
        """What keys are needed for besides those of all runs."""
        shuffled = any(isinstance(column.form, Shuffled) for column in self.columns)
        return frozenset({"noise"} if self.noisy else ()) | frozenset({"shuffle"} if shuffled else ())

    @property
    def kept(self) -> tuple[SourceColumn, ...]:
        """The columns that are released as they are."""
        generalized = {q.name for q in self.quasi}
        return tuple(column for column in self.columns if column.name not in generalized)

    @property
    def counted(self) -> tuple[SourceColumn, ...]:
        """The columns that the first pass counts together with the quasi-identifiers."""
        return self.kept if self.whole_rows else tuple(s.column for s in self.sensitive)

    @property
    def compares_values(self) -> bool:
        """Values of the last release are judged, as they are under another policy, beside those of the source."""
        f = self.following
        follows = f is not None and f.judged and not f.first and (f.replanned or f.batch is None)
        return follows and bool(self.sensitive) and self.places[0].replaces

    def scratch(self, run: int) -> Scratch:
        return Scratch(run)

    def fresh(self, run: int) -> Relation:
        """Where the release is written before it is verified: beside the target, under a name that nobody
        could guess and take."""
        return Relation(self.target.schema, f"anondb_run_{run}_{secrets.token_hex(4)}")


@dataclass(frozen=True)
class Options:
    """What a caller can ask of a run besides the policy."""

    replace: bool = False  # overwrite a target that was not made by anondb
    allow_empty: bool = False  # publish an empty release of an empty source
    show_values: bool = False  # name values outside a hierarchy in the error
    lock_timeout: float = 10.0  # seconds to wait for a lock
    work_mem: str = "256MB"  # memory of a sort or a hash in the run
    levels: tuple[int, ...] | None = None  # the caller's choice, instead of the search's
    evaluate: str = "basic"  # "full" also compares every two records; "none"
    time_limit: float | None = None  # seconds for the search; it then gives the best that it has found
    checks: int | None = None  # nodes that the search may look at; the same number finds the same release
    lock_source: bool = False  # nobody writes to the source until the run ends
    replan: bool = False  # search again, where a release with a ledger exists
    restart: bool = False  # begin a new series, whatever has been released before

    @property
    def lock_wait(self) -> str:
        """The lock timeout as the server takes it."""
        return str(round(self.lock_timeout * 1000))

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9]+ *(kB|MB|GB)", self.work_mem):
            raise UsageError("work_mem is not a size of memory", hint="write it as 64MB or 1GB")
        if not 0.001 <= self.lock_timeout <= _LONGEST_WAIT:
            raise UsageError(
                "the lock timeout is not a time to wait", hint=f"give seconds, up to {_LONGEST_WAIT}"
            )
        if self.evaluate not in EVALUATIONS:
            raise UsageError(
                f"there is no evaluation {self.evaluate!r}", hint=f"choose from {', '.join(EVALUATIONS)}"
            )
        if self.time_limit is not None and not 0 < self.time_limit <= _LONGEST_WAIT:
            raise UsageError(
                "the time limit is not a time to search", hint=f"give seconds, up to {_LONGEST_WAIT}"
            )
        if self.checks is not None and (isinstance(self.checks, bool) or self.checks < 1):
            raise UsageError(
                "the number of checks is not one that a search could make",
                hint="give 1 or more; without it a search that cannot look at all takes about a minute",
            )
