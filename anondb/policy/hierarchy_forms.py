"""The forms in which a policy writes a hierarchy: a stored one, a file, one that is built, ranges, dates, a mask."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from anondb.errors import UsageError
from anondb.hierarchies.forms import (
    DATE_UNITS,
    MASK_SIDES,
    BuiltVgh,
    CsvVgh,
    Dates,
    Hierarchy,
    Intervals,
    Mask,
    StoredVgh,
)
from anondb.policy.check import Key, Spot, Table, choice, read_number, read_table, read_text, shown
from anondb.policy.names import quoted

ANY_TYPE = (
    "add the hierarchy that fits the column: for dates { dates = true }, for numbers { widths = [5, 10, 20] }, "
    'for codes { mask = "right" }, for few values { mask = "all" }, for words { csv = "…" } or the name of a stored one'
)
"""What to do about a hierarchy that is missing, before the type of the column is known."""


def read_hierarchy(spot: Spot, value: object) -> Hierarchy | None:
    if isinstance(value, str):
        return StoredVgh(read_text(spot, value))
    forms = [form for form in _FORMS if isinstance(value, dict) and not value.keys().isdisjoint(form.keys)]
    if len(forms) != 1:
        fault = "mixes several forms" if forms else "has none of the forms that there are"
        examples = ", ".join(form.example for form in _FORMS)
        raise UsageError(f"{spot.key} {fault}", hint=f'write one of "name of a stored hierarchy", {examples}')
    before = len(spot.reported)
    keys = read_table(spot, value, forms[0].keys)
    return forms[0].make(keys) if len(spot.reported) == before else None


def _read_csv(spot: Spot, value: object) -> Path:
    name = read_text(spot, value)
    path = spot.base / name
    shown_path = quoted(str(path), longest=4096)  # cut off, it would lose the file's name
    hint = "a relative path starts in the folder of the policy"
    try:
        if not path.exists():
            raise UsageError(f"there is no file {shown_path}", hint=hint)
        if not path.is_file():  # a pipe would be waited for, a folder cannot be read
            raise UsageError(f"{shown_path} is not a file", hint=hint)
        with path.open("rb") as file:
            spot.digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{shown_path} cannot be read: {error.strerror}", hint=hint) from None
    return path


def _read_widths(spot: Spot, value: object) -> tuple[Decimal, ...]:
    if not isinstance(value, list) or not value:
        message = f"{spot.key} must be a list of numbers, not {shown(value)}"
        raise UsageError(message, hint="write the finest first: widths = [5, 10, 20]")
    widths = tuple(read_number(spot, width) for width in value)
    if min(widths) <= 0:
        raise UsageError(f"{spot.key} must be above 0, and {min(widths)} is not", hint="leave it out")
    for narrow, wide in pairwise(widths):
        if wide <= narrow:
            message = f"{spot.key} must grow, and {narrow} is followed by {wide}"
            raise UsageError(message, hint="write the finest first, each once: widths = [5, 10, 20]")
        times = Fraction(wide) / Fraction(narrow)  # a Decimal would round
        if times.denominator != 1:
            message = f"{spot.key}: {wide} is no multiple of {narrow}, so that the ranges would not nest"
            raise UsageError(message, hint=f"use a multiple, such as {narrow * (int(times) + 1)}")
    return widths


def _read_units(spot: Spot, value: object) -> tuple[str, ...]:
    if value is True:
        return DATE_UNITS
    if not isinstance(value, list) or not value:
        message = f"{spot.key} must be true or a list of units, not {shown(value)}"
        raise UsageError(message, hint='write dates = true, or dates = ["month", "year"]')
    read_unit = choice(DATE_UNITS)
    units = tuple(read_unit(spot, unit) for unit in value)
    if units != (ordered := tuple(unit for unit in DATE_UNITS if unit in units)):
        listed = ", ".join(quoted(unit) for unit in ordered)
        raise UsageError(f"{spot.key} must go from fine to coarse, each unit once", hint=f"write [{listed}]")
    return units


def _read_build(spot: Spot, value: object) -> bool:
    if value is not True:
        raise UsageError(f"{spot.key} must be true, not {shown(value)}", hint="write build = true")
    return True


@dataclass(frozen=True)
class _Form:
    example: str
    keys: Mapping[str, Key]
    make: Callable[[Table], Hierarchy]


_FORMS = (
    _Form('{ csv = "job.csv" }', {"csv": Key(_read_csv)}, lambda keys: CsvVgh(keys["csv"])),
    _Form(
        "{ build = true }",
        {"build": Key(_read_build, "add build = true"), "ontology": Key(read_text)},
        lambda keys: BuiltVgh(keys.get("ontology", "wordnet")),
    ),
    _Form(
        "{ start = 17, widths = [5, 10, 20] }",
        {
            "start": Key(read_number),
            "widths": Key(_read_widths, "add the widths of the ranges: widths = [5, 10, 20]"),
        },
        lambda keys: Intervals(keys.get("start", Decimal(0)), keys["widths"]),
    ),
    _Form("{ dates = true }", {"dates": Key(_read_units)}, lambda keys: Dates(keys["dates"])),
    _Form('{ mask = "right" }', {"mask": Key(choice(MASK_SIDES))}, lambda keys: Mask(keys["mask"])),
)
