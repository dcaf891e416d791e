"""The searches for levels on random tables in a real database, under every model, against brute force in Python."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from psycopg import sql

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from anondb.policy.load import parse
from tests.properties.examples import laws
from tests.properties.model_examples import ANIMALS, DIAGNOSES, SENSITIVE, Losses, Search, searches
from tests.properties.models_oracle import Closeness, Node, Record, node_at
from tests.properties.oracle import Value

SOURCE = sql.Identifier("clinic", "admissions")
ZOO = "salmon,fish\ntrout,fish\nfish,animal\ndog,mammal\ncat,mammal\nmammal,vertebrate\nvertebrate,animal\n"


@pytest.fixture
def losses(db: Database, tmp_path: Path) -> Losses:
    """The semantic losses of the stored hierarchy, by the function that tests of its own compare with papers."""
    (tmp_path / "zoo.csv").write_text("child,parent\n" + ZOO)
    db.ontologies.load(tmp_path / "zoo.csv", name="zoo")
    (tmp_path / "animals.csv").write_text(
        "".join(";".join([leaf, *above]) + "\n" for leaf, above in ANIMALS.paths.items())
    )
    db.hierarchies.load("animals", tmp_path / "animals.csv", ontology="zoo")
    rows: list[tuple[Any, ...]] = db.connection.execute(
        "select t.leaf, t.level, t.loss from anondb.trans_gsl('animals', unmapped => 'skip') as t"
    ).fetchall()
    return {(leaf, level): loss for leaf, level, loss in rows}


def fill(db: Database, search: Search) -> None:
    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(column.name), sql.SQL(column.type))
        for column in search.columns
    )
    db.connection.execute(
        sql.SQL(
            "drop schema if exists clinic cascade; create schema clinic; create schema if not exists share;"
            "create table {} ({}, diagnosis text, grade int, patient int, record int)"
        ).format(SOURCE, columns)
    )
    with db.connection.cursor() as cursor, cursor.copy(sql.SQL("copy {} from stdin").format(SOURCE)) as copy:
        for number, record in enumerate(search.records):
            copy.write_row((*record.quasi, *record.sensitive, record.person, number))
    if search.analyzed:
        db.connection.execute(sql.SQL("analyze {}").format(SOURCE))


def expected_rows(search: Search, node: Node) -> Counter[tuple[Any, ...]]:
    """The release, row for row."""
    labels = {id(record): its for its, members in node.released.items() for record in members}
    if search.suppress == "mask":
        roots = tuple(hierarchy.root for hierarchy in search.hierarchies)
        labels |= {id(record): roots for record in node.suppressed}
    return Counter(
        (*labels[id(record)], *record.sensitive, *([number] if search.numbered else []))
        for number, record in enumerate(search.records)
        if id(record) in labels
    )


def released_classes(search: Search, rows: Counter[tuple[Any, ...]]) -> list[list[Record]]:
    """The classes of a release, read from nothing but its rows; persons by the numbers of their records."""
    width = len(search.columns)
    classes: dict[tuple[Any, ...], list[Record]] = {}
    for row in rows.elements():
        sensitive = row[width : width + len(SENSITIVE)]
        person = search.records[row[-1]].person if search.numbered else None
        classes.setdefault(row[:width], []).append(Record((), sensitive, person))
    return list(classes.values())


def members(*values: Value) -> list[Record]:
    return [Record((), (value,), None) for value in values]


def test_the_naive_distances_are_those_of_the_paper() -> None:
    """Li et al. 2007: salaries of 3,000 to 5,000 and of 6,000, 8,000 and 11,000 among 3,000 to 11,000."""
    salaries = range(3, 12)
    ordered = Closeness(0, Fraction(0), "ordered", list(salaries), {})
    assert ordered.between(members(3, 4, 5), members(*salaries)) == Fraction(3, 8)
    assert ordered.between(members(6, 8, 11), members(*salaries)) == Fraction(1, 6)
    # by hand: of the flu, a quarter goes to the other disease of the lung, a third of the way up, and two
    # quarters go all the way
    paths: dict[Value, list[str]] = {
        leaf: [DIAGNOSES.label(leaf, i) for i in (1, 2)] for leaf in DIAGNOSES.paths
    }
    tree = Closeness(0, Fraction(0), "hierarchical", [], paths)
    all_ill = members("flu", "pneumonia", "ulcer", "burn")
    assert tree.between(members("flu"), all_ill) == Fraction(1, 4) / 3 + Fraction(2, 4)
    assert tree.between(members("flu", "pneumonia"), all_ill) == Fraction(1, 2)


@settings(laws, max_examples=max(laws.max_examples * 3 // 4, 1))
@given(search=searches())
def test_both_algorithms_release_what_brute_force_releases_and_it_meets_every_model(
    db: Database, losses: Losses, tmp_path: Path, search: Search
) -> None:
    expected = search.best(losses)
    fill(db, search)
    for algorithm in ("optimal", "incognito"):
        policy = parse(search.policy(algorithm, tmp_path), base=tmp_path)
        if expected is None:
            with pytest.raises(UnsatisfiableError):
                db.run(policy)
            continue
        result = db.run(policy).result
        assert tuple(result.levels.values()) == expected.levels, algorithm
        left_out = len(search.records) - len(search.eligible)
        assert result.suppressed == len(expected.suppressed) + left_out
        assert (result.as_json()["lattice"], result.as_json()["proven"]) == (
            prod(map(len, search.ranges)),
            True,
        )
        rows = Counter(db.connection.execute("select * from share.admissions").fetchall())
        assert rows == expected_rows(search, expected)
        if search.numbered or not search.demanded.by_person:
            assert search.demanded.satisfied_by(released_classes(search, rows))


@settings(laws, max_examples=max(laws.max_examples * 3 // 4, 1))
@given(search=searches())
def test_what_datafly_releases_is_its_node_and_meets_every_model(
    db: Database, losses: Losses, tmp_path: Path, search: Search
) -> None:
    fill(db, search)
    written = re.sub(r'\nobjective = "\w+"(\nweights = .*)?', "", search.policy("datafly", tmp_path))
    policy = parse(written, base=tmp_path)
    if search.best(losses) is None:
        with pytest.raises(UnsatisfiableError):
            db.run(policy)
        return
    try:
        result = db.run(policy).result
    except UnsatisfiableError:  # it walks one way up, and what is good may lie beside it
        return
    node = node_at(
        search.eligible,
        search.hierarchies,
        search.demanded,
        tuple(result.levels.values()),
        mask=search.suppress == "mask",
    )
    assert len(node.suppressed) <= search.suppression * len(search.eligible)
    rows = Counter(db.connection.execute("select * from share.admissions").fetchall())
    assert rows == expected_rows(search, node)
    if search.numbered or not search.demanded.by_person:
        assert search.demanded.satisfied_by(released_classes(search, rows))


@pytest.mark.parametrize("algorithm", ["incognito", "optimal"])
def test_equal_losses_are_ties_however_much_of_them_is_suppression(
    db: Database, tmp_path: Path, algorithm: str
) -> None:
    """By hand, of 5 records: (1, 1) loses 1/3 of each cell. (1, 0) loses 1/3 of every other cell, 1/6 in all, and
    5/6 of the one record that it suppresses, 1/6 in all. It has fewer levels."""
    (tmp_path / "x.csv").write_text("a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\n")
    db.connection.execute(
        "create table admissions (x text, y text);"
        "insert into admissions values ('a', 'a'), ('a', 'a'), ('b', 'a'), ('b', 'a'), ('a', 'b')"
    )
    column = '{ role = "quasi", hierarchy = { csv = "x.csv" } }'
    policy = f"""
source = "admissions"
target = "release"
[privacy]
k = 3
suppression = 0.2
[method]
algorithm = "{algorithm}"
objective = "loss"
[columns]
x = {column}
y = {column}
"""
    result = db.run(parse(policy, base=tmp_path)).result
    assert (result.levels, result.suppressed) == ({"x": 1, "y": 0}, 1)
    assert result.as_json()["score"] == pytest.approx(1 / 3)
