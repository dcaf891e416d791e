"""The Adult census data that the tests carry is the one that the papers speak of."""

from __future__ import annotations

from collections import Counter

from tests.adult import COLUMNS, RECORDS, paths, records


def column(name: str) -> Counter[str]:
    return Counter(record[COLUMNS.index(name)] for record in records())


def test_the_data_has_the_records_of_the_papers() -> None:
    assert len(records()) == RECORDS
    assert {len(record) for record in records()} == {9}
    assert column("salary_class") == {"<=50K": 22_654, ">50K": 7_508}
    assert column("sex") == {"Male": 20_380, "Female": 9_782}
    assert len(column("native_country")) == 41
    assert (min(map(int, column("age"))), max(map(int, column("age")))) == (17, 90)


def test_every_value_is_a_leaf_of_the_columns_hierarchy() -> None:
    for name in COLUMNS:
        leaves = [leaf for leaf, *_ in paths(name)]
        assert len(leaves) == len(set(leaves))
        assert set(column(name)) <= set(leaves)
        assert len({len(path) for path in paths(name)}) == 1
