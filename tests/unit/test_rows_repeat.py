"""When rows are counted as a whole: where their kept columns can have few combinations of values."""

from __future__ import annotations

import pytest

from anondb.run.compile import rows_repeat
from anondb.sqltree.tables import SourceColumn


def kept(base: str, distinct: float | None) -> SourceColumn:
    return SourceColumn("kept", base, base, distinct=distinct)


@pytest.mark.parametrize(
    ("columns", "rows", "repeat"),
    [
        ([], 0.0, True),  # all is counted anyway
        ([kept("text", 10)], 100.0, True),
        ([kept("text", 11)], 100.0, False),
        ([kept("text", 5), kept("date", 2)], 100.0, True),
        ([kept("text", 5), kept("date", 3)], 100.0, False),
        ([kept("text", None)], 1e9, False),  # nothing is known of it
        ([kept("text", 1)], 0.0, False),  # nothing is known of the table
        ([kept("numeric", 1)], 1e9, False),  # 1.0 and 1.00 are equal and not alike
        ([kept("bpchar", 1)], 1e9, False),
        ([kept("json", 1)], 1e9, False),  # has no equality
    ],
)
def test_rows_repeat_where_kept_values_are_few_and_equal_ones_are_copies(
    columns: list[SourceColumn], rows: float, repeat: bool
) -> None:
    assert rows_repeat(columns, rows) is repeat
