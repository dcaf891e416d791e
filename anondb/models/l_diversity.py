"""l-diversity (Machanavajjhala et al. 2007): each class has l well-represented sensitive values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar, Self

from anondb.errors import UsageError
from anondb.evaluation.metric import Metric
from anondb.models.model import COLUMN, TOLERANCE, ClassModel, Protected
from anondb.policy.check import Key, Spot, Table, choice, read_number, shown

if TYPE_CHECKING:
    from anondb.models.sql import Histogram
    from anondb.sqltree.build import Node
    from anondb.sqltree.tables import Relation

KINDS = ("distinct", "entropy", "recursive")


def _read_c(spot: Spot, value: object) -> float:
    number = read_number(spot, value)
    if number <= 0:
        raise UsageError(
            f"{spot.key} must be above 0, not {shown(value)}", hint="3 is a common choice: c = 3"
        )
    return float(number)


@dataclass(frozen=True)
class LDiversity(ClassModel):
    name = "l_diversity"
    title = "l-diversity"
    sign = "l = "
    step = "diversity"
    advice = "a smaller l"
    bounds_guess = True
    example = 'l_diversity = { column = "diagnosis", l = 3 }'
    kinds = ("kind", KINDS)
    keys: ClassVar[Mapping[str, Key]] = {
        "column": COLUMN,
        "l": Key(read_number, "add l = 3: each class then has at least three well-represented values"),
        "kind": Key(choice(KINDS)),
        "c": Key(_read_c),
    }
    metrics = (
        Metric("l_diversity_distinct", "l: fewest different values in a class", "models", "higher", "count",
               "sensitive column", "The fewest different sensitive values in a class."),
        Metric("l_diversity_entropy", "l: by entropy", "models", "higher", "number", "sensitive column",
               "exp of the entropy of a class's sensitive values, where it is least: as many equally frequent values "
               "tell as much."),
        Metric("l_diversity_recursive", "l: recursive", "models", "higher", "number", "sensitive column",
               "The l of recursive (c, l)-diversity in the class where it is least."),
    )  # fmt: skip

    l: float  # noqa: E741 - the literature's name, and the policy's key
    kind: str = "distinct"
    c: float | None = None  # of recursive (c, l)-diversity alone

    @classmethod
    def check(cls, here: Spot, keys: Table) -> None:
        _check_l(here.at("l"), keys)
        _check_c(here.at("c"), keys)

    @classmethod
    def made(cls, keys: Table) -> Self:
        return cls(**keys | {"l": float(keys["l"])})

    @property
    def demanded(self) -> float:
        return self.l

    @property
    def variant(self) -> str:
        return self.kind

    @property
    def is_monotone(self) -> bool:
        return self.kind == "distinct"

    @property
    def parts(self) -> frozenset[str]:
        return frozenset({"counts" if self.kind == "recursive" else self.kind})

    def impossible(self, values: int) -> tuple[str, str] | None:
        if values >= self.l:
            return None
        larger = f'l = {self.l:g} is larger than the number of values of "{self.column}", which is {values}'
        return larger, "lower l"

    def holds(self, of: Histogram, reference: Node | None) -> Node:
        from anondb.models.sql import at_least
        from anondb.sqltree.build import call, number

        if self.kind == "recursive":
            return call("anondb.is_recursive", of.part("counts"), number(self.c), number(round(self.l)))
        return at_least(of.part(self.kind), self.l, TOLERANCE if self.kind == "entropy" else None)

    def measured(self, release: Relation, quasi: Sequence[str], column: str) -> Node:
        from anondb.models.sql import ask
        from anondb.sqltree.build import number, string

        c = [] if self.c is None else [number(self.c)]
        return ask("anondb.l_diversity", release, quasi, column, string(self.kind), *c)

    @classmethod
    def reached_by(cls, protected: Protected) -> Iterator[tuple[str, Node]]:
        for kind in ("distinct", "entropy"):  # what is recursive would need a c
            question = cls(protected.column, 0, kind).measured(
                protected.table, protected.quasi, protected.column
            )
            yield f"l_diversity_{kind}", question

    def failure(self, reached: float) -> str | None:
        if reached >= self.l - TOLERANCE:
            return None
        return f'a class has {self.kind} diversity {reached:g} in "{self.column}", below l = {self.l:g}'

    @classmethod
    def sentence(cls, reached: float, shown: str, column: str | None, variant: str | None) -> str:
        match variant:
            case None | "distinct":
                return f"Every group of such records has at least {shown} different values of {column}."
            case "recursive":
                return f"Every group of such records has {shown} or more values of {column}, none of them too frequent."
        return (
            f"Every group of such records has values of {column} as varied as {shown} equally frequent ones."
        )


def _check_l(spot: Spot, keys: Table) -> None:
    number: Decimal | None = keys.get("l")
    if number is None:
        return
    hint = "3 is a common choice: l = 3"
    # a kind that could not be understood may be the one that takes fractions
    whole = keys.get("kind", "entropy") != "entropy"
    if whole and (number < 2 or number != number.to_integral_value()):
        spot.report(
            f"{spot.key} must be a whole number of at least 2, not {shown(number)}",
            f'{hint}; fractions above 1 need kind = "entropy"',
        )
    elif float(number) <= 1:
        spot.report(f"{spot.key} must be above 1, not {shown(number)}", hint)
    elif number >= 2**63:  # counts are bigint
        spot.report(f"{spot.key} is larger than any table can be", hint)


def _check_c(spot: Spot, keys: Table) -> None:
    kind = keys.get("kind", "recursive")
    if kind != "recursive" and "c" in keys:
        hint = 'leave c out, or set kind = "recursive"'
        spot.report(f"{spot.key} belongs to recursive l-diversity alone, not to {kind}", hint)
    elif keys.get("kind") == "recursive" and "c" not in keys and not spot.faulty:
        # Machanavajjhala et al. 2007: r1 < c (rl + … + rm), the r being counts of values in falling order
        hint = "add c = 3: the most frequent value then has fewer records than 3 times all from the l-th on"
        spot.report(f"{spot.key} is missing", hint)
