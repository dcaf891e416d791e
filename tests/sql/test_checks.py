"""Yes or no: what a test of a database asks, by pgTAP too."""

from __future__ import annotations

import psycopg
import pytest

from anondb.db.connection import Connection

WARD = """
create table ward (zip text, disease text, stay int, patient int);
insert into ward values
    ('476**', 'flu', 3, 1), ('476**', 'flu', 3, 1), ('476**', 'asthma', 4, 2), ('476**', 'ulcer', 9, 3),
    ('479**', 'flu', 6, 4), ('479**', 'ulcer', 11, 5), ('479**', 'ulcer', 8, 6), ('479**', 'gastritis', 8, 7)
"""


@pytest.fixture
def ward(rolled_back: Connection) -> Connection:
    rolled_back.execute(WARD)
    return rolled_back


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("is_k_anonymous('ward', array['zip'], 4)", True),
        ("is_k_anonymous('ward', array['zip'], 5)", False),
        ("is_k_anonymous('ward', array['zip'], 3, unit => 'patient')", True),
        ("is_k_anonymous('ward', array['zip'], 4, unit => 'patient')", False),
        ("is_k_anonymous('ward', array['zip', 'disease'], 2)", False),
        ("is_l_diverse('ward', array['zip'], 'disease', 3)", True),
        ("is_l_diverse('ward', array['zip'], 'disease', 4)", False),
        ("is_l_diverse('ward', array['zip'], 'disease', 2.8284271247461903, 'entropy')", True),
        ("is_l_diverse('ward', array['zip'], 'disease', 2.83, 'entropy')", False),
        ("is_l_diverse('ward', array['zip'], 'disease', 3, 'recursive', c => 3)", True),
        ("is_t_close('ward', array['zip'], 'disease', 0.25)", True),
        ("is_t_close('ward', array['zip'], 'disease', 0.24)", False),
        ("is_t_close('ward', array['zip'], 'stay', 0.2, 'ordered')", True),
    ],
)
def test_a_promise_is_kept_or_not(ward: Connection, call: str, answer: bool) -> None:
    assert ward.execute(f"select anondb.{call}".encode()).fetchall() == [(answer,)]


@pytest.mark.parametrize(
    "call",
    [
        "is_k_anonymous('ward', array['zip'], 5)",
        "is_l_diverse('ward', array['zip'], 'disease', 3)",
        "is_t_close('ward', array['zip'], 'disease', 0)",
    ],
)
def test_an_empty_table_breaks_no_promise(ward: Connection, call: str) -> None:
    ward.execute("delete from ward")
    assert ward.execute(f"select anondb.{call}".encode()).fetchall() == [(True,)]


@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("is_k_anonymous('ward', array['zip'], 0)", "SA195"),
        ("is_k_anonymous('ward', array['zip'], null)", "SA195"),
        ("is_l_diverse('ward', array['zip'], 'disease', 0.5)", "SA196"),
        ("is_l_diverse('ward', array['zip'], 'disease', 'NaN')", "SA196"),
        ("is_t_close('ward', array['zip'], 'disease', -1)", "SA197"),
        ("is_k_anonymous('ward', array['nothing'], 5)", "SA111"),
    ],
)
def test_a_promise_that_means_nothing_is_no_promise(ward: Connection, call: str, state: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        ward.execute(f"select anondb.{call}".encode())
    assert caught.value.sqlstate == state


def test_pgtap_takes_them(ward: Connection) -> None:
    if not ward.execute("select from pg_available_extensions where name = 'pgtap'").fetchall():
        pytest.skip("the server has no pgTAP")
    ward.execute("create extension pgtap schema public; set local search_path = public")
    lines = ward.execute("select plan(2)").fetchall()
    lines += ward.execute("select ok(anondb.is_k_anonymous('ward', array['zip'], 4), 'four')").fetchall()
    lines += ward.execute(
        "select ok(not anondb.is_k_anonymous('ward', array['zip'], 5), 'not five')"
    ).fetchall()
    lines += ward.execute("select * from finish()").fetchall()
    assert [line for (line,) in lines] == ["1..2", "ok 1 - four", "ok 2 - not five"]
