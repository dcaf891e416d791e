"""Risk by person, against counting in memory; and the persons of a run and of two tables."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.db.connection import Connection
from tests.conftest import Cli

Row = tuple[str | None, str | None, int | None]
ROWS = st.lists(
    st.tuples(*[st.sampled_from(["1", "2", None])] * 2, st.one_of(st.none(), st.integers(1, 6))), max_size=16
)
THRESHOLDS = (0.05, 0.1, 0.2)


def naive(rows: Sequence[Row], columns: Sequence[int]) -> dict[int | None, float]:
    """Of each person the greatest of 1 / (persons in the class of a row)."""
    classes = defaultdict(set)
    for row in rows:
        classes[tuple(row[i] for i in columns)].add(row[2])
    risks: dict[int | None, float] = {}
    for members in classes.values():
        for person in members:
            risks[person] = max(risks.get(person, 0.0), 1 / len(members))
    return risks


def expected(rows: Sequence[Row]) -> dict[tuple[str, str | None], float]:
    if not rows:
        return {}
    risks = naive(rows, (0, 1))
    mean = sum(risks.values()) / len(risks)
    found: dict[tuple[str, str | None], float] = {
        ("prosecutor_max", None): max(risks.values()),
        ("prosecutor_mean", None): mean,
        ("marketer", None): mean,
        ("sample_uniques", None): sum(risk == 1 for risk in risks.values()),
    }
    for threshold in THRESHOLDS:
        above = sum(risk > threshold for risk in risks.values()) / len(risks)
        found[f"prosecutor_above_{threshold:g}", None] = above
    for column, left in (("a", (1,)), ("b", (0,))):
        without = naive(rows, left)
        found["risk_contribution", column] = mean - sum(without.values()) / len(without)
    return found


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_risk_by_person_is_that_of_counting_persons(rolled_back: Connection, rows: list[Row]) -> None:
    rolled_back.execute("drop table if exists pg_temp.t")
    rolled_back.execute("create temporary table t (a text, b text, p int)")
    with rolled_back.cursor() as cursor:
        cursor.executemany("insert into t values (%s, %s, %s)", rows)
    found = rolled_back.execute(
        "select r.name, r.of_column, r.value from anondb.risk('pg_temp.t', array['a', 'b'], unit => 'p') as r"
        " where r.value is not null"
    ).fetchall()
    assert {(name, column): value for name, column, value in found} == pytest.approx(expected(rows))


def test_a_population_is_counted_in_persons_too(rolled_back: Connection) -> None:
    rolled_back.execute(
        "create temporary table t as select 'x' as a, i % 2 as p from generate_series(1, 10) as i;"
        "create temporary table everyone as select 'x' as a, i % 4 as p from generate_series(1, 40) as i"
    )
    found = rolled_back.execute(
        "select r.value from anondb.risk('pg_temp.t', array['a'], population => 'pg_temp.everyone', unit => 'p') as r"
        " where r.name = 'journalist_max'"
    ).fetchall()
    assert found == [(0.25,)]


ADMISSIONS = """
create table admissions as
select i as id, 'P' || case when i <= 25 then i % 5 else 5 + i % 996 end as patient,
       case when i <= 25 then 'rare' else 'often' end as job, 'D' || i % 7 as diagnosis
from generate_series(1, 5000) as i
"""
POLICY = """
source = "admissions"
target = "released"
[privacy]
k = 5
unit = "patient"
[method]
algorithm = "datafly"
[columns]
id = { role = "identifier" }
patient = { role = "identifier" }
job = { role = "quasi", hierarchy = { mask = "all" } }
diagnosis = { role = "sensitive" }
"""


def test_a_class_of_five_persons_is_a_risk_of_a_fifth_however_many_rows_they_have(
    connection: Connection, db: Database, cli: Cli, tmp_path: Path
) -> None:
    connection.execute(ADMISSIONS)
    (tmp_path / "it.toml").write_text(POLICY)
    ran = cli("run", "it.toml", "--report", "it.html")
    assert ran.returncode == 0, ran.stderr
    told = "Every released record looks like at least 4 other persons."
    assert told in ran.stdout
    assert told in (tmp_path / "it.html").read_text()
    found = db.releases.evaluate("last")
    risk = found.metric("prosecutor_max")
    assert risk is not None
    assert (risk.value, risk.before) == (0.2, 0.2)
    mean = found.metric("prosecutor_mean")
    assert mean is not None
    assert mean.value == pytest.approx((5 / 5 + 996 / 996) / 1001)


def test_persons_of_two_tables_are_found_by_the_key(connection: Connection, cli: Cli) -> None:
    connection.execute(ADMISSIONS)
    connection.execute("create table theirs as select a.id, a.job from admissions as a")
    tables = ("--original", "admissions", "--release", "theirs", "--quasi", "job")
    found = json.loads(cli("evaluate", *tables, "--key", "id", "--unit", "patient", "--json").stdout)
    assert found["metrics"]["prosecutor_max"] == 0.2
    assert found["metrics"]["persons_min"] == 5
    refused = cli("evaluate", *tables, "--unit", "patient")
    assert (refused.returncode, "--key id" in refused.stderr) == (2, True)
