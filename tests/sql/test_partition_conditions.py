"""Cuts of Mondrian under a model of a sensitive column, on frequency sets of a few codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb.db.connection import Connection
from anondb.db.execute import Executor
from anondb.errors import UnsatisfiableError
from anondb.hierarchies.forms import Values
from anondb.methods.mondrian import search as partitioning
from anondb.methods.mondrian.sql import Condition, Partitioning
from anondb.sqltree.build import Node, call, number
from anondb.sqltree.tables import Quasi, Scratch, SourceColumn
from tests.properties.mondrian_oracle import mondrian

NAMES = Scratch(1)
COLUMNS = [Quasi(n, SourceColumn(f"c{n}", "text", "text"), Values(), height=1) for n in (1, 2)]
Record = tuple[int, ...]  # two quasi-identifiers and a sensitive value


@pytest.fixture
def transaction(connection: Connection) -> Iterator[Connection]:
    with connection.transaction(force_rollback=True):
        yield connection


def distinct(least: int) -> Condition:
    """Distinct l-diversity: a class has so many different sensitive values."""

    def holds(value: Node, n: Node) -> Node:
        return call("count", value) >= number(least)

    return Condition("s1", holds)


def most_common_at_most(share: int) -> Condition:
    """No value is held by more than 1/share of a class."""
    return Condition("s1", lambda value, n: call("max", n) * number(share) <= call("sum", n))


def partitioned(connection: Connection, records: list[Record], p: Partitioning) -> list[Counter[Record]]:
    """The partitions that the database makes of these records."""
    with connection.transaction(force_rollback=True):
        connection.execute("create temp table r1_freq (q1 int, q2 int, s1 int, n bigint)")
        with connection.cursor() as cursor:
            rows = [(*record, n) for record, n in Counter(records).items()]
            cursor.executemany("insert into pg_temp.r1_freq values (%s, %s, %s, %s)", rows)
        connection.execute(
            "create temp table r1_q1 as select distinct q1 as leaf, q1::text as raw from pg_temp.r1_freq"
        )
        connection.execute(
            "create temp table r1_q2 as select distinct q2 as leaf, q2::text as raw from pg_temp.r1_freq"
        )
        partitioning.search(Executor(connection, lambda step: None), p)
        rows_of_parts = connection.execute("select c.*, c.part from pg_temp.r1_partitioned as c").fetchall()
        cells = cast(list[tuple[int, ...]], rows_of_parts)
    parts: dict[int, Counter[Record]] = {}
    for *codes, n, _, part in cells:
        parts.setdefault(part, Counter())[tuple(codes)] += n
    return list(parts.values())


records_of = st.lists(st.tuples(*[st.integers(1, 6)] * 2, st.integers(1, 3)), min_size=8, max_size=60)
fast = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@fast
@given(records=records_of, k=st.integers(2, 4), least=st.integers(1, 3))
def test_a_cut_is_allowable_if_both_halves_satisfy_the_model(
    transaction: Connection, records: list[Record], k: int, least: int
) -> None:
    p = Partitioning(NAMES, COLUMNS, k, conditions=[distinct(least)])
    if len({s for _, _, s in records}) < least:
        with pytest.raises(UnsatisfiableError, match="as a whole"):
            partitioned(transaction, records, p)
        return
    occurring = [sorted({record[c] for record in records}) for c in (0, 1)]
    # the place of a code is itself; codes that do not occur have none that matters
    places = [[Fraction(min(max(n, codes[0]), codes[-1])) for n in range(7)] for codes in occurring]
    expected = mondrian(
        [record[:2] for record in records],
        places,
        k,
        lambda members: len({records[member][2] for member in members}) >= least,
    )
    assert by_content(partitioned(transaction, records, p)) == by_content(
        [Counter(records[member] for member in members) for members in expected]
    )


@fast
@given(records=records_of, k=st.integers(2, 4), strict=st.booleans())
def test_every_partition_satisfies_k_and_every_model_and_no_record_is_lost(
    transaction: Connection, records: list[Record], k: int, strict: bool
) -> None:
    p = Partitioning(NAMES, COLUMNS, k, strict, [distinct(2), most_common_at_most(2)])
    sensitive = Counter(s for _, _, s in records)
    if len(sensitive) < 2 or 2 * max(sensitive.values()) > len(records):
        with pytest.raises(UnsatisfiableError, match="as a whole"):
            partitioned(transaction, records, p)
        return
    found = partitioned(transaction, records, p)
    for part in found:
        values: Counter[int] = Counter()
        for (_, _, s), n in part.items():
            values[s] += n
        assert part.total() >= k
        assert len(values) >= 2
        assert 2 * max(values.values()) <= part.total()
    assert sum(found, Counter()) == Counter(records)


@fast
@given(records=records_of, k=st.integers(2, 4))
def test_relaxed_no_partition_of_records_that_differ_has_2k_of_them(
    transaction: Connection, records: list[Record], k: int
) -> None:
    """LeFevre et al., theorem 4."""
    for part in partitioned(transaction, records, Partitioning(NAMES, COLUMNS, k, strict=False)):
        assert part.total() >= k
        assert part.total() < 2 * k or len({record[:2] for record in part}) == 1


def by_content(parts: list[Counter[Record]]) -> list[list[tuple[Record, int]]]:
    return sorted(sorted(part.items()) for part in parts)
