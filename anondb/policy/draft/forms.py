"""The hierarchy of each quasi-identifier: ranges that fit how its numbers are spread, units of time, masks of codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from anondb.policy.draft.profile import ColumnProfile
from anondb.policy.draft.roles import Proposal

Form = tuple[Mapping[str, object] | None, str]
"""A hierarchy as a policy writes it, and why it is this one."""

_AGES = [5, 10, 20, 40]


def with_hierarchy(proposal: Proposal, *, levels: bool) -> Proposal:
    """A quasi-identifier with the hierarchy that fits it; `levels`: the method gives whole columns one."""
    hierarchy, why = _form(proposal.column, proposal.meaning, levels=levels)
    return replace(proposal, hierarchy=hierarchy, form=why)


def _form(column: ColumnProfile, meaning: str, *, levels: bool) -> Form:
    if column.kind == "number":
        return _ranges(column, meaning)
    if column.days:
        return {"dates": _units(column)}, "from days to years"
    if column.kind == "text" and column.distinct > 2:
        if column.is_code and column.longest <= 12 and meaning in ("postal code", "place", ""):
            return {"mask": "right"}, "a code, of which the end is hidden first"
        if column.known is not None:
            return _built(column.known), "words that the ontology knows: classes by what they mean"
        if not levels:
            return None, "each class has the values that its records have"
    return {"mask": "all"}, "the value or nothing"


def _built(ontology: str) -> dict[str, object]:
    return {"build": True} if ontology == "wordnet" else {"build": True, "ontology": ontology}


def _units(column: ColumnProfile) -> list[str]:
    days = column.spread or 0
    if days > 20 * 365:
        return ["month", "year", "decade"]
    return ["month", "quarter", "year"] if days > 180 else ["day", "month", "year"]


def _ranges(column: ColumnProfile, meaning: str) -> Form:
    spread = column.spread or 0
    if column.distinct <= 2 or (spread == 0 and column.distinct <= 3):
        return {"mask": "all"}, "the value or nothing"
    if meaning == "postal code" and column.is_whole:
        digits = max(2, column.longest)
        return {"widths": [10**power for power in range(1, digits)]}, "a code, digit by digit"
    if meaning == "age" and spread > 20:
        return {"widths": _AGES}, "ranges of years that nest"
    reach = Decimal(repr(spread)) if spread else Decimal(column.distinct)
    widths = [_nice(reach / 12, whole=column.is_whole)]
    while widths[-1] < reach / 2 and len(widths) < 5:
        widths.append(widths[-1] * 2)
    return {"widths": [_plain(width) for width in widths]}, "ranges that fit how the values are spread"


def _nice(width: Decimal, *, whole: bool) -> Decimal:
    """1, 2 or 5 times a power of ten, the next one up."""
    power = Decimal(1).scaleb(width.adjusted())
    nice = next(power * step for step in (1, 2, 5, 10) if power * step >= width)
    return max(Decimal(2), nice) if whole else nice


def _plain(width: Decimal) -> int | Decimal:
    return int(width) if width == width.to_integral_value() else width.normalize()
