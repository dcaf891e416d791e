"""A release beside others, against the definition of joint classes: no index, one person after the other."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.errors import UnsatisfiableError
from anondb.run.plan import Options
from tests.properties import together_oracle as oracle
from tests.properties.test_releases_together import Labels, fits, released, store

K = 2


def policy(count: int) -> dict[str, Any]:
    return {
        "source": "share.source",
        "target": "share.new",
        "privacy": {
            "k": K,
            "suppression": 0.5,
            "changes": "free",
            "against": [f"share.other{number}" for number in range(count)],
        },
        "method": {"algorithm": "datafly"},
        "columns": {
            "id": {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"start": 0, "widths": [2, 10]}},
            "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
            "value": {"role": "other"},
        },
    }


@pytest.mark.parametrize("seed", range(10))
def test_a_release_is_published_if_joint_classes_have_k_persons(
    db: Database, connection: Connection, seed: int
) -> None:
    dice = random.Random(seed)
    connection.execute(
        "create schema share; create table share.source (id int, age int, zip text, value text)"
    )
    persons = [(dice.randrange(20), dice.choice("01") + dice.choice("01"), "A") for _ in range(60)]
    with connection.cursor() as cursor:
        numbered = [(number, *person) for number, person in enumerate(persons)]
        cursor.executemany("insert into share.source values (%s, %s, %s, %s)", numbered)
    others = [[(labels, "") for labels, _ in released(dice, persons)] for _ in range(dice.choice((1, 2)))]
    for number, other in enumerate(others):
        store(connection, f"other{number}", other)
        connection.execute(f"alter table share.other{number} drop column value".encode())
    levels = Options(levels=(dice.choice((1, 2, 3)), dice.choice((0, 1, 2))))
    alone = policy(0)
    del alone["privacy"]["against"]
    db.run(alone, options=levels)
    rows: list[Any] = connection.execute("select n.age, n.zip from share.new as n").fetchall()
    new: list[tuple[Labels, str]] = [((age, zip_), "") for age, zip_ in rows]
    joint = Counter(
        tuple(
            frozenset(labels for labels in oracle.classes(release) if fits(labels, (str(age), zip_)))
            for release in (new, *others)
        )
        for age, zip_, _ in persons
    )
    sizes = [size for classes, size in joint.items() if any(classes)]
    exposed = sum(size for size in sizes if size < K)
    if exposed:
        with pytest.raises(UnsatisfiableError, match=f"can tell {exposed} persons apart"):
            db.run(policy(len(others)), options=levels)
    else:
        told = db.run(policy(len(others)), options=levels).result.against
        assert (told["fewest"], told["joint_classes"]) == (min(sizes), len(sizes))
