"""What docs/measures.md says is so: each call in it gives the answer that stands beside it."""

from __future__ import annotations

import re

import pytest

from anondb.db import vgh
from anondb.db.connection import Connection
from tests import toys
from tests.documentation import ROOT, blocks, rows

pytestmark = pytest.mark.once  # another server version would say the same

DOCUMENT = "docs/measures.md"


def test_the_documented_calls_give_the_documented_answers(connection: Connection) -> None:
    [ward] = blocks(DOCUMENT, "sql")
    [tree] = blocks(DOCUMENT, "csv")
    connection.execute(ward.encode())
    vgh.store(connection, "disease", toys.vgh(*tree.splitlines()))
    calls = rows(DOCUMENT, "Measure any table")[1:]
    assert len(calls) == 8
    for call, answer in calls:
        [(found,)] = connection.execute(f"select {call.strip('`')}".encode()).fetchall()
        assert found == pytest.approx(float(answer), abs=1e-12), call


def test_the_documented_signatures_are_the_real_ones(connection: Connection) -> None:
    """Names of arguments and their order, and that those with a default have one."""
    query = (
        "select p.proargnames, p.pronargdefaults from pg_proc as p"
        " where p.pronamespace = 'anondb'::regnamespace and p.proname = %s"
    )
    text = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    signatures = re.findall(r"`anondb\.(\w+)\(([a-z][\w, =']*)\)`", text)
    assert len(signatures) >= 9
    for name, arguments in signatures:
        told = [argument.split(" = ")[0] for argument in arguments.split(", ")]
        [(names, defaults)] = connection.execute(query, (name,)).fetchall()
        assert told == names, name
        assert defaults == arguments.count(" = "), name
