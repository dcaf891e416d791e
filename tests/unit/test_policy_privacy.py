"""Policies that ask for more than k of rows: l-diversity, t-closeness, persons as units."""

from __future__ import annotations

import itertools
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.errors import PolicyError
from anondb.hierarchies.forms import StoredVgh
from anondb.models.l_diversity import LDiversity
from anondb.models.t_closeness import TCloseness
from anondb.policy.load import parse
from anondb.policy.model import Column, Privacy, Role
from tests.unit.admissions import POLICY, policy, problem, problems

DIVERSITY = 'l_diversity = { column = "diagnosis", l = 3 }'
CLOSENESS = 't_closeness = { column = "diagnosis", t = 0.2 }'
HIERARCHICAL = 't_closeness = { column = "diagnosis", t = 0.2, distance = "hierarchical" }'
WITHOUT_K = ("k = 5\n", "")


def privacy(lines: str) -> tuple[str, str]:
    """The change that adds these lines to [privacy]."""
    return "suppression = 0.02", f"suppression = 0.02\n{lines}"


def diagnosis(column: str) -> tuple[str, str]:
    return '{ role = "sensitive" }', column


# ---- what the keys mean


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (DIVERSITY, LDiversity("diagnosis", 3.0, "distinct", None)),
        ('l_diversity.column = "diagnosis"\nl_diversity.l = 3.0', LDiversity("diagnosis", 3.0)),
        (
            'l_diversity = { column = "diagnosis", l = 1.5, kind = "entropy" }',
            LDiversity("diagnosis", 1.5, "entropy"),
        ),
        (
            'l_diversity = { column = "diagnosis", l = 2, kind = "recursive", c = 0.5 }',
            LDiversity("diagnosis", 2.0, "recursive", 0.5),
        ),
    ],
)
def test_each_kind_of_l_diversity_is_understood(written: str, meant: LDiversity) -> None:
    read = parse(policy(privacy(written)))
    assert read.privacy == Privacy(k=5, suppression=0.02, models=(meant,))
    assert isinstance(read.privacy.models[0].demanded, float)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (CLOSENESS, TCloseness("diagnosis", 0.2, "equal")),
        ('t_closeness = { column = "diagnosis", t = 1 }', TCloseness("diagnosis", 1.0)),
        (
            't_closeness = { column = "diagnosis", t = 0, distance = "ordered" }',
            TCloseness("diagnosis", 0.0, "ordered"),
        ),
    ],
)
def test_each_distance_of_t_closeness_is_understood(written: str, meant: TCloseness) -> None:
    assert parse(policy(privacy(written))).privacy.models == (meant,)


def test_models_stand_together_in_the_order_of_the_file() -> None:
    models = """\
l_diversity = [
    { column = "visited", l = 2 },
    { column = "diagnosis", l = 2.5, kind = "entropy" },
    { column = "diagnosis", l = 3 },
]
t_closeness = [{ column = "diagnosis", t = 0.2 }, { column = "diagnosis", t = 0.1, distance = "ordered" }]
"""
    read = parse(policy(privacy(models), ('{ role = "other" }', '{ role = "sensitive" }')))
    assert read.privacy.models == (
        LDiversity("visited", 2.0),
        LDiversity("diagnosis", 2.5, "entropy"),
        LDiversity("diagnosis", 3.0),
        TCloseness("diagnosis", 0.2),
        TCloseness("diagnosis", 0.1, "ordered"),
    )
    assert [column.name for column in read.sensitive] == ["diagnosis", "visited"]


@pytest.mark.parametrize("model", [DIVERSITY, CLOSENESS, f"{DIVERSITY}\n{CLOSENESS}"])
def test_k_may_be_left_out_where_another_model_protects(model: str) -> None:
    assert parse(policy(WITHOUT_K, privacy(model))).privacy.k == 1


@pytest.mark.parametrize("distance", ["ordered", "hierarchical"])
def test_a_sensitive_column_may_have_the_hierarchy_that_a_distance_uses(distance: str) -> None:
    closeness = f't_closeness = {{ column = "diagnosis", t = 0.2, distance = "{distance}" }}'
    read = parse(policy(privacy(closeness), diagnosis('{ role = "sensitive", hierarchy = "icd" }')))
    assert read.sensitive == (Column("diagnosis", Role.SENSITIVE, StoredVgh("icd")),)


@pytest.mark.parametrize("column", ["name", "diagnosis", "visited"])
def test_the_unit_is_any_column_that_is_not_generalized(column: str) -> None:
    kept = [(f'"{role}" }}', f'"{role}", keep = "identifying" }}') for role in ("sensitive", "other")]
    assert parse(policy(privacy(f'unit = "{column}"'), *kept)).privacy.unit == column


@pytest.mark.parametrize("column", ["diagnosis", "visited"])
def test_a_unit_that_would_be_released_is_refused(column: str) -> None:
    with pytest.raises(PolicyError, match="names the persons"):
        parse(policy(privacy(f'unit = "{column}"')))


# ---- what is wrong


@pytest.mark.parametrize(
    ("key", "value", "message", "hint"),
    [
        ("l_diversity", "3", "a table or an array of tables, not 3", 'column = "diagnosis", l = 3'),
        ("l_diversity", "[]", "a table or an array of tables, not an empty list", "l_diversity = {"),
        ("l_diversity", "[[]]", "a table or an array of tables, not an empty list", "l_diversity = {"),
        ("t_closeness", '"diagnosis"', 'an array of tables, not "diagnosis"', "t_closeness = {"),
        ("l_diversity", "{ l = 3 }", "l_diversity.column is missing", 'column = "diagnosis"'),
        ("l_diversity", '{ column = "diagnosis" }', "l_diversity.l is missing", "l = 3"),
        ("t_closeness", '{ column = "diagnosis" }', "t_closeness.t is missing", "t = 0.2"),
        ("l_diversity", "{ column = 7, l = 3 }", "l_diversity.column must be a text", 'column = "…"'),
        (
            "l_diversity",
            '{ column = "diagnosis", l = 3, k = 3 }',
            'unknown key "l_diversity.k"',
            "column, l, kind, c",
        ),
        ("t_closeness", '{ column = "age", t = 0.2 }', "a sensitive column that is also quasi", "already"),
        ("l_diversity", '{ column = "zip", l = 2 }', "a sensitive column that is also quasi", "already"),
        ("l_diversity", '{ column = "name", l = 2 }', "has the role identifier", "needs no model"),
        ("t_closeness", '{ column = "visited", t = 0 }', "has the role other", 'role = "sensitive"'),
        ("l_diversity", '{ column = "Diagnoses", l = 2 }', 'no column "Diagnoses"', '"diagnosis"?'),
        ("t_closeness", '{ column = "x", t = 0.2 }', 'no column "x"', "as [columns] does"),
        ("unit", '"patient"', 'unit: [columns] has no column "patient"', "as [columns] does"),
        ("unit", '"nane"', 'no column "nane"', 'did you mean "name"?'),
        ("unit", '"zip"', 'unit "zip" is a quasi-identifier', "tells persons apart"),
        ("unit", "3", "unit must be a text", "unit ="),
    ],
)
def test_a_mistake_in_a_model_is_told_with_place_and_hint(
    key: str, value: str, message: str, hint: str
) -> None:
    found = problem(privacy(f"{key} = {value}"))
    assert found.place == "admissions.toml [privacy]"
    assert message in found.message
    assert hint in str(found.hint)


@pytest.mark.parametrize(
    ("figures", "message", "hint"),
    [
        ("l = 1", "l_diversity.l must be a whole number of at least 2, not 1", "l = 3"),
        ("l = 2.5", "whole number of at least 2, not 2.5", 'kind = "entropy"'),
        ('l = 1.5, kind = "recursive", c = 2', "whole number of at least 2, not 1.5", "l = 3"),
        ('l = 1, kind = "entropy"', "l_diversity.l must be above 1, not 1", "l = 3"),
        ('l = 1.00000000000000000001, kind = "entropy"', "must be above 1", "l = 3"),
        ("l = -3", "at least 2, not -3", "l = 3"),
        ("l = true", "l_diversity.l must be a number, not true", "plain number"),
        ("l = nan", "finite number", "plain number"),
        ("l = 9223372036854775808", "larger than any table", "l = 3"),
        ('l = 3, kind = "entropie"', 'distinct, entropy, recursive, not "entropie"', '"entropy"?'),
        ('l = 3, kind = "recursive"', "l_diversity.c is missing", "c = 3"),
        ('l = 3, kind = "recursive", c = 0', "l_diversity.c must be above 0, not 0", "c = 3"),
        ('l = 3, kind = "recursive", c = inf', "l_diversity.c must be a finite number", "plain number"),
        ("l = 3, c = 2", "l_diversity.c belongs to recursive l-diversity alone, not to distinct", "leave c"),
        ('l = 3, kind = "entropy", c = 2', "not to entropy", 'kind = "recursive"'),
    ],
)
def test_figures_of_l_diversity_that_mean_nothing_are_refused(figures: str, message: str, hint: str) -> None:
    found = problem(privacy(f'l_diversity = {{ column = "diagnosis", {figures} }}'))
    assert found.place == "admissions.toml [privacy]"
    assert message in found.message
    assert hint in str(found.hint)


@pytest.mark.parametrize(
    ("figures", "message", "hint"),
    [
        ("t = 1.01", "t_closeness.t must lie between 0 and 1, not 1.01", "t = 0.2"),
        ("t = -0.1", "between 0 and 1, not -0.1", "t = 0.2"),
        ('t = "low"', 't_closeness.t must be a number, not "low"', "plain number"),
        ('t = 0.2, distance = "euclid"', "equal, ordered, hierarchical", "choose from equal"),
    ],
)
def test_figures_of_t_closeness_that_mean_nothing_are_refused(figures: str, message: str, hint: str) -> None:
    found = problem(privacy(f't_closeness = {{ column = "diagnosis", {figures} }}'))
    assert message in found.message
    assert hint in str(found.hint)


_numbers = st.one_of(
    st.integers(-3, 5),
    st.sampled_from([2**53 + 1, 2**63 - 1, 2**63]),
    st.decimals(min_value=-3, max_value=5, places=2, allow_nan=False, allow_infinity=False),
)


@given(st.sampled_from(["distinct", "entropy", "recursive"]), _numbers, st.none() | _numbers)
def test_l_diversity_is_understood_exactly_if_its_figures_mean_something(
    kind: str, number: int | Decimal, c: int | Decimal | None
) -> None:
    """Machanavajjhala et al. 2007: l counts values, but for entropy; c > 0 is recursive (c, l)-diversity's."""
    above_one = number > 1 and (kind == "entropy" or number == int(number))
    sensible = (
        above_one and number < 2**63 and (c is not None and c > 0 if kind == "recursive" else c is None)
    )
    written = f'column = "diagnosis", l = {number}, kind = "{kind}"' + (f", c = {c}" if c is not None else "")
    try:
        read = parse(policy(privacy(f"l_diversity = {{ {written} }}")))
    except PolicyError:
        assert not sensible
    else:
        assert sensible
        meant = LDiversity("diagnosis", float(number), kind, None if c is None else float(c))
        assert read.privacy.models == (meant,)


@given(_numbers)
def test_t_closeness_is_understood_exactly_if_t_is_a_distance(t: int | Decimal) -> None:
    try:
        read = parse(policy(privacy(f't_closeness = {{ column = "diagnosis", t = {t} }}')))
    except PolicyError:
        assert not 0 <= t <= 1
    else:
        assert 0 <= t <= 1
        assert read.privacy.models == (TCloseness("diagnosis", float(t)),)


def test_a_model_of_one_kind_comes_once_for_a_column() -> None:
    once = '{ column = "diagnosis", l = 2 }'
    again = '{ column = "diagnosis", l = 3, kind = "distinct" }'
    found = problem(privacy(f"l_diversity = [{once}, {again}]"))
    assert found.message == 'l_diversity (table 2) is the second of "diagnosis" with kind = "distinct"'
    closer = '{ column = "diagnosis", t = 0.1 }'
    found = problem(privacy(f"t_closeness = [{closer}, {closer}]"))
    assert found.message == 't_closeness (table 2) is the second of "diagnosis" with distance = "equal"'


def test_a_mistake_in_an_array_is_told_with_the_number_of_its_table() -> None:
    arrays = """\
[[privacy.l_diversity]]
column = "diagnosis"
l = 0
[[privacy.l_diversity]]
column = "age"
l = 2
kind = "entropic"
"""
    found = problems(POLICY + arrays)
    assert [each.place for each in found] == ["admissions.toml [privacy]"] * 3
    assert [each.message.partition(" must")[0] for each in found] == [
        "l_diversity (table 1).l",
        'l_diversity (table 2).column "age" would be a sensitive column that is also quasi',
        "l_diversity (table 2).kind",
    ]


def test_a_model_with_a_mistake_still_has_its_column_checked() -> None:
    found = problems(policy(privacy('l_diversity = { column = "age", l = 0, kind = "x", c = -1 }')))
    assert [each.message.split()[0] for each in found] == [
        f"l_diversity.{key}" for key in ("column", "l", "kind", "c")
    ]


@pytest.mark.parametrize("without", ["", 't_closeness = { column = "diagnosis", t = 1 }'])
def test_a_policy_that_demands_nothing_misses_k(without: str) -> None:
    found = problem(WITHOUT_K, privacy(without))
    assert (found.place, found.message) == ("admissions.toml [privacy]", "k is missing")
    assert "k = 5" in str(found.hint)


@pytest.mark.parametrize(
    "model", ["l_diversity = 3", "t_closeness = {}", 't_closeness = { column = "diagnosis", t = 7 }']
)
def test_a_model_with_a_mistake_is_not_called_a_missing_k(model: str) -> None:
    messages = [each.message for each in problems(policy(WITHOUT_K, privacy(model)))]
    assert messages
    assert "k is missing" not in messages


def test_a_unit_needs_a_k_that_counts_it() -> None:
    found = problem(WITHOUT_K, privacy(f'{DIVERSITY}\nunit = "name"'))
    assert found.message == "unit names the persons that k counts, and there is no k"
    assert "k = 5" in str(found.hint)


def test_the_hierarchical_distance_needs_a_hierarchy() -> None:
    found = problem(privacy(HIERARCHICAL))
    assert found.place == "admissions.toml [columns.diagnosis]"
    assert "has no hierarchy, and the hierarchical distance needs one" in found.message
    assert 'distance = "equal"' in str(found.hint)


@pytest.mark.parametrize("model", ["", DIVERSITY, CLOSENESS])
def test_a_hierarchy_that_no_model_uses_is_refused(model: str) -> None:
    found = problem(privacy(model), diagnosis('{ role = "sensitive", hierarchy = "icd" }'))
    assert found.place == "admissions.toml [columns.diagnosis]"
    assert found.message == 'sensitive column "diagnosis" has a hierarchy that no model uses'
    assert 'distance = "ordered"' in str(found.hint)


@pytest.mark.parametrize(
    "model",
    [
        't_closeness = { column = "diagnoses", t = 0.2, distance = "ordered" }',
        't_closeness = { column = "diagnosis", t = 0.2, distance = "orderd" }',
    ],
)
def test_a_misspelt_model_is_not_called_a_hierarchy_without_use(model: str) -> None:
    found = problem(privacy(model), diagnosis('{ role = "sensitive", hierarchy = "icd" }'))
    assert found.place == "admissions.toml [privacy]"


def test_a_column_whose_role_is_not_understood_is_no_second_mistake() -> None:
    found = problem(privacy(f'{DIVERSITY}\nunit = "diagnosis"'), diagnosis('{ role = "sensible" }'))
    assert found.place == "admissions.toml [columns.diagnosis]"


# ---- the fingerprint


def test_the_fingerprint_ignores_how_a_model_is_written() -> None:
    written = [
        policy(privacy(DIVERSITY)),
        policy(privacy('l_diversity = [{ l = 3.0, column = "diagnosis" }]')),
        POLICY + '[privacy.l_diversity]\ncolumn = "diagnosis"\nl = 3\n',
        POLICY + '[[privacy.l_diversity]]\ncolumn = "diagnosis"\nl = 3\n',
    ]
    assert len({parse(text).sha256 for text in written}) == 1


def test_the_fingerprint_knows_what_a_model_says() -> None:
    models = [
        "",
        DIVERSITY,
        DIVERSITY.replace("l = 3", "l = 4"),
        DIVERSITY.replace("l = 3", 'l = 3, kind = "entropy"'),
        CLOSENESS,
        CLOSENESS.replace("0.2", "0.3"),
        'unit = "name"',
    ]
    fingerprints = [parse(policy(privacy(model))).sha256 for model in models]
    assert all(one != other for one, other in itertools.combinations(fingerprints, 2))
