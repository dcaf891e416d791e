"""What a run does for persons: forms of their columns, the scope of their pseudonyms, and what these give away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from anondb.errors import Problem
from anondb.policy.check import written
from anondb.policy.model import Column, Policy, Role
from anondb.policy.names import quoted
from anondb.run.kept import LinkedRows
from anondb.run.linked_sql import relation_text
from anondb.run.statement import Runner, Statement, row
from anondb.sqltree.released import Noise, Pseudonym, Rounded, Shift, Shuffled
from anondb.sqltree.tables import DATE_TYPES, Relation, SourceColumn

if TYPE_CHECKING:
    from anondb.run.engine import Engine
    from anondb.run.plan import Plan

_CLAIM = "select anondb.claim_scope($1, $2::text[])"
_LINKED = """
select l.persons, l.several, l.most, l.rare
from anondb.linked_rows($1::text::regclass, $2::name, $3::name[], $4) as l
"""


def in_form(column: Column, source: SourceColumn, there: Mapping[str, SourceColumn]) -> SourceColumn:
    """A column of the source with the form that it is released in."""
    if column.role is Role.PSEUDONYM:
        return replace(source, form=Pseudonym(column.type))
    if column.shift is not None:
        return replace(source, form=Shift(there[column.shift.by], column.shift.days))
    if column.noise is not None:
        return replace(source, form=Noise(str(column.noise), list(there).index(column.name) + 1))
    if column.round is not None:
        return replace(source, form=Rounded(str(column.round)))
    return replace(source, form=Shuffled()) if column.shuffle else source


def misfits(policy: Policy, column: Column, there: Mapping[str, SourceColumn]) -> Iterator[Problem]:
    """Types that no pseudonym can be made of, or that do not move by days."""
    place, source = f"{policy.place} [columns.{written(column.name)}]", there[column.name]
    by = None if column.shift is None else there.get(column.shift.by)
    named = source if column.role is Role.PSEUDONYM else by
    if named is not None and not named.has_one_text:
        yield Problem(
            place,
            f'"{named.name}" is {named.type}, of which equal values can have several texts, and persons are '
            "known by one",
            "cast it in a view of the source: to text, to a whole number or to uuid",
        )
    if column.shift is not None and source.base not in DATE_TYPES:
        yield Problem(
            place,
            f'"{column.name}" is {source.type}, and only dates and timestamps move by days',
            "leave shift out, or cast it to a date in a view of the source",
        )

    yield from _unchangeable(place, column, source)


def _unchangeable(place: str, column: Column, source: SourceColumn) -> Iterator[Problem]:
    """Types that have no noise, or nothing to be rounded to."""
    name, step = quoted(column.name), column.round
    if column.noise is not None and not source.is_number:
        hint = "dates move by shift, and are rounded" if source.is_date else "texts are exchanged by shuffle"
        yield Problem(
            place, f"{name} is {source.type}, and only numbers get noise", f"leave noise out: {hint}"
        )
    if isinstance(step, str) and not source.is_date:
        hint = "numbers are rounded to a number: round = 100" if source.is_number else "leave round out"
        yield Problem(place, f"{name} is {source.type}, and only dates are rounded to a {step}", hint)
    elif isinstance(step, str) and source.base == "date" and step in ("hour", "day"):
        hint = 'round it to more: round = "month"'
        yield Problem(place, f"{name} is a date, which rounding to a {step} would leave as it is", hint)
    elif isinstance(step, Decimal) and not source.is_number:
        hint = 'dates are rounded to a unit: round = "month"' if source.is_date else "leave round out"
        yield Problem(place, f"{name} is {source.type}, and only numbers are rounded to multiples", hint)
    elif isinstance(step, Decimal) and source.is_whole and (step != int(step) or step == 1):
        hint = "round it to a whole number of at least 2: round = 10"
        yield Problem(
            place,
            f"{name} is {source.type}, and its multiples of {step} are no fewer or no whole numbers",
            hint,
        )


def claim_scope(db: Runner, plan: Plan) -> None:
    """Notes that the release has pseudonyms of its scope; raises where others have them."""
    if plan.scope is not None:
        targets = [relation_text(place.relation) for place in plan.places]
        db.run(
            Statement(
                "claim scope",
                _CLAIM,
                (plan.scope, targets),
                note="of the pseudonyms: no release of another policy has it",
            )
        )


def linked_rows(
    engine: Engine,
    plan: Plan,
    tables: Iterable[tuple[Relation, Sequence[SourceColumn]]],
    classes: Sequence[str],
) -> tuple[LinkedRows, ...]:
    """Of each pseudonym of a release, counted from its rows, whose classes are told apart by these columns."""
    found: list[LinkedRows] = []
    if plan.linked is not None:
        return ()  # the guarantee is of what pseudonyms link
    for relation, columns in tables:
        for column in columns:
            if isinstance(column.form, Pseudonym):
                arguments = (relation_text(relation), column.name, list(classes), plan.policy.privacy.k)
                answers = row(persons=1, several=0, most=1, rare=0)
                [counted] = engine.ask_release("linked rows", _LINKED, answers, arguments)
                found.append(LinkedRows(column.name, *counted))
    return tuple(found)
