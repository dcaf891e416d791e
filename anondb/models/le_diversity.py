"""(l, e)-diversity (Wang et al.): l well-represented values, every two of them more than e apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from anondb.errors import UsageError
from anondb.evaluation.metric import Metric
from anondb.models.model import ClassModel
from anondb.policy.check import Key, Spot, Table, choice, read_number, read_text, shown

if TYPE_CHECKING:
    from anondb.models.sql import Histogram
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Relation, Scratch, Sensitive

APART, GROUPED = KINDS = ("apart", "grouped")


def _read_l(spot: Spot, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 2 <= value < 2**31:
        raise UsageError(
            f"{spot.key} must be a whole number of at least 2, not {shown(value)}",
            hint="3 is a common choice: l = 3",
        )
    return value


def _read_e(spot: Spot, value: object) -> float:
    number = read_number(spot, value)
    if number < 0:
        raise UsageError(
            f"{spot.key} must be 0 or more, not {shown(value)}",
            hint="values that share a parent are 1 apart: e = 1 keeps them out of one class",
        )
    return float(number)


@dataclass(frozen=True)
class LeDiversity(ClassModel):
    """Of the classes of any method that has classes; the method of its name makes them for it."""

    name = "le_diversity"
    title = "(l, e)-diversity"
    sign = "l = "
    without_k = "Quasi-identifiers are released exactly as they are, which gives no k; who is in the data can be seen."
    step = "diversity by relatives"
    advice = 'a smaller l or e, or kind = "grouped"'
    bounds_guess = True
    example = 'le_diversity = { column = "disease", l = 3, e = 1 }'
    without_hierarchy = ("e counts its levels", 'add hierarchy = { csv = "…" } or the name of a stored one')
    kinds = ("kind", KINDS)
    keys: ClassVar[Mapping[str, Key]] = {
        "column": Key(read_text, 'add the sensitive column to protect: column = "disease"'),
        "l": Key(_read_l, "add l = 3: no value then has more than a third of a class"),
        "e": Key(_read_e, "add e = 1: values that share a parent are then not in one class"),
        "kind": Key(choice(KINDS)),
    }
    metrics = (
        Metric("le_diversity", "l: no value has more of a class than 1/l", "models", "higher", "number",
               "sensitive column",
               "The l of (l, e)-diversity: no sensitive value has more than 1/l of a class."),
        Metric("le_diversity_apart", "l: no relatives in a class", "models", "higher", "number",
               "sensitive column",
               "The l of (l, e)-diversity: no sensitive value has more than 1/l of a class, and no two values of "
               "it are as near in the hierarchy as e."),
        Metric("le_diversity_grouped", "l: no value with its relatives", "models", "higher", "number",
               "sensitive column",
               "The same, where values as near as e may share a class: no sensitive value has, together with all "
               "that are as near to it, more than 1/l of a class."),
    )  # fmt: skip

    l: int  # noqa: E741
    e: float
    kind: str = APART

    @classmethod
    def uses_hierarchy(cls, keys: Table) -> bool:
        return True

    @classmethod
    def needs_hierarchy(cls, keys: Table) -> bool:
        return True

    @classmethod
    def gives_no_k(cls, kept_as: str, variant: str | None) -> bool:
        """Of sensitive values in a table of their own; the classes of other methods have a kind."""
        return kept_as == cls.name and not (variant or "").startswith(KINDS)

    @property
    def demanded(self) -> float:
        return self.l

    @property
    def variant(self) -> str:
        return self.kind

    def account(self, reached: float) -> dict[str, Any]:
        return super().account(reached) | {"variant": f"{self.kind}, e = {self.e:g}"}

    @property
    def is_additive(self) -> bool:
        """Values of two classes may be relatives, which no class is to have; different values are 1 apart at least.

        Grouped, the counts of two classes add up, value by value with its relatives, and so does what they may be.
        """
        return self.kind == GROUPED or self.e < 1

    @property
    def parts(self) -> frozenset[str]:
        return frozenset({"counts", "values"})

    @property
    def by_path(self) -> bool:
        return True

    def impossible(self, values: int) -> tuple[str, str] | None:
        if values >= self.l:
            return None
        return (
            f'l = {self.l} is larger than the number of values of "{self.column}", which is {values}',
            "lower l",
        )

    def holds(self, of: Histogram, reference: Node | None) -> Node:
        from anondb.models.le_diversity_sql import near
        from anondb.models.sql import at_least, once
        from anondb.sqltree.build import call, string

        relatives = once(near(of.names, of.sensitive, self.e))
        reached = call("anondb.class_le", of.part("values"), of.part("counts"), relatives, string(self.kind))
        return at_least(reached, self.l)

    def audited(
        self, names: Scratch, release: Relation, quasi: Sequence[str], sensitive: Sensitive
    ) -> Node | None:
        from anondb.models.le_diversity_sql import reached

        return reached(names, release, quasi, sensitive, self.e, self.kind)

    def failure(self, reached: float) -> str | None:
        if reached >= self.l:
            return None
        alone = "a value" if self.kind == APART else "a value with its relatives"
        return f'{alone} has more than 1/{self.l} of a class in "{self.column}", or two are e-similar'

    @classmethod
    def sentence(cls, reached: float, shown: str, column: str | None, variant: str | None) -> str:
        kind, _, near = (variant or "").rpartition(", ")
        if kind == GROUPED:
            return (
                f"No value of {column}, together with all that are as near to it in its hierarchy as {near}, "
                f"has more than 1/{shown} of a group."
            )
        known = f"No value of {column} has more than 1/{shown} of a group"
        if not kind:
            known = (
                "Sensitive values are known by class alone: "
                f"none of {column} has more than 1/{shown} of a class"
            )
        if near in ("", "e = 0"):
            return f"{known}."
        return f"{known}, and no two values of it are as near in its hierarchy as {near}."
