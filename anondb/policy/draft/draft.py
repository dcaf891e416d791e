"""A policy for a table that nobody has described: roles, hierarchies, models, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import count
from typing import Any

from anondb.errors import UsageError
from anondb.methods.registry import DRAFTED, METHODS
from anondb.policy.draft import text
from anondb.policy.draft.forms import with_hierarchy
from anondb.policy.draft.profile import ColumnSet, TableProfile
from anondb.policy.draft.roles import Proposal, propose, unit_of
from anondb.policy.load import parse
from anondb.policy.model import Name, Role

LARGEST_LATTICE = 200_000
"""Nodes: of larger lattices the best one takes too long for a first release."""
_MAIN = ("health", "politics", "religion", "money", "justice", "outcome", "performance", "answer", "")

ToldApart = Callable[[Sequence[str]], ColumnSet]
"""Asks the database what a set of columns tells."""


@dataclass(frozen=True)
class Diversity:
    """That a sensitive column is to have several values in each class."""

    column: str
    l: int  # noqa: E741 - as policies call it


@dataclass(frozen=True)
class Draft:
    """A drafted policy: its `text` is TOML and runs as it is; `as_json` has the same for machines."""

    table: TableProfile
    target: Name
    k: int
    method: Mapping[str, object]  # what [method] says
    proposals: tuple[Proposal, ...]
    unit: str | None = None
    each: float = 1.0  # records of a person, on average, among those looked at
    diversity: tuple[Diversity, ...] = ()
    sets: tuple[ColumnSet, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def text(self) -> str:
        return text.write(self)

    @property
    def algorithm(self) -> str:
        return str(self.method["algorithm"])

    @property
    def method_reason(self) -> str:
        return METHODS[self.algorithm].title

    @property
    def has_levels(self) -> bool:
        """The method gives whole columns one level; then few records that stand alone would raise all others."""
        return METHODS[self.algorithm].explorer() is not None

    def named(self, role: Role) -> list[Proposal]:
        return [proposal for proposal in self.proposals if proposal.role is role]

    def as_json(self) -> dict[str, Any]:
        return {
            "source": str(self.table.source),
            "target": str(self.target),
            "records": self.table.records,
            "looked_at": self.table.looked_at,
            "k": self.k,
            "method": dict(self.method),
            "unit": self.unit,
            "l_diversity": [{"column": one.column, "l": one.l} for one in self.diversity],
            "columns": [
                {
                    "name": one.name,
                    "role": str(one.role),
                    "why": one.why,
                    "decide": one.decide,
                    "hierarchy": _for_json(one.hierarchy),
                    "cap": _for_json(one.cap),
                    "release": one.release,
                }
                for one in self.proposals
            ],
            "sets": [
                {"columns": list(one.columns), "alone": one.alone, "separation": one.separation}
                for one in self.sets
            ],
            "notes": list(self.notes),
            "policy": self.text,
        }


def _for_json(value: object) -> object:
    """A hierarchy whose widths are no whole numbers has them as decimals, which JSON does not."""
    match value:
        case Mapping():
            return {key: _for_json(inner) for key, inner in value.items()}
        case list():
            return [_for_json(inner) for inner in value]
        case Decimal():
            return float(value)
    return value


def draft(table: TableProfile, told_apart: ToldApart, *, k: int = 5, target: Name | None = None) -> Draft:
    """The policy of a table, by its profile."""
    if k < 2:
        raise UsageError("k is a whole number from 2", hint="5 is a common choice: --k 5")
    proposals = propose(table)
    notes: list[str] = []
    if not any(proposal.role is Role.QUASI for proposal in proposals):
        proposals = _with_some_quasi(table, proposals)
        notes.append("no column is known to be a quasi-identifier: those that others may know were taken")
    unit = unit_of(table, proposals)
    made = Draft(
        table,
        target or Name(table.source.schema, f"{table.source.table[:54]}_release"),
        k,
        DRAFTED[0],
        tuple(proposals),
        None if unit is None else unit[0].name,
        1.0 if unit is None else unit[1],
        sets=tuple(_sets([one.name for one in proposals if one.role is Role.QUASI], told_apart)),
        notes=tuple(notes),
    )
    return _with_method(replace(made, diversity=_diversity(proposals, made.unit)))


def _with_some_quasi(table: TableProfile, proposals: list[Proposal]) -> list[Proposal]:
    """Where no name tells, the values that records share are what others could know."""
    shared = [one for one in proposals if one.role is Role.OTHER and one.column.distinct > 1]
    shared = (
        shared or [one for one in proposals if one.role is Role.SENSITIVE and one.column.kind == "number"][:3]
    )
    if not shared:
        what = (
            "every column tells persons apart"
            if table.records
            else "it has no records, and no name says enough"
        )
        raise UsageError(
            f"no column of {table.source} could be released, generalized or not: {what}",
            hint="make a view of the table with columns that people share, as age and place, and draft that",
        )
    chosen = {one.name for one in sorted(shared, key=lambda one: one.column.distinct)[:4]}
    return [
        replace(
            one,
            role=Role.QUASI,
            why=f"{one.why}: others may know it",
            decide="do others know it of a person?",
        )
        if one.name in chosen
        else one
        for one in proposals
    ]


def _sets(names: Sequence[str], told_apart: ToldApart) -> list[ColumnSet]:
    """Sets of one, two, three … quasi-identifiers that tell most records apart, each the best of its size that
    starts with the one before; and all of them."""
    found: list[ColumnSet] = []
    chosen: tuple[str, ...] = ()
    for _ in range(min(3, len(names))):
        tried = [told_apart((*chosen, name)) for name in names[:25] if name not in chosen]
        best = max(tried, key=lambda one: (one.alone, one.separation))
        chosen = best.columns
        found.append(best)
    if len(names) > len(chosen):
        found.append(told_apart(tuple(names)))
    return found


def _diversity(proposals: Sequence[Proposal], unit: str | None) -> tuple[Diversity, ...]:
    """For the sensitive column that matters most, if it has values enough for classes to differ in."""
    able = [
        one
        for one in proposals
        if one.role is Role.SENSITIVE
        and one.column.distinct >= 3
        and one.column.most_frequent <= 0.7 * max(one.column.filled, 1)
    ]
    # classes differ anyway in a measurement, of which every record has its own
    able.sort(
        key=lambda one: (
            one.column.kind == "number" and one.column.distinct > 50,
            _MAIN.index(one.meaning) if one.meaning in _MAIN else len(_MAIN),
        )
    )
    found = []
    for one in able[:1]:
        varied = one.column.distinct >= 6 and one.column.most_frequent <= 0.4 * one.column.filled
        found.append(Diversity(one.name, 3 if varied else 2))
    return tuple(found)


def _with_method(made: Draft) -> Draft:
    """The first method that can do it: that counts persons, if there are, and whose lattice is not too large."""
    for number in count():
        method = METHODS[str(DRAFTED[number]["algorithm"])]
        levels = method.explorer() is not None
        proposals = tuple(
            with_hierarchy(one, levels=levels) if one.role is Role.QUASI else one for one in made.proposals
        )
        tried = replace(made, method=DRAFTED[number], proposals=proposals)
        if number + 1 == len(DRAFTED):
            return tried
        policy = parse(tried.text, place="the draft")
        counts = made.unit is None or method.refused_unit(policy) is None
        if counts and (not levels or _nodes(proposals) <= LARGEST_LATTICE):
            return tried
    raise AssertionError


def _nodes(proposals: Sequence[Proposal]) -> int:
    nodes = 1
    for one in proposals:
        if one.hierarchy is not None:
            nodes *= _height(one.hierarchy, one.column.longest) + 1
    return nodes


def _height(hierarchy: Mapping[str, object] | str, longest: int) -> int:
    match hierarchy:
        case {"age_at": _, "widths": list(steps)}:
            return len(steps) + 2
        case {"widths": list(steps)} | {"dates": list(steps)} | {"code": list(steps)} | {"grid": list(steps)}:
            return len(steps) + 1
        case str():
            return 5
        case {"mask": "right"}:
            return longest
        case {"build": True}:
            return 6
    return 1
