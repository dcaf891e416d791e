"""The JSON schema of policies: it is that of the keys, takes every policy, and refuses what no policy has."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from jsonschema import Draft7Validator

from anondb.policy.load import COLUMN, METHOD, PRIVACY, TOP
from anondb.policy.schema import FILE, schema, written
from tests.documentation import FILES, ROOT, blocks

SCHEMA = json.loads(FILE.read_text(encoding="utf-8"))
POLICIES = [
    (str(file.relative_to(ROOT)), text)
    for file in FILES
    for text in blocks(str(file.relative_to(ROOT)), "toml")
    if "[columns]" in text
]
RIGHT: dict[str, Any] = {
    "source": "a.b",
    "target": "c.d",
    "privacy": {"k": 5},
    "method": {"algorithm": "datafly"},
    "columns": {"age": {"role": "quasi", "hierarchy": {"widths": [5, 10]}}},
}


def is_right(document: object) -> bool:
    return bool(Draft7Validator(SCHEMA).is_valid(document))


def test_the_schema_that_is_shipped_is_that_of_the_keys() -> None:
    """After new keys or forms: python tools/policy_schema.py."""
    assert FILE.read_text(encoding="utf-8") == written()
    Draft7Validator.check_schema(SCHEMA)


def test_every_key_is_in_it() -> None:
    made = schema()
    assert made["properties"].keys() == TOP.keys()
    assert made["properties"]["privacy"]["properties"].keys() == PRIVACY.keys()
    assert made["properties"]["method"]["properties"].keys() == METHOD.keys()
    assert made["properties"]["columns"]["additionalProperties"]["properties"].keys() == COLUMN.keys()


@pytest.mark.parametrize("text", [text for _, text in POLICIES], ids=[file for file, _ in POLICIES])
def test_every_documented_policy_is_right(text: str) -> None:
    assert not list(Draft7Validator(SCHEMA).iter_errors(tomllib.loads(text)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["sauce"], "a.b"),
        (["source"], 5),
        (["privacy", "k"], 1),
        (["privacy", "k"], "5"),
        (["privacy", "kk"], 5),
        (["privacy", "suppression"], 2),
        (["privacy", "l_diversity"], {"column": "a"}),
        (["privacy", "l_diversity"], {"column": "a", "l": 2, "kind": "distinkt"}),
        (["method", "algorithm"], "datafli"),
        (["method", "objective"], "los"),
        (["columns", "age", "role"], "kwasi"),
        (["columns", "age", "hierarchy"], {"widths": []}),
        (["columns", "age", "hierarchy"], {"mask": "middle"}),
        (["columns", "age", "hierarchy"], 5),
        (["columns", "age"], "quasi"),
    ],
)
def test_what_no_policy_has_is_refused(path: list[str], value: object) -> None:
    document = json.loads(json.dumps(RIGHT))
    assert is_right(document)
    table = document
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    assert not is_right(document)
    del table[path[-1]]


@pytest.mark.parametrize("key", RIGHT)
def test_what_every_policy_has_is_asked_for(key: str) -> None:
    assert not is_right({name: value for name, value in RIGHT.items() if name != key})
