"""Stored hierarchies: what goes in comes out, whole, under its name."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.db import vgh
from anondb.errors import AnondbError, UsageError
from anondb.hierarchies.forms import VghTable

ANIMALS = VghTable(
    (
        ("Wren", "Bird", "*"),
        ("Salmon", "Fish", "*"),
        ("Owl", "Bird", "*"),
        ("Stone", "Stone", "*"),
    )
)
COLOURS = VghTable((("red", "*"), ("blue", "*")))

LABELS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)


@st.composite
def tables(draw: st.DrawFn) -> VghTable:
    """Hierarchies of any labels and shape: each level groups the one below."""
    height = draw(st.integers(1, 4))
    rows = [[leaf] for leaf in draw(st.lists(LABELS, min_size=1, max_size=12, unique=True))]
    for level in range(height):
        labels = draw(st.lists(LABELS, min_size=1, max_size=6 if level < height - 1 else 1))
        parent = {label: draw(st.sampled_from(labels)) for label in dict.fromkeys(row[-1] for row in rows)}
        for row in rows:
            row.append(parent[row[-1]])
    return VghTable(tuple(map(tuple, rows)))


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables())
def test_a_stored_hierarchy_is_fetched_unchanged(connection: psycopg.Connection, table: VghTable) -> None:
    stored = vgh.store(connection, "any", table, replace=True)
    assert vgh.fetch(connection, "any") == table
    assert vgh.catalogue(connection) == [stored]
    assert (stored.height, stored.leaves) == (table.height, len(table.rows))


def test_nodes_are_numbered_leaves_first_and_then_level_by_level(connection: psycopg.Connection) -> None:
    stored = vgh.store(connection, "animal", ANIMALS)
    nodes = connection.execute(
        """
        select n.node, n.level, n.label, n.parent
        from anondb.vgh_node as n
        where n.vgh = %s
        order by n.node
        """,
        (stored.id,),
    ).fetchall()
    assert nodes == [
        (1, 0, "Wren", 5),
        (2, 0, "Salmon", 6),
        (3, 0, "Owl", 5),
        (4, 0, "Stone", 7),
        (5, 1, "Bird", 8),
        (6, 1, "Fish", 8),
        (7, 1, "Stone", 8),
        (8, 2, "*", None),
    ]
    assert stored.nodes == 8


def test_each_leaf_has_its_ancestor_at_each_level(connection: psycopg.Connection) -> None:
    stored = vgh.store(connection, "animal", ANIMALS)
    rows = connection.execute(
        """
        select array_agg(n.label order by p.level)
        from anondb.vgh_path as p
        join anondb.vgh_node as n on n.vgh = p.vgh and n.node = p.node and n.level = p.level
        where p.vgh = %s
        group by p.leaf
        order by p.leaf
        """,
        (stored.id,),
    )
    assert tuple(tuple(labels) for (labels,) in rows) == ANIMALS.rows


def test_an_existing_hierarchy_is_replaced_only_when_asked(connection: psycopg.Connection) -> None:
    vgh.store(connection, "animal", ANIMALS)
    with pytest.raises(UsageError, match='"animal" exists') as caught:
        vgh.store(connection, "animal", COLOURS)
    assert "--replace" in str(caught.value.hint)
    assert vgh.fetch(connection, "animal") == ANIMALS

    vgh.store(connection, "animal", COLOURS, replace=True)
    assert vgh.fetch(connection, "animal") == COLOURS
    assert [info.name for info in vgh.catalogue(connection)] == ["animal"]


def test_a_failed_replacement_leaves_the_old_hierarchy(connection: psycopg.Connection) -> None:
    vgh.store(connection, "animal", ANIMALS)
    unstorable = VghTable((("fine", "*"), ("\0", "*")))  # PostgreSQL has no NUL character
    with pytest.raises(AnondbError):
        vgh.store(connection, "animal", unstorable, replace=True)
    assert vgh.fetch(connection, "animal") == ANIMALS


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((("a", "*"), ("a", "*")), "a leaf twice"),
        ((("a", "*"), ("b", "all")), "two roots"),
        ((("a", "x", "A", "*"), ("b", "x", "B", "*")), "two parents"),
        ((("a" * 3000, "*"),), "more than 2600 bytes"),
    ],
)
def test_a_table_that_is_no_tree_is_refused(
    connection: psycopg.Connection, rows: tuple[tuple[str, ...], ...], expected: str
) -> None:
    with pytest.raises(UsageError, match=expected):
        vgh.store(connection, "odd", VghTable(rows))
    assert vgh.catalogue(connection) == []


def test_a_hierarchy_without_a_name_is_refused(connection: psycopg.Connection) -> None:
    with pytest.raises(UsageError, match="needs a name"):
        vgh.store(connection, " ", ANIMALS)


def test_labels_up_to_the_limit_can_be_stored(connection: psycopg.Connection) -> None:
    # characters that do not compress, so that the index meets the full length
    label = "".join(chr(0x4E00 + i * 7919 % 20000) for i in range(2600 // 3))
    vgh.store(connection, "long", VghTable(((label, "*"),)))
    assert vgh.fetch(connection, "long").rows[0][0] == label


@pytest.mark.parametrize("act", [vgh.fetch, vgh.drop])
def test_an_unknown_hierarchy_is_told_with_close_names(
    connection: psycopg.Connection, act: Callable[[psycopg.Connection, str], object]
) -> None:
    vgh.store(connection, "occupation", COLOURS)
    with pytest.raises(UsageError, match=r'no hierarchy "ocupation".*close: "occupation"') as caught:
        act(connection, "ocupation")
    assert "anondb vgh list" in str(caught.value.hint)


def test_a_dropped_hierarchy_leaves_nothing_behind(connection: psycopg.Connection) -> None:
    vgh.store(connection, "animal", ANIMALS)
    kept = vgh.store(connection, 'colour "of" things; %s', COLOURS)
    vgh.drop(connection, "animal")
    assert vgh.catalogue(connection) == [kept]
    assert vgh.fetch(connection, kept.name) == COLOURS
    for table in ("vgh_node", "vgh_path"):
        query = sql.SQL("select distinct t.vgh from {} as t").format(sql.Identifier("anondb", table))
        assert connection.execute(query).fetchall() == [(kept.id,)]


def test_the_catalogue_is_found_whatever_the_search_path(connection: psycopg.Connection) -> None:
    connection.execute("create schema decoy; create table decoy.vgh (name text); set search_path = decoy")
    vgh.store(connection, "animal", ANIMALS)
    assert vgh.fetch(connection, "animal") == ANIMALS


@pytest.mark.parametrize(("replace", "refused"), [(False, 3), (True, 0)])
def test_stores_of_one_name_at_once_leave_one_whole_hierarchy(
    connection: psycopg.Connection, replace: bool, refused: int
) -> None:
    conninfo = make_conninfo(connection.info.dsn, password=connection.info.password or None)
    candidates = [VghTable(tuple((f"{i}-{n}", f"{i}", "*") for n in range(500))) for i in range(4)]

    def attempt(table: VghTable) -> bool:
        with psycopg.connect(conninfo, autocommit=True) as other:
            try:
                vgh.store(other, "raced", table, replace=replace)
            except UsageError:
                return False
            return True

    with ThreadPoolExecutor(len(candidates)) as pool:
        outcomes = list(pool.map(attempt, candidates))
    assert outcomes.count(False) == refused
    assert vgh.fetch(connection, "raced") in candidates


def test_a_hundred_thousand_leaves_are_stored_in_seconds(connection: psycopg.Connection) -> None:
    table = VghTable(
        tuple((f"{n}", f"{n // 10}", f"{n // 100}", f"{n // 1000}", "*") for n in range(100_000))
    )
    started = time.monotonic()
    vgh.store(connection, "large", table)
    assert vgh.fetch(connection, "large") == table
    assert time.monotonic() - started < 60  # a few seconds on an idle machine; quadratic work takes hours
