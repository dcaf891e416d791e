"""What a policy says of a column that holds a set of texts, and of the algorithms that read one."""

from __future__ import annotations

from anondb.methods.mdav.mdav import DISTANCES
from anondb.methods.registry import ALGORITHMS, Algorithm
from anondb.policy.check import Key, Spot, Table, choice, instead, read_name, read_table, read_text
from anondb.policy.model import Items, Role
from anondb.policy.names import quoted

_ITEMS = {
    "table": Key(read_name, 'add table = "schema.table": where the texts are, one a row'),
    "key": Key(read_text, 'add key = "…": the column of both tables that says whose text it is'),
    "item": Key(read_text, 'add item = "…": the column with the texts'),
}

read_distance = choice(DISTANCES)


def read_items(spot: Spot, value: object) -> Items | None:
    said = read_table(spot, value, _ITEMS)
    return Items(**said) if said.keys() == _ITEMS.keys() else None


def check_set_method(spot: Spot, said: Table, algorithm: Algorithm) -> None:
    """Keys for sets are refused elsewhere, and those of other algorithms here."""
    if not algorithm.sets:
        for key in said.keys() & {"distance"}:
            spot.at(key).report(f"{algorithm.name} does not compare sets", "leave the key out")
        return
    for key in said.keys() & {"measure", "strict"}:
        hint = 'leave the key out; variant = "non_semantic" compares without meaning'
        spot.at(key).report(f"{algorithm.name} has no use for {key}", hint)
    said.setdefault("distance", DISTANCES[0])


def check_sets(spot: Spot, columns: Table, privacy: Table, algorithm: Algorithm | None) -> None:
    """An algorithm for sets has one, which is the only quasi-identifier; others have none."""
    for name, column in columns.items():
        if column.get("set") or "items" in column:
            _check_set(spot.at("columns", name), column, algorithm)
    if algorithm is None or not algorithm.sets:
        return
    quasi = {name: column for name, column in columns.items() if column.get("role") is Role.QUASI}
    for name, column in quasi.items():
        if not (column.get("set") or "items" in column):
            spot.at("columns", name, "set").report(
                f"quasi-identifier {quoted(name)} is no set, and {algorithm.name} compares sets of texts",
                'add set = true or items = { table, key, item }, or leave it out: role = "identifier"',
            )
    if len(quasi) > 1:
        spot.at("columns", list(quasi)[-1], "set").report(
            f"{algorithm.name} takes one quasi-identifier, and there are {len(quasi)}",
            'set role = "identifier" for the others',
        )
    refused = {"suppress": "mask", "nulls": "suppress"}
    for key, word in refused.items():
        if privacy.get(key) == word:
            spot.at("privacy", key).report(
                f"{algorithm.name} does not know {key} = {quoted(word)}",
                "leave the key out: a record without texts is released as an empty set, with k - 1 others",
            )


def _check_set(spot: Spot, column: Table, algorithm: Algorithm | None) -> None:
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
    elif algorithm is not None and not algorithm.sets:
        others = " or ".join(quoted(other.name) for other in ALGORITHMS.values() if other.sets)
        spot.at(key).report(
            f"{algorithm.name} does not compare sets, as {quoted(spot.name)} has them",
            f"set algorithm = {others}, or leave the key out",
        )
