"""β-likeness in a policy: what its keys mean, what is refused, and what is said of it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.errors import PolicyError
from anondb.models.beta_likeness import BetaLikeness
from anondb.policy.load import parse
from tests.unit.admissions import policy, problem


def privacy(lines: str) -> tuple[str, str]:
    return "suppression = 0.02", f"suppression = 0.02\n{lines}"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('{ column = "diagnosis", beta = 2 }', [BetaLikeness("diagnosis", 2.0, "basic")]),
        (
            '[{ column = "diagnosis", beta = 2 }, { column = "diagnosis", beta = 0.5, kind = "enhanced" }]',
            [BetaLikeness("diagnosis", 2.0), BetaLikeness("diagnosis", 0.5, "enhanced")],
        ),
    ],
)
def test_each_kind_is_understood_and_k_may_be_left_out(written: str, meant: list[BetaLikeness]) -> None:
    read = parse(policy(("k = 5\n", ""), privacy(f"beta_likeness = {written}"))).privacy
    assert (read.k, list(read.models)) == (1, meant)
    assert isinstance(read.models[0].demanded, float)


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ("3", "beta_likeness must be a table or an array of tables, not 3", "beta = 1"),
        ("[]", "a table or an array of tables, not an empty list", "beta_likeness = {"),
        ("{ beta = 1 }", "beta_likeness.column is missing", 'column = "diagnosis"'),
        ('{ column = "diagnosis" }', "beta_likeness.beta is missing", "beta = 1"),
        ('{ column = "diagnosis", beta = 0 }', "beta_likeness.beta must be above 0, not 0", "stricter"),
        ('{ column = "diagnosis", beta = -0.5 }', "must be above 0, not -0.5", "stricter"),
        ('{ column = "diagnosis", beta = inf }', "must be a finite number", "plain number"),
        ('{ column = "diagnosis", beta = nan }', "must be a finite number", "plain number"),
        ('{ column = "diagnosis", beta = true }', "must be a number, not true", "plain number"),
        ('{ column = "diagnosis", beta = "1" }', 'must be a number, not "1"', "plain number"),
        ('{ column = "diagnosis", beta = 1, kind = "enhance" }', "basic, enhanced", '"enhanced"?'),
        ('{ column = "diagnosis", beta = 1, b = 1 }', 'unknown key "beta_likeness.b"', "column, beta, kind"),
        ('{ column = "zip", beta = 1 }', "a sensitive column that is also quasi", "already"),
        ('{ column = "name", beta = 1 }', "has the role identifier", "needs no model"),
        ('{ column = "visited", beta = 1 }', "has the role other", 'role = "sensitive"'),
        ('{ column = "Diagnosis", beta = 1 }', 'no column "Diagnosis"', '"diagnosis"?'),
    ],
)
def test_a_mistake_is_told_with_place_and_hint(value: str, message: str, hint: str) -> None:
    found = problem(privacy(f"beta_likeness = {value}"))
    assert found.place == "admissions.toml [privacy]"
    assert message in found.message
    assert hint in str(found.hint)


def test_a_column_has_one_beta_of_a_kind() -> None:
    one = '{ column = "diagnosis", beta = 1 }'
    two = '{ column = "diagnosis", beta = 2, kind = "basic" }'
    found = problem(privacy(f"beta_likeness = [{one}, {two}]"))
    assert found.message == 'beta_likeness (table 2) is the second of "diagnosis" with kind = "basic"'


def test_a_method_that_cannot_see_to_it_refuses_it() -> None:
    method = 'algorithm = "datafly"', 'algorithm = "le_diversity"'
    apart = 'le_diversity = { column = "diagnosis", l = 2, e = 1 }'
    with pytest.raises(PolicyError, match="le_diversity sees to"):
        parse(policy(method, privacy(f'{apart}\nbeta_likeness = {{ column = "diagnosis", beta = 1 }}')))


@given(st.decimals(-2, 5, places=3) | st.integers(-2, 10**6))
def test_it_is_understood_exactly_if_beta_is_above_0(beta: Decimal | int) -> None:
    text = policy(privacy(f'beta_likeness = {{ column = "diagnosis", beta = {beta} }}'))
    try:
        [model] = parse(text).privacy.models
    except PolicyError:
        assert beta <= 0
    else:
        assert beta > 0
        assert model == BetaLikeness("diagnosis", float(beta))


def test_what_is_rounded_does_not_fail_a_release_and_what_is_not_does() -> None:
    model = BetaLikeness("diagnosis", 0.2)
    assert model.failure(0.2) is model.failure(0.2 + 5e-10) is None
    assert "gains 0.21 in a class, more than beta = 0.2" in str(model.failure(0.21))
    assert "more than beta" in str(model.failure(float("inf")))


def test_it_is_told_in_plain_words() -> None:
    told = BetaLikeness.sentence(0.5, "0.5", "diagnosis", "basic")
    assert (
        told == "No value of diagnosis is more than 1.5 times as frequent in a group as in the whole release."
    )
