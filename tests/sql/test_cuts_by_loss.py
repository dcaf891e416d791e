"""Cuts by what they save of the loss, on frequency sets of a few codes, against every pair in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.execute import Executor
from anondb.hierarchies.forms import CsvVgh, Values
from anondb.methods.mondrian import search as partitioning
from anondb.methods.mondrian.sql import Condition, Partitioning
from anondb.sqltree.build import call, number
from anondb.sqltree.tables import Quasi, Scratch, SourceColumn
from tests.properties.loss_split_oracle import Column, Line, Nodes, partitions

NAMES = Scratch(1)
TEXT, NUMBER = SourceColumn("t", "text", "text"), SourceColumn("n", "integer", "int4")
COLUMNS = [
    Quasi(1, TEXT, CsvVgh(Path("groups.csv")), height=2),
    Quasi(2, TEXT, Values(), height=1),
    Quasi(3, NUMBER, Values(), height=1),
]
GROUPS = {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 3}  # of the first column's leaves, the node above
SHARES = {1: 2 / 5, 2: 1 / 5, 3: 0.0}  # of all leaves but one, those below a node but one
Record = tuple[int, ...]  # three quasi-identifiers and a sensitive value


_DICTIONARY = sql.SQL(
    "create temp table {0} as select distinct {1} as leaf, {1}::text as raw from pg_temp.r1_freq"
)


def values(least: int) -> Condition:
    """A class has so many different sensitive values."""
    return Condition("s1", lambda value, n: call("count", value) >= number(least))


@pytest.fixture
def transaction(connection: Connection) -> Iterator[Connection]:
    with connection.transaction(force_rollback=True):
        yield connection


def of(records: list[Record], k: int) -> list[Column]:
    """The columns as the oracle knows them; what is a share of the values depends on those that occur."""
    second, third = ({record[place] for record in records} for place in (1, 2))
    several = min((k - 1) / max(len(second) - 1, 1), 1.0)
    return [
        Nodes(
            {leaf: (leaf, node, 1) for leaf, node in GROUPS.items()},
            {(0, leaf): 0.0 for leaf in GROUPS}
            | {(1, n): cost for n, cost in SHARES.items()}
            | {(2, 1): 1.0},
        ),
        Nodes({value: (value, 1) for value in second}, {(0, v): 0.0 for v in second} | {(1, 1): several}),
        Line(max(third) - min(third) or 1),
    ]


def partitioned(connection: Connection, records: list[Record], p: Partitioning) -> list[Counter[Record]]:
    """The partitions that the database makes of these records."""
    with connection.transaction(force_rollback=True):
        connection.execute("create temp table r1_freq (q1 int, q2 int, q3 int, s1 int, n bigint)")
        with connection.cursor() as cursor:
            rows: list[tuple[Any, ...]] = [(*record, n) for record, n in Counter(records).items()]
            cursor.executemany("insert into pg_temp.r1_freq values (%s, %s, %s, %s, %s)", rows)
            connection.execute("create temp table r1_hq1 (g0 text, g1 text, g2 text)")
            leaves = [(f"leaf {leaf}", f"node {node}", "*") for leaf, node in GROUPS.items()]
            cursor.executemany("insert into pg_temp.r1_hq1 values (%s, %s, %s)", leaves)
            connection.execute(
                "create temp table r1_q1 (raw text, leaf int, l0 int, l1 int, l2 int, g1 text, g2 text)"
            )
            entries = [
                (f"leaf {leaf}", leaf, leaf, node, 1, f"node {node}", "*") for leaf, node in GROUPS.items()
            ]
            cursor.executemany("insert into pg_temp.r1_q1 values (%s, %s, %s, %s, %s, %s, %s)", entries)
        for number_of in (2, 3):
            connection.execute(
                _DICTIONARY.format(sql.Identifier(f"r1_q{number_of}"), sql.Identifier(f"q{number_of}"))
            )
        partitioning.search(Executor(connection, lambda step: None), p)
        found = connection.execute("select q1, q2, q3, s1, n, part from pg_temp.r1_partitioned").fetchall()
    parts: dict[int, Counter[Record]] = {}
    for *codes, n, part in cast(list[tuple[int, ...]], found):
        parts.setdefault(part, Counter())[tuple(codes)] += n
    return list(parts.values())


records_of = st.lists(
    st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(1, 9), st.integers(1, 3)),
    min_size=1,
    max_size=40,
)
fast = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])


@fast
@given(records=records_of, k=st.integers(1, 4))
def test_the_partitions_are_those_of_comparing_every_pair_and_every_cut(
    transaction: Connection, records: list[Record], k: int
) -> None:
    p = Partitioning(NAMES, COLUMNS, k, conditions=[values(1)], by_loss=True)
    expected = partitions(records, of(records, k), k)
    found = partitioned(transaction, records, p)
    quasi = [Counter[Record]() for _ in found]
    for counted, part in zip(quasi, found, strict=True):
        for (*codes, _), n in part.items():
            counted[tuple(codes)] += n
    assert by_content(quasi) == by_content(
        [Counter(records[member][:3] for member in members) for members in expected]
    )


@fast
@given(records=records_of, k=st.integers(1, 4))
def test_a_cut_is_allowable_if_all_its_parts_satisfy_the_model(
    transaction: Connection, records: list[Record], k: int
) -> None:
    if len({record[3] for record in records}) < 2:
        return
    expected = partitions(
        records, of(records, k), k, lambda members: len({records[member][3] for member in members}) >= 2
    )
    p = Partitioning(NAMES, COLUMNS, k, conditions=[values(2)], by_loss=True)
    found = partitioned(transaction, records, p)
    assert by_content(found) == by_content([Counter(records[m] for m in members) for members in expected])


def test_a_cut_has_as_many_parts_as_the_hierarchy_where_each_is_large_enough(transaction: Connection) -> None:
    records: list[Record] = [(leaf, 1, 1, 1) for leaf in (1, 4, 6) for _ in range(4)]
    p = Partitioning(NAMES, COLUMNS, 4, conditions=[values(1)], by_loss=True)
    found = partitioned(transaction, records, p)
    assert by_content(found) == [[((leaf, 1, 1, 1), 4)] for leaf in (1, 4, 6)]


def by_content(parts: list[Counter[Record]]) -> list[list[tuple[Record, int]]]:
    return sorted(sorted(part.items()) for part in parts)
