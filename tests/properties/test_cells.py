"""Suppressed cells on random tables, against the definition in memory: set by set of columns, class by class."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.policy.load import parse
from anondb.run.plan import Options
from anondb.run.result import Result
from tests.properties.examples import Example, diagnosis, laws, tables
from tests.properties.oracle import Class, generalized
from tests.properties.test_datafly import fill, released, released_bytes

fewer = settings(laws, max_examples=max(laws.max_examples // 3, 1))


@dataclass(frozen=True)
class Suppressing:
    """A table, what its columns weigh, and whether classes need two diagnoses besides k records."""

    example: Example
    weights: tuple[Fraction, ...]
    diverse: bool
    algorithm: str
    match: bool = False

    def run(self, db: Database, folder: Path) -> Result:
        weights = ", ".join(
            f"{json.dumps(column.name)} = {float(weight)}"
            for column, weight in zip(self.example.columns, self.weights, strict=True)
        )
        text = self.example.policy(folder).replace(
            'suppress = "remove"', 'suppress = "cells"\nchanges = "free"'
        )
        text = text.replace('"datafly"', f'"{self.algorithm}"\nweights = {{ {weights} }}')
        if self.match:
            text = text.replace('suppress = "cells"', 'suppress = "cells"\nstars = "match"')
        if self.diverse:
            text = text.replace("[method]", 'l_diversity = { column = "diagnosis", l = 2 }\n[method]')
        for number, column in enumerate(self.example.columns):
            if column.written == "stored":
                db.hierarchies.load(f"vgh {number}", folder / f"{number}.csv", replace=True)
        return db.run(parse(text, base=folder), options=Options(allow_empty=True)).result

    def holds(self, records: Sequence[int]) -> bool:
        values = {diagnosis(self.example.eligible[record]) for record in records}
        return len(records) >= self.example.k and (len(values) >= 2 or not self.diverse)

    def expected(self, levels: Sequence[int]) -> list[Class | None]:
        """What each eligible record's quasi-identifiers become, at these levels; None if it is left out."""
        hierarchies = self.example.hierarchies
        labels = generalized([self.example.rows[r] for r in self.example.eligible], hierarchies, levels)
        below = [c for c, hierarchy in enumerate(hierarchies) if levels[c] < hierarchy.height]
        sets = [chosen for size in range(len(below) + 1) for chosen in combinations(below, size)]
        sets.sort(
            key=lambda chosen: (len(chosen) > 0, sum(self.weights[c] for c in chosen), len(chosen), chosen)
        )
        released: list[Class | None] = [None] * len(labels)
        pending = list(range(len(labels)))
        for chosen in sets:
            starred = {
                record: tuple(
                    hierarchies[c].root if c in chosen else label for c, label in enumerate(labels[record])
                )
                for record in pending
            }
            for found in set(starred.values()):
                members = [record for record in pending if starred[record] == found]
                if self.holds(members):
                    for record in members:
                        released[record] = found
            pending = [record for record in pending if released[record] is None]
        return released

    def matching(self, levels: Sequence[int]) -> list[Class]:
        """What each eligible record becomes where a star matches anything; stars are given set by set."""
        hierarchies, k = self.example.hierarchies, self.example.k
        labels = generalized([self.example.rows[r] for r in self.example.eligible], hierarchies, levels)
        below = [c for c, hierarchy in enumerate(hierarchies) if levels[c] < hierarchy.height]
        sets = [chosen for size in range(1, len(below) + 1) for chosen in combinations(below, size)]
        sets.sort(key=lambda chosen: (sum(self.weights[c] for c in chosen), len(chosen), chosen))
        root = frozenset(range(len(hierarchies))) - set(below)
        stars: list[frozenset[int]] = [root] * len(labels)

        def frequency(record: int, mine: frozenset[int]) -> int:
            return sum(
                all(a == b for c, (a, b) in enumerate(pairs) if c not in mine | stars[other])
                for other, row in enumerate(labels)
                if (pairs := list(zip(labels[record], row, strict=True))) is not None
            )

        pending = [record for record in range(len(labels)) if frequency(record, root) < k]
        for chosen in sets:
            now = [record for record in pending if frequency(record, root.union(chosen)) >= k]
            for record in now:
                stars[record] = root.union(chosen)
            pending = [r for r in pending if r not in now and frequency(r, root) < k]
        assert all(frequency(record, mine) >= k for record, mine in enumerate(stars))
        return [
            tuple(hierarchies[c].root if c in mine else label for c, label in enumerate(row))
            for row, mine in zip(labels, stars, strict=True)
        ]


@st.composite
def suppressing(draw: st.DrawFn) -> Suppressing:
    example = draw(tables(suppress=["remove"], suppression=["0.05", "0.29", "0.5", "1"]))
    # a value that looks as the root does would be one with suppressed cells
    roots = {hierarchy.root for hierarchy in example.hierarchies}
    assume(not any(value in roots for row in example.rows for value in row))
    weights = tuple(Fraction(draw(st.sampled_from(["1", "1", "2", "0.5"]))) for _ in example.columns)
    return Suppressing(example, weights, draw(st.booleans()), draw(st.sampled_from(["datafly", "optimal"])))


@fewer
@given(case=suppressing())
def test_the_cells_are_those_of_the_definition(db: Database, tmp_path: Path, case: Suppressing) -> None:
    example = case.example
    eligible = len(example.eligible)
    assume(example.satisfiable and (not case.diverse or case.holds(range(eligible)) or not eligible))
    fill(db, example)
    result = case.run(db, tmp_path)
    expected = case.expected(tuple(result.levels.values()))
    rows = (
        (*labels, *example.kept(record))
        for record, labels in zip(example.eligible, expected, strict=True)
        if labels is not None
    )
    assert Counter(released(db)) == Counter(rows)
    assert result.suppressed == expected.count(None) + len(example.rows) - eligible
    if result.released:
        losses = [value for name, value in result.all_metrics().items() if name == "gen_iloss"]
        assert losses, "the loss of what is suppressed is measured"


@fewer
@given(case=suppressing())
def test_every_class_satisfies_the_policy_and_few_enough_records_are_touched(
    db: Database, tmp_path: Path, case: Suppressing
) -> None:
    example = replace(case.example, numbered=True)
    case = replace(case, example=example)
    assume(example.satisfiable and (not case.diverse or case.holds(range(len(example.eligible)))))
    fill(db, example)
    result = case.run(db, tmp_path)
    places = {record: place for place, record in enumerate(example.eligible)}
    classes: dict[tuple[object, ...], list[int]] = {}
    for *labels, _, record in released(db):
        assert isinstance(record, int)
        classes.setdefault(tuple(labels), []).append(places[record])
    assert all(case.holds(members) for members in classes.values())
    found = result.as_json()["suppressed_cells"]
    nulls = len(example.rows) - len(example.eligible)
    touched = found["records"] + result.suppressed - nulls
    assert touched <= example.suppression * len(example.eligible)
    assert found["cells"] == sum(found["by_column"].values()) >= found["records"]
    first = released_bytes(db)
    case.run(db, tmp_path)
    assert released_bytes(db) == first


@fewer
@given(case=suppressing())
def test_the_stars_that_match_are_those_of_the_definition(
    db: Database, tmp_path: Path, case: Suppressing
) -> None:
    case = replace(case, diverse=False, match=True)
    example = case.example
    assume(example.satisfiable and example.eligible)
    fill(db, example)
    result = case.run(db, tmp_path)
    expected = case.matching(tuple(result.levels.values()))
    rows = [
        (*labels, *example.kept(record)) for record, labels in zip(example.eligible, expected, strict=True)
    ]
    assert Counter(released(db)) == Counter(rows)
    roots = [hierarchy.root for hierarchy in example.hierarchies]
    counted = [
        sum(
            all(a == b or root in (a, b) for a, b, root in zip(one, other, roots, strict=True))
            for other in expected
        )
        for one in expected
    ]
    assert result.all_metrics()["star_matches_min"] == min(counted) >= example.k
    assert result.k == min(Counter(expected).values())
