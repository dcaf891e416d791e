"""Waiting tells nothing: who knows the rule and all nights, and tries every assignment, is sure of nobody."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.run.plan import Options
from tests.properties.waiting_oracle import (
    VALUES,
    K,
    L,
    Night,
    Rule,
    Seen,
    Value,
    cautious,
    certainty,
    deals,
    patient,
)

# three with one value join and wait; a fourth has another, and all enter: then it is known which one the three have
TOLD = [
    Night(frozenset(range(6))),
    Night(frozenset({6, 7, 8})),
    Night(frozenset({9})),
]


def drawn(dice: random.Random) -> list[Night]:
    """Four nights of at most nine persons."""
    here, nights, person = set(range(6)), [Night(frozenset(range(6)))], 6
    for _ in range(3):
        joins = range(person, min(person + dice.randrange(3), 9))
        leaves = frozenset(dice.sample(sorted(here), min(len(here), dice.choice([0, 1, 3, 5]))))
        nights.append(Night(frozenset(joins), leaves))
        here, person = (here | set(joins)) - leaves, max(person, joins.stop)
    return nights


def surest(rule: Rule, nights: list[Night], seen: Seen, batch: int, leavers: str) -> tuple[int, Fraction]:
    """The fewest values that a person may have, and the most certain guess."""
    worlds = certainty(rule, nights, seen, batch, leavers)
    fewest = min(len(values) for values in worlds.values())
    return fewest, max(Fraction(max(values.values()), values.total()) for values in worlds.values())


@pytest.mark.parametrize("leavers", ["delay", "drop"])
def test_whoever_tries_all_assignments_is_sure_of_nobody(leavers: str) -> None:
    dice = random.Random(5)
    moved = 0
    for _ in range(8):
        nights = drawn(dice)
        batch = dice.choice([3, 4])
        values = {person: dice.choice("AAABC") for person in range(9)}
        shares = dice.choice(list(deals(nights[0].joins, batch)))
        seen = cautious(nights, values, shares, batch, leavers)
        moved += len(set(seen)) > 1
        fewest, share = surest(cautious, nights, seen, batch, leavers)
        assert fewest >= L
        # in a cohort of six with two values nobody has one with more than five sixths
        assert share <= Fraction(5, 6)
    assert moved > 2


def test_the_same_attacker_is_sure_where_who_waits_is_judged_again() -> None:
    values = dict(enumerate("ABABABAAAB"))
    seen = patient(TOLD, values, (TOLD[0].joins,), K, "delay")
    worlds = certainty(patient, TOLD, seen, K, "delay")
    assert all(worlds[person] == Counter({"A": worlds[person].total()}) for person in (6, 7, 8))
    assert surest(cautious, TOLD, cautious(TOLD, values, (TOLD[0].joins,), 4, "delay"), 4, "delay")[0] >= L


def test_the_same_attacker_is_sure_where_leavers_are_judged_together() -> None:
    # three of nine leave and stay published: they have one value, and only one is there three times
    nights = [Night(frozenset(range(9))), Night(leaves=frozenset({0, 1, 2}))]
    values = dict(enumerate("AAAAABBCC"))
    seen = patient(nights, values, (nights[0].joins,), K, "delay")
    worlds = certainty(patient, nights, seen, K, "delay")
    assert min(len(worlds[person]) for person in (0, 1, 2)) == 1
    for leavers in ("delay", "drop"):
        for shares in list(deals(nights[0].joins, 4))[:3]:
            shown = cautious(nights, values, shares, 4, leavers)
            assert surest(cautious, nights, shown, 4, leavers)[0] >= L


POLICY: dict[str, Any] = {
    "source": "clinic.patients",
    "target": "share.patients",
    "key": "id",
    "privacy": {
        "k": K, "suppression": 0.9, "changes": "hold", "l_diversity": {"column": "value", "l": L},
    },
    "method": {"algorithm": "datafly"},
    "columns": {
        "id": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"start": 0, "widths": [100]}, "min_level": 1, "max_level": 1},
        "value": {"role": "sensitive"},
    },
}  # fmt: skip


def lived(
    db: Database, connection: Connection, nights: list[Night], values: Value, leavers: str
) -> tuple[Seen, int]:
    """What the releases of these nights have, and the batch of the series."""
    connection.execute("create schema clinic; create schema share")
    connection.execute("create table clinic.patients (id int primary key, age int, value text)")
    document = POLICY | {"privacy": POLICY["privacy"] | {"leavers": leavers}}
    seen = []
    for night in nights:
        for person in night.joins:
            connection.execute("insert into clinic.patients values (%s, 30, %s)", (person, values[person]))
        connection.execute("delete from clinic.patients where id = any (%s)", (list(night.leaves),))
        db.run(document, options=Options(evaluate="none", allow_empty=True))
        rows = db.session.execute(
            "select t.value, count(*)::int from share.patients as t group by 1 order by 1"
        )
        seen.append(tuple((str(value), int(str(n))) for value, n in rows))
    [[batch]] = db.session.execute("select s.batch from anondb.series as s")
    return tuple(seen), int(str(batch))


@pytest.mark.parametrize(
    ("given", "leavers"), [("AABBCCAAABBB", "delay"), ("ABCABCABCAAA", "delay"), ("ABCABCABCAAA", "drop")]
)
def test_a_run_follows_the_rule_that_the_attacker_knows(
    db: Database, connection: Connection, given: str, leavers: str
) -> None:
    nights = [*TOLD, Night(frozenset({10, 11}), frozenset({0, 1, 2, 3})), Night(leaves=frozenset({4, 5, 6}))]
    values = dict(enumerate(given))
    assert set(given) == set(VALUES)
    seen, batch = lived(db, connection, nights, values, leavers)
    assert seen in {
        cautious(nights, values, shares, batch, leavers) for shares in deals(nights[0].joins, batch)
    }
