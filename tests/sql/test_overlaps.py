"""anondb.overlapping_labels: can two released values stand for the same original?"""

from __future__ import annotations

import pytest

from anondb.db.connection import Connection

MEET = [
    ("a", "a"),
    (None, None),
    (None, "*"),
    ("*", "[1, 2)"),
    ("***", "12*"),
    ("[10, 20)", "[19, 30)"),
    ("[10, 20]", "[20, 30)"),
    ("(10, 20)", "[0, 11)"),
    ("[10, 20)", "10"),
    ("[10, 20)", "19.5"),
    ("12*", "1**"),
    ("12*", "123"),
    ("*23", "**3"),
    ("19*", "[150, 200)"),
    ("1**", "[10, 20)"),
    ("{a, b}", "{b, c}"),
    ("{a, b}", "b"),
    ("2024-03", "2024-Q1"),
    ("2024", "2024-03"),
    ("2020s", "2024-12-31"),
    ("[2024-01-01, 2024-03-01)", "2024-Q1"),
]
APART = [
    ("a", "b"),
    (None, "a"),
    ("[10, 20)", "[20, 30)"),
    ("[10, 20)", "(20, 30)"),
    ("[10, 20)", "20"),
    ("(10, 20)", "10"),
    ("12*", "13*"),
    ("1*", "01"),
    ("0*", "1*"),
    ("12*", "2**"),
    ("*23", "**4"),
    ("19*", "[200, 300)"),
    ("{a, b}", "{c, d}"),
    ("2024-03", "2024-Q2"),
    ("2024", "2025-03"),
    ("2010s", "2024-12-31"),
]


def overlap(connection: Connection, first: str | None, second: str | None) -> bool:
    query = "select count(*) from anondb.overlapping_labels(array[%s]::text[], array[%s]::text[])"
    forth = connection.execute(query, [first, second]).fetchone()
    back = connection.execute(query, [second, first]).fetchone()
    assert forth == back
    return forth == (1,)


@pytest.mark.parametrize(("first", "second"), MEET, ids=str)
def test_labels_with_a_common_value_overlap(rolled_back: Connection, first: str, second: str) -> None:
    assert overlap(rolled_back, first, second)


@pytest.mark.parametrize(("first", "second"), APART, ids=str)
def test_labels_without_a_common_value_do_not(rolled_back: Connection, first: str, second: str) -> None:
    assert not overlap(rolled_back, first, second)
