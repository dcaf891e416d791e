"""Frequencies where a suppressed cell matches anything, as sdcMicro counts them (Templ, Kowarik, Meindl 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anondb.models.model import PrivacyModel


@dataclass(frozen=True)
class StarMatches(PrivacyModel):
    """Every record agrees with k records, itself among them, in all columns where neither has a star.

    This is not k-anonymity: records that match each other need not look alike, and two that match a third need not
    match each other.
    """

    name = "star_matches"
    title = "matches where * is anything (not k-anonymity)"
    sign = "k = "

    k: int

    @property
    def demanded(self) -> float:
        return self.k

    def failure(self, reached: float) -> str | None:
        if reached >= self.k:
            return None
        return f"a record matches {reached} records where a star is anything, fewer than k = {self.k}"

    def account(self, reached: int) -> dict[str, Any]:
        return {"kind": self.name, "demanded": self.k, "reached": reached}

    @classmethod
    def sentence(cls, reached: float, shown: str, column: str | None, variant: str | None) -> str:
        others = int(reached) - 1
        return (
            f"Every released record agrees with at least {others:,} other{'s' * (others != 1)} where neither has a *, "
            "which then counts as any value. This is not k-anonymity."
        )

    @classmethod
    def beside(cls, k: int) -> str:
        """What is said of k-anonymity beside it."""
        few = "some released records look like no other" if k < 2 else f"the smallest class has {k:,} records"
        return f"Where * is a value of its own, {few}: anondb.k_anonymity of the release is {k:,}."
