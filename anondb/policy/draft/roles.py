"""Which role each column gets, and why: by what its values look like, what its name means, how its values repeat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from anondb.policy.draft.patterns import patterns
from anondb.policy.draft.profile import ColumnProfile, TableProfile
from anondb.policy.draft.words import Meaning, is_of_a_person, meaning_of, meanings_of, tokens
from anondb.policy.model import Role

FEW = 20
"""So many values or fewer are a list that everybody may know of."""
NATURAL = ("number", "date", "time")  # measurements are all different by nature: see docs/policy.md
_OF_ONE = {"number", "person number", "e-mail", "phone", "account", "network", "street"}
"""Meanings of which everybody has a value of their own; a list is something else about them."""
_OF_A_COMPANY = r"company|employer|firma|arbeitgeber|location|address|destination|dest"
_SPEAK_OF_HEALTH = {"health", "outcome", "medical number"}


@dataclass(frozen=True)
class Proposal:
    """What a column is taken for."""

    column: ColumnProfile
    role: Role
    why: str
    meaning: str = ""  # of its name, if that says something
    decide: str | None = None  # what a person should decide
    hierarchy: Mapping[str, object] | str | None = None
    cap: Mapping[str, object] | None = None
    release: str | None = None  # the form in which it is released
    form: str = ""  # why this hierarchy

    @property
    def name(self) -> str:
        return self.column.name


def propose(table: TableProfile) -> list[Proposal]:
    """A role for every column. In doubt a column is an identifier, and so left out."""
    meanings = {column.name: meaning_of(column.name, column.kind) for column in table.columns}
    medical = sum(m is not None and m.name in _SPEAK_OF_HEALTH for m in meanings.values()) > 1
    answers = sum(m is not None and m.name == "answer" for m in meanings.values()) > 2
    proposals = [
        _identified(column) or _named(table, column) or _coded(column) or _unnamed(table, column)
        for column in table.columns
    ]
    if medical or answers:
        proposals = [_about_the_person(proposal, medical=medical) for proposal in proposals]
    return [_releasable(proposal) for proposal in proposals]


def _identified(column: ColumnProfile) -> Proposal | None:
    """What values show that no name has to tell."""
    for pattern in patterns():
        share = column.looks_like(pattern.name)
        if pattern.least is not None and share >= pattern.least and column.distinct > 2:
            return _identifier(column, f"{share:.0%} of its values are {pattern.says}", pattern.name)
    if _is_running_number(column):
        return _identifier(column, "numbers in a row, one for each record", "number")
    if "phone" in column.identifying and not _is_postal_code(column):
        return _identifier(column, "most of its values are phone numbers", "phone")
    if "free text" in column.identifying:
        return _identifier(column, "free text of many words, which can say anything", "free text")
    if column.references is not None and is_of_a_person(column.references):
        return _identifier(column, f"the key of a person in {column.references}", "person number")
    if column.kind == "address":
        return _identifier(column, f"a {column.type} stands for one person or device")
    return None


def _named(table: TableProfile, column: ColumnProfile) -> Proposal | None:
    """What the name of a column says of it: of all that it may mean, the first that its values do not contradict."""
    named = meanings_of(column.name, column.kind)
    meaning = next((one for one in named if not _contradicts(column, one)), None)
    if column.type == "point":
        return Proposal(column, Role.QUASI, "where on the map", "coordinates")
    if column.days and (meaning is None or meaning.name not in ("birth", "technical")):
        what = "when something happened to the person: who knows of it finds the record"
        return Proposal(column, Role.QUASI, what, "time of event")
    if meaning is None:
        return None
    says, few = meaning.says, column.distinct <= 2 and column.filled >= FEW
    match meaning.role:
        case Role.IDENTIFIER if few or column.kind == "flag":
            return None  # whether somebody has a phone is no phone number
        case Role.IDENTIFIER if meaning.name in _OF_ONE and _is_list(column):
            return None  # nor is the kind of an admission, or of a contract
        case Role.IDENTIFIER:
            told = column.unique or column.share > 0.5 or not column.filled
            decide = None if told else "is it a list that does not tell persons apart?"
            return Proposal(column, Role.IDENTIFIER, says, meaning.name, decide)
        case Role.QUASI if (
            column.kind == "text" and _is_alone(column) and not _is_told_by_many(column, meaning)
        ):
            why = f"{says}, but nearly every record has its own text"
            return _identifier(column, why, meaning.name, "could it be generalized?")
        case Role.SENSITIVE if "unique" in column.identifying and _should_repeat(column, meaning):
            return _identifier(
                column, f"{says}, but its values tell records apart", meaning.name, "is it a code?"
            )
        case Role.QUASI:
            return Proposal(column, Role.QUASI, says, meaning.name)
        case Role.SENSITIVE:
            return Proposal(column, Role.SENSITIVE, says, meaning.name)
    return Proposal(column, meaning.role, says, meaning.name)


def _coded(column: ColumnProfile) -> Proposal | None:
    """Values that a classification lists: of places and work others know, of health and drugs they do not."""
    if column.codes is None:
        return None
    what = f"codes of {column.codes}"
    if column.codes in ("atc", "icd10", "icd10cm"):
        return Proposal(column, Role.SENSITIVE, what, "health")
    meaning = "occupation" if column.codes in ("isco08", "nace", "nace21") else "place"
    return Proposal(column, Role.QUASI, what, meaning)


def _contradicts(column: ColumnProfile, meaning: Meaning) -> bool:
    """Weights of a survey are no weights of persons, and a few small numbers no postal codes."""
    if meaning.name == "body":
        return column.kind == "number" and (column.spread or 0) > 500
    if meaning.name == "other person":  # how often somebody saw a doctor, how tall a father is
        return column.kind == "number" and (not column.is_whole or column.distinct <= FEW or _is_list(column))
    if meaning.name == "coordinates":
        return column.kind == "number" and (column.spread or 0) > 360
    return meaning.name == "postal code" and column.kind == "number" and 0 < column.distinct <= FEW


def _is_running_number(column: ColumnProfile) -> bool:
    """Whole numbers with hardly a gap between them, of which every record has its own, are counted and not measured."""
    is_own = column.is_whole and column.distinct == column.filled >= FEW
    return is_own and 0 < (column.spread or 0) <= column.distinct


def _is_postal_code(column: ColumnProfile) -> bool:
    named = meaning_of(column.name, column.kind)
    return named is not None and named.name == "postal code" and column.looks_like("postal code") > 0.9


def _is_told_by_many(column: ColumnProfile, meaning: Meaning) -> bool:
    """Places and occupations have many short names, each of which is that of many persons outside of the table."""
    is_short = column.longest <= 80 and not re.search(_OF_A_COMPANY, tokens(column.name))
    return meaning.name == "postal code" or (meaning.name in ("place", "occupation") and is_short)


def _should_repeat(column: ColumnProfile, meaning: Meaning) -> bool:
    """Texts, and whole numbers but those of money and findings, do not tell records apart by nature."""
    measured = meaning.name in ("health", "money", "outcome", "performance")
    return column.kind == "text" or (column.is_whole and (column.unique or not measured))


def _unnamed(table: TableProfile, column: ColumnProfile) -> Proposal:
    """Where the name says nothing, how the values repeat decides."""
    doubt = "what is it? nothing is known of it, so it is left out"
    if not column.filled:
        return _identifier(column, "it has no values yet, and its name does not say what it is", decide=doubt)
    if column.kind == "text" and column.names >= 0.6 and column.distinct >= 10:
        return _identifier(column, f"{column.names:.0%} of its values are names of persons", "name")
    if column.unique:
        return _identifier(column, "every record has a value of its own, as the catalogue says")
    if column.distinct == 1:
        return Proposal(column, Role.OTHER, "the same in all records that have it")
    kept = "may it be released as it is? if others know it of a person, it is quasi"
    if column.kind == "number" and not column.is_whole and column.distinct > FEW:
        return Proposal(column, Role.SENSITIVE, "a measurement", decide=kept)
    if "unique" in column.identifying or _is_alone(column):
        return _identifier(column, f"{_values(column)}, which tells records apart", decide=doubt)
    if column.looks_like("icd") > 0.9 and column.looks_like("dotted icd") > 0.3:
        return Proposal(column, Role.SENSITIVE, "ICD-10 codes", "health")
    if column.kind == "text" and column.looks_like("coordinates", "day") > 0.9:
        return Proposal(column, Role.QUASI, "days or places, written as texts", "place")
    if column.distinct <= FEW or _is_list(column) or column.kind in ("number", "flag"):
        return Proposal(column, Role.OTHER, f"{_values(column)}, which many records share", decide=kept)
    return _identifier(column, f"{_values(column)}, and nothing says what they are", decide=doubt)


def _about_the_person(proposal: Proposal, *, medical: bool) -> Proposal:
    """Beside diagnoses and answers, what is left is of the same kind."""
    if proposal.role is Role.OTHER and not proposal.meaning and proposal.column.distinct > 1:
        what = "findings of a medical table" if medical else "answers of a survey"
        return replace(proposal, role=Role.SENSITIVE, why=f"{proposal.why}; among {what}")
    return proposal


def _releasable(proposal: Proposal) -> Proposal:
    """Nothing is kept that a run would refuse to release as it is."""
    column = proposal.column
    if proposal.role not in (Role.SENSITIVE, Role.OTHER) or not column.identifying:
        return proposal
    if column.kind in NATURAL and not column.is_whole and proposal.role is Role.OTHER:
        return replace(proposal, role=Role.SENSITIVE)
    if column.kind in NATURAL and proposal.role is Role.SENSITIVE:
        return proposal
    why = f"{proposal.why}, but {_values(column)}: it tells records apart"
    return _identifier(column, why, proposal.meaning, "could it be generalized?")


def unit_of(table: TableProfile, proposals: Iterable[Proposal]) -> tuple[Proposal, float] | None:
    """The column that names the person where persons have several records, and how many each has."""
    found: list[tuple[int, int, Proposal]] = []
    for proposal in proposals:
        column = proposal.column
        if proposal.role is not Role.IDENTIFIER or column.unique or column.distinct >= column.filled:
            continue
        named = proposal.meaning in ("person number", "national number", "medical number", "number", "")
        if named and is_of_a_person(column.references or column.name) and column.distinct >= 10:
            found.append((column.references is None, -column.distinct, proposal))
    if not found:
        return None
    _, _, best = min(found, key=lambda one: (one[0], one[1], one[2].name))
    # in a sample most persons are met once, so that their number is not known
    return best, best.column.filled / best.column.distinct


def _identifier(column: ColumnProfile, why: str, meaning: str = "", decide: str | None = None) -> Proposal:
    return Proposal(column, Role.IDENTIFIER, why, meaning, decide)


def _is_list(column: ColumnProfile) -> bool:
    """Few values for many records: codes of a list, and not numbers of persons."""
    return 0 < column.distinct <= 50 and column.share <= 0.05


def _is_alone(column: ColumnProfile) -> bool:
    """Most records are alone with their value."""
    return column.distinct > FEW and column.alone > column.filled / 2 and column.kind != "date"


def _values(column: ColumnProfile) -> str:
    return f"{column.distinct:,} values in {column.filled:,} records"
