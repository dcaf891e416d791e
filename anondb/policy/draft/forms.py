"""The hierarchy of each quasi-identifier: ranges that fit how its numbers are spread, units of time, masks of codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from anondb.policy.draft.codes import PREFIXES
from anondb.policy.draft.profile import ColumnProfile
from anondb.policy.draft.roles import Proposal
from anondb.policy.draft.words import tokens

Hierarchy = Mapping[str, object] | str | None
"""As a policy writes it."""

_AGES = [5, 10, 20, 40]
OLD = 89
"""Rules such as HIPAA's want ages above it told as one."""
MOST_OLD = 0.1  # where more are older, that would hide most of what there is
LONG_TAIL = 3
"""So many times as wide as the middle nine tenths is what lies beyond them, where it is better told as one."""
_CODED = ("postal code", "place", "coordinates", "time of event", "birth", "education")
"""Meanings of numbers that nobody computes with."""


def with_hierarchy(proposal: Proposal, *, levels: bool) -> Proposal:
    """A quasi-identifier with the hierarchy that fits it; `levels`: the method gives whole columns one."""
    column, meaning = proposal.column, proposal.meaning
    hierarchy, why = _form(column, meaning, levels=levels)
    cap = _cap(column, meaning, hierarchy)
    if cap is not None:
        why += f"; few are above {cap['above']}, and are told as one"
    release = "range" if _is_computed_with(column, meaning, hierarchy) else None
    if release is not None:
        why += "; as a range, whose ends are numbers"
    return replace(proposal, hierarchy=hierarchy, cap=cap, release=release, form=why)


def _form(column: ColumnProfile, meaning: str, *, levels: bool) -> tuple[Hierarchy, str]:
    if column.codes is not None:
        return f"builtin:{column.codes}", "all its values are codes of that classification"
    if meaning == "coordinates" and (column.type == "point" or (column.kind == "number" and column.spread)):
        return {"grid": _cells(column)}, "cells of a map"
    if column.kind == "number":
        return _ranges(column, meaning)
    if column.born_by is not None and (column.old or 0) <= MOST_OLD * column.filled:
        said = "the age on that day, never the date; take a later day once persons are born after it"
        return {"age_at": column.born_by.isoformat(), "widths": _AGES}, said
    if column.days:
        return {"dates": _units(column)}, "from days to years"
    if column.kind == "text" and column.distinct > 2:
        if column.is_code and (kept := _prefixes(column)):
            return {"code": kept}, "a code, whose beginnings say most"
        is_code = column.is_code or column.looks_like("postal code") > 0.9  # also with a blank in it
        if is_code and column.longest <= 12 and meaning in ("postal code", "place", ""):
            return {"mask": "right"}, "a code, of which the end is hidden first"
        if column.known is not None:
            return _built(column.known), "words that the ontology knows: classes by what they mean"
        if not levels:
            return None, "each class has the values that its records have"
    return {"mask": "all"}, "the value or nothing"


def _prefixes(column: ColumnProfile) -> list[int]:
    words = tokens(column.name)
    kept = next((kept for name, kept in PREFIXES.items() if re.search(name, words)), ())
    return [length for length in kept if length < column.longest]


def _cap(column: ColumnProfile, meaning: str, hierarchy: Hierarchy) -> Mapping[str, object] | None:
    """One open end for the few whose number is far beyond all others: ranges of their own would tell them."""
    if not isinstance(hierarchy, Mapping) or not ("widths" in hierarchy or "age_at" in hierarchy):
        return None
    if "age_at" in hierarchy or (meaning == "age" and column.is_whole and column.ages == column.filled):
        return {"above": OLD} if 0 < (column.old or 0) <= MOST_OLD * column.filled else None
    is_long = (column.tail or 0) > LONG_TAIL and column.filled >= 100 and not column.negative
    if meaning in (*_CODED, "age") or not is_long or not column.high:
        return None
    high = Decimal(repr(column.high))
    return {"above": _plain(high - 1 if column.is_whole and high >= 10 else high)}


def _is_computed_with(column: ColumnProfile, meaning: str, hierarchy: Hierarchy) -> bool:
    """Measurements and amounts are; ages and codes are read, and few values are a list."""
    is_ranged = isinstance(hierarchy, Mapping) and "widths" in hierarchy and "age_at" not in hierarchy
    measured = column.kind == "number" and column.distinct > 20 and not _is_numbered_code(column)
    return is_ranged and measured and meaning not in (*_CODED, "age")


def _cells(column: ColumnProfile) -> list[object]:
    """Three widths, the widest about a tenth of the map or more."""
    power = Decimal(1).scaleb(Decimal(repr(column.spread)).adjusted()) if column.spread else Decimal(1)
    return [_plain(power / 100), _plain(power / 10), _plain(power)]


def _built(ontology: str) -> dict[str, object]:
    return {"build": True} if ontology == "wordnet" else {"build": True, "ontology": ontology}


def _units(column: ColumnProfile) -> list[str]:
    days = column.spread or 0
    if days > 20 * 365:
        return ["month", "year", "decade"]
    return ["month", "quarter", "year"] if days > 180 else ["day", "month", "year"]


def _ranges(column: ColumnProfile, meaning: str) -> tuple[Hierarchy, str]:
    spread = column.spread or 0
    if column.distinct <= 2 or (spread == 0 and column.distinct <= 3):
        return {"mask": "all"}, "the value or nothing"
    if (meaning == "postal code" or _is_numbered_code(column)) and column.is_whole:
        digits = max(2, column.longest)
        return {"widths": [10**power for power in range(1, digits)]}, "a code, digit by digit"
    if meaning == "age" and spread > 20:
        return {"widths": _AGES}, "ranges of years that nest"
    reach = Decimal(repr(spread)) if spread else Decimal(column.distinct)
    widths = [_nice(reach / 12, whole=column.is_whole)]
    while widths[-1] < reach / 2 and len(widths) < 5:
        widths.append(widths[-1] * 2)
    return {"widths": [_plain(width) for width in widths]}, "ranges that fit how the values are spread"


def _is_numbered_code(column: ColumnProfile) -> bool:
    """Codes that were read as numbers: a digit less is the code above."""
    return (
        re.search(r"\b(isco\w*|naics\w*|isic\w*|kldb\w*|fips|ags|tract)\b", tokens(column.name)) is not None
    )


def _nice(width: Decimal, *, whole: bool) -> Decimal:
    """1, 2 or 5 times a power of ten, the next one up."""
    power = Decimal(1).scaleb(width.adjusted())
    nice = next(power * step for step in (1, 2, 5, 10) if power * step >= width)
    return max(Decimal(2), nice) if whole else nice


def _plain(width: Decimal) -> int | Decimal:
    return int(width) if width == width.to_integral_value() else width.normalize()
