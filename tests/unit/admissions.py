"""A policy to spoil: its text, changes of it, and the problems that they make."""

from __future__ import annotations

from pathlib import Path

import pytest

from anondb.errors import PolicyError, Problem
from anondb.policy.load import parse

POLICY = """\
source = "hospital.admissions"
target = "share.admissions"

[privacy]
k = 5
suppression = 0.02

[method]
algorithm = "datafly"

[columns]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { start = 17, widths = [5, 10, 20] } }
zip = { role = "quasi", hierarchy = { mask = "right" } }
job = { role = "quasi", hierarchy = "occupation" }
diagnosis = { role = "sensitive" }
visited = { role = "other" }
"""


def policy(*changes: tuple[str, str]) -> str:
    """POLICY with some of its text replaced."""
    text = POLICY
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def problems(text: str, base: Path | None = None) -> tuple[Problem, ...]:
    with pytest.raises(PolicyError) as raised:
        parse(text, place="admissions.toml", base=base)
    return raised.value.problems


def problem(*changes: tuple[str, str]) -> Problem:
    """The only problem of POLICY after these changes."""
    (only,) = problems(policy(*changes))
    assert only.hint, "a problem says what to do next"
    return only
