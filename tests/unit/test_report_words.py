"""Figures and summaries in plain words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.evaluation.metrics import describe
from anondb.report import words
from anondb.report.metrics import reported
from anondb.report.model import PrivacyModel, ReportData, RunSummary, Suppression
from tests import report_samples

RUN = RunSummary(1, "datafly", "a.b", "c.d", 100, 98, 2, 9, 5)


def summary(**changes: Any) -> list[str]:
    return words.summary(ReportData("t", replace(RUN, **changes)))


def test_the_summary_of_a_release_reads_like_this() -> None:
    assert words.summary(report_samples.release()) == [
        "Every released record looks like at least 4 others.",
        "Every group of such records has at least 3 different values of diagnosis.",
        "The values of diagnosis in a group differ from those of the whole release by at most 0.238.",
        "Whoever knows age, sex, zip and job of a person picks the right record with a chance of at most 20% "
        "(100% before).",
        "6,210 records were unique before; now none is.",
        "251 of 30,162 records (0.83%) were left out; the policy allows 2%.",
        "27.4% of the detail in the quasi-identifiers was given up for that, most of it in zip.",
    ]


@pytest.mark.parametrize(
    ("k", "sentence"),
    [
        (1, "Some released records look like no other."),
        (2, "Every released record looks like at least 1 other."),
        (5, "Every released record looks like at least 4 others."),
        (1001, "Every released record looks like at least 1,000 others."),
    ],
)
def test_the_first_sentence_counts_the_others(k: int, sentence: str) -> None:
    assert summary(k=k)[0] == sentence


def test_a_release_without_records_promises_nothing() -> None:
    assert summary(released=0, suppressed=100, classes=0, k=0) == [
        "No record is released.",
        "All 100 records of a.b were suppressed.",
    ]


def test_suppressed_records_are_told_and_none_is_told_too() -> None:
    assert summary()[1] == "2 of 100 records (2%) were left out."
    assert summary(suppressed=0, released=100)[1] == "All 100 records are in the release."
    masked = ReportData("t", replace(RUN, suppressed=1), suppression=Suppression(0.05, "mask"))
    assert words.summary(masked)[1] == "1 of 100 records (1%) was masked; the policy allows 5%."


def test_a_model_is_told_in_the_unit_of_its_kind() -> None:
    entropy = PrivacyModel("l_diversity", 2, 2.5, "disease", "entropy")
    assert "as varied as 2.5 equally frequent ones" in words.model_in_words(entropy)
    assert words.demand(entropy) == ("l-diversity (entropy, disease)", "l = 2", "2.5")
    assert words.demand(PrivacyModel("t_closeness", 0.2, 0.1999)) == ("t-closeness", "t ≤ 0.2", "0.2")
    assert words.demand(PrivacyModel("some_model", 3, 3)) == ("some model", "3", "3")
    apart = PrivacyModel("le_diversity", 3, 3, "disease", "e = 1")
    assert words.demand(apart) == ("(l, e)-diversity (e = 1, disease)", "l = 3", "3")
    assert "none of disease has more than 1/3 of a class, and no two" in words.model_in_words(apart)
    assert "no two" not in words.model_in_words(replace(apart, variant="e = 0"))  # plain l-diversity


@given(st.floats(0, 1))
def test_a_share_is_never_told_as_nothing_or_all_unless_it_is(share: float) -> None:
    text = words.percent(share)
    assert (text == "0%") == (share == 0)
    assert (text == "100%") == (share == 1)
    assert float(text.strip("<>%")) == pytest.approx(share * 100, abs=0.051)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "share", "–"),
        (float("nan"), "number", "–"),
        (0.274, "share", "27.4%"),
        (58.3, "percent", "58.3%"),
        (0.2, "share", "20%"),
        (1284402, "count", "1,284,402"),
        (3.7105, "number", "3.71"),
        (36.1, "number", "36.1"),
        (0.00012345, "number", "0.000123"),
        (12345.6, "number", "12,346"),
        (5 * 2**20, "bytes", "5.0 MB"),
        (-0.5, "number", "-0.5"),
    ],
)
def test_a_figure_has_the_digits_that_matter(value: float | None, unit: str, text: str) -> None:
    assert words.formatted(value, unit) == text


def test_names_are_listed_as_people_do() -> None:
    assert [words.listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]


def test_a_measure_of_a_sensitive_column_is_not_a_part_of_a_whole() -> None:
    made = reported("attribute_disclosure_above_0.5", 0.25, before=1, column="diagnosis")
    assert (made.label, made.column) == ("Sensitive guess surer than 50%: diagnosis", None)
    assert (made.before, made.after, made.section) == (1, 0.25, "risk")
    assert reported("gen_iloss", 0.25, column="age").column == "age"


def test_a_threshold_or_an_unknown_name_still_has_a_label() -> None:
    assert describe("prosecutor_above_0.2").label == "Records at risk above 20%"
    assert describe("something_new").label == "something new"
    assert reported("something_new", 3).section == "utility"
    assert reported("something_new", 3, section="risk").section == "risk"


@given(st.text())
def test_printable_texts_hold_no_control_characters(text: str) -> None:
    shown = words.printable(text)
    assert len(shown) == len(text)
    assert not any(ord(character) < 32 and character not in "\n\t" for character in shown)
    assert "\u202e" not in shown
