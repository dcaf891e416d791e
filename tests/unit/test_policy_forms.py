"""A policy is a Policy, a dict, a path or a text: whichever it is, it means the same and is checked the same."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anondb
from anondb.errors import PolicyError, UsageError
from anondb.policy import toml_text
from anondb.policy.accept import policy_from
from tests.documentation import ROOT

EXAMPLE = ROOT / "examples" / "hospital" / "admissions.toml"
TEXT = """\
source = "hospital.admissions"
target = "share.admissions"
[privacy]
k = 5
suppression = 0.1
[method]
algorithm = "datafly"
[columns]
name = { role = "identifier" }
zip = { role = "quasi", hierarchy = { mask = "right" } }
"""
MAPPING: Mapping[str, Any] = {
    "source": "hospital.admissions",
    "target": "share.admissions",
    "privacy": {"k": 5, "suppression": 0.1},
    "method": {"algorithm": "datafly"},
    "columns": {"name": {"role": "identifier"}, "zip": {"role": "quasi", "hierarchy": {"mask": "right"}}},
}

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_numbers = st.decimals(allow_nan=False, allow_infinity=False)
_values = st.recursive(
    st.one_of(_texts, st.integers(), st.booleans(), _numbers, st.dates(), st.datetimes()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_texts, inner, max_size=3)),
    max_leaves=8,
)


def changed(**privacy: object) -> dict[str, Any]:
    return {**MAPPING, "privacy": MAPPING["privacy"] | privacy}


@given(st.dictionaries(_texts, _values, max_size=4))
def test_what_is_written_as_toml_is_read_as_it_was(document: dict[str, Any]) -> None:
    read = tomllib.loads(toml_text.write(document), parse_float=Decimal)
    assert read == document
    assert list(map(type, read.values())) == [type(document[key]) for key in read]


@given(st.floats(allow_nan=False))
def test_a_float_is_written_with_the_digits_that_python_shows(number: float) -> None:
    read = tomllib.loads(toml_text.write({"number": number}), parse_float=Decimal)["number"]
    assert read == Decimal(repr(number))
    assert isinstance(read, Decimal)


def test_every_form_of_a_policy_means_the_same(tmp_path: Path) -> None:
    file = tmp_path / "admissions.toml"
    file.write_text(TEXT)
    unnamed = tmp_path / "admissions"
    unnamed.write_text(TEXT)
    policy = anondb.Policy.parse(TEXT)
    assert policy_from(policy) is policy
    forms = (TEXT, MAPPING, file, str(file), unnamed, str(unnamed))
    assert {policy_from(form).sha256 for form in forms} == {policy.sha256}
    assert anondb.Policy.load(file).text == policy_from(TEXT).text == TEXT
    assert anondb.Policy.from_dict(MAPPING) == policy_from(MAPPING)


def test_the_example_is_the_same_policy_as_a_dict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE.parent)  # where relative paths of a dict start
    mapping = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))
    policy, loaded = anondb.Policy.from_dict(mapping), anondb.Policy.load(EXAMPLE)
    assert policy.sha256 == loaded.sha256
    assert [column.name for column in policy.columns] == [column.name for column in loaded.columns]


def test_the_text_of_a_dict_is_a_policy_that_says_the_same() -> None:
    policy = anondb.Policy.from_dict(MAPPING)
    assert policy.text == TEXT.replace("[", "\n[")
    assert anondb.Policy.parse(policy.text) == policy


def test_a_path_in_a_dict_may_be_a_path(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("1;*\n2;*\n")
    column = {"role": "quasi", "hierarchy": {"csv": tmp_path / "zip.csv"}}
    policy = anondb.Policy.from_dict({**MAPPING, "columns": {"zip": column}})
    assert policy.columns[0].hierarchy is not None


@pytest.mark.parametrize("wrong", [{"k": 5.0}, {"k": 0}, {"suppression": 2.5}, {"suppression": float("nan")}])
def test_a_dict_goes_through_the_checks_of_a_file(wrong: dict[str, object]) -> None:
    mapping = changed(**wrong)
    with pytest.raises(PolicyError) as of_dict:
        anondb.Policy.from_dict(mapping)
    with pytest.raises(PolicyError) as of_text:
        anondb.Policy.parse(toml_text.write(mapping))
    assert of_dict.value.problems == of_text.value.problems


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (changed(k=None), "policy: privacy.k is None, which a policy cannot hold\n  hint: leave the key out"),
        (changed(unit={"a", "b"}), "policy: privacy.unit is a value of the type set, which"),
        (changed(k=10**5000), "policy: a number or a nesting is beyond all bounds"),
        (
            {**MAPPING, "privacy": {5: 1}},
            "policy: a key of privacy is int, and the keys of a policy are texts",
        ),
        (dict([*MAPPING.items(), (5, 1)]), "policy: a key is int, and the keys of a policy are texts"),
        ({**MAPPING, "sorce": 1}, 'policy: unknown key "sorce"'),
        ({}, "policy: source is missing"),
    ],
)
def test_what_a_policy_cannot_hold_is_told_with_its_place(mapping: dict[Any, Any], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from(mapping)
    assert str(caught.value).startswith(message)


def test_a_dict_that_contains_itself_is_refused() -> None:
    mapping = changed()
    mapping["privacy"]["unit"] = mapping
    with pytest.raises(PolicyError, match="beyond all bounds"):
        policy_from(mapping)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("missing.toml", "missing.toml: there is no such file"),
        ("missing\0.toml", "the file cannot be read"),
        ("missing", '"missing" is neither a file nor the text of a policy'),
        ("k = 5", '"k = 5" is neither a file nor the text of a policy'),
        ("", '"" is neither a file nor the text of a policy'),
        (Path("missing"), "missing: there is no such file"),
        ("k = \n", "this is not TOML"),
    ],
)
def test_a_str_that_is_no_policy_is_told_what_it_was_taken_for(given: Path | str, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from(given)
    assert message in str(caught.value)


@pytest.mark.parametrize("given", [None, 5, b"source = 1\n", [MAPPING]])
def test_what_is_no_policy_at_all_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match=f"a policy cannot be had from {type(given).__name__}"):
        policy_from(given)
