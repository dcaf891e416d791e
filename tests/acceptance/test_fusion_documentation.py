"""The worked example of docs/fusion.md is what anondb does."""

from __future__ import annotations

from pathlib import Path

from anondb.api import Database
from anondb.methods.fusion.fusion import VARIANTS
from anondb.policy.load import parse
from tests.documentation import blocks, rows

FILE = "docs/fusion.md"


def test_the_example_gives_the_documented_release(db: Database, tmp_path: Path) -> None:
    [ontology], [table], [policy] = (blocks(FILE, language) for language in ("csv", "sql", "toml"))
    (tmp_path / "leisure.csv").write_text(ontology)
    db.ontologies.load(tmp_path / "leisure.csv")
    db.connection.execute(table.encode())
    result = db.run(parse(policy)).result
    assert result.as_json()["fusions"] == 2
    found = db.connection.execute(
        "select f.reason, f.ward, count(*)::text from visits_fused as f group by 1, 2 order by 2, 1"
    ).fetchall()
    documented = [tuple(row) for row in rows(FILE, "An example")[1:]]
    assert found == sorted(documented, key=lambda row: (row[1], row[0]))


def test_every_variant_is_documented() -> None:
    listed = [row[0].strip('`"') for row in rows(FILE, "Rounds")[1:]]
    assert listed == list(VARIANTS)
