"""The forms in which the library takes a policy: a `Policy`, a dict, a path, or the text of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from anondb.errors import PolicyError, Problem, UsageError
from anondb.policy import toml_text
from anondb.policy.load import load, parse
from anondb.policy.model import Policy
from anondb.policy.names import quoted

PolicyInput: TypeAlias = Policy | Mapping[str, Any] | os.PathLike[str] | str


def policy_from(given: PolicyInput) -> Policy:
    """The policy that is meant: a str with a line break is TOML, any other is a path."""
    match given:
        case Policy():
            return given
        case Mapping():
            return from_dict(given)
        case os.PathLike():
            return load(Path(given))
        case str() if "\n" in given:  # a policy has more than one key, so its text has several lines
            return parse(given)
        case str() if given.endswith(".toml") or os.path.lexists(given):
            return load(given)
        case str():
            raise _fault(
                f"{quoted(given)} is neither a file nor the text of a policy",
                "give the path of a TOML file, its text with all its lines, or a dict",
            )
    raise UsageError(
        f"a policy cannot be had from {type(given).__name__}",
        hint="give a Policy, a dict, the path of a TOML file, or its text",
    )


def from_dict(mapping: Mapping[str, Any]) -> Policy:
    """The policy in a dict that is built as the TOML file is; its text is that file."""
    try:
        text = toml_text.write(mapping)
    except UsageError as error:
        raise _fault(error.message, error.hint or "") from None
    except (RecursionError, ValueError):  # ValueError: Python writes out no integer of thousands of digits
        hint = "look for a dict that contains itself, and for numbers that are far too long"
        raise _fault("a number or a nesting is beyond all bounds", hint) from None
    return parse(text)


def _fault(message: str, hint: str) -> PolicyError:
    return PolicyError([Problem("policy", message, hint)])
