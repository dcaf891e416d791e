"""Datafly on the Adult census data: published figures, and a naive implementation on the same rows.

Sweeney: Datafly, a system for providing anonymity in medical data (1998); Achieving k-anonymity privacy
protection using generalization and suppression (2002). The figures for two records a class are those of
Ayala-Rivera, McDonagh, Cerqueus, Murphy: A systematic comparison and evaluation of k-anonymization
algorithms for practitioners (Transactions on Data Privacy 7, 2014).
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from psycopg import sql

from anondb.api import Database
from anondb.policy.load import parse
from anondb.run.result import Result
from tests.adult import COLUMNS, RECORDS, hierarchies, paths, records
from tests.properties.oracle import Row, Tree, datafly

# The hierarchies of the comparison: ages in ranges from 17, and who is married or was.
COMPARISON = {
    "age": "{ start = 17, widths = [5, 10, 20] }",
    "sex": '{ mask = "all" }',
    "race": '{ mask = "all" }',
    "marital_status": '{ csv = "marital.csv" }',
}
MARITAL = """\
Married-civ-spouse;Married;*
Married-AF-spouse;Married;*
Never-married;Never-married;*
Divorced;Not married;*
Separated;Not married;*
Widowed;Not married;*
Married-spouse-absent;Not married;*
"""


def policy(quasi: dict[str, str], k: int, privacy: str = "") -> str:
    roles = [f'{name} = {{ role = "quasi", hierarchy = {written} }}' for name, written in quasi.items()]
    roles += [f'{name} = {{ role = "other" }}' for name in COLUMNS if name not in quasi]
    head = ['source = "adult"', 'target = "released"', "[privacy]", f"k = {k}", privacy]
    return "\n".join([*head, "[method]", 'algorithm = "datafly"', "[columns]", *roles])


@pytest.mark.parametrize(
    ("quasi", "levels", "classes"),
    [(1, [1], 15), (2, [1, 0], 30), (3, [3, 0, 1], 8), (4, [3, 0, 1, 1], 24)],
)
def test_the_comparisons_levels_and_class_counts_come_out(
    adult: Database, tmp_path: Path, quasi: int, levels: list[int], classes: int
) -> None:
    (tmp_path / "marital.csv").write_text(MARITAL)
    first = dict(list(COMPARISON.items())[:quasi])
    result = adult.run(parse(policy(first, k=2), base=tmp_path)).result
    assert (list(result.levels.values()), result.classes) == (levels, classes)
    assert (result.released, result.suppressed) == (RECORDS, 0)


@cache
def tree(column: str) -> Tree:
    return Tree({leaf: above for leaf, *above in paths(column)})


def split(quasi: list[str]) -> tuple[list[Row], list[Row]]:
    """The records' quasi-identifiers, and what is released of them as it is."""
    places = [COLUMNS.index(name) for name in quasi]
    others = [place for place in range(len(COLUMNS)) if place not in places]
    return [tuple(row[i] for i in places) for row in records()], [
        tuple(row[i] for i in others) for row in records()
    ]


def released(db: Database, result: Result) -> Counter[tuple[object, ...]]:
    """The rows of the release, the quasi-identifiers first and everything as text, as the oracle has them."""
    first = list(result.levels)
    columns = [*first, *(name for name in COLUMNS if name not in first)]
    texts = sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(name)) for name in columns)
    return Counter(db.connection.execute(sql.SQL("select {} from released").format(texts)).fetchall())


@pytest.mark.parametrize(
    ("quasi", "k", "suppression", "suppress"),
    [
        *[(n, k, "0", "remove") for n, k in ((1, 2), (4, 5), (4, 100), (9, 50))],
        *[(9, 5, share, suppress) for share, suppress in (("0.01", "mask"), ("0.2", "remove"))],
        *[
            pytest.param(n, k, "0", "remove", marks=pytest.mark.nightly)
            for n, k in ((3, 2), (5, 2), (6, 2), (7, 2), (8, 2), (4, 10), (4, 50), (9, 5), (9, 10), (9, 100))
        ],
        *[
            pytest.param(9, 5, share, suppress, marks=pytest.mark.nightly)
            for share, suppress in (("0.01", "remove"), ("0.2", "mask"))
        ],
    ],
)
def test_the_release_is_the_naive_one_row_for_row(
    adult: Database, adult_folder: Path, quasi: int, k: int, suppression: str, suppress: str
) -> None:
    names = COLUMNS[:quasi]
    rows, kept = split(names)
    expected = datafly(
        rows, [tree(name) for name in names], k, Fraction(suppression), mask=suppress == "mask"
    )
    assert expected is not None
    privacy = f'suppression = {suppression}\nsuppress = "{suppress}"'
    result = adult.run(parse(policy(hierarchies(adult_folder, names), k, privacy))).result
    assert tuple(result.levels.values()) == expected.levels
    assert (result.records, result.suppressed) == (RECORDS, expected.suppressed)
    assert released(adult, result) == Counter(
        (*labels, *others)
        for labels, others in zip(expected.classes, kept, strict=True)
        if labels is not None
    )
