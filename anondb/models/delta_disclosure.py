"""δ-disclosure privacy (Brickell and Shmatikov 2008): every value is about as frequent in a class as in the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, ClassVar

from anondb.errors import UsageError
from anondb.evaluation.metric import Metric
from anondb.models.model import COLUMN, ClassModel, Protected
from anondb.policy.check import Key, Spot, read_number, shown

if TYPE_CHECKING:
    from anondb.models.sql import Histogram
    from anondb.sqltree.build import Node


def _read_delta(spot: Spot, value: object) -> float:
    number = read_number(spot, value)
    if number <= 0:
        hint = "the smaller the stricter: with delta = 1.1 a value is a third to three times as frequent as in all"
        raise UsageError(f"{spot.key} must be above 0, not {shown(value)}", hint=hint)
    return float(number)


@dataclass(frozen=True)
class DeltaDisclosure(ClassModel):
    """No tolerance: but for 0 the logarithm of a fraction is never a decimal, so that no figure should equal δ.

    One that does is a rounding of it, and fails; search and verification compare the same rounded figure.
    """

    name = "delta_disclosure"
    title = "δ-disclosure privacy"
    sign = "δ < "
    step = "disclosure"
    advice = "a larger delta"
    is_relative = True
    infinite = "a value of the column is missing in a class, which no delta allows"
    example = 'delta_disclosure = { column = "diagnosis", delta = 1.1 }'
    keys: ClassVar[Mapping[str, Key]] = {
        "column": COLUMN,
        "delta": Key(
            _read_delta, "add delta = 1.1: a value is then a third to three times as frequent as in all"
        ),
    }
    metrics = (
        Metric("delta_disclosure", "δ: greatest change of a value", "models", "lower", "number",
               "sensitive column",
               "The greatest |ln(q / p)| of a sensitive value, with the share q in a class and p in all records."),
    )  # fmt: skip

    delta: float

    @property
    def demanded(self) -> float:
        return self.delta

    @property
    def parts(self) -> frozenset[str]:
        return frozenset({"counts", "values"})

    def reached(self, of: Histogram, reference: Node) -> Node:
        from anondb.models.sql import once
        from anondb.sqltree.build import call

        prepared = once(call("anondb.disclosure_reference", reference.copy()))
        return call("anondb.class_delta", of.part("values"), of.part("counts"), reference, prepared)

    @classmethod
    def reached_by(cls, protected: Protected) -> Iterator[tuple[str, Node]]:
        from anondb.models.sql import ask

        yield cls.name, ask("anondb.delta_disclosure", protected.table, protected.quasi, protected.column)

    def holds(self, of: Histogram, reference: Node | None) -> Node:
        from anondb.models.sql import below

        assert reference is not None
        return below(self.reached(of, reference), self.delta)

    def failure(self, reached: float) -> str | None:
        if reached < self.delta:
            return None
        return f'a class has a disclosure of {reached:g} in "{self.column}", not below delta = {self.delta:g}'

    @classmethod
    def sentence(cls, reached: float, shown: str, column: str | None, variant: str | None) -> str:
        most = f"{exp(reached):.3g}"
        return (
            f"Every group has all values of {column}, each of them at most {most} times as frequent, "
            f"and at most {most} times as rare, as in the whole release."
        )
