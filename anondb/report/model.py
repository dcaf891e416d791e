"""Everything that a report shows, as plain values: no database, and no value of a person's row.

Each part but the title may be missing; a report shows the parts that are there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from anondb.hierarchies.forms import VghTable
from anondb.hierarchies.tree import Node
from anondb.run.kept import Kept, LinkedRows


@dataclass(frozen=True)
class FusionSummary:
    """How many combinations of values took those of another one, and whose."""

    tuples: int  # different combinations
    rare: int  # those that fewer than k records had
    fusions: int  # those that took the values of another
    changed: int  # records of these


@dataclass(frozen=True)
class RunSummary:
    """What a run did."""

    run: int
    algorithm: str
    source: str
    target: str
    records: int
    released: int
    suppressed: int
    classes: int
    k: int  # reached: the records of the smallest class
    seconds: Mapping[str, float] = field(default_factory=dict)  # per stage
    finished: str = ""  # when, as people write it
    partitions: int | None = None  # where records are cut; those of the same labels are one class
    bounds: str | None = None  # of the ranges of such: rounded, or exact
    rounds: tuple[tuple[int, float], ...] = ()  # of local recoding: the records of each, and their loss
    fused: FusionSummary | None = None  # where rare records took the values of others


@dataclass(frozen=True)
class PrivacyModel:
    """A demand of the policy, and what the release reached."""

    kind: str  # k_anonymity, l_diversity, t_closeness, or another name
    demanded: float
    reached: float
    column: str | None = None  # the sensitive one
    variant: str | None = None  # distinct, entropy, recursive; equal, ordered, hierarchical


@dataclass(frozen=True)
class ColumnReport:
    """What became of a column of the source."""

    name: str
    role: str
    level: int | None = None  # none where each class has its own generalization
    height: int | None = None
    hierarchy: str = ""  # in words: "ranges of 5, 10 and 20", "stored: occupation"
    tree: VghTable | None = None  # whole; the report draws nothing of it that could be a person's value
    losses: Mapping[Node, float | None] = field(default_factory=dict)
    release: str | None = None  # the forms of its labels, where they are no texts


@dataclass(frozen=True)
class LatticeNode:
    levels: tuple[int, ...]
    state: str  # one of STATES
    score: float | None = None


STATES = ("anonymous", "not anonymous", "pruned")


@dataclass(frozen=True)
class LatticeReport:
    """The combinations of levels that a search could choose from; columns as `columns` names them."""

    columns: tuple[str, ...]
    nodes: tuple[LatticeNode, ...] = ()
    chosen: tuple[int, ...] | None = None
    score: str = ""  # what the scores of the nodes count
    heights: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """How many nodes of each sum of levels are in each state, where there are too many for `nodes`."""

    def counts(self) -> Mapping[tuple[int, str], int]:
        return self.heights or Counter((sum(node.levels), node.state) for node in self.nodes)


@dataclass(frozen=True)
class ClassSizes:
    """How many classes there are of each size; suppressed records are in none."""

    after: Mapping[int, int]
    before: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Suppression:
    allowed: float  # the share of the records
    how: str = "remove"  # or "mask"
    reasons: Mapping[str, int] = field(default_factory=dict)  # why → records


@dataclass(frozen=True)
class ReportedMetric:
    """A metric of the release and, where that makes sense, of the source; `metrics.reported` makes it."""

    name: str
    label: str
    definition: str
    section: str  # utility, risk
    better: str  # lower, higher, or empty where neither is better
    unit: str  # share (of 1), percent (of 100), count, number
    before: float | None = None
    after: float | None = None
    column: str | None = None
    note: str = ""  # why there is no value, for example
    about: str | None = None  # the sensitive column of a metric that is no part of a whole


@dataclass(frozen=True)
class Statement:
    stage: str
    name: str
    sql: str
    rows: int | None
    ms: float | None


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison."""

    algorithm: str
    k: int
    quasi: int  # how many quasi-identifiers
    metrics: Mapping[str, float | None] = field(default_factory=dict)  # also seconds, bytes, counts
    selected: str = ""  # the generalization, in words: "age 1, sex 0"
    failure: str = ""  # why there is no release
    size: int | None = None  # so many rows of the source; None: all
    seeds: int = 1  # of which the figures are means
    deviations: Mapping[str, float] = field(default_factory=dict)  # standard ones, over the seeds


@dataclass(frozen=True)
class Comparison:
    runs: tuple[ComparedRun, ...]
    guidance: tuple[str, ...] = ()  # in plain words, which algorithm fits
    front: tuple[ComparedRun, ...] = ()  # of which none is beaten in both loss and risk
    recommended: ComparedRun | None = None


@dataclass(frozen=True)
class ReportData:
    title: str
    run: RunSummary | None = None
    policy: str = ""  # the file as it was read
    models: tuple[PrivacyModel, ...] = ()
    columns: tuple[ColumnReport, ...] = ()
    class_sizes: ClassSizes | None = None
    lattice: LatticeReport | None = None
    metrics: tuple[ReportedMetric, ...] = ()
    suppression: Suppression | None = None
    statements: tuple[Statement, ...] = ()
    comparison: Comparison | None = None
    kept: tuple[Kept, ...] = ()  # columns that are released as they are and know records apart
    linked: tuple[LinkedRows, ...] = ()  # what pseudonyms give away
    package: str = ""  # the version of anondb

    @property
    def quasi(self) -> tuple[ColumnReport, ...]:
        return tuple(column for column in self.columns if column.role == "quasi")
