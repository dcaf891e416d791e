"""What the history keeps of a run, as a record: evaluation, report and library read it, and nothing else of it.

`anondb.run.account` collects what is in it, `anondb.run.account_reader` reads what any version has kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from anondb.run.kept import Kept, LinkedRows

VERSION = 2  # version 1 has no number: it is what was kept before there were versions


STARRED = "released, with some cells suppressed"
"""Why records count as suppressed that are in the release."""


@dataclass(frozen=True)
class ColumnAccount:
    """A column of the source; hierarchy and height are those of a quasi-identifier."""

    name: str
    role: str = ""
    hierarchy: str | None = None  # in words
    height: int | None = None
    level: int | None = None  # none where each class has its own generalization
    release: str | None = None  # the forms of its labels, where they are no texts: "lower, upper"

    def to_json(self) -> dict[str, Any]:
        """Without the parts that the column does not have; one with a height has a level, be it none."""
        keys = {name: value for name, value in asdict(self).items() if value is not None}
        return keys if self.height is None else keys | {"level": self.level}


@dataclass(frozen=True)
class ModelAccount:
    """A demand of the policy, and what the release reached."""

    kind: str
    demanded: float
    reached: float
    column: str | None = None
    variant: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class SuppressionAccount:
    allowed: float  # the share of the records
    how: str = "remove"
    reasons: Mapping[str, int] = field(default_factory=dict)  # why → records

    def to_json(self) -> dict[str, Any]:
        return {"allowed": self.allowed, "how": self.how, "reasons": dict(self.reasons)}


@dataclass(frozen=True)
class NodeAccount:
    """A combination of levels that a search could choose."""

    levels: tuple[int, ...]
    state: str
    score: float | None = None


@dataclass(frozen=True)
class LatticeAccount:
    """The nodes of a small lattice; of a large one, how many of each height are in each state."""

    chosen: tuple[int, ...]
    score: str = ""  # what the scores of the nodes count
    nodes: tuple[NodeAccount, ...] | None = None
    heights: tuple[tuple[int, str, int], ...] | None = None  # height, state, nodes

    def to_json(self) -> dict[str, Any]:
        keys: dict[str, Any] = {"chosen": list(self.chosen), "score": self.score}
        if self.nodes is not None:
            keys["nodes"] = [[list(node.levels), node.state, node.score] for node in self.nodes]
        if self.heights is not None:
            keys["heights"] = [list(height) for height in self.heights]
        return keys


@dataclass(frozen=True)
class SizesAccount:
    """Sizes of classes, and how many classes have each."""

    before: tuple[tuple[int, int], ...] = ()
    after: tuple[tuple[int, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"before": [list(pair) for pair in self.before], "after": [list(pair) for pair in self.after]}


@dataclass(frozen=True)
class BranchAccount:
    """A path of a hierarchy up to its root, and how many leaves lie below it."""

    leaves: int
    path: tuple[str, ...]


@dataclass(frozen=True)
class RoundAccount:
    """A round of local recoding: its levels at most, the records that it released, and their mean loss."""

    levels: Mapping[str, int]
    records: int
    loss: float


@dataclass(frozen=True)
class FusionAccount:
    """How many combinations of values took those of another one."""

    tuples: int
    rare: int
    fusions: int
    changed: int


@dataclass(frozen=True)
class RunAccount:
    version: int = VERSION
    records: int = 0
    released: int = 0
    suppressed: int = 0
    classes: int = 0
    k: int = 0  # reached
    seconds: Mapping[str, float] = field(default_factory=dict)  # per stage
    notes: Mapping[str, str] = field(default_factory=dict)  # of figures, by their keys
    kept: tuple[Kept, ...] = ()  # columns released as they are that know records apart
    linked: tuple[LinkedRows, ...] = ()  # what pseudonyms give away
    partitions: int | None = None  # where records are partitioned
    bounds: str | None = None  # of the ranges that partitions are released as
    rounds: tuple[RoundAccount, ...] = ()  # where records are recoded locally
    fused: FusionAccount | None = None  # where records are fused
    columns: tuple[ColumnAccount, ...] = ()
    models: tuple[ModelAccount, ...] = ()
    suppression: SuppressionAccount | None = None
    lattice: LatticeAccount | None = None
    sizes: SizesAccount | None = None  # of a run that was evaluated
    trees: Mapping[str, tuple[BranchAccount, ...]] | None = None  # column → its hierarchy, of such a run
    others: Mapping[str, Any] = field(default_factory=dict)
    """What else `anondb run --json` printed: kept for whoever looks into the table; nothing here reads it."""

    def to_json(self) -> dict[str, Any]:
        """What the history keeps: the object that `anondb run --json` prints, the report's part and the version."""
        counts = ("version", "records", "released", "suppressed", "classes", "k")
        search = {"partitions": self.partitions, "bounds": self.bounds}
        return {
            **self.others,
            **{name: getattr(self, name) for name in counts},
            **{name: value for name, value in search.items() if value is not None},
            **({"rounds": [asdict(one) for one in self.rounds]} if self.rounds else {}),
            **({} if self.fused is None else asdict(self.fused)),
            **({"kept": [column.as_json() for column in self.kept]} if self.kept else {}),
            **({"pseudonyms": [column.as_json() for column in self.linked]} if self.linked else {}),
            "seconds": dict(self.seconds),
            "notes": dict(self.notes),
            "report": self._report(),
        }

    def _report(self) -> dict[str, Any]:
        keys: dict[str, Any] = {
            "columns": [column.to_json() for column in self.columns],
            "models": [model.to_json() for model in self.models],
            "lattice": None if self.lattice is None else self.lattice.to_json(),
        }
        if self.suppression is not None:
            keys["suppression"] = self.suppression.to_json()
        if self.sizes is not None:
            keys["sizes"] = self.sizes.to_json()
        if self.trees is not None:
            keys["trees"] = {
                column: [[branch.leaves, *branch.path] for branch in tree]
                for column, tree in self.trees.items()
            }
        return keys


@dataclass(frozen=True)
class KeptRun:
    """A run that published its release."""

    run: int
    source: str
    target: str
    algorithm: str
    finished_at: datetime | None
    account: RunAccount
    metrics: Mapping[tuple[str, str], float] = field(default_factory=dict)  # by name and column
