"""A hint fits the column it is given for, and never proposes to release more than the policy does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from anondb.errors import PolicyError, Problem
from anondb.policy.load import parse
from anondb.run.compile import compile_plan
from anondb.run.snapshot import Snapshot, SourceInfo, TargetInfo
from anondb.sqltree.tables import Relation, SourceColumn

TOP = Path(__file__).parents[2]
POLICY = """
source = "hospital.patients"
target = "share.patients"
privacy = {{ k = 5{privacy} }}
method = {{ algorithm = "{algorithm}" }}
[columns]
x = {{ {column} }}
job = {{ role = "quasi", hierarchy = {{ mask = "all" }} }}
"""
RANGES, DATES, ALL, CODES = "{ widths = [", "{ dates = true }", '{ mask = "all" }', '{ mask = "right" }'


def problems(
    column: str, type_: str = "text", *, algorithm: str = "datafly", privacy: str = ""
) -> list[Problem]:
    """What is wrong with a policy by itself, else with the table that it is for."""
    source = SourceInfo(
        Relation("hospital", "patients"),
        (SourceColumn("x", type_, type_), SourceColumn("job", "text", "text")),
    )
    snapshot = Snapshot(source, TargetInfo(Relation("share", "patients")), {})
    try:
        compile_plan(parse(POLICY.format(column=column, algorithm=algorithm, privacy=privacy)), snapshot)
    except PolicyError as error:
        return list(error.problems)
    return []


def the_hint(column: str, type_: str = "text", *, algorithm: str = "datafly", privacy: str = "") -> str:
    [problem] = problems(column, type_, algorithm=algorithm, privacy=privacy)
    return str(problem.hint)


def test_before_the_type_is_known_a_hierarchy_of_each_kind_is_named() -> None:
    hint = the_hint('role = "quasi"')
    assert all(form in hint for form in (RANGES, DATES, ALL, CODES))


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize(
    ("type_", "fitting"),
    [
        *((type_, RANGES) for type_ in ("int2", "int4", "int8", "numeric", "float4", "float8")),
        *((type_, DATES) for type_ in ("date", "timestamp", "timestamptz")),
        *((type_, ALL) for type_ in ("bool", "interval", "money", "oid")),
    ],
)
def test_what_has_no_characters_from_coarse_to_fine_has_no_mask(type_: str, fitting: str, side: str) -> None:
    # 1** would be 1, 10 to 19 and 100 to 199: no range, and no two digits of anything
    column = f'role = "quasi", hierarchy = {{ mask = "{side}" }}'
    [problem] = problems(column, type_)
    assert f'"x" is {type_}' in problem.message
    assert fitting in str(problem.hint)
    assert CODES not in str(problem.hint)


@pytest.mark.parametrize("type_", ["text", "varchar", "bpchar", "uuid", "inet", "postal_code"])
def test_codes_are_masked(type_: str) -> None:
    assert problems('role = "quasi", hierarchy = { mask = "right" }', type_) == []


@pytest.mark.parametrize("type_", ["int4", "date", "bool", "text", "interval"])
def test_any_value_can_be_masked_as_a_whole(type_: str) -> None:
    assert problems('role = "quasi", hierarchy = { mask = "all" }', type_) == []


@pytest.mark.parametrize(
    ("hierarchy", "type_", "fitting"),
    [
        ("{ widths = [5] }", "date", DATES),
        ("{ widths = [5] }", "text", CODES),
        ("{ widths = [5] }", "bool", ALL),
        ("{ dates = true }", "int4", RANGES),
        ("{ dates = true }", "text", CODES),
        ("{ dates = true }", "bool", ALL),
    ],
)
def test_the_hint_at_a_hierarchy_of_another_type_fits_the_column(
    hierarchy: str, type_: str, fitting: str
) -> None:
    assert fitting in the_hint(f'role = "quasi", hierarchy = {hierarchy}', type_)


def test_what_is_left_out_is_not_told_to_become_released() -> None:
    for key in ("min_level = 1", 'hierarchy = "job"', "set = true", 'ontology = "wordnet"'):
        hint = the_hint(f'role = "identifier", {key}')
        assert "role" not in hint, key
        assert "leave" in hint
    assert "role" not in the_hint('role = "identifier"', privacy=', l_diversity = { column = "x", l = 2 }')


@pytest.mark.parametrize(
    ("privacy", "algorithm"),
    [
        (', unit = "x"', "mondrian"),
        (', l_diversity = { column = "x", l = 2 }', "le_diversity"),
        (', t_closeness = { column = "x", t = 0.2 }', "le_diversity"),
    ],
)
def test_no_hint_gives_up_a_model_that_is_asked_for(privacy: str, algorithm: str) -> None:
    column = 'role = "sensitive", keep = "identifying"'
    hints = [str(problem.hint) for problem in problems(column, algorithm=algorithm, privacy=privacy)]
    assert not any("leave" in hint for hint in hints)
    assert any("algorithm" in hint for hint in hints)


def test_no_message_of_ours_tells_to_release_a_column() -> None:
    """Of all texts in the code: a role that releases a column as it is is never what comes next."""
    said = re.compile(r'role = \\?"(other|sensitive)\\?"')
    found = {
        (path.relative_to(TOP).as_posix(), line.strip())
        for path in [*TOP.glob("anondb/**/*.py"), *TOP.glob("sql/**/*.sql")]
        for line in path.read_text(encoding="utf-8").splitlines()
        if said.search(line)
    }
    # a column that is released already is protected by becoming a sensitive one
    assert found == {("anondb/policy/rules.py", "hint = f'set role = \"sensitive\" for {quoted(column)}'")}
