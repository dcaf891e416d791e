"""The worked example of docs/persons.md is what anondb does with the hospital of the demo."""

from __future__ import annotations

import re

from anondb.api import Database
from anondb.cli.demo import make_admissions
from tests.documentation import ROOT, blocks

FILE = "docs/persons.md"
EXAMPLE = ROOT / "examples" / "hospital"


def answered(block: str) -> list[tuple[str, int]]:
    """The statements of a block with the answers that stand behind them."""
    return [(query, int(answer)) for query, answer in re.findall(r"(.*?);\s*-- (\d+)\n", block, re.DOTALL)]


def test_the_example_gives_the_documented_numbers(db: Database) -> None:
    make_admissions(db, EXAMPLE)
    policy, *_ = blocks(FILE, "toml")
    rows, joined, kept = map(answered, blocks(FILE, "sql"))
    assert (len(rows), len(joined), len(kept)) == (2, 2, 1)
    [counts] = db.connection.execute(
        "select (select count(*) from hospital.patients), count(*), count(distinct v.patient_id) "
        "from hospital.visits as v"
    ).fetchall()
    assert counts == (5000, 9838, 3975)

    def says(statements: list[tuple[str, int]]) -> None:
        for query, answer in statements:
            assert db.connection.execute(query.encode()).fetchall() == [(answer,)], query

    assert db.run(policy.replace("knows = 1", "knows = 0")).result.k == 5
    says([*rows, *joined])
    result = db.run(policy).result
    says(kept)
    assert (result.k, result.suppressed) == (5, 147)
    [(two,)] = db.connection.execute(kept[0][0].replace("'1')", "'2')").encode()).fetchall()
    assert two == 1


def test_the_documented_policy_is_the_example_of_the_demo() -> None:
    written = (EXAMPLE / "visits.toml").read_text()
    assert blocks(FILE, "toml")[0] == written[written.index("[privacy]") :]
