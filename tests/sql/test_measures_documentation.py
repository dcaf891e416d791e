"""The measures of docs/evaluate.md are those that the functions give, and its queries run."""

from __future__ import annotations

import re

import pytest

from anondb.db import vgh
from anondb.db.connection import Connection
from tests import toys
from tests.documentation import ROOT, blocks, rows


@pytest.fixture
def hospital(connection: Connection) -> Connection:
    vgh.store(connection, "occupation", toys.vgh("clerk;office;*", "nurse;care;*"))
    connection.execute(
        "create schema hospital; create schema share;"
        "create table hospital.admissions (id int primary key, age int, zip text, job text);"
        "create table share.admissions (id int, age text, zip text, job text);"
        "insert into hospital.admissions values (1, 20, '12345', 'clerk'), (2, 30, '12399', 'nurse');"
        "insert into share.admissions values (1, '[20, 40)', '123**', '*'), (2, '[20, 40)', '123**', '*')"
    )
    return connection


def test_the_documented_queries_give_what_is_documented(hospital: Connection) -> None:
    utility, linkage, risk = (
        hospital.execute(query.encode()).fetchall()
        for block in blocks("docs/evaluate.md", "sql")[:1]
        for query in block.split(";\n\n")
    )
    assert list(dict.fromkeys(name for name, *_ in utility)) == named("Utility")[:6]
    assert linkage == [(50,)]
    stems = {re.sub(r"_(max|mean|above_.*)$", "", str(name)) for name, *_ in risk}
    assert stems == {re.sub(r"_(max|mean|above_.*)$", "", name) for name in named("Risk")}


def named(heading: str) -> list[str]:
    """The names in the first cells of the tables under a heading, without the tables' own heads."""
    cells = [row[0] for row in rows("docs/evaluate.md", heading)]
    return [name for cell in cells if cell != "`name`" for name in re.findall(r"^`(\w+)", cell)]


def test_every_function_that_is_documented_exists(hospital: Connection) -> None:
    text = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    names = set(re.findall(r"anondb\.(\w+)", text))
    found = hospital.execute(
        "select p.proname from pg_proc as p where p.pronamespace = 'anondb'::regnamespace and p.proname = any (%s)",
        [list(names)],
    ).fetchall()
    assert {name for (name,) in found} == names
