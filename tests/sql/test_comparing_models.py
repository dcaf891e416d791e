"""What a search may conclude of models that compare a class with the release, and what it may not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.db.connection import Connection
from tests.servers import new_database

CALLS = (
    "emd_equal(%s::int[], %s::bigint[], %s::float8[])",
    "class_beta(%s::int[], %s::bigint[], %s::float8[])",
    "class_beta(%s::int[], %s::bigint[], %s::float8[], 'enhanced')",
    "class_delta(%s::int[], %s::bigint[], %s::float8[])",
)
CLASSES = st.lists(st.integers(1, 4), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def one_database(server: str, template: str) -> Iterator[Connection]:
    """The functions read and write nothing: one database serves all examples."""
    with (
        new_database(server, template) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        yield connection


def reached(connection: Connection, call: str, members: Sequence[int], everybody: Sequence[int]) -> float:
    """Of a class of values from 1 to 4, among all."""
    counts, reference = Counter(members), Counter(everybody)
    arguments = (list(counts), list(counts.values()), [reference[value] for value in range(1, 5)])
    [(found,)] = connection.execute(f"select anondb.{call}".encode(), arguments).fetchall()
    return float(str(found))


@pytest.mark.parametrize("call", CALLS)
@given(one=CLASSES, other=CLASSES, others=st.lists(st.integers(1, 4), max_size=8))
def test_two_classes_together_are_no_farther_than_the_farther_of_them(
    one_database: Connection, call: str, one: list[int], other: list[int], others: list[int]
) -> None:
    """So where nothing is left out, whatever is more general than a node that passes passes too."""
    everybody = one + other + others
    apart = [reached(one_database, call, members, everybody) for members in (one, other)]
    assert reached(one_database, call, one + other, everybody) <= max(apart) + 1e-9


@pytest.mark.parametrize("call", CALLS)
def test_with_a_class_left_out_one_that_passed_can_fail(one_database: Connection, call: str) -> None:
    left_out = [1, 2, 2, 2]
    stays, others = [1, 2], [1] * 6
    near = reached(one_database, call, stays, stays + others + left_out)
    assert reached(one_database, call, stays, stays + others) > near


@pytest.mark.parametrize("call", CALLS)
def test_a_class_that_passes_can_fail_together_with_one_that_fails(
    one_database: Connection, call: str
) -> None:
    """So with suppression a more general node may have to leave out more."""
    good, bad = [1, 2], [2] * 10
    everybody = good + bad + [1] * 10
    first, both = (reached(one_database, call, members, everybody) for members in (good, good + bad))
    assert first < both
