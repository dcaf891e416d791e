"""The figures that a run keeps, against the public functions on the joined tables and against plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from psycopg import sql

from anondb.api import Database
from anondb.policy.load import parse
from anondb.run.plan import Options
from anondb.run.result import Result
from tests.properties.examples import COLUMNS, Column, Example, diagnosis, laws, numbers, tables, trees
from tests.properties.oracle import Label, Tree, text
from tests.properties.test_datafly import SOURCE, fill
from tests.properties.test_mondrian import Partitioned
from tests.sql import linked_oracle

TARGET = sql.Identifier("share", "admissions")
FULL_DOMAIN = ("datafly", "optimal")
MATCHINGS = ("text", "coverage", "hierarchy", "semantic")

Figures = dict[tuple[str, str], float]
"""By name and column, which is empty for the whole release."""


@dataclass(frozen=True)
class Evaluated:
    """A table, how it is anonymized, and what came of it."""

    case: Partitioned
    algorithm: str

    @property
    def example(self) -> Example:
        return self.case.example

    @property
    def quasi(self) -> list[str]:
        return [column.name for column in self.example.columns]

    @property
    def has_levels(self) -> bool:
        return self.algorithm in FULL_DOMAIN

    def policy(self, folder: Path) -> str:
        if self.has_levels:
            return self.example.policy(folder).replace('"datafly"', f'"{self.algorithm}"')
        return self.case.policy(folder)

    def tree(self, column: int) -> Tree | None:
        """The hierarchy of leaves by which a column is read."""
        hierarchy = self.example.columns[column].hierarchy
        bare = self.case.bare[column] and not self.has_levels
        return hierarchy if isinstance(hierarchy, Tree) and not bare else None

    def run(self, db: Database, folder: Path) -> Result:
        fill(db, self.example)
        policy = parse(self.policy(folder), base=folder)
        for number, column in enumerate(self.example.columns):
            if column.file is not None:  # those in files too: the functions know stored ones alone
                db.hierarchies.load(f"vgh {number}", folder / f"{number}.csv", replace=True)
        return db.run(policy, options=Options(allow_empty=True, evaluate="full")).result

    def masked(self, result: Result) -> int:
        left_out = len(self.example.rows) - len(self.example.eligible)
        return result.suppressed - left_out if self.example.suppress == "mask" else 0

    def roots(self, result: Result) -> list[str] | None:
        return [h.root for h in self.example.hierarchies] if self.masked(result) else None


@st.composite
def evaluations(
    draw: st.DrawFn, of: Sequence[Callable[[str], st.SearchStrategy[Column]]] = COLUMNS
) -> Evaluated:
    algorithm = draw(st.sampled_from([*FULL_DOMAIN, "mondrian"]))
    example = draw(tables(of=of) if algorithm in FULL_DOMAIN else tables(suppression=["0"], of=of))
    bare = tuple(draw(st.booleans()) for _ in example.columns)
    # a record is followed by its number
    return Evaluated(Partitioned(replace(example, numbered=True), bare, draw(st.booleans())), algorithm)


def kept_figures(result: Result) -> Figures:
    return {(f.name, f.column or ""): f.value for f in result.metric_values if f.value is not None}


def figures_before(result: Result) -> Figures:
    return {(f.name, f.column or ""): f.before for f in result.metric_values if f.before is not None}


def released(db: Database, evaluated: Evaluated) -> dict[int, tuple[Label, ...]]:
    """What each record is released as, by its number."""
    columns = sql.SQL(", ").join(map(sql.Identifier, evaluated.quasi))
    rows: list[tuple[Any, ...]] = db.connection.execute(
        sql.SQL("select record, {} from {}").format(columns, TARGET)
    ).fetchall()
    return {record: tuple(labels) for record, *labels in rows}


def asked(db: Database, evaluated: Evaluated, result: Result) -> tuple[Figures, Figures]:
    """The same figures by the public functions, which find the originals by their key; and those before."""
    names = [f"vgh {n}" if evaluated.tree(n) else None for n, _ in enumerate(evaluated.quasi)]
    given = {
        "original": SOURCE.as_string(db.connection),
        "release": TARGET.as_string(db.connection),
        "quasi": evaluated.quasi,
        "vghs": names,
        "roots": evaluated.roots(result),
        "records": len(evaluated.example.rows),
        "k": evaluated.example.k,
    }
    found: Figures = {}
    before: Figures = {}

    def add(statement: str, **more: object) -> None:
        rows: list[tuple[Any, ...]] = db.connection.execute(statement.encode(), given | more).fetchall()
        for name, column, value, *was in rows:
            if value is not None:
                found[name, column or ""] = value
            if was and was[0] is not None:
                before[name, column or ""] = was[0]

    add(
        "select u.name, u.of_column, u.value from anondb.utility(%(original)s::text::regclass,"
        " %(release)s::text::regclass, 'record', %(quasi)s::name[], %(vghs)s::text[], 'wup', %(roots)s::text[]) as u"
    )
    for matching in MATCHINGS:
        add(
            "select 'record_linkage_' || %(matching)s::text, null, anondb.record_linkage("
            "%(original)s::text::regclass, %(release)s::text::regclass, 'record', %(quasi)s::name[],"
            " %(matching)s::text, %(vghs)s::text[], 'wup', %(roots)s::text[])",
            matching=matching,
        )
    add(
        "select r.name, r.of_column, r.after, r.before from anondb.risk_before_after(%(original)s::text::regclass,"
        " %(release)s::text::regclass, %(quasi)s::name[], roots => %(roots)s::text[]) as r"
    )
    add(
        "select d.name, d.of_column, d.value from anondb.attribute_disclosure(%(release)s::text::regclass,"
        " %(quasi)s::name[], 'diagnosis', roots => %(roots)s::text[]) as d"
    )
    add(
        "select 'discernibility', null, anondb.discernibility(%(release)s::text::regclass, %(quasi)s::name[],"
        " records => %(records)s, roots => %(roots)s::text[])"
    )
    add(
        "select 'average_class_size', null, anondb.average_class_size(%(release)s::text::regclass,"
        " %(quasi)s::name[], %(k)s, roots => %(roots)s::text[])"
    )
    return found, before


def is_clear(evaluated: Evaluated, result: Result, labels: dict[int, tuple[Label, ...]]) -> bool:
    """Whether no class looks like the masked records: a value of the data may itself be a star."""
    roots = evaluated.roots(result)
    return roots is None or Counter(labels.values())[tuple(roots)] == evaluated.masked(result)


@laws
@given(evaluated=evaluations())
def test_a_run_keeps_what_the_functions_say_of_original_and_release(
    db: Database, tmp_path: Path, evaluated: Evaluated
) -> None:
    assume(evaluated.example.satisfiable)
    result = evaluated.run(db, tmp_path)
    labels = released(db, evaluated)
    if not labels:
        assert result.metric_values == ()
        return
    assume(is_clear(evaluated, result, labels))
    found, before = asked(db, evaluated, result)
    kept = kept_figures(result)
    computed = {n for n, _ in enumerate(evaluated.quasi) if evaluated.tree(n) is None}
    if evaluated.has_levels and computed:  # of these a run knows the levels, and the functions do not
        ours = {("precision", ""), *(("precision", evaluated.quasi[n]) for n in computed)}
        kept = {key: value for key, value in kept.items() if key not in ours}
        found = {key: value for key, value in found.items() if key not in ours}
    clusters = {"rand", "wallace_1", "wallace_2", "nmi", "partition_distance"}
    assert {key: v for key, v in kept.items() if key[0] not in clusters} == pytest.approx(found)
    assert figures_before(result) == pytest.approx(before)


@laws
@given(evaluated=evaluations())
def test_sizes_precision_and_risk_are_those_that_python_counts(
    db: Database, tmp_path: Path, evaluated: Evaluated
) -> None:
    """Suppressed and masked records are in no class, and cost what the whole table has."""
    assume(evaluated.example.satisfiable)
    result = evaluated.run(db, tmp_path)
    labels = released(db, evaluated)
    assume(labels and is_clear(evaluated, result, labels))
    kept, records = kept_figures(result), len(evaluated.example.rows)
    roots = evaluated.roots(result)
    shown = {record: its for record, its in labels.items() if roots is None or its != tuple(roots)}
    sizes = Counter(shown.values())
    squares = sum(size**2 for size in sizes.values())
    assert kept["discernibility", ""] == squares + records * (records - len(shown))
    assert ("prosecutor_max", "") in kept or not sizes
    if sizes:
        mean = len(shown) / len(sizes)
        assert kept["average_class_size", ""] == pytest.approx(mean / evaluated.example.k)
        assert kept["prosecutor_max", ""] == pytest.approx(1 / min(sizes.values()))
        assert kept["prosecutor_mean", ""] == pytest.approx(len(sizes) / len(shown))
        assert kept["attribute_disclosure_mean", "diagnosis"] == pytest.approx(disclosed(shown) / len(shown))
    assert kept["sample_uniques", ""] == 0 if sizes else ("sample_uniques", "") not in kept
    originals = Counter(
        tuple(None if value is None else text(value) for value in row) for row in evaluated.example.rows
    )
    assert figures_before(result)["prosecutor_mean", ""] == pytest.approx(len(originals) / records)
    assert figures_before(result)["sample_uniques", ""] == list(originals.values()).count(1)
    if evaluated.has_levels:
        shares = [
            1 - risen(evaluated, result, place, shown) / records for place in range(len(evaluated.quasi))
        ]
        assert [kept["precision", name] for name in evaluated.quasi] == pytest.approx(shares)
        assert kept["precision", ""] == pytest.approx(math.fsum(shares) / len(shares))


def disclosed(shown: dict[int, tuple[Label, ...]]) -> int:
    """The records of the most frequent diagnosis of each class: those that are guessed right."""
    classes: dict[tuple[Label, ...], Counter[str]] = {}
    for record, its in shown.items():
        classes.setdefault(its, Counter())[diagnosis(record)] += 1
    return sum(max(counts.values()) for counts in classes.values())


def risen(evaluated: Evaluated, result: Result, place: int, shown: dict[int, tuple[Label, ...]]) -> float:
    """The shares of its hierarchy's height by which each record's value rose; all of it where nothing is shown."""
    name, total = evaluated.quasi[place], 0.0
    level, height = result.levels[name], result.heights[name]
    for record, row in enumerate(evaluated.example.rows):
        its = shown[record][place] if record in shown else None
        original = None if row[place] is None else text(row[place])
        as_it_is = record in shown and its == original and level < height
        total += 1 if record not in shown else 0 if as_it_is else level / height
    return total


@laws
@given(evaluated=evaluations(of=(trees, numbers)))
def test_loss_and_linkage_are_those_of_the_definitions(
    db: Database, tmp_path: Path, evaluated: Evaluated
) -> None:
    assume(evaluated.example.satisfiable)
    result = evaluated.run(db, tmp_path)
    labels = released(db, evaluated)
    assume(labels and is_clear(evaluated, result, labels))
    roots = evaluated.roots(result)
    shown = {record: its for record, its in labels.items() if roots is None or its != tuple(roots)}
    columns = [read_column(evaluated, place, shown) for place in range(len(evaluated.quasi))]
    losses = [[linked_oracle.generalization(column, *cell) for cell in column.cells] for column in columns]
    kept = kept_figures(result)
    for name, of_column in zip(evaluated.quasi, losses, strict=True):
        assert kept["gen_iloss", name] == pytest.approx(sum(of_column) / len(of_column))
    assert kept["record_linkage_text", ""] == pytest.approx(linked_oracle.linkage(columns, None, text=True))
    assert kept["record_linkage_coverage", ""] == pytest.approx(linked_oracle.linkage(columns, None))


@dataclass(frozen=True)
class Remembering(linked_oracle.Column):
    """Asks once of each pair of values."""

    known: dict[tuple[Label, Label], bool] = field(default_factory=dict)

    def covers(self, label: Label, value: Label) -> bool:
        if (label, value) not in self.known:
            self.known[label, value] = super().covers(label, value)
        return self.known[label, value]


def read_column(
    evaluated: Evaluated, place: int, shown: dict[int, tuple[Label, ...]]
) -> linked_oracle.Column:
    records = range(len(evaluated.example.rows))
    values = [row[place] for row in evaluated.example.rows]
    tree = evaluated.tree(place)
    paths = []
    if tree is not None:
        levels = range(1, tree.height + 1)
        paths = [(leaf, *(tree.label(leaf, level) for level in levels)) for leaf in tree.paths]
    return Remembering(
        [None if value is None else text(value) for value in values],
        [shown[record][place] if record in shown else None for record in records],
        [record in shown for record in records],
        paths,
    )
