"""Stored hierarchies: written to the catalogue by one COPY, read back row for row."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import cast

from psycopg.rows import class_row, scalar_row

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import UsageError
from anondb.hierarchies.forms import VghTable

# An index entry holds at most 2704 bytes, and (vgh, level, label) is one.
_LONGEST_LABEL = 2600

# Both statements wait for a concurrent store of the same name, and then see what it did.
_CREATE = """
insert into anondb.vgh as v (name, height, leaves, ontology)
values (%(name)s, %(height)s, %(leaves)s, coalesce(%(ontology)s, 'wordnet'))
on conflict (name) do nothing
returning v.id, v.ontology, v.created_at
"""
_CREATE_OR_REPLACE = """
insert into anondb.vgh as v (name, height, leaves, ontology)
values (%(name)s, %(height)s, %(leaves)s, coalesce(%(ontology)s, 'wordnet'))
on conflict (name) do update
set height = excluded.height, leaves = excluded.leaves, created_at = excluded.created_at,
    ontology = coalesce(%(ontology)s, v.ontology)
returning v.id, v.ontology, v.created_at
"""
_LOCK = "select anondb.lock_vgh(%s)"
# What users chose for a label stays with the label.
_CHOSEN = """
select distinct n.label, s.concept
from anondb.vgh_sense as s
join anondb.vgh_node as n on n.vgh = s.vgh and n.node = s.node
join anondb.concept as c on c.id = s.concept
join anondb.ontology as o on o.id = c.ontology
where s.vgh = %s and s.chosen and o.name = %s
"""
_CHOOSE = """
insert into anondb.vgh_sense (vgh, node, concept, how, chosen)
select n.vgh, n.node, k.concept, 'chosen', true
from unnest(%s::text[], %s::int[]) as k (label, concept)
join anondb.vgh_node as n on n.vgh = %s and n.label = k.label
"""
_CLEAR_PATHS = "delete from anondb.vgh_path as p where p.vgh = %s"
_CLEAR_NODES = "delete from anondb.vgh_node as n where n.vgh = %s"
_COPY_NODES = "copy anondb.vgh_node (vgh, node, level, label, parent) from stdin"
_COPY_PATHS = "copy anondb.vgh_path (vgh, leaf, level, node) from stdin"
# A plan that knows nothing of a new hierarchy takes it for a single row, and joins it by nested loops.
# Who is not the owner of the tables gets a warning from the server, and autovacuum does it later.
_ANALYZE = "analyze anondb.vgh_node, anondb.vgh_path"
_CATALOGUE = """
select v.id, v.name, v.height, v.leaves, count(n.node)::int as nodes, v.ontology, v.created_at
from anondb.vgh as v
left join anondb.vgh_node as n on n.vgh = v.id
group by v.id
order by v.name collate "C"
"""
_NODES = """
select n.node, n.level, n.label, n.parent
from anondb.vgh as v
join anondb.vgh_node as n on n.vgh = v.id
where v.name = %s
order by n.node
"""
_NAMES = 'select v.name from anondb.vgh as v order by v.name collate "C"'
_DROP = "delete from anondb.vgh as v where v.name = %s"  # its nodes and paths cascade


@dataclass(frozen=True)
class VghInfo:
    """What the catalogue knows about a stored hierarchy."""

    id: int
    name: str
    height: int
    leaves: int
    nodes: int
    ontology: str
    created_at: datetime


@dataclass(frozen=True)
class _Node:
    """A row of vgh_node."""

    node: int
    level: int
    label: str
    parent: int | None


def store(
    connection: Connection, name: str, table: VghTable, *, replace: bool = False, ontology: str | None = None
) -> VghInfo:
    """Stores a hierarchy under a name, as a whole or not at all; it keeps its ontology unless one is given."""
    if not name.strip():
        raise UsageError("a hierarchy needs a name", hint="anondb vgh load NAME FILE.csv")
    numbers = node_numbers(table)
    parents = node_parents(table, numbers)
    if ontology is not None and not ontology.strip():
        raise UsageError("an ontology needs a name", hint="anondb ontology list shows the loaded ones")
    entry = {"name": name, "height": table.height, "leaves": len(table.rows), "ontology": ontology}
    with translated("storing a hierarchy"), connection.transaction(), connection.cursor() as cursor:
        cursor.execute(_CREATE_OR_REPLACE if replace else _CREATE, entry)
        row = cast(tuple[int, str, datetime] | None, cursor.fetchone())
        if row is None:
            raise UsageError(f'hierarchy "{name}" exists', hint="give --replace to load it anew")
        vgh, used, created_at = row
        cursor.execute(
            _LOCK, (vgh,)
        )  # nobody finds out meanings from the old nodes and keeps them for the new
        chosen = cast(list[tuple[str, int]], cursor.execute(_CHOSEN, (vgh, used)).fetchall())
        cursor.execute(_CLEAR_PATHS, (vgh,))
        cursor.execute(_CLEAR_NODES, (vgh,))
        with cursor.copy(_COPY_NODES) as copy:
            for (level, label), node in numbers.items():
                copy.write_row((vgh, node, level, label, parents.get(node)))
        with cursor.copy(_COPY_PATHS) as copy:
            for leaf, labels in enumerate(table.rows, start=1):
                for step in enumerate(labels):
                    copy.write_row((vgh, leaf, step[0], numbers[step]))
        if chosen:
            labels, concepts = zip(*chosen, strict=True)
            cursor.execute(_CHOOSE, (list(labels), list(concepts), vgh))
        cursor.execute(_ANALYZE)
    return VghInfo(vgh, name, table.height, len(table.rows), len(numbers), used, created_at)


def fetch(connection: Connection, name: str) -> VghTable:
    """The hierarchy of this name, its rows in the order in which they were stored."""
    with translated("reading a hierarchy"), connection.cursor(row_factory=class_row(_Node)) as cursor:
        nodes = {node.node: node for node in cursor.execute(_NODES, (name,))}
        if not nodes:
            raise _unknown(connection, name)
    return VghTable(tuple(tuple(_labels(node, nodes)) for node in nodes.values() if node.level == 0))


def catalogue(connection: Connection) -> list[VghInfo]:
    """All stored hierarchies, by name."""
    with translated("listing the hierarchies"), connection.cursor(row_factory=class_row(VghInfo)) as cursor:
        return cursor.execute(_CATALOGUE).fetchall()


def drop(connection: Connection, name: str) -> None:
    """Forgets a stored hierarchy."""
    with translated("dropping a hierarchy"):
        if connection.execute(_DROP, (name,)).rowcount == 0:
            raise _unknown(connection, name)


def node_numbers(table: VghTable) -> dict[tuple[int, str], int]:
    """The number of each (level, label), in the order of the numbers: leaves first, from 1, the root last."""
    numbers: dict[tuple[int, str], int] = {}
    for level in range(table.height + 1):
        for row in table.rows:
            numbers.setdefault((level, row[level]), len(numbers) + 1)
        if level == 0 and len(numbers) < len(table.rows):
            raise UsageError("the hierarchy has a leaf twice", hint="one row a leaf")
    if len({row[-1] for row in table.rows}) > 1:
        raise UsageError("the hierarchy has two roots", hint="every row ends in the same root")
    if any(len(label.encode()) > _LONGEST_LABEL for _, label in numbers):
        raise UsageError(f"the hierarchy has a label of more than {_LONGEST_LABEL} bytes", hint="shorten it")
    return numbers


def node_parents(table: VghTable, numbers: Mapping[tuple[int, str], int]) -> dict[int, int]:
    """The node above each node but the root."""
    parents: dict[int, int] = {}
    for row in table.rows:
        path = [numbers[step] for step in enumerate(row)]
        for node, parent in pairwise(path):
            if parents.setdefault(node, parent) != parent:
                raise UsageError("a class of the hierarchy has two parents", hint="rename one of the two")
    return parents


def _labels(node: _Node, nodes: dict[int, _Node]) -> Iterator[str]:
    """The labels from a node up to the root."""
    yield node.label
    while node.parent is not None:
        node = nodes[node.parent]
        yield node.label


def _unknown(connection: Connection, name: str) -> UsageError:
    with connection.cursor(row_factory=scalar_row) as cursor:
        names = cursor.execute(_NAMES).fetchall()
    close = difflib.get_close_matches(name, names, n=3)
    meant = "; close: " + ", ".join(f'"{match}"' for match in close) if close else ""
    return UsageError(f'there is no hierarchy "{name}"{meant}', hint="anondb vgh list shows the stored ones")
