"""What a policy says of single columns: which keys go together, and which of them a method reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from anondb.errors import UsageError
from anondb.hierarchies.forms import Age, Hierarchy, Intervals
from anondb.policy.check import Key, Spot, Table, instead, read_name, read_table, read_text
from anondb.policy.model import Items, Role
from anondb.policy.names import quoted

if TYPE_CHECKING:
    from anondb.methods.method import ReleaseMethod

ITEMS = {
    "table": Key(read_name, 'add table = "schema.table": where the texts are, one a row'),
    "key": Key(read_text, 'add key = "…": the column of both tables that says whose text it is'),
    "item": Key(read_text, 'add item = "…": the column with the texts'),
}
SETS = ("set", "items")
"""Keys of a column that holds a set of texts: in itself, or in another table."""


def read_ontologies(spot: Spot, value: object) -> tuple[str, ...]:
    """One name, or several in order of preference."""
    names = value if isinstance(value, list) else [value]
    if not names:
        raise UsageError(f"{spot.key} is an empty list", hint=f'write it as {spot.name} = "wordnet"')
    read = tuple(read_text(spot, name) for name in names)
    if twice := [name for name in read if read.count(name) > 1]:
        raise UsageError(f"{spot.key} names {quoted(twice[0])} twice", hint="name each ontology once")
    return read


def read_items(spot: Spot, value: object) -> Items | None:
    keys = read_table(spot, value, ITEMS)
    return Items(**keys) if keys.keys() == ITEMS.keys() else None


def with_cap(spot: Spot, keys: Table, written: Table) -> Table:
    """The keys of a column, with the ends that it does not tell as a part of its hierarchy."""
    cap = keys.pop("cap", None)
    if cap is None:
        return keys
    here, role, hierarchy = spot.at("cap"), keys.get("role", Role.QUASI), keys.get("hierarchy")
    if role is not Role.QUASI:
        message = f"{role} column {quoted(spot.name)} has a cap, but only quasi-identifiers are generalized"
        here.report(message, instead(role, "the key"))
    elif isinstance(hierarchy, Intervals | Age):
        keys["hierarchy"] = replace(hierarchy, cap=cap)
    elif hierarchy is not None or "hierarchy" not in written:
        here.report(
            f"{quoted(spot.name)} has a cap, and no ranges of numbers or ages that it could end",
            'add hierarchy = { widths = [5, 10, 20] }, or { age_at = "2024-01-01" } for dates of birth',
        )
    return keys


def check_columns(
    spot: Spot, columns: Table, method: ReleaseMethod | None, methods: Mapping[str, ReleaseMethod]
) -> None:
    """An ontology and a set are of quasi-identifiers, stand alone, and need a method that reads them."""

    def readers(key: str) -> list[str]:
        return [quoted(other.name) for other in methods.values() if key in other.column_keys]

    def unread(key: str) -> bool:
        return method is not None and key not in method.column_keys

    for name, column in columns.items():
        here = spot.at("columns", name)
        if "unknown" in column and ("ontology" not in column or method is None or unread("unknown")):
            here.at("unknown").report(
                f"{quoted(name)} is not fused by an ontology, so that no text of it is unknown to one",
                "leave the key out",
            )
        if "stop_words" in column and not (column.get("set") or "items" in column):
            here.at("stop_words").report(
                f"{quoted(name)} is no set of texts, of which words could be left out", "leave the key out"
            )
        if "ontology" in column:
            _check_ontology(here, column, method if unread("ontology") else None, readers)
        if column.get("set") or "items" in column:
            _check_set(here, column, method if unread("set") else None, readers)
        if method is not None and column.get("role") is Role.QUASI:
            _check_form(here.at("hierarchy"), name, column.get("hierarchy"), method, methods)
            for key in ("min_level", "max_level"):
                if key in column and unread(key):
                    here.at(key).report(
                        f"{key} bounds the level of a whole column, and {method.name} gives it none",
                        "leave the key out",
                    )


def _check_form(
    spot: Spot,
    column: str,
    hierarchy: Hierarchy | None,
    method: ReleaseMethod,
    methods: Mapping[str, ReleaseMethod],
) -> None:
    """A method that cannot keep what a hierarchy promises is refused."""
    if hierarchy is not None and (refusal := method.refused_form(column, hierarchy)) is not None:
        able = [one.name for one in methods.values() if one.refused_form(column, hierarchy) is None]
        spot.report(refusal, f"choose an algorithm that does not: {', '.join(able)}")


Readers = Callable[[str], list[str]]
"""The names of the methods that read a key."""


def _check_ontology(spot: Spot, column: Table, stranger: ReleaseMethod | None, readers: Readers) -> None:
    here, role = spot.at("ontology"), column.get("role", Role.QUASI)
    if role is not Role.QUASI:
        here.report(
            f"{role} column {quoted(spot.name)} has an ontology, but only quasi-identifiers are compared",
            instead(role, "it"),
        )
    elif "hierarchy" in column:
        here.report(
            f"{quoted(spot.name)} has an ontology and a hierarchy, and is compared by one of them",
            "leave one out",
        )
    elif stranger is not None:
        here.report(
            f"{stranger.name} does not read the ontology of {quoted(spot.name)}",
            f"add a hierarchy instead, or set algorithm to one of {', '.join(readers('ontology'))}",
        )


def _check_set(spot: Spot, column: Table, stranger: ReleaseMethod | None, readers: Readers) -> None:
    key = "items" if "items" in column else "set"
    if column.get("role", Role.QUASI) is not Role.QUASI:
        spot.at(key).report(
            f"{column['role']} column {quoted(spot.name)} has a set of texts, but only quasi-identifiers are compared",
            instead(column["role"], "the key"),
        )
    elif column.get("set") and "items" in column:
        spot.at("set").report(
            f"{quoted(spot.name)} has its texts in the column itself, and in another table", "leave one out"
        )
    elif "hierarchy" in column:
        spot.at("hierarchy").report(
            f"{quoted(spot.name)} is a set of texts, which an ontology compares", "leave the hierarchy out"
        )
    elif stranger is not None:
        spot.at(key).report(
            f"{stranger.name} does not compare sets, as {quoted(spot.name)} has them",
            f"set algorithm = {' or '.join(readers('set'))}, or leave the key out",
        )
