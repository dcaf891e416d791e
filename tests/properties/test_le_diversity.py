"""Whatever the table and however lopsided the hierarchy: what le_diversity releases is what it promises."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import ceil
from pathlib import Path as File
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import sql

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from anondb.policy.load import parse
from tests.properties.examples import laws
from tests.properties.le_diversity_oracle import (
    Path,
    apart,
    buckets_of,
    diverse,
    dods,
    largest_first,
    losses,
    most_strangers,
    reached,
)

SOURCE = sql.Identifier("clinic", 'The "visits"')
ZIP, DISEASE = 'Zip "code" %s', 'dis\'ease "x"'

Record = tuple[int | None, str | None, int]  # age, zip, and the place of the sensitive value's path


@dataclass(frozen=True)
class Example:
    paths: tuple[Path, ...]  # of the leaves, padded, and of NULL last
    records: tuple[Record, ...]
    l: int  # noqa: E741 - the literature's name
    e: float
    k: int
    nulls: str
    seed: int

    @property
    def eligible(self) -> list[Record]:
        return [record for record in self.records if self.nulls == "value" or None not in record[:2]]

    @property
    def taken(self) -> int:
        """The records of one value that a class takes from a bucket."""
        return max(1, ceil(self.k / self.l))

    @property
    def chained(self) -> tuple[int, bool]:
        """How many classes there are if chains of relatives share a bucket; whether all in a chain are relatives."""
        counts = sorted(Counter(value for *_, value in self.eligible).items())
        paths = [self.paths[value] for value, _ in counts]
        buckets = buckets_of(paths, self.e)  # of values that occur
        sizes = [sum(counts[place][1] // self.taken for place in bucket) for bucket in buckets]
        clear = all(apart(paths[a], paths[b]) <= self.e for one in buckets for a, b in combinations(one, 2))
        return largest_first(sizes, self.l)[0], clear

    def makes_a_class(self, values: Iterable[int]) -> bool:
        """Whether these values of records would make a class: of l values, each often enough, no two relatives."""
        often = [value for value, n in Counter(values).items() if n >= self.taken]
        return most_strangers(often, self.paths, self.e) >= self.l

    @property
    def policy(self) -> str:
        disease, code = json.dumps(DISEASE), json.dumps(ZIP)
        return f"""
            source = 'clinic."The \"\"visits\"\""'
            target = "share.it's"
            [privacy]
            k = {self.k}
            nulls = "{self.nulls}"
            suppression = 1
            le_diversity = {{ column = {disease}, l = {self.l}, e = {self.e} }}
            [method]
            algorithm = "le_diversity"
            seed = {self.seed}
            [columns]
            name = {{ role = "identifier" }}
            age = {{ role = "quasi" }}
            {code} = {{ role = "quasi" }}
            record = {{ role = "other", keep = "identifying" }}
            {disease} = {{ role = "sensitive", hierarchy = "odd tree" }}
        """


@st.composite
def examples(draw: st.DrawFn) -> Example:
    """Leaves at every depth, so that e-similarity is not transitive; a few values have most records."""
    leaves = [
        [f"v{place}", *(f"{'a' * depth}{fork}" for depth in range(up, 0, -1))]
        for place, (up, fork) in enumerate(
            draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=3, max_size=9))
        )
    ]
    height = max(map(len, leaves))
    paths = [(*[leaf[0]] * (height - len(leaf)), *leaf, "*") for leaf in leaves]
    dice = Random(draw(st.integers(0, 2**16)))
    skew = draw(st.sampled_from([0.2, 0.6]))
    return Example(
        (*paths, (*[None] * height, "*")),
        tuple(
            (
                dice.choice([None, 20, 30, 77]),
                dice.choice([None, "1", "2'"]),
                min(int(dice.expovariate(skew)), len(paths)),
            )
            for _ in range(draw(st.integers(1, 60)))
        ),
        l=draw(st.integers(2, 4)),
        e=draw(st.sampled_from([0, 0.5, 1, 1.5, 2])),
        k=draw(st.sampled_from([2, 5])),
        nulls=draw(st.sampled_from(["value", "suppress"])),
        seed=draw(st.integers(0, 9)),
    )


def fill(db: Database, example: Example, order: list[int]) -> None:
    """The source, its rows in this physical order."""
    columns = sql.SQL(", ").join(map(sql.Identifier, ("age", DISEASE, ZIP, "record")))
    db.connection.execute(
        sql.SQL(
            "drop schema if exists clinic cascade; create schema clinic; create schema if not exists share;"
            "create table {} (name text, {} int, {} text, {} text, {} int)"
        ).format(SOURCE, *map(sql.Identifier, ("age", DISEASE, ZIP, "record")))
    )
    statement = sql.SQL("copy {} ({}) from stdin").format(SOURCE, columns)
    with db.connection.cursor() as cursor, cursor.copy(statement) as copy:
        for number in order:
            age, code, value = example.records[number]
            copy.write_row((age, example.paths[value][0], code, number))


def released(db: Database) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Both tables, in the order in which they lie."""
    quasi, sensitive = (
        db.connection.execute(sql.SQL("select * from {}").format(sql.Identifier("share", name))).fetchall()
        for name in ("it's_quasi", "it's_sensitive")
    )
    return quasi, sensitive


@settings(laws, max_examples=laws.max_examples // 2)  # each runs twice
@given(example=examples())
def test_every_released_class_is_diverse_and_holds_exactly_its_records(
    db: Database, tmp_path: File, example: Example
) -> None:
    tree = "\n".join(";".join(map(str, path)) for path in example.paths[:-1])
    (tmp_path / "odd.csv").write_text(tree)
    db.hierarchies.load("odd tree", tmp_path / "odd.csv", replace=True)
    order = list(range(len(example.records)))
    fill(db, example, order)
    if not example.makes_a_class(value for *_, value in example.eligible):
        with pytest.raises(UnsatisfiableError, match=r"no class can be made|every record would be"):
            db.run(parse(example.policy))
        return
    result = db.run(parse(example.policy)).result
    quasi, sensitive = released(db)
    assert len(quasi) == len(sensitive) == result.released == result.records - result.suppressed
    chained, clear = example.chained
    assert result.classes == chained if clear else result.classes >= chained
    assert {row[0] for row in quasi} == {row[0] for row in sensitive} == set(range(1, result.classes + 1))

    codes = {path[0]: place for place, path in enumerate(example.paths)}
    classes = []
    for number in range(1, result.classes + 1):
        held = sorted(codes[label] for class_id, label in sensitive if class_id == number)
        records = [row for row in quasi if row[0] == number]
        for _, age, code, record in records:
            assert example.records[record][:2] == (age, code)
        assert held == sorted(example.records[row[3]][2] for row in records)
        assert diverse(held, example.paths, example.l, example.e)
        assert len(held) >= example.k
        classes.append(held)
    kept = {row[3] for row in quasi}
    assert len(kept) == len(quasi)
    left = [r for number, r in enumerate(example.records) if number not in kept and r in example.eligible]
    assert not example.makes_a_class(value for *_, value in left)

    found = result.all_metrics()
    loss = (sum(losses(classes)) + result.suppressed) / len(example.records)
    spread = dods(classes, example.paths)
    assert found["information_loss"] == pytest.approx(loss)
    assert found["dot"] == pytest.approx(sum(spread) / len(spread))
    assert (found["dod_min"], found["dod_max"]) == pytest.approx((min(spread), max(spread)))
    assert found["suppressed_share"] == pytest.approx(result.suppressed / len(example.records))
    [measured] = db.connection.execute(
        "select anondb.le_diversity(%s, '{class_id}', %s, 'odd tree', %s)",
        ('share."it\'s_sensitive"', DISEASE, example.e),
    ).fetchall()
    assert measured == (pytest.approx(reached(classes, example.paths, example.e)),)

    fill(db, example, order[::-1])
    db.run(parse(example.policy))
    assert released(db) == (quasi, sensitive)
