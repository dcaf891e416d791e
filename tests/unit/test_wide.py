"""What is told, and how much is compared, of tables with dozens of quasi-identifiers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anondb.methods.mondrian.words import PartitionsFound
from anondb.report.words import named_or_counted
from anondb.run.sampling import FEWEST_CLASSES, MOST_COVERED, USUAL_COLUMNS, affordable, sampled_share

NAMES = [f"c{number}" for number in range(40)]


def test_a_sentence_names_a_few_columns_and_counts_many() -> None:
    assert named_or_counted(NAMES[:3], "columns") == "c0, c1 and c2"
    assert named_or_counted(NAMES, "quasi-identifiers") == "all 40 quasi-identifiers"
    assert PartitionsFound(3, 2, tuple(NAMES[:2]), "rounded").selected == "cut by c0, c1"
    assert PartitionsFound(3, 2, tuple(NAMES), "rounded").selected == "cut by 40 columns"


@given(columns=st.integers(1, 100), originals=st.integers(1, 10**6), released=st.integers(1, 10**5))
def test_the_work_of_comparing_does_not_grow_with_the_columns(
    columns: int, originals: int, released: int
) -> None:
    pairs = originals * released
    share = sampled_share(pairs, released, columns)
    assert 0 < share <= 1
    assert share * pairs <= max(affordable(columns), FEWEST_CLASSES * originals) * 1.0001
    # a pair takes a step for each column
    assert affordable(columns) * max(columns, USUAL_COLUMNS) <= MOST_COVERED * USUAL_COLUMNS * 1.0001
