"""A column that is released as it is and knows records apart: what is known of it, and how people are told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

_LOOKS = {"e-mail": "e-mail addresses", "phone": "phone numbers", "free text": "free text of many words"}


@dataclass(frozen=True)
class Kept:
    """Such a column, or one that the policy declares to be one."""

    column: str
    role: str
    verdict: (
        str  # "accepted" by keep = "identifying", "distinct" by nature, "refused" (seen in a trial alone)
    )
    share: float | None = None  # of distinct values among those that count
    reasons: tuple[str, ...] = ()  # unique, e-mail, phone, free text

    @property
    def identifies(self) -> bool:
        """Numbers and times of a sensitive column are mostly all different, and mostly nobody knows them."""
        return self.verdict != "distinct"

    @property
    def values(self) -> str:
        """What its values are."""
        looks = [_LOOKS[reason] for reason in self.reasons if reason in _LOOKS]
        phrases = [] if self.share is None else [f"are {_percent(self.share)} distinct"]
        phrases += [f"hold {' and '.join(looks)}"] if looks else []
        return " and ".join(phrases) or "are NULL, or shared by many"

    @property
    def sentence(self) -> str:
        """What a reader of the summary should know of it."""
        known = "whoever knows one of a person finds the record, whatever its class"
        match self.verdict:
            case "accepted":
                return (
                    f'"{self.column}" is kept although it may identify, as the policy says: its values {self.values}; '
                    f"{known}."
                )
            case "distinct":
                return f'The values of the sensitive column "{self.column}" {self.values}: {known}.'
        return f'A run would refuse to release "{self.column}" as it is: its values {self.values}.'

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"reasons": list(self.reasons)}


@dataclass(frozen=True)
class LinkedRows:
    """What is known of persons by a pseudonym that links their rows."""

    column: str
    persons: int
    several: int  # persons with more than one row
    most: int  # rows of a person
    rare: int  # persons whose rows, taken together, are those of fewer than k

    @property
    def sentence(self) -> str:
        """What a reader of the summary should know of it."""
        if self.several == 0:
            return f'"{self.column}" is a pseudonym: nobody has more than one row, so that it links none.'
        told = (
            f"{self.rare:,} of them have rows that, taken together, fewer than k persons have: whoever knows that many "
            "of a person's rows finds the person"
            if self.rare
            else "of each, at least k persons have the same rows"
        )
        return (
            f'"{self.column}" is a pseudonym, and links the rows of {self.several:,} of {self.persons:,} persons, up '
            f"to {self.most:,} each; {told}."
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def _percent(share: float) -> str:
    """Never 100% of what is not all."""
    return "100%" if share == 1 else f"{min(share, 0.999):.1%}".replace(".0%", "%")
