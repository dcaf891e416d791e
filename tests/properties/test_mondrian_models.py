"""Mondrian under every privacy model, on random tables, against the naive recursion with the same conditions."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from anondb.policy.load import parse
from anondb.run.plan import Options
from anondb.run.result import Result
from tests.properties.examples import Example, laws
from tests.properties.model_examples import ANIMALS, SENSITIVE, Search, searches
from tests.properties.mondrian_oracle import mondrian
from tests.properties.test_models_in_database import fill, released_classes
from tests.properties.test_mondrian import Partitioned, says

fewer = settings(laws, max_examples=max(laws.max_examples * 3 // 4, 1))


@pytest.fixture(autouse=True)
def animals(db: Database, tmp_path: Path) -> None:
    lines = [";".join([leaf, *above]) for leaf, above in ANIMALS.paths.items()]
    (tmp_path / "animals.csv").write_text("\n".join(lines) + "\n")
    db.hierarchies.load("animals", tmp_path / "animals.csv")


@dataclass(frozen=True)
class Conditioned:
    """A table with privacy models, and how it is cut."""

    search: Search
    case: Partitioned

    def policy(self, folder: Path) -> str:
        """Without what only levels have."""
        written = self.search.policy("mondrian", folder)
        written = re.sub(r", min_level = \d+, max_level = \d+", "", written)
        written = re.sub(r'\nobjective = "\w+"(\nweights = .*)?', f"\nstrict = {self.case.flag}", written)
        lines = written.splitlines()
        for column, bare in zip(self.search.columns, self.case.bare, strict=True):
            if bare:
                start = f"{json.dumps(column.name)} = "
                [place] = [i for i, line in enumerate(lines) if line.startswith(start)]
                lines[place] = re.sub(r', hierarchy = (\{[^}]*\}|"[^"]*") \}$', " }", lines[place])
        return "\n".join(lines)

    def holds(self, members: Sequence[int]) -> bool:
        """Whether these of the eligible records may be a class."""
        records = [self.search.eligible[member] for member in members]
        demanded = self.search.demanded
        return demanded.holds(records) and demanded.close(records, self.search.eligible)

    @property
    def satisfiable(self) -> bool:
        return self.holds(range(len(self.search.eligible)))

    def run(self, db: Database, folder: Path) -> Result:
        fill(db, self.search)
        policy = parse(self.policy(folder), base=folder)
        return db.run(policy, options=Options(evaluate="none")).result


@st.composite
def conditioned(draw: st.DrawFn, *, strict: bool) -> Conditioned:
    search = draw(searches())
    demanded = search.demanded
    assume(demanded.diversity or demanded.closeness or demanded.compared)
    # a person may have several records, which Mondrian does not look at
    search = replace(search, demanded=replace(demanded, by_person=False), numbered=True)
    assume(search.eligible)
    example = Example(
        search.columns,
        tuple(record.quasi for record in search.records),
        demanded.k,
        suppression=Fraction(0),
        suppress=search.suppress,
        nulls=search.nulls,
        numbered=True,
        analyzed=search.analyzed,
    )
    dice = Random(draw(st.integers(0, 2**16)))
    bare = tuple(dice.random() < 0.3 for _ in search.columns)
    return Conditioned(search, Partitioned(example, bare, strict))


def released(db: Database) -> Counter[tuple[Any, ...]]:
    return Counter(db.connection.execute("select * from share.admissions").fetchall())


@fewer
@given(table=conditioned(strict=True))
def test_strict_classes_are_cut_as_far_as_the_models_allow(
    db: Database, tmp_path: Path, table: Conditioned
) -> None:
    if not table.satisfiable:
        with pytest.raises(UnsatisfiableError):
            table.run(db, tmp_path)
        return
    result = table.run(db, tmp_path)
    points, places = table.case.coded()
    classes = mondrian(points, places, table.search.demanded.k, table.holds)
    numbers = table.case.example.eligible
    expected: Counter[tuple[Any, ...]] = Counter()
    for members in classes:
        rows = [table.case.rows[member] for member in members]
        columns = range(len(table.search.columns))
        labels = tuple(table.case.label(column, [row[column] for row in rows]) for column in columns)
        for member in members:
            expected[(*labels, *table.search.eligible[member].sensitive, numbers[member])] += 1
    rows_of = released(db)
    assert rows_of == expected
    assert result.as_json()["iterations"] == 2 * len(classes) - 1
    assert table.search.demanded.satisfied_by(released_classes(table.search, rows_of))


@fewer
@given(table=conditioned(strict=False))
def test_relaxed_every_class_meets_every_model_and_every_label_is_true(
    db: Database, tmp_path: Path, table: Conditioned
) -> None:
    assume(table.satisfiable)
    result = table.run(db, tmp_path)
    rows = released(db)
    assert sorted(row[-1] for row in rows.elements()) == table.case.example.eligible
    assert result.released == rows.total()
    assert table.search.demanded.satisfied_by(released_classes(table.search, rows))
    width = len(table.search.columns)
    for row in rows:
        record = table.search.records[row[-1]]
        assert row[width : width + len(SENSITIVE)] == record.sensitive
        for column, label in enumerate(row[:width]):
            assert says(table.case, column, label, record.quasi[column])
