"""Ontologies that a policy names: whoever compiles it says which are not there, before anything is read."""

from __future__ import annotations

from anondb.methods.meanings import unknown_ontologies
from anondb.policy.load import parse

TEXT = """
    source = "visits"
    target = "share"
    [privacy]
    k = 2
    [method]
    algorithm = "{algorithm}"
    [columns]
    id = {{ role = "identifier" }}
    reason = {{ role = "quasi", {reason} }}
"""


def problems(algorithm: str, reason: str, *known: str) -> list[tuple[str, str, str | None]]:
    policy = parse(TEXT.format(algorithm=algorithm, reason=reason))
    return [(p.place, p.message, p.hint) for p in unknown_ontologies(policy, known)]


def test_an_ontology_that_is_not_loaded_is_named_with_its_column() -> None:
    [(place, message, hint)] = problems("fusion", 'ontology = "leisur"', "leisure")
    assert place.endswith("[columns.reason]")
    assert message == 'there is no ontology "leisur"'
    assert hint == 'did you mean "leisure"?'
    assert problems("fusion", 'ontology = "leisure"', "leisure") == []


def test_sets_mean_wordnet_unless_the_policy_says_otherwise() -> None:
    [(_, message, hint)] = problems("mdav", "set = true", "leisure")
    assert message == 'there is no ontology "wordnet"'
    assert hint == "load it first: anondb ontology load wordnet"
    assert problems("mdav", "set = true", "wordnet") == []


def test_a_column_without_an_ontology_needs_none() -> None:
    assert problems("fusion", 'hierarchy = "leisure"') == []
