"""What a recipient makes of the two tables of le_diversity: a program that reads them, the hierarchy and nothing else.

It is written against the definitions, and shares no line with anondb or with the other tests.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from anondb.api import Database
from anondb.policy.load import parse
from tests.adult import file_name

SETTINGS = [(2, 1.0, 0.05), (2, 2.0, 0.3), (3, 0.0, 0.05), (3, 1.0, 0.5), (4, 1.5, 0.7)]
Row = tuple[Any, ...]


class Recipient:
    """Has the tables `released_quasi` and `released_sensitive`, and the tree of the sensitive values."""

    def __init__(self, db: Database, tree: Path) -> None:
        self.persons: list[Row] = self._read(db, "select class_id, record from released_quasi")
        self.values: list[Row] = self._read(db, "select class_id, education from released_sensitive")
        self.tree = {line.split(";")[0]: line.split(";") for line in tree.read_text().splitlines()}
        self.root = next(iter(self.tree.values()))[-1:]
        self.of_class: dict[int, Counter[str]] = defaultdict(Counter)
        for class_id, value in self.values:
            self.of_class[class_id][value] += 1

    @staticmethod
    def _read(db: Database, query: str) -> list[Row]:
        """In the order in which the rows lie."""
        return db.connection.execute(f"{query} order by ctid".encode()).fetchall()

    def apart(self, one: str | None, other: str | None) -> float:
        """Half the steps from one leaf to the other. Branches are all as long; NULL hangs from the root."""
        above: list[list[str]] = [
            self.tree[value][1:] if value is not None else self.root for value in (one, other)
        ]
        shared: int = sum(a == b for a, b in zip(*(path[::-1] for path in above), strict=False))
        steps: int = sum(len(path) - shared + 1 for path in above)
        return steps / 2

    def strangers(self, e: float) -> Iterator[tuple[Counter[str], bool]]:
        """Each class, and whether no two of its values are relatives."""
        for held in self.of_class.values():
            yield held, all(self.apart(a, b) > e for a, b in combinations(held, 2))

    def surest(self, e: float) -> float:
        """Joined back by class: the surest guess of a person's value, or of its value with all relatives."""
        return max(
            sum(n for other, n in held.items() if other == value or self.apart(value, other) <= e)
            / held.total()
            for held in self.of_class.values()
            for value in held
        )

    def hits(self, truth: Mapping[int, str]) -> tuple[int, int]:
        """Of the persons, for how many two guesses are right: the first of the most frequent values, and the place."""
        by_class: dict[int, list[str]] = defaultdict(list)
        for class_id, value in self.values:
            by_class[class_id].append(value)
        likely = {name: held.most_common(1)[0][0] for name, held in self.of_class.items()}
        seen: Counter[int] = Counter()
        frequent = placed = 0
        for class_id, record in self.persons:
            frequent += likely[class_id] == truth[record]
            placed += by_class[class_id][seen[class_id]] == truth[record]
            seen[class_id] += 1
        return frequent, placed


def check(db: Database, tree: Path, setting: tuple[int, float, float]) -> None:
    l, e, suppression = setting  # noqa: E741
    db.run(
        parse(f"""
        source = "persons"
        target = "released"
        [privacy]
        suppression = {suppression}
        le_diversity = {{ column = "education", l = {l}, e = {e} }}
        [method]
        algorithm = "le_diversity"
        [columns]
        age = {{ role = "quasi" }}
        sex = {{ role = "quasi" }}
        race = {{ role = "quasi" }}
        record = {{ role = "other", keep = "identifying" }}
        education = {{ role = "sensitive", hierarchy = {{ csv = "{tree}" }} }}
        """)
    )
    found = Recipient(db, tree)
    # both tables have the same classes, each of as many records
    assert Counter(row[0] for row in found.persons) == {n: held.total() for n, held in found.of_class.items()}
    classes = list(found.strangers(e))
    assert all(strangers and len(held) >= l for held, strangers in classes)
    assert found.surest(e) <= 1 / l
    known: list[Row] = db.connection.execute("select record, education from persons").fetchall()
    truth: dict[int, str] = dict(known)
    chance = len(found.persons) / l
    for right in found.hits(truth):
        assert right <= chance + 5 * (chance * (1 - 1 / l)) ** 0.5  # five deviations


_PERSONS = """
create table persons as
select row_number() over () as record, a.age, a.sex, a.race, a.education from {} as a;
insert into persons (record, age, sex, race) values (0, 40, 'Male', 'White')
"""


def fill(db: Database, source: str) -> None:
    """A number for each person, by which nothing but the truth is looked up; one has no education."""
    db.connection.execute(sql.SQL(_PERSONS).format(sql.Identifier(source)))


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_recipient_guesses_no_better_than_one_in_l(db: Database, setting: tuple[int, float, float]) -> None:
    db.synthetic.generate("adult", 2_000, "adults")
    fill(db, "adults")
    check(db, Path(str(files("anondb.study") / "data" / "education.csv")), setting)


@pytest.mark.once
def test_nor_of_the_adult_data(adult: Database, adult_folder: Path) -> None:
    fill(adult, "adult")
    for setting in SETTINGS[1:4]:
        check(adult, adult_folder / file_name("education"), setting)


def test_the_program_itself_finds_what_is_wrong(db: Database) -> None:
    """A class of two siblings, and one of which most have one value."""
    db.connection.execute(
        "create table released_quasi as select 1 as class_id, 1 as record;"
        "create table released_sensitive (class_id int, education text);"
        "insert into released_sensitive values (1, 'Masters'), (1, 'Doctorate'), (2, '9th'), (2, '9th'), (2, 'HS-grad')"
    )
    found = Recipient(db, Path(str(files("anondb.study") / "data" / "education.csv")))
    assert [strangers for _, strangers in found.strangers(1)] == [False, True]
    assert (found.surest(1), found.surest(0)) == (1, 2 / 3)
