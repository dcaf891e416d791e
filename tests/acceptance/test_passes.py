"""How often a run reads its source: once where rows repeat, twice where most are single; the release is the same."""

from __future__ import annotations

import pytest

from tests.acceptance.clinic import IDENTIFIER, KEPT, OTHER, SENSITIVE, Clinic, quasi

VISITS = """
create table hospital.visits as
select i as record, 20 + i % 12 as age, nullif('Z' || i % 4, 'Z3') as zip, 'D' || i % 7 as diagnosis,
       date '2024-01-01' + i % 3 as day, (i % 2)::numeric as dose
from generate_series(1, 3000) as i;
"""
COLUMNS = {
    "record": IDENTIFIER,
    "age": quasi("{ start = 0, widths = [5] }"),
    "zip": quasi('{ mask = "right" }'),
    "diagnosis": SENSITIVE,
    "day": OTHER,
    "dose": IDENTIFIER,
}
READS = "select count(*) from anondb.run_step as s where s.sql like '%visits%' and s.stage <> 'prepare'"


def reads(clinic: Clinic, columns: dict[str, str], privacy: str = "k = 3") -> tuple[int, bytes]:
    """How many statements read the source, and the release."""
    clinic.execute("truncate anondb.run_step")
    clinic.has_released(clinic.policy(columns, source="hospital.visits", privacy=privacy))
    [(count,)] = clinic.execute(READS)
    return count, clinic.dump()


@pytest.mark.parametrize(
    "privacy", ["k = 3", 'k = 3\nnulls = "suppress"', 'k = 200\nsuppression = 0.5\nsuppress = "mask"']
)
def test_rows_that_repeat_are_read_once_and_released_as_if_they_were_read_twice(
    clinic: Clinic, privacy: str
) -> None:
    clinic.execute(VISITS)
    twice, release = reads(clinic, COLUMNS, privacy)
    clinic.execute("analyze hospital.visits")
    assert (twice, reads(clinic, COLUMNS, privacy)) == (2, (1, release))


@pytest.mark.parametrize("single", ["record", "dose"])
def test_rows_that_are_single_or_may_differ_though_they_are_equal_are_read_twice(
    clinic: Clinic, single: str
) -> None:
    clinic.execute(VISITS)
    clinic.execute("analyze hospital.visits")
    assert reads(clinic, COLUMNS | {single: KEPT})[0] == 2


def test_quasi_identifiers_alone_are_read_once_whatever_is_known_of_them(clinic: Clinic) -> None:
    clinic.execute(VISITS)
    assert reads(clinic, COLUMNS | {"diagnosis": IDENTIFIER, "day": IDENTIFIER})[0] == 1
