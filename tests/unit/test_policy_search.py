"""Policies that steer a search: its objective, the weights of columns, the levels that it may choose from."""

from __future__ import annotations

import pytest

from anondb.methods.full_domain.method import WEIGHTED
from anondb.methods.full_domain.objective import OBJECTIVES
from anondb.policy.load import parse
from anondb.policy.model import Column, Method, Role
from tests.unit.admissions import policy, problem, problems


def method(algorithm: str, lines: str = "") -> tuple[str, str]:
    return 'algorithm = "datafly"', f'algorithm = "{algorithm}"\n{lines}'


def zip_levels(levels: str) -> tuple[str, str]:
    return '{ mask = "right" } }', f'{{ mask = "right" }}, {levels} }}'


# ---- what the keys mean


@pytest.mark.parametrize(("algorithm", "first"), [("optimal", "loss"), ("incognito", "classes")])
def test_an_algorithms_first_objective_is_its_default(algorithm: str, first: str) -> None:
    assert parse(policy(method(algorithm))).method == Method(algorithm, None, first)


@pytest.mark.parametrize("algorithm", ["optimal", "incognito"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_can_be_said(algorithm: str, objective: str) -> None:
    read = parse(policy(method(algorithm, f'objective = "{objective}"')))
    assert read.method == Method(algorithm, None, objective)


def test_an_algorithm_without_objectives_has_none() -> None:
    assert parse(policy()).method == Method("datafly", "distinct", None, {})
    assert parse(policy(method("datafly", 'heuristic = "semantic"'))).method.heuristic == "semantic"


@pytest.mark.parametrize("objective", WEIGHTED)
def test_a_column_that_is_not_named_weighs_one(objective: str) -> None:
    read = parse(policy(method("optimal", f'objective = "{objective}"\nweights = {{ age = 0, zip = 2.5 }}')))
    assert read.method.weights == {"age": 0.0, "zip": 2.5}
    assert [read.method.weight(column.name) for column in read.quasi] == [0.0, 2.5, 1.0]


def test_weights_may_be_a_table_of_their_own() -> None:
    own = policy(method("optimal", "[method.weights]\nzip = 2.0\n"))
    inline = policy(method("optimal", "weights = { zip = 2 }"))
    assert parse(own).method == parse(inline).method
    assert parse(own).sha256 == parse(inline).sha256
    assert parse(own).sha256 != parse(policy(method("optimal"))).sha256


@pytest.mark.parametrize(
    ("levels", "low", "high"),
    [
        ("min_level = 1", 1, None),
        ("max_level = 3", 0, 3),
        ("min_level = 2, max_level = 2", 2, 2),
        ("min_level = 0, max_level = 0", 0, 0),
    ],
)
@pytest.mark.parametrize("algorithm", ["datafly", "optimal"])
def test_levels_of_a_column_are_bounded(algorithm: str, levels: str, low: int, high: int | None) -> None:
    read = parse(policy(method(algorithm), zip_levels(levels))).columns[2]
    assert read == Column("zip", Role.QUASI, read.hierarchy, low, high)


# ---- what is wrong


@pytest.mark.parametrize(
    ("algorithm", "lines", "message", "hint"),
    [
        ("datafly", 'objective = "loss"', "datafly has no objectives", 'algorithm = "optimal"'),
        ("datafly", "weights = { zip = 2 }", "datafly has no objectives, and so no use for weights", "leave"),
        ("optimal", 'heuristic = "distinct"', "optimal has no heuristics", "leave the key out"),
        ("optimal", 'objective = "los"', 'height, not "los"', '"loss"?'),
        ("incognito", 'objective = "best"', "objective must be one of classes, loss", "choose from classes"),
        ("optimal", "objective = 3", "objective must be a text", "objective ="),
        ("optimal", 'objective = "classes"\nweights = { zip = 2 }', "objective classes counts", '"loss"'),
        ("optimal", 'objective = "discernibility"\nweights = { zip = 2 }', "discernibility", '"semantic"'),
        ("optimal", 'objective = "average_class_size"\nweights = { zip = 2 }', "class_size", '"height"'),
        ("incognito", "weights = { zip = 2 }", "objective classes counts", 'objective from "loss"'),
        ("optimal", "weights = 2", "weights must be a table, not 2", "weights = {"),
        ("optimal", "weights = { zip = -1 }", 'weight of "zip" must be a number of at least 0, not -1', "1"),
        ("optimal", "weights = { zip = true }", "at least 0, not true", "weighs 1"),
        ("optimal", "weights = { zip = nan }", "at least 0, not NaN", "weighs 1"),
        ("optimal", "weights = { zip = inf }", "at least 0, not Infinity", "weighs 1"),
        ("optimal", "weights = { Zipp = 2 }", 'weights: [columns] has no column "Zipp"', '"zip"?'),
        ("optimal", "weights = { name = 2 }", 'identifier column "name" has a weight', "leave the weight"),
        ("optimal", "weights = { diagnosis = 2 }", 'sensitive column "diagnosis"', 'role = "quasi"'),
        ("optimal", "weights = { age = 0, zip = 0, job = 0.0 }", "every quasi-identifier", "above 0"),
        ("optimal", "fast = 7", 'unknown key "fast"', "algorithm, heuristic, objective, weights"),
    ],
)
def test_a_mistake_in_a_method_is_told_with_place_and_hint(
    algorithm: str, lines: str, message: str, hint: str
) -> None:
    found = problem(method(algorithm, lines))
    assert found.place == "admissions.toml [method]"
    assert message in found.message
    assert hint in str(found.hint)


def test_weights_of_an_objective_that_is_not_understood_are_no_second_mistake() -> None:
    found = problem(method("incognito", 'objective = "los"\nweights = { zip = 2 }'))
    assert found.message.startswith("objective must be one of")


@pytest.mark.parametrize(
    ("levels", "message", "hint"),
    [
        ("min_level = -1", "min_level must be a whole number of at least 0, not -1", "level 0"),
        ("max_level = 1.5", "max_level must be a whole number of at least 0, not 1.5", "level 0"),
        ("max_level = true", "at least 0, not true", "level 0"),
        ("min_level = 3, max_level = 2", "min_level 3 lies above max_level 2", "smaller"),
    ],
)
def test_levels_that_cannot_be_are_refused(levels: str, message: str, hint: str) -> None:
    found = problem(zip_levels(levels))
    assert found.place == "admissions.toml [columns.zip]"
    assert message in found.message
    assert hint in str(found.hint)


@pytest.mark.parametrize("role", ["identifier", "sensitive", "other"])
@pytest.mark.parametrize("key", ["min_level", "max_level"])
def test_only_quasi_identifiers_have_levels(role: str, key: str) -> None:
    found = problem(('{ role = "other" }', f'{{ role = "{role}", {key} = 1 }}'))
    assert found.place == "admissions.toml [columns.visited]"
    assert found.message.startswith(f'{role} column "visited" has a {key}')
    # what is left out is not told to be released, generalized or not
    assert ('role = "quasi"' in str(found.hint)) == (role != "identifier")


def test_levels_are_for_algorithms_that_give_a_column_one_level() -> None:
    found = problems(policy(method("mondrian"), zip_levels("min_level = 1, max_level = 2")))
    assert [each.place for each in found] == ["admissions.toml [columns.zip]"] * 2
    assert [each.message.partition(" ")[0] for each in found] == ["min_level", "max_level"]
    assert all("mondrian gives it none" in each.message and each.hint for each in found)
