"""As many columns as a table can have: 1,600, of which one is a quasi-identifier."""

from __future__ import annotations

from typing import LiteralString

import pytest
from psycopg import sql

from anondb.policy.load import load
from tests.acceptance.clinic import Clinic

KEPT = 1599  # of the 1,600 columns that PostgreSQL gives a table
SHORT = '{ role = "quasi", hierarchy = { mask = "all" } }'


def widen(clinic: Clinic, kept: int, value: LiteralString) -> dict[str, str]:
    """A table of a small quasi-identifier and so many columns that are kept; returns what a policy says of them."""
    names = [f"c{number}" for number in range(kept)]
    columns = sql.SQL(", ").join(sql.SQL("{} bool").format(sql.Identifier(name)) for name in names)
    clinic.connection.execute(sql.SQL("create table hospital.wide (q text, {})").format(columns))
    values = sql.SQL(", ").join(sql.SQL(value) for _ in names)
    clinic.connection.execute(
        sql.SQL(
            "insert into hospital.wide select 'q' || i % 2, {} from generate_series(1, 20) as i; analyze hospital.wide"
        ).format(values)
    )
    return {"q": SHORT} | dict.fromkeys(names, '{ role = "other" }')


@pytest.mark.parametrize(
    ("algorithm", "value"),
    [
        ("datafly", "i % 2 = 0"),
        pytest.param("datafly", "true", marks=pytest.mark.nightly),
        pytest.param("mondrian", "i % 2 = 0", marks=pytest.mark.nightly),
    ],
)
def test_a_table_of_all_the_columns_there_can_be_is_released(
    clinic: Clinic, algorithm: str, value: LiteralString
) -> None:
    columns = widen(clinic, KEPT, value)
    policy = clinic.policy(
        columns, source="hospital.wide", target="share.wide", method=f'algorithm = "{algorithm}"'
    )
    assert clinic.has_released(policy)["released"] == 20
    [(released,)] = clinic.execute(
        "select count(*) from (select * from share.wide except all select * from hospital.wide) as x"
    )
    assert released == 0
    assert clinic.cli("plan", policy).returncode == 0
    assert len(load(policy).columns) == KEPT + 1
