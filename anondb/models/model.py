"""What a privacy model says of itself: its keys in a policy, its SQL, its verification, its words for people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anondb.errors import UsageError
from anondb.evaluation.metric import Metric
from anondb.policy.check import Key, Spot, Table, read_table, read_text, shown
from anondb.policy.names import quoted

if TYPE_CHECKING:
    from anondb.models.sql import Histogram
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Relation, Scratch, Sensitive

TOLERANCE = 1e-9
"""Of entropies and distances, which are sums of rounded shares: the same for search and verification."""

Tables = Sequence[tuple[Spot, Table]]
"""What a policy says of each model of one sort, and where."""

COLUMN = Key(read_text, 'add the sensitive column to protect: column = "diagnosis"')


class PrivacyModel(ABC):
    """Something that a release is to satisfy; a subclass is one model, its instance what a policy demands."""

    name: ClassVar[str]  # in the policy, in metrics and in what is kept of a run
    title: ClassVar[str]  # for people
    sign: ClassVar[str]  # before the figure that is demanded: "l = "
    without_k: ClassVar[str] = ""  # what is said of releases that keep it and have no k
    bounds_guess: ClassVar[bool] = False  # it limits how surely a sensitive value can be guessed

    @classmethod
    def gives_no_k(cls, kept_as: str, variant: str | None) -> bool:
        """Whether what is kept of a run under this name tells of a release that keeps this model and has no k."""
        return False

    @property
    @abstractmethod
    def demanded(self) -> float: ...

    @property
    def variant(self) -> str | None:
        """Which kind of the model, where there are several."""
        return None

    @abstractmethod
    def failure(self, reached: float) -> str | None:
        """Why a release that reaches so much breaks the promise; None if it keeps it."""

    @classmethod
    @abstractmethod
    def sentence(cls, reached: float, shown: str, column: str | None, variant: str | None) -> str:
        """What a release keeps that reached so much; `shown` is the figure as people read it."""


@dataclass(frozen=True)
class SensitiveModel(PrivacyModel):
    """A model of one sensitive column."""

    keys: ClassVar[Mapping[str, Key]]
    example: ClassVar[str]
    metrics: ClassVar[Sequence[Metric]]  # what can be reached of it: of each kind, where there are several
    kinds: ClassVar[tuple[str, Sequence[str]] | None] = (
        None  # the key that tells them apart; the first is usual
    )
    without_hierarchy: ClassVar[tuple[str, str]] = ("", "")  # why it needs one, and what to do

    column: str

    @classmethod
    def read(cls, spot: Spot, value: object) -> Tables:
        """What one table says, or each table of an array; a column has one model of a kind.

        All that could be understood, so that the rules between tables see a model with a mistake in it.
        """
        tables = value if isinstance(value, list) and value else [value]
        for table in tables:
            if not isinstance(table, dict):
                message = f"{spot.key} must be a table or an array of tables, not {shown(table)}"
                raise UsageError(message, hint=f"write {cls.example}")
        models: list[tuple[Spot, Table]] = []
        seen: set[tuple[str, ...]] = set()
        for number, table in enumerate(tables, start=1):
            here = spot.at(number) if isinstance(value, list) else spot
            keys = read_table(here, table, cls.keys)
            if cls.kinds is not None and cls.kinds[0] not in table:
                keys[cls.kinds[0]] = cls.kinds[1][0]
            cls._refuse_second(here, keys, seen)
            cls.check(here, keys)
            models.append((here, keys))
        return models

    @classmethod
    def _refuse_second(cls, here: Spot, keys: Table, seen: set[tuple[str, ...]]) -> None:
        kind = "" if cls.kinds is None else keys.get(cls.kinds[0])
        if "column" not in keys or kind is None:
            return
        model = (keys["column"], kind)
        if model in seen:
            of = f" with {cls.kinds[0]} = {quoted(kind)}" if cls.kinds else ""
            here.at("column").report(
                f"{here.key} is the second of {quoted(model[0])}{of}",
                "keep the one that is meant: a column has one model of a kind",
            )
        seen.add(model)

    @classmethod
    def check(cls, here: Spot, keys: Table) -> None:
        """Report what is wrong between the keys of one model."""

    @classmethod
    def made(cls, keys: Table) -> Self:
        """The model, once everything is right."""
        return cls(**keys)

    @classmethod
    def demands(cls, keys: Table) -> bool:
        """Whether a policy with this model and no k protects anybody."""
        return True

    @classmethod
    def uses_hierarchy(cls, keys: Table) -> bool:
        """Whether it reads the hierarchy of its column, if that has one."""
        return False

    @classmethod
    def needs_hierarchy(cls, keys: Table) -> bool:
        """Whether it cannot do without one."""
        return False

    @property
    def metric(self) -> str:
        """The name of what is reached."""
        return self.name if self.variant is None else f"{self.name}_{self.variant}"

    def account(self, reached: float) -> dict[str, Any]:
        """What is kept of a run."""
        kept = {"kind": self.name, "demanded": self.demanded, "reached": reached, "column": self.column}
        return kept if self.variant is None else kept | {"variant": self.variant}


@dataclass(frozen=True)
class Protected:
    """A sensitive column of a table that anyone has made, and what is known of it."""

    table: Relation
    quasi: Sequence[str]
    column: str
    in_order: bool = False  # its values have an order that means something, as numbers and dates do
    vgh: str | None = None  # its stored hierarchy


@dataclass(frozen=True)
class ClassModel(SensitiveModel):
    """A model that every class of a release has to satisfy, whoever made the classes."""

    step: ClassVar[str]  # the name of the statement that measures it in a run
    advice: ClassVar[str]  # what would make it easier to satisfy
    is_relative: ClassVar[bool] = False  # classes are compared with all released rows
    infinite: ClassVar[str] = ""  # when a table reaches no figure, where that can be

    @property
    def is_monotone(self) -> bool:
        """A record in a class that fails is in one that fails wherever classes are smaller."""
        return False

    @property
    def is_additive(self) -> bool:
        """Two classes that satisfy it are one that does: where nothing is suppressed, it is monotone."""
        return True

    @property
    @abstractmethod
    def parts(self) -> frozenset[str]:
        """What it needs of a class: distinct, entropy, counts, values."""

    @property
    def by_tree(self) -> bool:
        """Whether it needs the nodes above each value."""
        return False

    @property
    def by_path(self) -> bool:
        """Whether it needs the labels above each value."""
        return False

    def impossible(self, values: int) -> tuple[str, str] | None:
        """Why no class can satisfy it where the column has so many values, and what to do."""
        return None

    @abstractmethod
    def holds(self, of: Histogram, reference: Node | None) -> Node:
        """The condition that a class satisfies it; the reference is the counts of all that it is compared with."""

    def reached(self, of: Histogram, reference: Node) -> Node:
        """What a class reaches, for a model that `measured` cannot be asked about."""
        raise NotImplementedError

    def measured(self, release: Relation, quasi: Sequence[str], column: str) -> Node | None:
        """What a release reaches, by the function that anyone can ask; None where it lacks what the run knows."""
        return None

    def audited(
        self, names: Scratch, release: Relation, quasi: Sequence[str], sensitive: Sensitive
    ) -> Node | None:
        """What a release reaches, by a function that has to be told what the run knows; None where there is none."""
        return None

    @classmethod
    def reached_by(cls, protected: Protected) -> Iterator[tuple[str, Node]]:
        """Its metrics, each with the question what a table reaches of which no policy has demanded anything."""
        yield from ()
