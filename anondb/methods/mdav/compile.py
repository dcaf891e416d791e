"""Columns that hold sets of texts, as compiling sees them: an array, or the rows of another table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from anondb.errors import Problem, did_you_mean
from anondb.hierarchies.forms import Values
from anondb.policy.check import written
from anondb.policy.model import Policy
from anondb.run.snapshot import Snapshot
from anondb.sqltree.tables import ItemRows, SourceColumn

ARRAYS = ("_text", "_varchar", "_bpchar")
_COMPARABLE = ({"int2", "int4", "int8", "numeric"}, {"text", "varchar"})


def with_item_columns(policy: Policy, snapshot: Snapshot) -> tuple[Snapshot, list[Problem]]:
    """The source as if it had the columns that are made of items; and what is wrong with those."""
    problems, made = [], []
    there = {column.name: column for column in snapshot.source.columns}
    for name, found in snapshot.items.items():
        [items] = [column.items for column in policy.columns if column.name == name]
        assert items is not None
        place = f"{policy.place} [columns.{written(name)}]"
        if name in there:
            problems.append(
                Problem(
                    place,
                    f'{policy.source} has a column "{name}" itself, so that items cannot be called so',
                    "choose another name for the column, and give that one a role of its own",
                )
            )
            continue
        made.append(SourceColumn(name, "text[]", "_text"))
        columns = {column.name: column for column in found.columns}
        for key, table, known in (
            (items.key, policy.source, there),
            (items.key, items.table, columns),
            (items.item, items.table, columns),
        ):
            if key not in known:
                problems.append(Problem(place, f'{table} has no column "{key}"', did_you_mean(key, known)))
        if items.key in there and items.key in columns:
            problems += _different_keys(place, items.key, there[items.key], columns[items.key])
    source = replace(snapshot.source, columns=(*snapshot.source.columns, *made))
    return replace(snapshot, source=source), problems


def _different_keys(place: str, key: str, own: SourceColumn, other: SourceColumn) -> list[Problem]:
    """Values of different kinds of types are never equal to the server, which would say so in its own words."""
    if own.base == other.base or any({own.base, other.base} <= kind for kind in _COMPARABLE):
        return []
    message = f'"{key}" is {own.type} in the source and {other.type} in the table of items'
    return [Problem(place, message, "give both the same type, in a view of one of them")]


def item_rows(policy: Policy, snapshot: Snapshot) -> ItemRows | None:
    """Where the texts of the policy's set are, if not in the source."""
    for column in policy.columns:
        if column.items is not None:
            relation = snapshot.items[column.name].relation
            return ItemRows(relation, column.items.key, column.items.item)
    return None


def coded_set(place: str, source: SourceColumn) -> dict[str, Any] | Problem:
    if source.base not in ARRAYS:
        return Problem(
            place,
            f'a set is an array of texts, and "{source.name}" is {source.type}',
            "make it text[] in a view of the source, or use items = { table, key, item }",
        )
    return {"hierarchy": Values(), "height": 1}
