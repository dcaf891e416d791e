"""Policies of algorithms that compare values by their meaning: ontology, measure, variant, seed."""

from __future__ import annotations

import pytest

from anondb.errors import PolicyError
from anondb.methods.fusion.fusion import VARIANTS
from anondb.ontology.measures import MEASURES
from anondb.policy.load import parse
from tests.unit.admissions import policy, problem

STORED = 'hierarchy = "occupation"'


def fusion(lines: str = "") -> tuple[str, str]:
    return 'algorithm = "datafly"', f'algorithm = "fusion"\n{lines}'


def test_a_fusion_is_the_published_one_unless_the_policy_says_more() -> None:
    method = parse(policy(fusion())).method
    assert (method.variant, method.measure, method.seed) == ("semantic", None, 0)
    assert (method.heuristic, method.objective) == (None, None)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("measure", MEASURES)
def test_every_variant_and_measure_can_be_said(variant: str, measure: str) -> None:
    said = f'variant = "{variant}"\nmeasure = "{measure}"\nseed = -7'
    method = parse(policy(fusion(said))).method
    assert (method.variant, method.measure, method.seed) == (variant, measure, -7)


def test_a_quasi_identifier_can_have_an_ontology() -> None:
    read = parse(policy(fusion(), (STORED, 'ontology = "wordnet"')))
    assert [column.ontology for column in read.quasi] == [(), (), ("wordnet",)]
    read = parse(policy(fusion(), (STORED, 'ontology = ["snomed", "wordnet"]')))
    assert [column.ontology for column in read.quasi] == [(), (), ("snomed", "wordnet")]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("[]", "is an empty list"),
        ('["wordnet", "wordnet"]', "twice"),
        ('["wordnet", 3]', "must be a text"),
        ("3", "must be a text"),
    ],
)
def test_ontologies_are_names_each_said_once(said: str, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        parse(policy(fusion(), (STORED, f"ontology = {said}")))


CELLS = ("suppression = 0.02", 'suppression = 0.02\nsuppress = "cells"')


def test_weights_say_which_cells_are_suppressed_last() -> None:
    for method in ('"datafly"', '"optimal"\nobjective = "classes"'):
        read = parse(policy(('"datafly"', f"{method}\nweights = {{ zip = 2 }}"), CELLS))
        assert (read.privacy.suppress, read.method.weights) == ("cells", {"zip": 2.0})
    refused = problem(('"datafly"', '"datafly"\nweights = { diagnosis = 2 }'), CELLS)
    assert "only quasi-identifiers are generalized" in refused.message


@pytest.mark.parametrize(
    "model",
    [
        't_closeness = { column = "diagnosis", t = 0.2 }',
        'beta_likeness = { column = "diagnosis", beta = 1 }',
        'delta_disclosure = { column = "diagnosis", delta = 2 }',
    ],
)
def test_single_cells_are_not_suppressed_under_models_that_compare_with_the_release(model: str) -> None:
    found = problem((CELLS[0], f"{CELLS[1]}\n{model}"))
    assert "which each suppressed cell may change" in found.message
    assert found.hint


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([fusion('variant = "h3"')], "variant must be one of semantic, h1_h2, h1, none"),
        ([fusion('measure = "wap"')], "measure must be one of wup"),
        ([fusion('seed = "x"')], "seed must be a whole number"),
        ([fusion("seed = true")], "seed must be a whole number"),
        ([fusion(f"seed = {2**63}")], "seed must be a whole number"),
        ([fusion("strict = true")], "fusion does not"),
        ([fusion('heuristic = "distinct"')], "fusion has no heuristics"),
        ([fusion('objective = "loss"')], "fusion has no objectives"),
        ([fusion(), (STORED, 'ontology = "wordnet", max_level = 1')], "fusion gives it none"),
        ([fusion(), (STORED, f'{STORED}, ontology = "wordnet"')], "an ontology and a hierarchy"),
        ([fusion(), ('"sensitive" }', '"sensitive", ontology = "wordnet" }')], "only quasi-identifiers"),
        ([(STORED, f'{STORED}, ontology = "wordnet"')], "an ontology and a hierarchy"),
        ([('"datafly"', '"datafly"\nseed = 1')], "datafly draws nothing at random"),
        ([('"datafly"', '"datafly"\nvariant = "none"')], "datafly has no variants"),
        ([('"datafly"', '"datafly"\nmeasure = "wup"')], "datafly does not compare values"),
        ([('"datafly"', '"datafly"\nsplit = "loss"')], "datafly does not partition the records"),
        ([('"datafly"', '"datafly"\nweights = { zip = 2 }')], "datafly has no objectives"),
        ([('"datafly"', '"mondrian"'), CELLS], "mondrian makes classes of all records"),
        ([('"datafly"', '"mondrian"\nsplit = "depth"')], "split must be one of width, loss"),
        (
            [('"datafly"', '"mondrian"\nsplit = "loss"\nstrict = false')],
            "never parts the records of one value",
        ),
        (
            [('"datafly"', '"mondrian"'), (STORED, 'ontology = "wordnet"')],
            "mondrian does not read the ontology",
        ),
    ],
)
def test_what_an_algorithm_cannot_use_is_refused(changes: list[tuple[str, str]], message: str) -> None:
    found = problem(*changes)
    assert message in found.message


def test_its_classes_can_be_held_to_models() -> None:
    asked = parse(policy(fusion(), ("k = 5", 'k = 5\nl_diversity = { column = "diagnosis", l = 2 }')))
    assert [model.demanded for model in asked.privacy.models] == [2]
