"""Nights of a source that changes, and an attacker who knows everything about everybody but the sensitive values.

Each record carries a tag that is released with it. The attacker does not look at it; who judges him does, and so
knows whose row is whose in every release.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, LiteralString

from psycopg import sql

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.run.plan import Options
from anondb.run.result import Result

Row = tuple[str, str, str, int]  # the labels, the value, the tag
Class = tuple[str, str]
VALUES = "ABCDE"


def policy(**privacy: Any) -> dict[str, Any]:
    return {
        "source": "clinic.patients",
        "target": "share.patients",
        "privacy": {"k": 3, "suppression": 0.2} | privacy,
        "method": {"algorithm": "datafly"},
        "columns": {
            "id": {"role": "identifier"},
            "age": {
                "role": "quasi",
                "hierarchy": {"start": 0, "widths": [10, 40]},
                "min_level": 1,
                "max_level": 1,
            },
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}, "min_level": 1, "max_level": 1},
            "value": {"role": "sensitive"},
            "tag": {"role": "other", "keep": "identifying"},
        },
    }


@dataclass
class Clinic:
    """The source, as Python knows it too."""

    connection: Connection
    dice: random.Random
    records: dict[int, list[Any]] = field(default_factory=dict)  # tag → person, age, zip, value
    tags: int = 0

    def make(self, persons: int, *, key: LiteralString = "primary key") -> None:
        self.connection.execute("create schema clinic; create schema share")
        table = sql.SQL("create table clinic.patients (id int {}, age int, zip text, value text, tag int)")
        self.connection.execute(table.format(sql.SQL(key)))
        self.join(persons)

    def join(self, persons: int) -> None:
        for _ in range(persons):
            self.add(self.tags)

    def add(self, person: int) -> None:
        zip_ = "".join(self.dice.choices("01", k=1) + self.dice.choices("0123", k=1))
        record = [person, self.dice.randrange(30), zip_, self.dice.choice(VALUES)]
        self.records[self.tags] = record
        self.connection.execute(
            "insert into clinic.patients values (%s, %s, %s, %s, %s)", (*record, self.tags)
        )
        self.tags += 1

    def leave(self, persons: int) -> None:
        for tag in self.dice.sample(sorted(self.records), min(persons, len(self.records))):
            del self.records[tag]
            self.connection.execute("delete from clinic.patients where tag = %s", (tag,))

    def move(self, persons: int) -> None:
        for tag in self.dice.sample(sorted(self.records), min(persons, len(self.records))):
            self._set(tag, 1, self.dice.randrange(30))

    def change(self, persons: int) -> None:
        for tag in self.dice.sample(sorted(self.records), min(persons, len(self.records))):
            self._set(tag, 3, self.dice.choice(VALUES))

    def migrate(self) -> None:
        """Many of a class move to another one together."""
        decade = self.dice.randrange(3)
        there = [tag for tag, record in sorted(self.records.items()) if record[1] // 10 == decade]
        for tag in self.dice.sample(there, len(there) // 2):
            self._set(tag, 1, (decade * 10 + 10) % 30)

    def night(self) -> None:
        self.join(self.dice.randrange(8))
        self.leave(self.dice.randrange(8))
        self.move(self.dice.randrange(3))
        self.change(self.dice.randrange(3))
        if self.dice.random() < 0.2:
            self.migrate()

    def _set(self, tag: int, place: int, value: Any) -> None:
        self.records[tag][place] = value
        column = ("id", "age", "zip", "value")[place]
        update = sql.SQL("update clinic.patients set {} = %s where tag = %s").format(sql.Identifier(column))
        self.connection.execute(update, (value, tag))


def publish(db: Database, document: dict[str, Any]) -> tuple[Result, list[Row]]:
    result = db.run(document, options=Options(evaluate="none", allow_empty=True)).result
    rows = db.session.execute("select t.age, t.zip, t.value, t.tag from share.patients as t")
    return result, [(str(age), str(zip_), str(value), int(str(tag))) for age, zip_, value, tag in rows]


@dataclass
class Histories:
    """What was published of each record, release by release; who knows it all can be asked."""

    releases: list[list[Row]] = field(default_factory=list)

    def cohorts(self) -> Iterator[list[int]]:
        """Records with equal histories, of those that were ever published."""
        history: dict[int, list[Class | None]] = defaultdict(lambda: [None] * len(self.releases))
        for number, rows in enumerate(self.releases):
            for age, zip_, _, tag in rows:
                history[tag][number] = (age, zip_)
        together = defaultdict(list)
        for tag, classes in history.items():
            together[tuple(classes)].append(tag)
        yield from together.values()

    def published(self) -> dict[int, str]:
        """The last value that was published of each record."""
        return {tag: value for rows in self.releases for _, _, value, tag in rows}


def found_by_difference(
    first: Iterable[Row], second: Iterable[Row], k: int, values: int
) -> Iterator[Counter[str]]:
    """What an attacker sees who takes one release from another, class by class, and knows who came and who went.

    The values of fewer than k rows, or of rows with too few values.
    """
    classes: tuple[dict[Class, Counter[str]], ...] = (defaultdict(Counter), defaultdict(Counter))
    for side, rows in zip(classes, (first, second), strict=True):
        for age, zip_, value, _ in rows:
            side[age, zip_][value] += 1
    for place in classes[0].keys() | classes[1].keys():
        before, after = classes[0][place], classes[1][place]
        for rest in (after - before, before - after):
            if rest and (rest.total() < k or len(rest) < values):
                yield rest
