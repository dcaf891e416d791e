"""What a comparison tries: all combinations, and a policy that fits each algorithm."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anondb.compare.compare import settings_of, variant
from anondb.compare.trial import Setting
from anondb.errors import UsageError
from anondb.policy.load import parse
from anondb.policy.model import Policy, Role

POLICY = """
source = "hospital.admissions"
target = "share.admissions"
[privacy]
k = 5
suppression = 0.1
{privacy}
[method]
{method}
[columns]
name = {{ role = "identifier" }}
age = {{ role = "quasi", hierarchy = {{ widths = [5, 10] }}{levels} }}
zip = {{ role = "quasi", hierarchy = {{ mask = "right" }} }}
job = {{ role = "quasi"{job} }}
diagnosis = {{ role = "sensitive" }}
"""
MASK = ', hierarchy = { mask = "all" }'


def policy(
    method: str = 'algorithm = "optimal"', levels: str = "", job: str = MASK, privacy: str = ""
) -> Policy:
    return parse(POLICY.format(method=method, levels=levels, job=job, privacy=privacy))


def setting(algorithm: str, k: int = 5, quasi: int = 3) -> Setting:
    return Setting(algorithm, k, ("age", "zip", "job")[:quasi])


def test_every_combination_is_tried_once() -> None:
    found = settings_of(policy(), ["mondrian", "datafly", "mondrian"], [2, 5], [1, 3, 1])
    assert found == [setting(name, k, n) for n in (1, 3) for k in (2, 5) for name in ("mondrian", "datafly")]


def test_what_is_not_said_is_the_policys() -> None:
    assert settings_of(policy(), ["datafly"], None, None) == [setting("datafly")]


@pytest.mark.parametrize(
    ("algorithms", "k", "quasi", "words"),
    [
        (["datafli"], [2], [1], 'did you mean "datafly"'),
        ([""], [2], [1], "choose from datafly"),
        ([], [2], [1], "nothing to compare"),
        (["datafly"], [], [1], "nothing to compare"),
        (["datafly"], [0], [1], "k must be at least 1"),
        (["datafly"], [2], [0], "numbers from 1 to 3"),
        (["datafly"], [2], [4], "the policy has 3 quasi-identifiers"),
        (["datafly"], list(range(1, 1002)), [1], "1,001 trials"),
    ],
)
def test_a_comparison_that_makes_no_sense_is_refused(
    algorithms: list[str], k: list[int], quasi: list[int], words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        settings_of(policy(), algorithms, k, quasi)
    assert words in str(refused.value)


def test_variants_are_tried_of_those_who_have_them() -> None:
    fusion = policy('algorithm = "fusion"\nvariant = "none"\nseed = 3')
    found = settings_of(fusion, None, [2], None, ["h1", "random", "h1"])
    assert [one.name for one in found] == ["fusion h1", "fusion random"]  # the policy's own algorithm
    changed = [variant(fusion, one).policy.method for one in found]
    assert [(method.variant, method.seed) for method in changed] == [("h1", 3), ("random", 3)]
    beside = settings_of(fusion, ["mondrian", "fusion"], [2], None, ["h1"])
    assert [one.name for one in beside] == ["mondrian", "fusion h1"]
    [as_it_is] = settings_of(fusion, ["fusion"], [2], None)
    assert (as_it_is.name, variant(fusion, as_it_is).policy.method.variant) == ("fusion", "none")


@pytest.mark.parametrize(
    ("algorithms", "variants", "words"),
    [
        (None, ["h1"], "optimal has no variants to compare"),
        (["datafly", "mondrian"], ["h1"], "datafly and mondrian have no variants"),
        (["fusion"], ["h1_h3"], 'did you mean "h1_h2"'),
        (["fusion"], [""], "choose from semantic, h1_h2"),
        (["fusion"], [], "nothing to compare"),
    ],
)
def test_variants_that_nobody_has_are_refused(
    algorithms: list[str] | None, variants: list[str], words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        settings_of(policy(), algorithms, None, None, variants)
    assert words in str(refused.value)


def test_a_column_that_is_not_tried_is_not_released() -> None:
    changed = variant(policy(), setting("datafly", 9, 1)).policy
    assert changed.privacy.k == 9
    assert changed.privacy.suppression == 0.1
    roles = {column.name: column.role for column in changed.columns}
    assert roles == {
        "name": Role.IDENTIFIER,
        "age": Role.QUASI,
        "zip": Role.IDENTIFIER,
        "job": Role.IDENTIFIER,
        "diagnosis": Role.SENSITIVE,
    }


def test_the_policys_own_algorithm_keeps_its_keys() -> None:
    said = policy('algorithm = "optimal"\nobjective = "loss"\nweights = { age = 2 }', ", max_level = 2")
    found = variant(said, setting("optimal"))
    assert (found.policy, found.ignored, found.refusal) == (said, (), None)


def test_an_algorithm_takes_the_policys_objective_or_its_own_first_one() -> None:
    assert variant(policy('algorithm = "datafly"'), setting("incognito")).policy.method.objective == "classes"
    said = policy('algorithm = "optimal"\nobjective = "discernibility"')
    assert variant(said, setting("incognito")).policy.method.objective == "discernibility"
    found = variant(said, setting("datafly"))
    assert (found.policy.method.objective, found.policy.method.heuristic) == (None, "distinct")
    assert found.ignored == ('the objective "discernibility" is not known to datafly',)
    assert variant(policy('algorithm = "optimal"'), setting("datafly")).ignored == ()  # it names none


def test_levels_do_not_bound_partitions_and_that_is_told() -> None:
    found = variant(policy(levels=", min_level = 1"), setting("mondrian"))
    assert [column.min_level for column in found.policy.quasi] == [0, 0, 0]
    assert 'the levels of "age" are not bounded: mondrian gives it none' in found.ignored


def test_forms_that_an_algorithm_does_not_read_are_dropped_and_that_is_told() -> None:
    said = policy(levels=', release = "midpoint"')
    found = variant(said, setting("fusion"))
    assert {column.release for column in found.policy.quasi} == {("text",)}
    assert [line for line in found.ignored if "release" in line] == [
        'the release of "age" is not read by fusion, which releases labels'
    ]
    shuffled = tuple(replace(column, shuffle=column.name == "diagnosis") for column in said.columns)
    found = variant(replace(said, columns=shuffled), setting("datafly"))
    assert not any("exchanged" in line for line in found.ignored)


def test_weights_of_columns_that_are_not_tried_are_dropped() -> None:
    said = policy('algorithm = "optimal"\nobjective = "loss"\nweights = { age = 0, zip = 3 }')
    assert variant(said, setting("optimal", quasi=2)).policy.method.weights == {"age": 0, "zip": 3}
    alone = variant(said, setting("optimal", quasi=1))
    assert alone.policy.method.weights == {}  # a single column that weighs nothing: any release would be best
    assert alone.ignored == ("the weights have no meaning to optimal here",)
    assert variant(said, setting("incognito")).policy.method.weights == {"age": 0, "zip": 3}
    assert variant(said, setting("mondrian")).policy.method.weights == {}


def test_relaxed_partitioning_is_mondrians_alone() -> None:
    said = policy('algorithm = "mondrian"\nstrict = false')
    assert variant(said, setting("mondrian")).policy.method.strict is False
    assert variant(said, setting("datafly")).policy.method.strict is True


def test_a_missing_hierarchy_refuses_only_those_who_need_one() -> None:
    said = policy('algorithm = "mondrian"', job="")
    refusal = variant(said, setting("incognito")).refusal
    assert refusal is not None
    assert refusal.message == 'no hierarchy for "job", and incognito needs one'
    assert variant(said, setting("incognito", quasi=2)).refusal is None
    assert variant(said, setting("mondrian")).refusal is None
