"""β-likeness on counts in memory, by the definitions of Cao and Karras 2012, without a line of anondb's code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from random import Random
from typing import Any

from tests.properties.models_oracle import Compared, Counts


@dataclass(frozen=True)
class Likeness(Compared):
    beta: Fraction
    kind: str

    def fits(self, here: Counts, everywhere: Counts) -> bool:
        for value in everywhere:
            p = Fraction(everywhere[value], everywhere.total())
            q = Fraction(here[value], here.total())
            if q > p and ((q - p) / p > self.beta or (self.kind == "enhanced" and (q - p) / p > -log(p))):
                return False
        return set(here) <= set(everywhere)

    def keys(self) -> dict[str, Any]:
        return {"beta": float(self.beta), "kind": self.kind}


def drawn(dice: Random, columns: Sequence[int]) -> list[Likeness]:
    options = [(column, kind) for column in columns for kind in ("basic", "enhanced")]
    betas = ("0.1", "0.25", "0.5", "1", "2", "5")
    return [
        Likeness(column, Fraction(dice.choice(betas)), kind)
        for column, kind in dice.sample(options, dice.choice([0, 0, 0, 1, 2]))
    ]
