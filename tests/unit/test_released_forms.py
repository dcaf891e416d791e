"""What a policy may say of the form in which quasi-identifiers are released, and what is wrong with the rest."""

from __future__ import annotations

import pytest

from anondb.errors import PolicyError
from anondb.policy.load import parse
from anondb.report.forms import form_sentences
from tests.unit.test_computed_forms import POLICY, compiled, problems

RANGES = "hierarchy = { widths = [5] }"


def released(said: str, type_: str) -> list[tuple[str, str]]:
    """The columns that a release has instead of `value`, with their types."""
    [place] = compiled(POLICY.format("datafly", "quasi", said), type_).places
    return [(column.name, column.type) for column in place.columns[:-1]]


@pytest.mark.parametrize(
    ("said", "type_", "columns"),
    [
        (RANGES, "int4", [("value", "text")]),
        (f'{RANGES}, release = "text"', "int4", [("value", "text")]),
        (f'{RANGES}, release = "range"', "int4", [("value", "int4range")]),
        (f'{RANGES}, release = "range"', "int8", [("value", "int8range")]),
        (f'{RANGES}, release = "range"', "float8", [("value", "numrange")]),
        (f'{RANGES}, release = "mean"', "int2", [("value", "numeric")]),
        (
            f'{RANGES}, release = ["lower", "upper"]',
            "int4",
            [("value_lower", "numeric"), ("value_upper", "numeric")],
        ),
        ('hierarchy = { dates = true }, release = "range"', "date", [("value", "daterange")]),
        ('hierarchy = { dates = true }, release = "range"', "timestamptz", [("value", "tstzrange")]),
        ('hierarchy = { dates = true }, release = "midpoint"', "timestamp", [("value", "timestamp")]),
        ('hierarchy = { age_at = "2024-01-01" }, release = "range"', "date", [("value", "int4range")]),
        ('hierarchy = { age_at = "2024-01-01" }, release = "mean"', "date", [("value", "numeric")]),
        ('hierarchy = { grid = [1] }, release = "midpoint"', "float8", [("value", "numeric")]),
    ],
)
def test_a_form_has_its_columns_and_types(said: str, type_: str, columns: list[tuple[str, str]]) -> None:
    assert released(said, type_) == columns


@pytest.mark.parametrize(
    ("said", "type_", "message"),
    [
        (
            f'{RANGES}, release = "median"',
            "int4",
            'one of text, range, midpoint, mean, lower, upper, not "median"',
        ),
        (f"{RANGES}, release = []", "int4", "an empty list"),
        (f"{RANGES}, release = 5", "int4", "not 5"),
        (f'{RANGES}, release = ["mean", "mean"]', "int4", "names a form twice"),
        ('hierarchy = { mask = "all" }, release = "range"', "text", "no ranges of numbers or dates: masked"),
        ("hierarchy = { code = [1] }, release = 'mean'", "text", "no ranges of numbers or dates"),
        ('hierarchy = "builtin:icd10", release = "range"', "text", "no ranges of numbers or dates"),
        ('hierarchy = "jobs", release = "range"', "text", "no ranges of numbers or dates: stored"),
        (
            "hierarchy = { grid = [1] }, release = 'mean'",
            "point",
            'needs numbers or dates, and "value" is point',
        ),
        (
            f"{RANGES}, cap = {{ above = 89 }}, release = 'mean'",
            "int4",
            "it would tell of values beyond the cap",
        ),
        (f"{RANGES}, cap = {{ above = 89 }}, release = 'midpoint'", "int4", "an open end has none"),
    ],
)
def test_a_form_that_does_not_go_with_the_column_is_refused(said: str, type_: str, message: str) -> None:
    [problem] = problems(said, type_=type_)
    assert message in problem.message
    assert problem.hint


def test_ranges_of_text_are_refused_without_a_hierarchy() -> None:
    [problem] = problems('release = "range"', type_="text", by="mondrian")
    assert problem.message == 'release = "range" needs numbers or dates, and "value" is text'


def test_a_form_is_of_quasi_identifiers() -> None:
    [problem] = problems('release = "mean"', role="other")
    assert 'other column "value" has a release' in problem.message


@pytest.mark.parametrize("algorithm", ["fusion"])
def test_other_methods_release_in_their_own_way(algorithm: str) -> None:
    [problem] = problems(f'{RANGES}, release = "mean"', by=algorithm)
    assert "in its own way, and in no other form" in problem.message
    assert '"mondrian"' in str(problem.hint)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("k = 5", 'k = 5, suppress = "mask"'), "masked records have no number"),
        (('"datafly"', '"mondrian", strict = false'), "have no mean of their own"),
        (("k = 5", 'k = 5, suppress = "cells"'), "suppressed cells are texts"),
    ],
)
def test_what_has_no_number_is_refused(changed: tuple[str, str], message: str) -> None:
    text = POLICY.format("datafly", "quasi", f'{RANGES}, release = "mean"').replace(*changed)
    with pytest.raises(PolicyError, match=message):
        compiled(text, "int4")
    if "cells" not in text:
        parse(text.replace('"mean"', '"range"'))


def test_a_model_that_two_classes_can_satisfy_and_their_union_not_goes_with_ranges_alone() -> None:
    text = POLICY.format("datafly", "quasi", f'{RANGES}, release = "midpoint"')
    text = text.replace("k = 5", 'k = 5, le_diversity = { column = "ill", l = 2, e = 1 }')
    text += 'ill = { role = "sensitive", hierarchy = "ills" }'
    with pytest.raises(PolicyError, match="two that satisfy le_diversity may make one that does not"):
        compiled(text, "int4")


def test_the_summary_says_what_a_number_is() -> None:
    assert list(form_sentences([("age", "mean"), ("zip", None), ("born", "lower, upper")])) == [
        '"age" is released as the mean of its class (microaggregation), which nobody need have.',
        '"born" is released as the lower end of the range of its class and the upper end of the range of its class.',
    ]
