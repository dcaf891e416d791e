"""The worked example of docs/mdav.md is what anondb does."""

from __future__ import annotations

from pathlib import Path

import pytest

from anondb.api import Database
from anondb.policy.load import parse
from tests.documentation import blocks

FILE = "docs/mdav.md"


def test_the_example_gives_the_documented_release(db: Database, tmp_path: Path) -> None:
    [ontology], [policy] = blocks(FILE, "csv"), blocks(FILE, "toml")
    distance, table = blocks(FILE, "sql")
    (tmp_path / "interests.csv").write_text(ontology)
    db.ontologies.load(tmp_path / "interests.csv")
    db.connection.execute(table.encode())
    db.run(parse(policy))
    found = db.connection.execute(
        "select s.country, s.queries from searches_shared as s order by 1"
    ).fetchall()
    sea = ["mediterranean", "water sports"]
    assert found == [("AT", sea), ("DE", sea), ("FR", ["jazz"]), ("IT", ["jazz"])]
    documented = float(distance.split("--")[1])
    [asked] = db.connection.execute(distance.encode()).fetchone() or ()
    assert asked == pytest.approx(documented)
