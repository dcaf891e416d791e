"""(l, e)-diversity over time: whoever intersects two releases of two tables learns no more than from one."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.run.plan import Options

VALUES = "ABCDEFGH"
DOCUMENT: dict[str, Any] = {
    "source": "clinic.patients",
    "target": "share.patients",
    "key": "id",
    "privacy": {"changes": "hold", "suppression": 0.5, "le_diversity": {"column": "value", "l": 3, "e": 0}},
    "method": {"algorithm": "le_diversity"},
    "columns": {
        "id": {"role": "identifier"},
        "tag": {"role": "quasi"},
        "value": {"role": "sensitive", "hierarchy": {"mask": "all"}},
    },
}
Release = tuple[dict[int, int], dict[int, Counter[str]]]


def policy(**privacy: Any) -> dict[str, Any]:
    return DOCUMENT | {"privacy": DOCUMENT["privacy"] | privacy}


@pytest.fixture
def clinic(connection: Connection) -> Connection:
    connection.execute("create schema clinic; create schema share")
    connection.execute("create table clinic.patients (id int primary key, tag int, value text)")
    return connection


def join(clinic: Connection, persons: range, dice: random.Random, values: str = VALUES) -> None:
    for person in persons:
        row = (person, person, dice.choice(values))
        clinic.execute("insert into clinic.patients values (%s, %s, %s)", row)


def publish(db: Database, document: dict[str, Any]) -> tuple[Any, Release]:
    """Which class each person is in, who is known by the tag, and how often each class has each value."""
    result = db.run(document, options=Options(evaluate="none", allow_empty=True)).result
    persons = db.session.execute("select t.tag, t.class_id from share.patients_quasi as t")
    values = db.session.execute("select t.class_id, t.value from share.patients_sensitive as t")
    counted: dict[int, Counter[str]] = defaultdict(Counter)
    for class_, value in values:
        counted[int(str(class_))][str(value)] += 1
    return result, ({int(str(tag)): int(str(class_)) for tag, class_ in persons}, counted)


def told(releases: list[Release]) -> list[int]:
    """Persons of whom the classes that they were in have fewer than three values in common."""
    candidates: dict[int, set[str]] = {}
    for persons, values in releases:
        for person, class_ in persons.items():
            candidates[person] = candidates.get(person, set(values[class_])) & set(values[class_])
    return [person for person, values in candidates.items() if len(values) < 3]


def test_one_row_more_tells_nobody(db: Database, clinic: Connection) -> None:
    dice = random.Random(1)
    join(clinic, range(300), dice)
    releases = [publish(db, policy())[1]]
    join(clinic, range(300, 301), dice)
    result, after = publish(db, policy())
    assert told([*releases, after]) == []
    assert result.series["waiting"] == 1
    assert after == releases[0]


def test_where_changes_are_free_one_row_more_tells_many(db: Database, clinic: Connection) -> None:
    dice = random.Random(1)
    join(clinic, range(300), dice)
    releases = [publish(db, policy(changes="free"))[1]]
    join(clinic, range(300, 301), dice)
    assert len(told([*releases, publish(db, policy(changes="free"))[1]])) > 100


@pytest.mark.parametrize("leavers", ["delay", "drop"])
def test_classes_stay_as_they_are_night_after_night(db: Database, clinic: Connection, leavers: str) -> None:
    dice, releases, seen = random.Random(2), [], []
    join(clinic, range(150), dice)
    here, person = set(range(150)), 150
    for night in range(8):
        result, release = publish(db, policy(leavers=leavers))
        releases.append(release)
        seen.append(result.series)
        assert all(max(values.values()) * 3 <= values.total() for values in release[1].values())
        join(clinic, range(person, person + 12), dice, "AAB" if night < 4 else VALUES)
        here |= set(range(person, person + 12))
        person += 12
        gone = dice.sample(sorted(here), 20 if leavers == "delay" else 4)
        here -= set(gone)
        clinic.execute("delete from clinic.patients where id = any (%s)", (gone,))
        changed = dice.choice(sorted(here))
        clinic.execute("update clinic.patients set value = 'X' where id = %s", (changed,))
    assert told(releases) == []
    # whoever was in a class is in the same one, or in none
    for (before, values), (after, later) in itertools.pairwise(releases):
        assert all(after[p] == class_ for p, class_ in before.items() if p in after)
        assert all(later[class_] == values[class_] for class_ in set(later) & set(values))
    assert sum(series["entered"] for series in seen[1:]) > 0
    assert sum(series["left"] for series in seen) > 0
    assert max(series["waiting"] for series in seen) < 30
    proof = db.releases.verify("share.patients_quasi")
    assert {one.holds for one in proof} == {True}
    db.session.execute(
        "delete from share.patients_sensitive as t"
        " where t.ctid = (select s.ctid from share.patients_sensitive as s limit 1)"
    )
    assert False in {one.holds for one in db.releases.verify("share.patients_quasi")}
