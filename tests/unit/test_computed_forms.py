"""What a policy may say of hierarchies that compute their labels, and what is wrong with the rest."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from anondb.errors import PolicyError, Problem
from anondb.hierarchies.forms import (
    COMPUTED,
    Age,
    BuiltinCode,
    BuiltinTable,
    Cap,
    Code,
    Dates,
    Grid,
    Hierarchy,
    Intervals,
)
from anondb.policy.load import parse
from anondb.run.compile import compile_plan
from anondb.run.plan import Plan
from anondb.run.snapshot import Snapshot, SourceInfo, TargetInfo
from anondb.sqltree.tables import Relation, SourceColumn

POLICY = """
source = "hospital.admissions"
target = "share.admissions"
privacy = {{ k = 5 }}
method = {{ algorithm = "{}" }}
[columns]
value = {{ role = "{}", {} }}
job = {{ role = "quasi", hierarchy = {{ mask = "all" }} }}
"""


def problems(
    said: str, *, type_: str | None = None, role: str = "quasi", by: str = "datafly"
) -> list[Problem]:
    """What is wrong with a column; of this type, if the policy is right."""
    with pytest.raises(PolicyError) as caught:
        compiled(POLICY.format(by, role, said), type_ or "text")
    return list(caught.value.problems)


def compiled(text: str, type_: str) -> Plan:
    columns = (SourceColumn("value", type_, type_), SourceColumn("job", "text", "text"))
    source = SourceInfo(Relation("hospital", "admissions"), columns)
    return compile_plan(parse(text), Snapshot(source, TargetInfo(Relation("share", "admissions")), {}))


AT = date(2024, 1, 1)
ENDS = Cap(Decimal(18), Decimal(89))


@pytest.mark.parametrize(
    ("said", "meant", "words"),
    [
        (
            'hierarchy = { dates = ["month", "year", "5 years", "decade"] }',
            Dates(("month", "year", "5 years", "decade")),
            "calendar: month, year, 5 years and decade",
        ),
        ('hierarchy = { age_at = "2024-01-01" }', Age(AT), "the age on 2024-01-01"),
        ("hierarchy = { age_at = 2024-01-01 }", Age(AT), "the age on 2024-01-01"),
        (
            'hierarchy = { age_at = "2024-01-01", start = 3, widths = [5, 10] }, cap = { above = 89 }',
            Age(AT, (Decimal(5), Decimal(10)), Decimal(3), Cap(None, Decimal(89))),
            "the age on 2024-01-01, in ranges of 5 and 10; all above 89 as one",
        ),
        (
            "hierarchy = { widths = [5] }, cap = { below = 18, above = 89 }",
            Intervals(Decimal(0), (Decimal(5),), ENDS),
            "ranges of 5, counted from 0; all below 18 and above 89 as one",
        ),
        ("hierarchy = { code = [1, 3, 4] }", Code((1, 3, 4)), "a code by its first 1, 3 and 4 characters"),
        (
            "hierarchy = { grid = [0.01, 0.1, 1.0] }",
            Grid((Decimal("0.01"), Decimal("0.1"), Decimal("1.0"))),
            "cells of a grid, 0.01, 0.1 and 1.0 wide",
        ),
        ('hierarchy = "builtin:icd10"', BuiltinCode("icd10"), "built in: icd10"),
        ('hierarchy = "builtin:iso3166"', BuiltinTable("iso3166"), "built in: iso3166"),
    ],
)
def test_each_form_is_understood_and_told(said: str, meant: Hierarchy, words: str) -> None:
    hierarchy = parse(POLICY.format("datafly", "quasi", said)).columns[0].hierarchy
    assert hierarchy == meant
    assert meant.words() == words


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        ("hierarchy = { code = [3, 1] }", "must grow, and 3 is followed by 1", "code = [1, 3]"),
        ("hierarchy = { code = [2, 2] }", "must grow, and 2 is followed by 2", "code = [2]"),
        ("hierarchy = { code = [0, 2] }", "a whole number from 1 to 100, not 0", "[1, 3, 4]"),
        ("hierarchy = { code = [1.5] }", "a whole number from 1 to 100, not 1.5", "[1, 3, 4]"),
        ("hierarchy = { code = 3 }", "must be a list of lengths, not 3", "[1, 3, 4]"),
        ("hierarchy = { grid = [1, 0.1] }", "must grow, and 1 is followed by 0.1", "grid = [0.1, 1]"),
        ("hierarchy = { grid = [0.1, 0.25] }", "no multiple of 0.1", "such as 0.3"),
        ("hierarchy = { grid = [-1] }", "must be above 0", "leave it out"),
        ("hierarchy = { widths = [20, 5] }", "20 is followed by 5", "widths = [5, 20]"),
        (
            'hierarchy = { age_at = "2024-01-01", widths = [20, 5] }',
            "20 is followed by 5",
            "widths = [5, 20]",
        ),
        ('hierarchy = { age_at = "2024-02-30" }', 'there is no day "2024-02-30"', '"2024-01-01"'),
        ('hierarchy = { age_at = "today" }', 'must be a day, not "today"', '"2024-01-01"'),
        ("hierarchy = { age_at = 2024 }", "must be a day, not 2024", '"2024-01-01"'),
        ("hierarchy = { age_at = 2024-01-01T12:00:00 }", "must be a day", '"2024-01-01"'),
        ('hierarchy = { age_at = "2024-01-01", width = [5] }', 'unknown key "hierarchy.width"', "widths"),
        ('hierarchy = { age_at = "2024-01-01", mask = "all" }', "mixes several forms", "age_at"),
        ("hierarchy = { start = 5 }", "hierarchy.widths is missing", "widths"),
        (
            'hierarchy = { dates = ["2 years", "5 years"] }',
            '"5 years" is no multiple of "2 years"',
            "multiples",
        ),
        ('hierarchy = { dates = ["decade", "10 years"] }', "each unit once", "decade"),
        ('hierarchy = { dates = ["5 years", "year"] }', "from fine to coarse", '["year", "5 years"]'),
        ('hierarchy = { dates = ["0 years"] }', 'not "0 years"', "5 years"),
        ('hierarchy = "builtin:icd9"', 'no hierarchy "icd9" comes with anondb', "isco08, iso3166, nace"),
        ('hierarchy = "builtin:"', 'no hierarchy "" comes with anondb', "there are atc"),
        ('hierarchy = "builtin:../x"', "comes with anondb", "there are atc"),
        (
            "hierarchy = { widths = [5] }, cap = { below = 90, above = 18 }",
            "below = 90 lies above above = 18",
            "cap = {",
        ),
        ("hierarchy = { widths = [5] }, cap = { }", "has no bound", "below = 18"),
        ("hierarchy = { widths = [5] }, cap = { under = 18 }", 'unknown key "cap.under"', "below"),
        ("hierarchy = { widths = [5] }, cap = 89", "cap must be a table, not 89", "cap = {"),
        ('hierarchy = { mask = "all" }, cap = { above = 89 }', "no ranges of numbers or ages", "widths"),
    ],
)
def test_what_cannot_be_meant_is_told_with_what_to_write(said: str, message: str, hint: str) -> None:
    [problem] = problems(said)
    assert problem.place == "policy [columns.value]"
    assert message in problem.message
    assert problem.hint is not None
    assert hint in problem.hint


def test_a_cap_is_of_quasi_identifiers() -> None:
    [problem] = problems("cap = { above = 89 }", role="other")
    assert 'other column "value" has a cap' in problem.message
    [problem] = [one for one in problems("cap = { above = 89 }") if "cap" in one.message]
    assert "no ranges" in problem.message


@pytest.mark.parametrize(
    ("said", "type_", "message"),
    [
        ("hierarchy = { grid = [1] }", "text", 'a grid is of points or of numbers, and "value" is text'),
        ("hierarchy = { grid = [1] }", "date", "a grid is of points or of numbers"),
        ('hierarchy = { age_at = "2024-01-01" }', "int4", "an age is counted from a date of birth"),
        ('hierarchy = { age_at = "2024-01-01" }', "text", "an age is counted from a date of birth"),
        ("hierarchy = { code = [1, 3] }", "int4", "a code is a text whose first characters say most"),
        ("hierarchy = { code = [1, 3] }", "point", "a code is a text"),
        ('hierarchy = "builtin:isco08"', "int4", "codes of isco08 are texts"),
        ("hierarchy = { widths = [5] }, cap = { above = 89 }", "text", "intervals need a numeric column"),
    ],
)
def test_a_form_that_does_not_fit_the_type_of_a_column_is_refused(
    said: str, type_: str, message: str
) -> None:
    [problem] = problems(said, type_=type_)
    assert problem.message.startswith(message)
    assert problem.hint is not None
    assert problem.hint.startswith("write hierarchy")


@pytest.mark.parametrize(
    "said",
    ['hierarchy = { age_at = "2024-01-01" }', "hierarchy = { widths = [5] }, cap = { above = 89 }"],
)
def test_a_method_that_would_show_what_a_hierarchy_hides_is_refused(said: str) -> None:
    [problem] = problems(said, by="fusion")
    assert "fusion releases values as they are" in problem.message
    assert problem.hint is not None
    assert "mondrian" in problem.hint
    assert "fusion" not in problem.hint


def test_every_form_says_how_it_is_written() -> None:
    for form in COMPUTED:
        said = f"hierarchy = {form.example}"
        assert isinstance(parse(POLICY.format("datafly", "quasi", said)).columns[0].hierarchy, form)
        assert next(iter(form.keys)) in form.example
