"""What a method must say: how its part of the policy is read and checked, its stages, what it finds, its words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from anondb.errors import Problem, UsageError
from anondb.hierarchies.forms import Hierarchy
from anondb.methods.lattice_listing import OpenLattice
from anondb.methods.unread import UNREAD
from anondb.models.model import SensitiveModel
from anondb.models.registry import CLASS_MODELS
from anondb.policy.check import PolicyKeys, Spot, Table
from anondb.policy.model import Column, Method, Policy, Role
from anondb.run.plan import Options, Place, Plan
from anondb.sqltree.released import TEXT, Typed
from anondb.sqltree.tables import ItemRows, Quasi, Relation, SourceColumn

if TYPE_CHECKING:  # what only runs need is loaded by runs
    from anondb.methods.refresh import Refresh
    from anondb.report.model import ComparedRun, ReportData, RunSummary
    from anondb.run.engine import Engine
    from anondb.run.kept_columns import KeptColumns
    from anondb.run.later_sql import Marks
    from anondb.run.result import Result
    from anondb.run.snapshot import Snapshot
    from anondb.run.statement import Runner
    from anondb.sqltree.build import Node


def hides_values(method: str, column: str, hierarchy: Hierarchy) -> str | None:
    """What methods that release values as they are say of a hierarchy that never shows them."""
    if hierarchy.lowest == 0:
        return None
    said = hierarchy.words()
    return f'{method} releases values as they are, and the hierarchy of "{column}" never shows them: {said}'


class Finding(ABC):
    """What a method found on its way to a release; each method has a type of its own."""

    levels: Mapping[str, int] = MappingProxyType({})
    """Column → level, where whole columns have levels."""
    heights: Mapping[str, int] = MappingProxyType({})
    """Column → level of its root, of the same columns."""
    tables: tuple[str, ...] = ()
    """The tables of a release that has several."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Its part of what `anondb run --json` prints."""

    @property
    @abstractmethod
    def selected(self) -> str:
        """What was chosen, in a few words."""

    def counts(self) -> dict[str, float | None]:
        """What a comparison counts besides what all methods have."""
        return {}

    @abstractmethod
    def way(self, result: Result) -> list[str]:
        """How the search went, line by line."""

    def promised(self, result: Result) -> str:
        """What a release keeps, where that is not said of classes."""
        return ""

    def shape(self) -> str:
        """In what classes differ, where that is said apart from their levels."""
        return ""

    def class_sizes(self, release: Relation, quasi: Sequence[str]) -> Node:
        """The sizes of a release's classes, which are mostly told apart by the values of these columns."""
        from anondb.run import publish_sql

        return publish_sql.class_sizes(release, quasi)


@dataclass(frozen=True)
class Job:
    """What the stages are given: the plan, who runs its statements, and where the release is written."""

    db: Runner
    engine: Engine
    plan: Plan
    options: Options
    run: int
    fresh: Relation


Explorer = Callable[[Job, bool], OpenLattice]


class Stages(Protocol):
    """The stages in their order. What one finds, it keeps for the next."""

    fresh: Relation  # where the release is: written first, and at the target once it is swapped in

    def encode(self) -> None:
        """Reads the source, once."""

    def search(self) -> None:
        """Decides what is released."""

    def publish(self) -> None:
        """Fills the tables that are made for it."""

    def measure(self) -> None:
        """Counts what was written, from its own rows."""

    def verify(self) -> None:
        """Raises unless that is what the policy promises."""

    def kept(self) -> Sequence[KeptColumns]:
        """Where the columns lie that were written as they are."""
        ...

    @property
    def class_columns(self) -> Sequence[str]:
        """The columns of the release by which classes are told apart."""

    def evaluate(self) -> None:
        """Computes what it is worth and what it gives away."""

    def show_search(self) -> None:
        """The search as a plan shows it: its statements once, without going on until it is done."""

    @property
    def promise(self) -> str:
        """What the comment on a release says that it satisfies."""
        ...

    def result(self, seconds: dict[str, float]) -> Result:
        """What became of it all."""
        ...


class ReleaseMethod(ABC):
    """A way to make a release. The registry lists all there are."""

    name: ClassVar[str]
    title: ClassVar[str]
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Keys of [method] that take one of these words; the first is the default."""
    keys: ClassVar[frozenset[str]] = frozenset()
    """Further keys of [method] that it reads."""
    column_keys: ClassVar[frozenset[str]] = frozenset({"hierarchy"})
    """Keys of quasi-identifiers that it reads, of those that not all methods do."""

    suppression: ClassVar[float] = 0.0  # the share of records that may be left out if a policy does not say
    labels_cover: ClassVar[bool] = False  # a label that it releases stands for the value of its record
    without_levels: ClassVar[str] = "each class has values of its own"
    """What a report says of a quasi-identifier that has no level."""
    headline_metrics: ClassVar[Mapping[str, str]] = {}
    """Metrics that a report of its runs shows first, each with words."""
    suppresses_cells: ClassVar[bool] = False  # single cells of a record, and not only whole records
    refused_shuffle: ClassVar[str | None] = None
    """Why it cannot exchange values of kept columns within classes, if it cannot."""
    models: ClassVar[Sequence[type[SensitiveModel]]] = CLASS_MODELS
    """The models of sensitive columns that it sees to; a policy that demands another one is refused."""

    def reads(self, key: str) -> bool:
        """Whether a key of [method] means something to it."""
        return key in self.options or key in self.keys

    def unread_key(self, key: str) -> tuple[str, str]:
        """What to say of a key of [method] that means nothing to it."""
        hint = "leave the key out"
        if key in ("objective", "weights"):
            hint += ', or set algorithm = "incognito", or set algorithm = "optimal"'
        return f"{self.name} {UNREAD[key]}", hint

    def read_keys(self, spot: Spot, keys: Table) -> None:  # noqa: B027 - most have nothing to add
        """Checks what [method] says beyond single keys."""

    @abstractmethod
    def check(self, spot: Spot, policy: PolicyKeys) -> None:
        """Reports what the tables of a policy must be to this method, and are not."""

    @abstractmethod
    def stages(self, job: Job) -> Stages:
        """The stages of one run."""

    def load_ahead(self) -> None:  # noqa: B027 - most compute with nothing large
        """Loads what it computes with, before its time is taken."""

    def without_model(self, model: type[SensitiveModel]) -> str:
        """What to say of a model that it does not see to."""
        return f"{self.name} does not look at {model.title}"

    def with_own_columns(self, policy: Policy, snapshot: Snapshot) -> tuple[Snapshot, Sequence[Problem]]:
        """The source with columns that are made for this method; and what is wrong with those."""
        return snapshot, ()

    def item_rows(self, policy: Policy, snapshot: Snapshot) -> ItemRows | None:
        """Where values lie that are not in the source itself."""
        return None

    def refused_form(self, column: str, hierarchy: Hierarchy) -> str | None:
        """Why it cannot keep what a hierarchy promises, if it cannot."""
        return None

    def own_form(self, place: str, column: Column, source: SourceColumn) -> dict[str, Any] | Problem | None:
        """What a run has to know of a quasi-identifier that has a form of this method's own; None of any other."""
        return None

    def coded(self, quasi: Quasi) -> Quasi:
        """A quasi-identifier as this method looks at it."""
        return quasi

    def released(self, column: SourceColumn) -> SourceColumn:
        """A quasi-identifier as it stands in the release: as the label of its class."""
        return replace(column, type="text", base="text", collation=None)

    def released_columns(self, column: SourceColumn) -> list[SourceColumn]:
        """The same, of one that is released in forms that the policy names."""
        if not isinstance(column.form, Typed):
            return [self.released(column)]
        return [
            replace(column, name=shown.name, type=shown.type, base=shown.type, collation=None, form=None)
            for shown in column.form.shown
        ]

    def holds(self, policy: Policy) -> bool:
        """Whether it can keep those together in the next release who were together in the last."""
        return False

    def refreshing(self, job: Job, levels: Sequence[int], marks: Sequence[Marks]) -> Refresh | None:
        """The stages of a refresh that is written down, at levels that are marks; None where it needs Python."""
        return None

    def refused_unit(self, policy: Policy) -> str | None:
        """Why it cannot count persons, if it cannot."""
        return None

    def refused_links(self, keys: Table) -> tuple[str, str] | None:
        """Why it cannot release several tables of the same persons, and what to do; None if it can."""
        why = f"{self.name} makes classes of one table, and a person of several tables is in many at once"
        return why, "choose an algorithm that gives whole columns a level, or release one table"

    def counts_whole_rows(self, policy: Policy, *, repeat: bool) -> bool:
        """Whether the first pass counts rows as a whole, given whether they mostly repeat."""
        return repeat

    def suffixes(self) -> tuple[str, ...]:
        """Of the names of a release's tables, where it has several."""
        return ()

    def problems(self, policy: Policy) -> Iterable[Problem]:
        """What of a policy does not fit the tables that it would make."""
        return ()

    def places(
        self, policy: Policy, columns: Sequence[SourceColumn], snapshot: Snapshot
    ) -> tuple[Place, ...]:
        """The tables that it makes of these columns of the source."""
        quasi = {column.name for column in policy.quasi}
        released = [
            shown
            for c in columns
            for shown in (self.released_columns(c) if c.name in quasi else [c.as_released])
        ]
        return (Place.at(snapshot.target, released),)

    def explorer(self) -> Explorer | None:
        """What lists every node of its lattice, given a job and whether all are checked; None without a lattice."""
        return None

    def refused_comparison(self, others: Collection[str]) -> UsageError | None:
        """Why it is not compared with these others, if it is not."""
        return None

    def taken_over(self, keys: Method, columns: Collection[str]) -> Method:
        """What [method] says of a policy with these quasi-identifiers, with this method instead: its own
        first word where it does not know the policy's."""
        words: dict[str, Any] = {
            key: word if (word := getattr(keys, key)) in known else next(iter(known), None)
            for key, known in self.options.items()
        }
        return Method(self.name, **words, **{key: getattr(keys, key) for key in self.keys})

    def ways(self) -> Mapping[str, Callable[[Policy], Policy]]:
        """Other ways to make its releases, which a comparison may try beside the plain one: by name, how a policy is
        changed. A way that a policy does not allow raises."""
        return {}

    def varied(self, method: Method, policy: Policy) -> Policy:
        """A policy of another method as a comparison tries it with this one; raises where there is nothing to try."""
        if "set" not in self.column_keys and any(column.is_set for column in policy.quasi):
            raise UsageError(
                "sets of texts are for mdav, and mdav for sets",
                hint="compare mdav with itself, by k: --algorithms mdav --k 2,3,5",
            )
        columns = tuple(self._read(column) for column in policy.columns)
        privacy = policy.privacy
        if privacy.suppress == "cells" and not self.suppresses_cells:
            privacy = replace(privacy, suppress="remove", stars="value")
        return replace(policy, method=method, columns=columns, privacy=privacy)

    def summary(self, data: ReportData, run: RunSummary) -> Iterable[str]:
        """What a report says of its run besides what is said of all, a sentence each."""
        return ()

    def headlines(self, run: RunSummary) -> Iterable[tuple[str, str]]:
        """Numbers of its run that a report shows first, each with what it counts."""
        return ()

    def advice(self, runs: Sequence[ComparedRun], all_runs: Sequence[ComparedRun]) -> Iterable[str]:
        """What its own runs of a comparison tell besides what the runs of all methods do."""
        return ()

    def _read(self, column: Column) -> Column:
        """A column without what means nothing to this method."""
        if column.role is not Role.QUASI:
            return replace(column, shuffle=column.shuffle and self.refused_shuffle is None)
        if "ontology" not in self.column_keys:
            column = replace(column, ontology=())
        if "release" not in self.column_keys:
            column = replace(column, release=(TEXT,))
        return column if "min_level" in self.column_keys else replace(column, min_level=0, max_level=None)

    def counts_records(self, policy: Policy) -> str:
        """Why it is refused where a person may have several records."""
        return f'{self.name} counts records, and a person may have several: "{policy.privacy.unit}" is not unique'

    def refuse_levels(self, options: Options) -> None:
        """The caller's own levels mean nothing to methods that give columns none, nor does a number of checks."""
        if options.checks is not None:
            raise UsageError(
                f"{self.name} looks at no nodes, and has no number of checks",
                hint="leave --checks out, or change the algorithm",
            )
        if options.levels is not None:
            raise UsageError(f"{self.name} has no levels", hint="leave --levels out, or change the algorithm")
