"""Reads a TOML file as a `Domain`; one error lists everything that is wrong with it."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from anondb.errors import PolicyError, Problem, UsageError, did_you_mean
from anondb.synthetic import distributions
from anondb.synthetic.cocoa import SORTS, number_text
from anondb.synthetic.domain import (
    KINDS,
    OTHERWISE,
    Attribute,
    Conditional,
    Domain,
    Expression,
    Frequencies,
    Kind,
    Range,
    Value,
    Weights,
)

BUILT_IN = Path(__file__).parent / "builtin"
NAMES = ("irish_census", "insurance", "adult", "german_credit")

_TOP = {"title", "references", "notes", "distributions", "attributes", "learned"}
_KEYS = {"type", "hidden", "frequencies", "distribution", "sort", "given", "table", "lookup", "expression"}
_NOTES = {"references", "notes"}
# the ways to generate an attribute, and what may be said beside each
_WAYS = {
    "frequencies": {"distribution", "sort"},
    "table": {"given"},
    "lookup": {"given"},
    "expression": set[str](),
}
_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})(?:\.\.({_NUMBER}))?")
MOST = 1e15
"""The greatest weight or parameter, so that sums of them do not overflow."""
_LONGEST_NAME = 63  # bytes that PostgreSQL keeps of a column's name
_TAKEN = {"tableoid", "ctid", "xmin", "cmin", "xmax", "cmax"}  # columns that every table of PostgreSQL has
_MOST_COLUMNS = 1600
_MOST_GIVEN = 20


def load(domain: str | Path) -> Domain:
    """A built-in domain by its name, or one in a file."""
    path = BUILT_IN / f"{domain}.toml" if domain in NAMES else Path(domain)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        shown = str(domain)[:80]
        raise UsageError(
            f'there is no domain "{shown}"',
            hint=did_you_mean(shown, NAMES)
            or f"there are {', '.join(NAMES)}, or give the TOML file of your own",
        ) from None
    return parse(text, place=path.name, name=path.stem)


def parse(text: str, *, place: str = "domain", name: str = "domain") -> Domain:
    """Reads the text of a domain file."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(
            f"{place}: this is not TOML: {error}", hint="see the built-in domains for the form"
        ) from None
    return _Reader(place).domain(document, name)


class _Reader:
    """Reads a document, and collects what is wrong with it."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.problems: list[Problem] = []

    def domain(self, document: Mapping[str, Any], name: str) -> Domain:
        self.unknown("", document, _TOP)
        parameters = dict(self.distributions(document.get("distributions", {})))
        tables = document.get("attributes")
        if not isinstance(tables, dict) or not tables:
            self.wrong("", "the domain has no attributes", "add a table [attributes.NAME] for each column")
            tables = {}
        attributes = [self.attribute(key, table, tables) for key, table in tables.items()]
        readable = tuple(attribute for attribute in attributes if attribute is not None)
        if readable and not 1 <= sum(not attribute.hidden for attribute in readable) <= _MOST_COLUMNS:
            self.wrong("", "every attribute is hidden, or too many are not", "a table has 1 to 1,600 columns")
        if self.problems:
            raise PolicyError(self.problems)
        return Domain(name, readable, parameters, str(document.get("title", "")))

    def distributions(self, tables: object) -> Iterator[tuple[str, Mapping[str, float]]]:
        if not isinstance(tables, dict):
            self.wrong("distributions", "here are the parameters of distributions", "[distributions]")
            return
        for key, table in tables.items():
            at = f"distributions.{key}"
            if key not in distributions.PARAMETERS:
                hint = did_you_mean(key, distributions.PARAMETERS) or ", ".join(distributions.PARAMETERS)
                self.wrong(at, "there is no such distribution", hint)
            elif not isinstance(table, dict) or not all(_is_number(value) for value in table.values()):
                self.wrong(at, "its parameters are numbers", f"for example {key} = {{ … }}")
            elif fault := distributions.check(key, table):
                self.wrong(at, fault, "correct its parameters")
            else:
                yield key, {parameter: float(value) for parameter, value in table.items()}

    def attribute(self, name: str, entry: object, others: Mapping[str, Any]) -> Attribute | None:
        at, before = f"attributes.{name}", len(self.problems)
        if not isinstance(entry, dict):
            self.wrong(at, "an attribute is a table", "for example frequencies = { a = 1, b = 2 }")
            return None
        too_long = len(name.encode(errors="replace")) > _LONGEST_NAME and entry.get("hidden") is not True
        if not name or "\0" in name or too_long or name in _TAKEN:
            self.wrong(at, "this cannot be the name of a column", "take another, or a shorter one")
        self.unknown(at, entry, _KEYS | _NOTES)
        kind = entry.get("type", "text")
        if kind not in KINDS:
            self.wrong(at, "there is no such type", f"there are {', '.join(KINDS)}")
            return None
        if not isinstance(entry.get("hidden", False), bool):
            self.wrong(at, "hidden is true or false", "hidden = true")
        ways = sorted(_WAYS.keys() & entry.keys())
        if len(ways) != 1:
            self.wrong(at, "an attribute is generated in one way", f"give one of {', '.join(sorted(_WAYS))}")
            return None
        for key in sorted(entry.keys() & set().union(*_WAYS.values()) - _WAYS[ways[0]]):
            self.wrong(at, f'"{key}" means nothing beside {ways[0]}', "take it out")
        generator = getattr(self, f"by_{ways[0]}")(at, kind, entry, others)
        if len(self.problems) > before:
            return None
        return Attribute(name, kind, generator, entry.get("hidden") is True)

    def by_frequencies(self, at: str, kind: Kind, entry: dict[str, Any], _: object) -> Frequencies:
        name, sort = entry.get("distribution"), entry.get("sort")
        if name is not None and name not in distributions.DISTRIBUTIONS:
            hint = did_you_mean(str(name), distributions.DISTRIBUTIONS) or ", ".join(
                distributions.DISTRIBUTIONS
            )
            self.wrong(at, "there is no such distribution", hint)
        if sort is not None and sort not in SORTS:
            self.wrong(at, "there is no such sort", f"there are {', '.join(SORTS)}")
        return Frequencies(self.weights(f"{at}.frequencies", kind, entry["frequencies"]), name, sort)

    def by_table(self, at: str, kind: Kind, entry: dict[str, Any], others: Mapping[str, Any]) -> Conditional:
        given = self.given(at, entry, others)
        rows = self.keyed(f"{at}.table", entry["table"], given, others)
        return Conditional(given, {key: self.weights(spot, kind, row) for spot, key, row in rows})

    def by_lookup(self, at: str, kind: Kind, entry: dict[str, Any], others: Mapping[str, Any]) -> Conditional:
        given = self.given(at, entry, others)
        rows = self.keyed(f"{at}.lookup", entry["lookup"], given, others)
        return Conditional(given, {key: self.looked_up(spot, kind, row) for spot, key, row in rows})

    def looked_up(self, at: str, kind: Kind, value: object) -> Weights:
        if isinstance(value, bool) or not isinstance(value, str | int | float | date):
            self.wrong(at, "a lookup has one value for each", 'write { chess = "club" }')
            return {}
        return self.weights(at, kind, {str(value): 1})

    def by_expression(self, at: str, _: Kind, entry: dict[str, Any], others: Mapping[str, Any]) -> Expression:
        from anondb.sqltree import expression

        text = str(entry["expression"])
        try:
            tree = expression.parse(text, others.keys())
        except UsageError as error:
            self.wrong(f"{at}.expression", error.message, error.hint)
            tree = {}
        return Expression(text, tree, tuple(dict.fromkeys(expression.used(tree))))

    def given(self, at: str, entry: dict[str, Any], others: Mapping[str, Any]) -> tuple[str, ...]:
        names = entry.get("given")
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            self.wrong(at, "it depends on attributes, and does not say which", 'add given = ["age"]')
            return ()
        if len(names) > _MOST_GIVEN:
            self.wrong(at, f"it depends on more than {_MOST_GIVEN} attributes", "put hidden ones between")
            return ()
        for name in names:
            if name not in others:
                hint = did_you_mean(name, others) or "add it to the domain, or correct the name"
                self.wrong(f"{at}.given", f'there is no attribute "{name[:80]}"', hint)
        return tuple(names)

    def keyed(
        self, at: str, table: object, given: tuple[str, ...], others: Mapping[str, Any]
    ) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """The rows of a table by their keys, each key once; 1 and 1.0 are the same key."""
        kinds = [_kind(others.get(name)) for name in given]
        seen: set[tuple[str, ...]] = set()
        for spot, key, row in self.rows(at, table, len(given)):
            named = tuple(_named(part, kind) for part, kind in zip(key, kinds, strict=True))
            if None in named:
                self.wrong(
                    spot,
                    "this row is for a number or a date, and is not named by one",
                    "name a single one; for ranges put a hidden attribute with a case expression between",
                )
                continue
            row_key = tuple(part for part in named if part is not None)
            if row_key in seen:
                self.wrong(spot, "there are two rows for this number", "write each number once")
            seen.add(row_key)
            yield spot, row_key, row

    def rows(self, at: str, table: object, depth: int) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """The innermost tables, with the keys that lead to them: one level of nesting for each attribute in `given`."""
        if depth == 0:
            yield at, (), table
        elif not isinstance(table, dict) or not table:
            self.wrong(at, "here is a table for every value", "nest the tables in the order of given")
        else:
            for key, inner in table.items():
                yield from (
                    (spot, (key, *rest), end)
                    for spot, rest, end in self.rows(f"{at}.{key}", inner, depth - 1)
                )

    def weights(self, at: str, kind: Kind, table: object) -> Weights:
        if not isinstance(table, dict) or not table:
            self.wrong(at, "there are no values", "write { value = weight, … }")
            return {}
        if not all(_is_number(weight) and weight >= 0 for weight in table.values()):
            self.wrong(at, "a weight is negative, too large or not a number", "weights are numbers from 0 up")
        elif sum(table.values()) <= 0:
            self.wrong(at, "all weights are 0", "at least one value needs a weight above 0")
        return {self.value(at, kind, key): weight for key, weight in table.items()}

    def value(self, at: str, kind: Kind, text: str) -> Value:
        if kind == "text":
            if "\0" in text:
                self.wrong(at, "a value has a NUL character", "no text in PostgreSQL has one")
            return text
        if kind == "date":
            return self.days(at, text)
        bounds = _RANGE.fullmatch(text)
        if bounds is None or (kind == "integer" and "." in text.replace("..", "")):
            self.wrong(at, f"a value is not of type {kind}", 'write "17", or "17..19" for a range')
            return Range(0, 0)
        low, high = float(bounds[1]), float(bounds[2] or bounds[1])
        if low > high or max(-low, high) >= (2**31 if kind == "integer" else math.inf):
            self.wrong(at, "a range ends before it begins, or is too large", 'write "17..19"')
        return Range(low, high)

    def days(self, at: str, text: str) -> Range:
        first, _, last = text.partition("..")
        low, high = day(first), day(last or first)
        if low is None or high is None or low > high:
            hint = 'write "2024-02-29", or "2024-01-01..2024-12-31" for a range'
            self.wrong(at, "a value is no date, or a range ends before it begins", hint)
            return Range(1, 1)
        return Range(low, high)

    def unknown(self, at: str, entry: Mapping[str, Any], known: set[str]) -> None:
        for key in entry.keys() - known:
            self.wrong(
                at, f'there is no key "{key[:80]}"', did_you_mean(key, known) or ", ".join(sorted(known))
            )

    def wrong(self, at: str, message: str, hint: str | None) -> None:
        self.problems.append(Problem(f"{self.place} [{at[:200]}]" if at else self.place, message, hint))


def _kind(entry: object) -> object:
    return entry.get("type", "text") if isinstance(entry, dict) else "text"


def _named(text: str, kind: object) -> str | None:
    """The key of a row in its normal form; None if it is not of the attribute's type."""
    if kind == "text" or text == OTHERWISE:
        return text
    if kind == "date":
        return None if day(text) is None else text
    if not re.fullmatch(_NUMBER, text) or not abs(number := float(text)) < (
        2**31 if kind == "integer" else math.inf
    ):
        return None
    return number_text(number) if kind == "number" or number.is_integer() else None


def day(text: str) -> int | None:
    """The number of a day, of a date as ISO 8601 writes it."""
    try:
        return date.fromisoformat(text).toordinal() if len(text) == len("2024-02-29") else None
    except ValueError:
        return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -MOST <= value <= MOST
