"""Mondrian on the Adult census data: published class counts, and a naive implementation on the same rows.

LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity (ICDE 2006). The class counts for two
records a class are those of Ayala-Rivera, McDonagh, Cerqueus, Murphy: A systematic comparison and evaluation
of k-anonymization algorithms for practitioners (Transactions on Data Privacy 7, 2014).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest
from psycopg import sql

from anondb.api import Database
from anondb.policy.load import parse
from tests.adult import COLUMNS, RECORDS, hierarchies
from tests.papers.test_datafly_adult import COMPARISON, MARITAL, policy, split, tree
from tests.properties.mondrian_oracle import mondrian

pytestmark = pytest.mark.once  # another server version would say the same


def partitioned(quasi: dict[str, str], k: int) -> str:
    return policy(quasi, k).replace('"datafly"', '"mondrian"\nbounds = "exact"')


@pytest.mark.parametrize("quasi", [1, 2, 3])
def test_the_comparisons_class_counts_come_out(adult: Database, quasi: int) -> None:
    first = dict(list(COMPARISON.items())[:quasi])
    result = adult.run(parse(partitioned(first, k=2))).result
    assert (result.classes, result.as_json()["iterations"]) == (58, 115)
    assert (result.released, result.suppressed, result.levels) == (RECORDS, 0, {})
    # gender and race are so skewed that their median has nobody above it
    assert result.as_json()["partitioned"] == ["age"]


@pytest.mark.parametrize(("k", "classes"), [(2, 378), (5, 308), (10, 253), (25, 184), (50, 141), (100, 103)])
def test_larger_classes_are_fewer(adult: Database, tmp_path: Path, k: int, classes: int) -> None:
    """Counted by a second implementation, of four quasi-identifiers."""
    (tmp_path / "marital.csv").write_text(MARITAL)
    result = adult.run(parse(partitioned(COMPARISON, k), base=tmp_path)).result
    assert (result.classes, result.as_json()["iterations"]) == (classes, 2 * classes - 1)
    assert result.k >= k


@pytest.mark.parametrize(
    ("quasi", "k"),
    [(2, 5), (5, 50), (9, 100), *(pytest.param(n, 5, marks=pytest.mark.nightly) for n in (5, 9))],
)
def test_the_classes_are_the_naive_ones_record_for_record(
    adult: Database, adult_folder: Path, quasi: int, k: int
) -> None:
    names = COLUMNS[:quasi]
    rows, kept = split(names)
    orders = [
        sorted({int(str(row[i])) for row in rows})
        if name == "age"
        else [leaf for leaf in tree(name).paths if leaf in {row[i] for row in rows}]
        for i, name in enumerate(names)
    ]
    code = [{str(value): number for number, value in enumerate(order)} for order in orders]
    points = [tuple(code[i][str(value)] for i, value in enumerate(row)) for row in rows]
    places = [
        [Fraction(int(str(value)) if name == "age" else number) for number, value in enumerate(order)]
        for name, order in zip(names, orders, strict=True)
    ]
    expected: Counter[tuple[object, ...]] = Counter()
    for records in mondrian(points, places, k):
        labels = tuple(label(name, {str(rows[r][i]) for r in records}) for i, name in enumerate(names))
        expected.update((*labels, *kept[record]) for record in records)
    adult.run(parse(partitioned(hierarchies(adult_folder, names), k)))
    texts = [
        sql.SQL("{}::text").format(sql.Identifier(name))
        for name in [*names, *(c for c in COLUMNS if c not in names)]
    ]
    found = adult.connection.execute(sql.SQL("select {} from released").format(sql.SQL(", ").join(texts)))
    assert Counter(found.fetchall()) == expected


def label(name: str, values: set[str]) -> str:
    """What a class releases of a column with these values."""
    if len(values) == 1:
        return next(iter(values))
    if name == "age":
        ages = sorted(map(int, values))
        return f"[{ages[0]}, {ages[-1]}]"
    paths = [tree(name).paths[value] for value in values]
    return next(common for common in paths[0] if all(common in path for path in paths))


@pytest.mark.parametrize("k", [5, 50, 500])
def test_relaxed_partitioning_leaves_no_range_of_2k_records(adult: Database, k: int) -> None:
    """LeFevre et al., theorem 4: relaxed, a partition of 2k records or more that differ has another cut."""
    text = partitioned({"age": COMPARISON["age"]}, k).replace('"mondrian"', '"mondrian"\nstrict = false')
    result = adult.run(parse(text)).result
    assert (result.released, result.suppressed) == (RECORDS, 0)
    assert result.k >= k
    ranges = adult.connection.execute("select count(*) from released where age like '[%' group by age")
    assert all(cast(int, size) < 2 * k for (size,) in ranges)
