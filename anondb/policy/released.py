"""What a policy says of the form in which a quasi-identifier is released: a text, a range, a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anondb.errors import UsageError
from anondb.policy.check import PolicyKeys, Spot, instead, shown, suggestion
from anondb.policy.model import Role
from anondb.policy.names import quoted
from anondb.sqltree.released import TEXT

if TYPE_CHECKING:
    from anondb.methods.method import ReleaseMethod

WORDS = (TEXT, "range", "midpoint", "mean", "lower", "upper")
EXACT = (TEXT, "range")
"""Of these, different labels stay different."""


def read_release(spot: Spot, value: object) -> tuple[str, ...]:
    """One form, or several, each in a column of its own."""
    words = value if isinstance(value, list) else [value]
    hint = 'write release = "midpoint", or two columns: release = ["lower", "upper"]'
    if not words:
        raise UsageError(f"{spot.key} is an empty list", hint=hint)
    for word in words:
        if not isinstance(word, str) or word not in WORDS:
            message = f"{spot.key} must be one of {', '.join(WORDS)}, not {shown(word)}"
            raise UsageError(
                message, hint=suggestion(word if isinstance(word, str) else "", WORDS, "choose from")
            )
    if len(set(words)) < len(words):
        raise UsageError(f"{spot.key} names a form twice", hint=hint)
    return tuple(words)


def check_released(
    spot: Spot, policy: PolicyKeys, method: ReleaseMethod | None, methods: Mapping[str, ReleaseMethod]
) -> None:
    """Reports forms that a column, a method or a model does not go with."""
    for name, column in policy.columns.items():
        words = column.get("release", (TEXT,))
        if "release" not in column or words == (TEXT,):
            continue
        here, role = spot.at("columns", name, "release"), column.get("role", Role.QUASI)
        if role is not Role.QUASI:
            here.report(
                f"{role} column {quoted(name)} has a release, but only quasi-identifiers are generalized",
                instead(role, "the key"),
            )
            continue
        if method is not None and "release" not in method.column_keys:
            able = [quoted(one.name) for one in methods.values() if "release" in one.column_keys]
            here.report(
                f"{method.name} releases {quoted(name)} in its own way, and in no other form",
                f"leave the key out, or set algorithm to one of {', '.join(able)}",
            )
        if policy.privacy.get("suppress") == "cells":
            here.report(
                "suppressed cells are texts, and a column of another form has none",
                'leave release out, or set suppress = "remove"',
            )
        _check_hierarchy(here, name, column.get("hierarchy"), words)
        if any(word not in EXACT for word in words):
            _check_alike(here, policy, words)


def _check_hierarchy(spot: Spot, name: str, hierarchy: object, words: tuple[str, ...]) -> None:
    from anondb.hierarchies.forms import Hierarchy

    if not isinstance(hierarchy, Hierarchy):
        return
    if not hierarchy.tells_ranges:
        spot.report(
            f"the labels of {quoted(name)} are no ranges of numbers or dates: {hierarchy.words()}",
            "leave release out, or take { widths = … } or { dates = … }",
        )
    for word in ("midpoint", "mean"):
        if word in words and getattr(hierarchy, "cap", None) is not None:
            reason = (
                "an open end has none" if word == "midpoint" else "it would tell of values beyond the cap"
            )
            spot.report(
                f"{quoted(name)} has a cap, and {quoted(word)} does not go with it: {reason}",
                'write release = "range", or ["lower", "upper"], in which an open end is empty',
            )


def _check_alike(spot: Spot, policy: PolicyKeys, words: tuple[str, ...]) -> None:
    """Masked records have no number, and dealt ones no mean of their own."""
    word = next(word for word in words if word not in EXACT)
    if policy.privacy.get("suppress") == "mask":
        spot.report(
            f"masked records have no number, and release = {quoted(word)} could not tell them from NULLs",
            'leave suppress out, or write release = "range", in which they are all numbers',
        )
    if "mean" in words and policy.method.get("strict") is False:
        spot.report(
            "with strict = false records of one value are dealt to several classes, which have no mean of their own",
            'leave strict out, or write release = "midpoint"',
        )
