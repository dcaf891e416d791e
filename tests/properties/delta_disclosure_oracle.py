"""δ-disclosure privacy on counts in memory, by Brickell and Shmatikov 2008, without a line of anondb's code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from random import Random
from typing import Any

from tests.properties.models_oracle import Compared, Counts


@dataclass(frozen=True)
class Disclosure(Compared):
    delta: float

    def fits(self, here: Counts, everywhere: Counts) -> bool:
        if set(here) != set(everywhere):
            return False
        ratios = [
            (here[value] / here.total()) / (everywhere[value] / everywhere.total()) for value in everywhere
        ]
        return all(abs(log(ratio)) < self.delta for ratio in ratios)

    def keys(self) -> dict[str, Any]:
        return {"delta": self.delta}


def drawn(dice: Random, columns: Sequence[int]) -> list[Disclosure]:
    return [
        Disclosure(column, dice.choice([0.25, 0.5, 1, 1.5, 2.5]))
        for column in dice.sample(list(columns), min(dice.choice([0, 0, 0, 1, 2]), len(columns)))
    ]
