"""How often a run reads its source: once where rows repeat, twice where most are single; the release is the same."""

from __future__ import annotations

import pytest
from psycopg.conninfo import make_conninfo

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


SEVERAL = "-c min_parallel_table_scan_size=0 -c parallel_setup_cost=0"


def test_several_processes_release_nothing_that_one_would_not(clinic: Clinic) -> None:
    """A column that is released in a form of a person's own is never released as it is."""
    clinic.execute(VISITS)
    columns = COLUMNS | {
        "record": '{ role = "pseudonym", type = "text" }',
        "day": '{ role = "other", shift = { by = "record", days = 99 }, keep = "identifying" }',
    }
    policy = clinic.policy(columns, source="hospital.visits", privacy="k = 3")
    seen = []
    for dsn in (clinic.dsn, make_conninfo(clinic.dsn, options=SEVERAL)):
        clinic.execute("truncate anondb.run_step")
        assert clinic.cli("run", policy, ANONDB_DSN=dsn).returncode == 0
        shared = "select count(*) from anondb.run_step as s where s.name = 'share combinations'"
        seen.append((clinic.execute(shared), clinic.dump()))
    assert [shared for shared, _ in seen] == [[(0,)], [(1,)]]
    assert seen[0][1] == seen[1][1]
    assert clinic.execute("select count(*) from share.admissions as a where length(a.record) < 9") == [(0,)]
