"""β-likeness (Cao and Karras 2012): no sensitive value is much more frequent in a class than in the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anondb.errors import UsageError
from anondb.evaluation.metric import Metric
from anondb.models.model import COLUMN, TOLERANCE, ClassModel, Protected
from anondb.policy.check import Key, Spot, choice, read_number, shown

if TYPE_CHECKING:
    from anondb.models.sql import Histogram
    from anondb.sqltree.build import Node

KINDS = ("basic", "enhanced")


def _read_beta(spot: Spot, value: object) -> float:
    number = read_number(spot, value)
    if number <= 0:
        hint = "the smaller the stricter: with beta = 1 a value is at most twice as frequent in a class as in all"
        raise UsageError(f"{spot.key} must be above 0, not {shown(value)}", hint=hint)
    return float(number)


@dataclass(frozen=True)
class BetaLikeness(ClassModel):
    name = "beta_likeness"
    title = "β-likeness"
    sign = "β ≤ "
    step = "likeness"
    advice = "a larger beta"
    is_relative = True
    infinite = "a frequent value gains more in a class than enhanced likeness allows with any beta"
    example = 'beta_likeness = { column = "diagnosis", beta = 1 }'
    kinds = ("kind", KINDS)
    keys: ClassVar[Mapping[str, Key]] = {
        "column": COLUMN,
        "beta": Key(
            _read_beta, "add beta = 1: a value is then at most twice as frequent in a class as in all"
        ),
        "kind": Key(choice(KINDS)),
    }
    metrics = (
        Metric("beta_likeness_basic", "β: greatest gain of a value", "models", "lower", "number",
               "sensitive column",
               "How much more frequent a sensitive value is in a class than in all records, as a share of its "
               "frequency in all, where that is greatest."),
        Metric("beta_likeness_enhanced", "β: enhanced", "models", "lower", "number", "sensitive column",
               "The same, where no value gains more than -ln of its frequency in all records."),
    )  # fmt: skip

    beta: float
    kind: str = "basic"

    @property
    def demanded(self) -> float:
        return self.beta

    @property
    def variant(self) -> str:
        return self.kind

    @property
    def parts(self) -> frozenset[str]:
        return frozenset({"counts", "values"})

    def reached(self, of: Histogram, reference: Node) -> Node:
        from anondb.models.sql import once
        from anondb.sqltree.build import call, string

        total = once(call("anondb.sum_of", reference.copy()))
        values, counts = of.part("values"), of.part("counts")
        return call("anondb.class_beta", values, counts, reference, string(self.kind), total)

    @classmethod
    def reached_by(cls, protected: Protected) -> Iterator[tuple[str, Node]]:
        from anondb.models.sql import ask
        from anondb.sqltree.build import string

        for kind in KINDS:
            question = ask(
                "anondb.beta_likeness", protected.table, protected.quasi, protected.column, string(kind)
            )
            yield f"beta_likeness_{kind}", question

    def holds(self, of: Histogram, reference: Node | None) -> Node:
        from anondb.models.sql import at_most

        assert reference is not None
        return at_most(self.reached(of, reference), self.beta, TOLERANCE)

    def failure(self, reached: float) -> str | None:
        if reached <= self.beta + TOLERANCE:
            return None
        return f'a value of "{self.column}" gains {reached:g} in a class, more than beta = {self.beta:g}'

    @classmethod
    def sentence(cls, reached: float, shown: str, column: str | None, variant: str | None) -> str:
        times = f"{1 + reached:.3g} times"
        return f"No value of {column} is more than {times} as frequent in a group as in the whole release."
