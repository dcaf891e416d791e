"""The JSON schema of a policy, made of the tables of its keys: editors complete by it, and tell what is misspelt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from anondb.hierarchies.forms.builtin import PREFIX, names
from anondb.methods.registry import METHODS
from anondb.models.model import SensitiveModel
from anondb.policy.check import Key, Reader
from anondb.policy.columns import ITEMS
from anondb.policy.hierarchy_forms import FORMS
from anondb.policy.load import COLUMN, METHOD, PRIVACY, TOP
from anondb.policy.model import Role
from anondb.policy.perturbed import MOST_NOISE, UNITS

FILE = Path(__file__).with_name("schema.json")
TITLE = "A policy of anondb: what to release, from where, and what the release must satisfy"

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 2}
# what readers of values take, by their names; a reader that is not here takes anything as far as the schema knows
_READERS: Mapping[str, Schema] = {
    "read_text": _TEXT,
    "read_name": _TEXT,
    "_read_csv": _TEXT,
    "read_texts": {"type": "array", "items": _TEXT},
    "read_ontologies": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]},
    "read_flag": {"type": "boolean"},
    "_read_build": {"const": True},
    "read_count": _COUNT,
    "read_level": {"type": "integer", "minimum": 0},
    "_read_seed": {"type": "integer"},
    "read_number": _NUMBER,
    "read_noise": {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_NOISE},
    "read_round": {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"enum": list(UNITS)}]},
    "read_share": {"type": "number", "minimum": 0, "maximum": 1},
    "read_widths": {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 1},
    "_read_weights": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
    "_read_role": {"enum": [str(role) for role in Role]},
}


def schema() -> Schema:
    """The whole schema."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": TITLE,
        **_table(TOP),
    }


def written() -> str:
    """Its text, as it is shipped."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _table(keys: Mapping[str, Key]) -> Schema:
    made: Schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _key(name, key) for name, key in keys.items()},
    }
    required = [name for name, key in keys.items() if key.missing is not None]
    return made | ({"required": required} if required else {})


def _key(name: str, key: Key) -> Schema:
    value = _value(name, key.read)
    # what to add where it is missing says what it is
    return value if key.missing is None else value | {"description": key.missing}


def _value(name: str, read: Reader) -> Schema:
    if (options := getattr(read, "options", None)) is not None:
        return {"enum": [str(option) for option in options]}
    model = getattr(read, "__self__", None)
    if isinstance(model, type) and issubclass(model, SensitiveModel):
        demand = _table(model.keys)
        return {
            "description": model.title,
            "anyOf": [demand, {"type": "array", "items": demand, "minItems": 1}],
        }
    match getattr(read, "__name__", ""):
        case "_read_privacy":
            return _table(PRIVACY)
        case "_read_method":
            return _method()
        case "_read_columns":
            return {"type": "object", "additionalProperties": _table(COLUMN)}
        case "read_items":
            return _table(ITEMS)
        case "read_hierarchy":
            return _hierarchy()
        case known:
            return dict(_READERS.get(known, {}))


def _method() -> Schema:
    """With the words that any of the methods takes: which one takes which is told when the policy is read."""
    made = _table(METHOD)
    for key, value in made["properties"].items():
        if words := _unique(word for method in METHODS.values() for word in method.options.get(key, ())):
            made["properties"][key] = {"enum": words} if value == _TEXT else value
    return made


def _hierarchy() -> Schema:
    builtin = [f"{PREFIX}{name}" for name in names()]
    forms = [{"type": "string", "minLength": 1, "examples": builtin}]
    for form in FORMS:
        made = _table(form.keys)
        forms.append(
            made | {"required": _unique([form.own, *made.get("required", ())]), "examples": [form.example]}
        )
    return {"anyOf": forms}


def _unique(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
