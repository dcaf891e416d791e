"""t-closeness (Li et al. 2007): sensitive values are distributed in each class as in the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anondb.errors import UsageError
from anondb.evaluation.metric import Metric
from anondb.models.model import COLUMN, TOLERANCE, ClassModel, Protected
from anondb.policy.check import Key, Spot, Table, choice, read_number, shown

if TYPE_CHECKING:
    from anondb.models.sql import Histogram
    from anondb.sqltree.build import Node

DISTANCES = ("equal", "ordered", "hierarchical")


def _read_t(spot: Spot, value: object) -> float:
    number = read_number(spot, value)
    if not 0 <= number <= 1:
        hint = "the smaller the stricter: t = 0.2 is a common choice, and 1 demands nothing"
        raise UsageError(f"{spot.key} must lie between 0 and 1, not {shown(value)}", hint=hint)
    return float(number)


@dataclass(frozen=True)
class TCloseness(ClassModel):
    name = "t_closeness"
    title = "t-closeness"
    sign = "t ≤ "
    step = "closeness"
    advice = "a larger t"
    is_relative = True
    example = 't_closeness = { column = "diagnosis", t = 0.2 }'
    without_hierarchy = (
        "the hierarchical distance needs one",
        'add hierarchy = { csv = "…" } or the name of a stored one, or set distance = "equal"',
    )
    kinds = ("distance", DISTANCES)
    keys: ClassVar[Mapping[str, Key]] = {
        "column": COLUMN,
        "t": Key(_read_t, "add t = 0.2: how far a class may be from the whole release, between 0 and 1"),
        "distance": Key(choice(DISTANCES)),
    }
    metrics = (
        Metric("t_closeness_equal", "t: farthest class from the whole", "models", "lower", "number",
               "sensitive column",
               "The greatest distance of a class's sensitive values from those of all records; any two values are 1 "
               "apart."),
        Metric("t_closeness_ordered", "t: farthest, by the order of values", "models", "lower", "number",
               "sensitive column", "The same, where values are as far apart as their places in the order."),
        Metric("t_closeness_hierarchical", "t: farthest, by the hierarchy", "models", "lower", "number",
               "sensitive column",
               "The same, where values are as far apart as their lowest common ancestor is high in the hierarchy."),
    )  # fmt: skip

    t: float
    distance: str = "equal"

    @classmethod
    def demands(cls, keys: Table) -> bool:
        return bool(keys.get("t", 0) < 1)

    @classmethod
    def uses_hierarchy(cls, keys: Table) -> bool:
        return keys.get("distance") != "equal"

    @classmethod
    def needs_hierarchy(cls, keys: Table) -> bool:
        return keys.get("distance") == "hierarchical"

    @property
    def demanded(self) -> float:
        return self.t

    @property
    def variant(self) -> str:
        return self.distance

    @property
    def parts(self) -> frozenset[str]:
        return frozenset({"counts", "values"})

    @property
    def by_tree(self) -> bool:
        return self.distance == "hierarchical"

    def reached(self, of: Histogram, reference: Node) -> Node:
        from anondb.models.sql import once, tree
        from anondb.sqltree.build import call

        nodes = tree(of) if self.by_tree else []
        # what depends on the reference alone is computed once in a statement, not once a class
        prepare = "anondb.sum_of" if self.distance == "equal" else f"anondb.{self.distance}_reference"
        prepared = once(call(prepare, reference.copy(), *[part.copy() for part in nodes]))
        return call(
            f"anondb.emd_{self.distance}", of.part("values"), of.part("counts"), reference, *nodes, prepared
        )

    @classmethod
    def reached_by(cls, protected: Protected) -> Iterator[tuple[str, Node]]:
        from anondb.models.sql import ask
        from anondb.sqltree.build import string

        distances: list[tuple[str, list[str]]] = [("equal", [])]
        if protected.in_order:
            distances.append(("ordered", []))
        if protected.vgh is not None:
            distances.append(("hierarchical", [protected.vgh]))
        for distance, vgh in distances:
            further = [string(word) for word in (distance, *vgh)]
            question = ask("anondb.t_closeness", protected.table, protected.quasi, protected.column, *further)
            yield f"t_closeness_{distance}", question

    def holds(self, of: Histogram, reference: Node | None) -> Node:
        from anondb.models.sql import at_most

        assert reference is not None
        return at_most(self.reached(of, reference), self.t, TOLERANCE)

    def failure(self, reached: float) -> str | None:
        if reached <= self.t + TOLERANCE:
            return None
        return f'a class is {reached:g} from the release in "{self.column}", more than t = {self.t:g}'

    @classmethod
    def sentence(cls, reached: float, shown: str, column: str | None, variant: str | None) -> str:
        return f"The values of {column} in a group differ from those of the whole release by at most {shown}."
