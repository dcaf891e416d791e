"""What two releases tell together, against its definition, on random small releases of one source."""

from __future__ import annotations

import random
from typing import Any

import pytest
from psycopg import sql

from anondb.db.connection import Connection
from tests.properties import together_oracle as oracle

WIDTHS = (1, 2, 5, 20)
Labels = tuple[str | None, ...]


def span(label: str | None) -> tuple[float, float]:
    """Ages as half-open ranges."""
    if label == "*":
        return (-1e9, 1e9)
    assert label is not None
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return (float(low), float(high))
    return (float(label), float(label) + 0.5)


def ages_meet(a: str | None, b: str | None) -> bool:
    (low, high), (other_low, other_high) = span(a), span(b)
    return low < other_high and other_low < high


def zips_meet(a: str | None, b: str | None) -> bool:
    if None in (a, b):
        return a == b or "*" in (a, b) or "**" in (a, b)
    assert a is not None
    assert b is not None
    return all(x == y or "*" in (x, y) for x, y in zip(a.ljust(2, "*"), b.ljust(2, "*"), strict=True))


def fits(a: Labels, b: Labels) -> bool:
    return ages_meet(a[0], b[0]) and zips_meet(a[1], b[1])


def age_label(age: int, width: int) -> str:
    if width == 1:
        return str(age)
    low = age // width * width
    return "*" if width == 20 else f"[{low}, {low + width})"


def released(dice: random.Random, persons: list[tuple[int, str, str]]) -> list[tuple[Labels, str]]:
    """At levels of its own, some left out, some classes coarser than others."""
    width, kept = dice.choice(WIDTHS), dice.choice((0, 1, 2))
    coarser = dice.random() < 0.3
    rows: list[tuple[Labels, str]] = []
    for age, zip_, value in persons:
        if dice.random() < 0.15:
            continue
        wider = 20 if coarser and age < 5 else width
        rows.append(((age_label(age, wider), zip_[:kept] + "*" * (2 - kept)), value))
    return rows


def store(connection: Connection, name: str, rows: list[tuple[Labels, str]]) -> None:
    table = sql.Identifier("share", name)
    connection.execute(sql.SQL("create table {} (age text, zip text, value text)").format(table))
    with connection.cursor() as cursor:
        cursor.executemany(
            sql.SQL("insert into {} values (%s, %s, %s)").format(table),
            [(*labels, value) for labels, value in rows],
        )


@pytest.mark.parametrize("seed", range(12))
def test_two_releases_tell_what_the_definition_says(connection: Connection, seed: int) -> None:
    dice, k = random.Random(seed), 3
    connection.execute("create schema share; create table share.source (age int, zip text, value text)")
    persons = [
        (dice.randrange(20), dice.choice("01") + dice.choice("01"), dice.choice("ABC"))
        for _ in range(dice.randrange(2, 60))
    ]
    before = released(dice, persons)
    after = released(dice, persons[dice.randrange(3) :])
    if not (before and after):
        pytest.skip("nothing was released")
    store(connection, "before", before)
    store(connection, "after", after)
    with connection.cursor() as cursor:
        cursor.executemany("insert into share.source values (%s, %s, %s)", persons)
    rows: list[Any] = connection.execute(
        "select t.name, t.value from anondb.released_together('share.before', 'share.after', '{age,zip}', '{value}',"
        " %s, source => 'share.source') as t",
        (k,),
    ).fetchall()
    told = dict(rows)
    expected = oracle.changes(before, after) | oracle.cells(before, after, fits, k)
    for word, here, there in (("entered", after, before), ("left", before, after)):
        every, below, certain = oracle.difference(here, there, fits, k)
        expected |= {f"records_{word}": every, f"{word}_below_k": below, f"{word}_certain": certain}
    source = [((str(age), zip_), value) for age, zip_, value in persons]
    expected |= oracle.persons(source, before, after, fits, k)
    assert told == expected


def test_the_oracle_finds_what_one_added_row_tells() -> None:
    old: list[tuple[Labels, str]] = [(("[20, 30)", "1*"), value) for value in "AABBC"]
    new = [*old, (("[20, 30)", "1*"), "D")]
    assert oracle.difference(new, old, fits, 5) == (1, 1, 1)
