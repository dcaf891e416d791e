"""How the values of a policy are read: each means something, or is a problem with a place and a hint."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from anondb.errors import Problem, UsageError
from anondb.policy.model import Name, Role
from anondb.policy.names import parse_name, quoted

DIGITS = 30
"""Digits that a number may have on each side of its point; written out, 1e999999999 would fill the memory."""

_LIMIT: int = 10**DIGITS

Table = dict[str, Any]
Keys = tuple[str | int, ...]
"""The way to a value: keys of tables, and numbers of tables in an array, counted from 1."""


@dataclass(frozen=True)
class Spot:
    """A place in a policy; the spots of one policy share what was reported so far."""

    file: str
    base: Path  # where the paths in the policy start
    path: Keys = ()
    reported: list[tuple[Keys, Problem]] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)  # of the files that the policy refers to

    def at(self, *keys: str | int) -> Spot:
        return replace(self, path=self.path + keys)

    @property
    def name(self) -> str:
        return str(self.path[-1])

    @property
    def table(self) -> Keys:
        """The table that errors name; what lies deeper is part of the key."""
        return self.path[:-1][: 2 if self.path[:1] == ("columns",) else 1]

    @property
    def place(self) -> str:
        header = ".".join(written(str(key)) for key in self.table)
        return f"{self.file} [{header}]" if header else self.file

    @property
    def key(self) -> str:
        deeper = self.path[len(self.table) :]
        parts = (f" (table {key})" if isinstance(key, int) else f".{key}" for key in deeper)
        return "".join(parts).removeprefix(".")

    @property
    def faulty(self) -> bool:
        """Whether a problem was found here or deeper."""
        return any(path[: len(self.path)] == self.path for path, _ in self.reported)

    def report(self, message: str, hint: str | None) -> None:
        self.reported.append((self.path, Problem(self.place, message, hint)))

    def attempt(self, read: Reader, value: object) -> Any:
        """What the value means; None after a mistake, which is then reported here."""
        try:
            return read(self, value)
        except UsageError as mistake:
            self.report(mistake.message, mistake.hint)
            return None

    def problems(self, document: Table) -> list[Problem]:
        """All that was found, in the order of the file; what is missing from a table comes first in it."""
        return [
            problem
            for path, problem in sorted(self.reported, key=lambda report: _position(document, report[0]))
        ]


@dataclass(frozen=True)
class PolicyKeys:
    """The tables of a policy as far as they could be understood, for rules between them."""

    columns: Table
    privacy: Table
    method: Table
    roles: Mapping[str, Role | None]  # in the order of the policy; None where a role could not be understood
    with_hierarchy: Collection[str]

    @property
    def quasi(self) -> list[str]:
        return [name for name, role in self.roles.items() if role is Role.QUASI]


Reader = Callable[[Spot, Any], Any]
"""Returns what a value means, or raises a UsageError that says what is wrong with it."""


@dataclass(frozen=True)
class Key:
    read: Reader
    missing: str | None = None  # the hint when it is not there; None: it need not be


def read_table(spot: Spot, value: object, keys: Mapping[str, Key]) -> Table:
    """What a table says under its known keys; missing, unknown and wrong ones are reported."""
    if not isinstance(value, dict):
        form = f"{spot.key} = {{ … }}" if spot.table else f"[{spot.key}]"
        raise UsageError(f"{spot.key} must be a table, not {shown(value)}", hint=f"write it as {form}")
    for name, key in keys.items():
        if key.missing is not None and name not in value:
            spot.at(name).report(f"{spot.at(name).key} is missing", key.missing)
    read: Table = {}
    for name, entry in value.items():
        here = spot.at(name)
        if name not in keys:
            here.report(f"unknown key {quoted(here.key)}", suggestion(name, keys, "the keys here are"))
        elif (meaning := here.attempt(keys[name].read, entry)) is not None:
            read[name] = meaning
    return read


def written(key: str) -> str:
    """A key as TOML writes it."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else quoted(key)


def suggestion(word: str, options: Collection[str], otherwise: str) -> str:
    close = difflib.get_close_matches(word[:80].casefold(), options, n=1)
    return f"did you mean {quoted(close[0])}?" if close else f"{otherwise} {', '.join(options)}"


def shown(value: object) -> str:
    """A value of the policy, short enough for a message."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return quoted(value, longest=40)
        case int() | Decimal():
            return "a number of too many digits" if _too_long(value) else str(value)
        case list():
            return "a list" if value else "an empty list"
        case dict():
            return "a table"
    return "a date or a time"


def _position(document: object, path: Keys) -> list[int]:
    order = []
    for key in path:
        table = document if isinstance(document, dict) else {}
        if isinstance(document, list):
            table = dict(enumerate(document, start=1))
        order.append(list(table).index(key) if key in table else -1)
        document = table.get(key)
    return order


def instead(role: Role, what: str) -> str:
    """The hint at something that only quasi-identifiers have; what is not released is not told to be."""
    return f"leave {what} out" if role is Role.IDENTIFIER else f'set role = "quasi", or leave {what} out'


def read_text(spot: Spot, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        message = f"{spot.key} must be a text that is not empty, not {shown(value)}"
        raise UsageError(message, hint=f'write it as {spot.name} = "…"')
    return value


def read_texts(spot: Spot, value: object) -> tuple[str, ...]:
    """A list of texts; there may be none."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        message = f"{spot.key} must be a list of texts, not {shown(value)}"
        raise UsageError(message, hint=f'write it as {spot.name} = ["…", "…"]')
    return tuple(value)


def choice(options: Collection[str]) -> Reader:
    """A reader of one of these words."""

    def read(spot: Spot, value: object) -> str:
        if not isinstance(value, str) or value not in options:
            message = f"{spot.key} must be one of {', '.join(options)}, not {shown(value)}"
            word = value if isinstance(value, str) else ""
            raise UsageError(message, hint=suggestion(word, options, "choose from"))
        return value

    read.options = tuple(options)  # type: ignore[attr-defined]  # for the schema
    return read


def read_flag(spot: Spot, value: object) -> bool:
    if not isinstance(value, bool):
        message = f"{spot.key} must be true or false, not {shown(value)}"
        raise UsageError(message, hint=f"write {spot.path[-1]} = true")
    return value


def read_name(spot: Spot, value: object) -> Name:
    text = read_text(spot, value)
    try:
        return parse_name(text)
    except UsageError as mistake:
        raise UsageError(f"{spot.key}: {mistake.message}", hint=mistake.hint) from None


def read_count(spot: Spot, value: object) -> int:
    """A number of records of which one alone would be no protection: k."""
    hint = f"5 is a common choice: {spot.name} = 5"
    if isinstance(value, bool) or not isinstance(value, int) or value < 2:
        if value == 1 and not isinstance(value, bool):
            hint = f"{spot.key} = 1 protects nobody, a record may then be alone in its class; {hint}"
        raise UsageError(f"{spot.key} must be a whole number of at least 2, not {shown(value)}", hint=hint)
    if value >= 2**63:  # counts are bigint
        raise UsageError(f"{spot.key} is larger than any table can be", hint=hint)
    return value


def read_level(spot: Spot, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        message = f"{spot.key} must be a whole number of at least 0, not {shown(value)}"
        raise UsageError(message, hint="level 0 is the value itself, 1 its first generalization")
    return value


def read_number(spot: Spot, value: object) -> Decimal:
    hint = "write a plain number, such as 5 or 0.5"
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise UsageError(f"{spot.key} must be a number, not {shown(value)}", hint=hint)
    if isinstance(value, Decimal) and not value.is_finite():
        raise UsageError(f"{spot.key} must be a finite number, not {shown(value)}", hint=hint)
    if _too_long(value):
        raise UsageError(f"{spot.key} has more than {DIGITS} digits on one side of its point", hint=hint)
    return Decimal(value)


def _too_long(number: int | Decimal) -> bool:
    if isinstance(number, int):
        return abs(number) >= _LIMIT
    finest = number.as_tuple().exponent  # a letter for inf and nan
    return isinstance(finest, int) and (finest < -DIGITS or number.adjusted() >= DIGITS)


def read_share(spot: Spot, value: object) -> float:
    share = read_number(spot, value)
    if not 0 <= share <= 1:
        message = f"{spot.key} must be a share between 0 and 1, not {shown(value)}"
        raise UsageError(message, hint=f"two percent are {spot.name} = 0.02")
    return float(share)
