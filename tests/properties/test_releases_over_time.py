"""Nights of joining, leaving and changing: nobody can be told by his history, whatever an attacker knows besides."""

from __future__ import annotations

import random
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.run.plan import Options
from tests.properties.nights import Clinic, Histories, found_by_difference, policy, publish

LOOKS = {"column": "value", "l": 2}


def lived(
    db: Database, connection: Connection, nights: int, seed: int, document: dict[str, Any], persons: int = 90
) -> tuple[Clinic, Histories]:
    clinic = Clinic(connection, random.Random(seed))
    clinic.make(persons)
    histories = Histories()
    for _ in range(nights):
        _, rows = publish(db, document)
        histories.releases.append(rows)
        clinic.night()
    return clinic, histories


def require_cohorts(histories: Histories, k: int, l: int) -> None:  # noqa: E741
    """Every set of records with the same history is k, with l values."""
    values = histories.published()
    for cohort in histories.cohorts():
        assert len(cohort) >= k
        assert len({values[tag] for tag in cohort}) >= l


def holds(db: Database, connection: Connection, nights: int, seed: int, leavers: str) -> None:
    document = policy(changes="hold", leavers=leavers, l_diversity=LOOKS)
    _, histories = lived(db, connection, nights, seed, document)
    require_cohorts(histories, 3, 2)
    assert len({tuple(sorted(rows)) for rows in histories.releases}) > 1  # something did change


@pytest.mark.parametrize("leavers", ["delay", "drop"])
def test_persons_with_equal_histories_are_a_cohort(
    db: Database, connection: Connection, leavers: str
) -> None:
    holds(db, connection, 25, 1, leavers)


@pytest.mark.nightly
@pytest.mark.parametrize("leavers", ["delay", "drop"])
@pytest.mark.parametrize("seed", [2, 3])
def test_and_in_two_hundred_nights(db: Database, connection: Connection, leavers: str, seed: int) -> None:
    holds(db, connection, 200, seed, leavers)


def test_where_changes_are_free_the_same_attacker_finds_persons(db: Database, connection: Connection) -> None:
    document = policy(changes="free", l_diversity=LOOKS)
    _, histories = lived(db, connection, 5, 1, document)
    found = [
        rest
        for before, after in zip(histories.releases, histories.releases[1:], strict=False)
        for rest in found_by_difference(before, after, 3, 2)
    ]
    assert any(rest.total() == 1 for rest in found)  # one row: one person, and the value
    assert min(map(len, histories.cohorts())) == 1


CENSUS = """
insert into census.people
select i, 17 + abs(hashint8extended(i, 1)) %% 60, 'Z' || abs(hashint8extended(i, 2)) %% 10,
       (array['never', 'never', 'never', 'married', 'married', 'divorced', 'widowed'])[
           1 + abs(hashint8extended(i, 3)) %% 7]
from generate_series(%s::int, %s) as i
"""
OF_CENSUS: dict[str, Any] = {
    "source": "census.people",
    "target": "share.people",
    "key": "id",
    "method": {"algorithm": "datafly"},
    "columns": {
        "id": {"role": "identifier"},
        "age": {
            "role": "quasi",
            "hierarchy": {"start": 0, "widths": [5, 80]},
            "min_level": 1,
            "max_level": 1,
        },
        "zip": {"role": "quasi", "hierarchy": {"mask": "all"}, "max_level": 0},
        "status": {"role": "sensitive"},
    },
}


def told_of_those_who_joined(db: Database, connection: Connection, changes: str) -> int:
    """Records of the second release that are, in their class, more than in the first, and have one value or are few."""
    connection.execute("create schema census; create schema share")
    connection.execute("create table census.people (id int primary key, age int, zip text, status text)")
    connection.execute(CENSUS, (1, 6000))
    privacy = {"k": 5, "suppression": 0.2, "changes": changes, "l_diversity": {"column": "status", "l": 2}}
    seen = []
    for night in range(2):
        db.run(OF_CENSUS | {"privacy": privacy}, options=Options(evaluate="none"))
        rows = db.session.execute("select t.age, t.zip, t.status from share.people as t")
        seen.append([(str(age), str(zip_), str(status), 0) for age, zip_, status in rows])
        connection.execute(CENSUS, (6001 + 687 * night, 6000 + 687 * (night + 1)))
    return sum(rest.total() for rest in found_by_difference(seen[0], seen[1], 5, 2))


@pytest.mark.parametrize(("changes", "tells"), [("hold", False), ("free", True)])
def test_many_rows_more_of_a_census_tell_nobody(
    db: Database, connection: Connection, changes: str, tells: bool
) -> None:
    assert (told_of_those_who_joined(db, connection, changes) > 0) == tells


@pytest.mark.nightly
@pytest.mark.parametrize("leavers", ["delay", "drop"])
@pytest.mark.parametrize(
    "demanded",
    [
        {"l_diversity": {"column": "value", "l": 2, "kind": "entropy"}},
        {"l_diversity": {"column": "value", "l": 2, "kind": "recursive", "c": 3.0}},
        {"t_closeness": {"column": "value", "t": 0.6}},
        {"unit": "id", "l_diversity": LOOKS},
        {"unit": "id"},
        {"nulls": "value", "l_diversity": LOOKS},
    ],
)
def test_other_models_and_persons_of_several_rows_hold_too(
    db: Database, connection: Connection, demanded: dict[str, Any], leavers: str
) -> None:
    several = "unit" in demanded
    clinic = Clinic(connection, random.Random(7))
    clinic.make(120, key="" if several else "primary key")
    document = (
        policy(changes="hold", leavers=leavers, **demanded) | {"key": "id"}
        if not several
        else policy(changes="hold", leavers=leavers, **demanded)
    )
    histories = Histories()
    for night in range(10):
        _, rows = publish(db, document)
        histories.releases.append(rows)
        assert {one.holds for one in db.releases.verify("share.patients")} <= {True, None}
        clinic.night()
        if several:
            for person in clinic.dice.sample(range(120), 3):
                clinic.add(person)
        if night == 3:
            connection.execute("update clinic.patients set value = null where tag % 17 = 0")
            connection.execute("update clinic.patients set age = null where tag % 23 = 0")
    for cohort in histories.cohorts():
        assert len(cohort) >= 3
