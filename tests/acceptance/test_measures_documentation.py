"""What docs/measures.md and the pages of models say is so: each call gives the answer that stands beside it."""

from __future__ import annotations

import re

import pytest

from anondb.db import vgh
from anondb.db.connection import Connection
from anondb.models.registry import CLASS_MODELS
from tests import toys
from tests.documentation import ROOT, blocks, rows

pytestmark = pytest.mark.once  # another server version would say the same

# the page of (l, e)-diversity is of a method too, and has examples of releases instead of calls
PAGES = [
    f"docs/{model.name}.md"
    for model in CLASS_MODELS
    if model.name != "le_diversity" and (ROOT / f"docs/{model.name}.md").exists()
]
DOCUMENTS = ["docs/measures.md", *PAGES]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_documented_calls_give_the_documented_answers(connection: Connection, document: str) -> None:
    [ward] = blocks(document, "sql")
    connection.execute(ward.encode())
    for tree in blocks(document, "csv"):
        vgh.store(connection, "disease", toys.vgh(*tree.splitlines()))
    calls = rows(document, "Measure any table")[1:]
    assert calls
    for call, answer in calls:
        [(found,)] = connection.execute(f"select {call.strip('`')}".encode()).fetchall()
        assert found == pytest.approx(float(answer), abs=1e-12), call


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_documented_signatures_are_the_real_ones(connection: Connection, document: str) -> None:
    """Names of arguments and their order, and that those with a default have one."""
    query = (
        "select p.proargnames, p.pronargdefaults from pg_proc as p"
        " where p.pronamespace = 'anondb'::regnamespace and p.proname = %s"
    )
    text = (ROOT / document).read_text(encoding="utf-8")
    signatures = re.findall(r"`anondb\.(\w+)\(([a-z][\w, =']*)\)`", text)
    assert signatures
    for name, arguments in signatures:
        told = [argument.split(" = ")[0] for argument in arguments.split(", ")]
        [(names, defaults)] = connection.execute(query, (name,)).fetchall()
        assert told == names, name
        assert defaults == arguments.count(" = "), name
