"""k-anonymity (Samarati 2001): every class has at least k records, or persons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anondb.models.model import PrivacyModel

MEANING = "meaning"
"""The variant of a release whose records have the same meaning, in words of their own."""


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    name = "k_anonymity"
    title = "k-anonymity"
    sign = "k = "

    k: int
    unit: str | None = None  # the column that names the person, where persons are counted

    @property
    def demanded(self) -> float:
        return self.k

    @property
    def variant(self) -> str | None:
        return None if self.unit is None else "persons"

    def failure(self, reached: float) -> str | None:
        whom = "records" if self.unit is None else "persons"
        return (
            f"the smallest class has {reached} {whom}, fewer than k = {self.k}" if reached < self.k else None
        )

    def account(self, reached: int) -> dict[str, Any]:
        persons = {} if self.unit is None else {"column": self.unit, "variant": self.variant}
        return {"kind": self.name, "demanded": self.k, "reached": reached, **persons}

    @classmethod
    def sentence(cls, reached: float, shown: str, column: str | None, variant: str | None) -> str:
        others = int(reached) - 1
        if variant == MEANING:
            several = "s" * (others != 1)
            return f"Every released record means the same as at least {others:,} other{several}; words may differ."
        whom = "other person" if variant == "persons" else "other"
        return f"Every released record looks like at least {others:,} {whom}{'s' * (others != 1)}."
