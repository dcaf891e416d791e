"""What is told first of a release: what is shown as it was, the surest guess, and the limits."""

from __future__ import annotations

from dataclasses import replace

from anondb.report.exposure import exposure
from anondb.report.html import render
from anondb.report.metrics import reported
from anondb.report.model import ColumnReport
from tests import report_samples

COLUMNS = [
    ("name", "identifier", None),
    ("age", "quasi", 2),
    ("sex", "quasi", 0),
    ("zip", "quasi", None),
    ("diagnosis", "sensitive", None),
    ("ward", "other", None),
]
OTHERS = ("Not considered", "other releases of the same persons, and what else is known of them")


def test_it_tells_what_is_unchanged_how_sure_a_guess_is_and_what_was_not_looked_at() -> None:
    assert list(exposure(COLUMNS, {"diagnosis": 0.625}, {("k_anonymity", None)})) == [
        ("Released as it was", "sex, diagnosis, ward"),
        (
            "Surest guess",
            "62.5% for diagnosis, the share of one value in a class; no l-diversity was asked for",
        ),
        ("Declared harmless", "ward: the policy says so, and nothing protects it"),
        OTHERS,
    ]


def test_a_release_of_generalized_columns_alone_has_its_limits_too() -> None:
    assert list(exposure(COLUMNS[:2], {}, ())) == [("Released as it was", "no column"), OTHERS]


def test_a_column_that_a_model_bounds_is_not_told_to_be_without() -> None:
    for kind in ("l_diversity", "le_diversity"):
        [_, (_, guess), *_] = exposure(COLUMNS, {"diagnosis": 0.25}, {(kind, "diagnosis")})
        assert guess == "25% for diagnosis, the share of one value in a class"
    [_, (_, guess), *_] = exposure(COLUMNS, {"diagnosis": 0.25, "pay": 0.5}, {("l_diversity", "diagnosis")})
    assert guess.startswith("50% for pay, 25% for diagnosis")
    assert guess.endswith("; no l-diversity of pay was asked for")
    [_, (_, guess), *_] = exposure(COLUMNS, {"diagnosis": 0.25}, {("t_closeness", "diagnosis")})
    assert guess.endswith("no l-diversity was asked for")


def test_of_many_sensitive_columns_the_surest_are_told() -> None:
    guesses = {f"c{n}": n / 10 for n in range(1, 8)}
    [_, (_, guess), *_] = exposure(COLUMNS, guesses, ())
    assert guess.startswith(
        "70% for c7, 60% for c6, 50% for c5, 40% for c4, at most 30% for 3 more, the share"
    )


def test_the_report_begins_with_it() -> None:
    data = report_samples.release()
    columns = (*data.columns, ColumnReport("ward<b>", "other"))
    surest = reported("attribute_disclosure_max", 0.625, column="diagnosis")
    page = render(replace(data, columns=columns, metrics=(*data.metrics, surest), models=data.models[:1]))
    header = page.partition('<header id="summary">')[2].partition("</header>")[0]
    for told in (
        "Released as it was",
        "ward&lt;b&gt;",
        "62.5% for diagnosis",
        "no l-diversity was asked for",
    ):
        assert told in header
    assert "other releases of the same persons" in header
