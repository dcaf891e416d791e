"""Nights of joining, leaving and changing: nobody can be told by his history, whatever an attacker knows besides."""

from __future__ import annotations

import random
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Connection
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
