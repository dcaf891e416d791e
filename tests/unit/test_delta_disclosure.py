"""δ-disclosure privacy in a policy: what its keys mean, what is refused, and what is said of it."""

from __future__ import annotations

from decimal import Decimal
from math import inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.errors import PolicyError
from anondb.models.delta_disclosure import DeltaDisclosure
from anondb.policy.load import parse
from tests.unit.admissions import policy, problem


def privacy(lines: str) -> tuple[str, str]:
    return "suppression = 0.02", f"suppression = 0.02\n{lines}"


def test_it_is_understood_and_k_may_be_left_out() -> None:
    written = 'delta_disclosure = { column = "diagnosis", delta = 2 }'
    read = parse(policy(("k = 5\n", ""), privacy(written))).privacy
    assert (read.k, read.models) == (1, (DeltaDisclosure("diagnosis", 2.0),))
    assert isinstance(read.models[0].demanded, float)
    assert parse(policy(privacy(written.replace("{", "[{").replace("}", "}]")))).privacy.models == read.models


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ("3", "delta_disclosure must be a table or an array of tables, not 3", "delta = 1.1"),
        ("{ delta = 1 }", "delta_disclosure.column is missing", 'column = "diagnosis"'),
        ('{ column = "diagnosis" }', "delta_disclosure.delta is missing", "delta = 1.1"),
        ('{ column = "diagnosis", delta = 0 }', "delta_disclosure.delta must be above 0, not 0", "stricter"),
        ('{ column = "diagnosis", delta = -1 }', "must be above 0, not -1", "stricter"),
        ('{ column = "diagnosis", delta = inf }', "must be a finite number", "plain number"),
        ('{ column = "diagnosis", delta = "1" }', 'must be a number, not "1"', "plain number"),
        (
            '{ column = "diagnosis", delta = 1, kind = "basic" }',
            'unknown key "delta_disclosure.kind"',
            "delta",
        ),
        ('{ column = "zip", delta = 1 }', "a sensitive column that is also quasi", "already"),
        ('{ column = "name", delta = 1 }', "has the role identifier", "needs no model"),
        ('{ column = "Diagnosis", delta = 1 }', 'no column "Diagnosis"', '"diagnosis"?'),
    ],
)
def test_a_mistake_is_told_with_place_and_hint(value: str, message: str, hint: str) -> None:
    found = problem(privacy(f"delta_disclosure = {value}"))
    assert found.place == "admissions.toml [privacy]"
    assert message in found.message
    assert hint in str(found.hint)


def test_a_column_has_one_delta() -> None:
    one, two = ('{ column = "diagnosis", delta = 1 }', '{ column = "diagnosis", delta = 2 }')
    found = problem(privacy(f"delta_disclosure = [{one}, {two}]"))
    assert found.message == 'delta_disclosure (table 2) is the second of "diagnosis"'


def test_a_method_that_cannot_see_to_it_refuses_it() -> None:
    method = 'algorithm = "datafly"', 'algorithm = "le_diversity"'
    apart = 'le_diversity = { column = "diagnosis", l = 2, e = 1 }'
    with pytest.raises(PolicyError, match="le_diversity sees to"):
        parse(policy(method, privacy(f'{apart}\ndelta_disclosure = {{ column = "diagnosis", delta = 1 }}')))


@given(st.decimals(-2, 5, places=3) | st.integers(-2, 10**6))
def test_it_is_understood_exactly_if_delta_is_above_0(delta: Decimal | int) -> None:
    text = policy(privacy(f'delta_disclosure = {{ column = "diagnosis", delta = {delta} }}'))
    try:
        [model] = parse(text).privacy.models
    except PolicyError:
        assert delta <= 0
    else:
        assert delta > 0
        assert model == DeltaDisclosure("diagnosis", float(delta))


def test_a_release_stays_below_delta() -> None:
    model = DeltaDisclosure("diagnosis", log(2))
    assert model.failure(0) is model.failure(0.69) is None
    assert "not below delta = 0.693147" in str(model.failure(log(2)))
    assert "a disclosure of inf" in str(model.failure(inf))


def test_it_is_told_in_plain_words() -> None:
    assert DeltaDisclosure.sentence(log(3), "1.1", "diagnosis", None) == (
        "Every group has all values of diagnosis, each of them at most 3 times as frequent, "
        "and at most 3 times as rare, as in the whole release."
    )
