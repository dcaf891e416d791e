"""What a run does for persons: forms of their columns, the scope of their pseudonyms, and what these give away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from anondb.errors import Problem
from anondb.policy.check import written
from anondb.policy.model import Column, Policy, Role
from anondb.run.kept import LinkedRows
from anondb.run.linked_sql import relation_text
from anondb.run.statement import Runner, Statement, row
from anondb.sqltree.released import Pseudonym, Shift
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
    return source


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
