"""What docs/le_diversity.md shows is what anondb does."""

from __future__ import annotations

from pathlib import Path

import pytest

from anondb.api import Database
from anondb.policy.load import parse
from tests.documentation import blocks, rows
from tests.sql.test_le_diversity import ask

FILE = "docs/le_diversity.md"


def test_the_documented_example_gives_the_documented_tables_and_figures(db: Database, tmp_path: Path) -> None:
    ([data], [tree], [policy, *_]) = (blocks(FILE, language) for language in ("sql", "csv", "toml"))
    db.connection.execute(data.encode())
    (tmp_path / "disease.csv").write_text(tree)
    db.hierarchies.load("disease", tmp_path / "disease.csv")
    metrics = db.run(parse(policy, base=tmp_path)).result.all_metrics()
    released = ask(
        db.connection,
        "select q.class_id::text, q.ages, s.diseases from"
        " (select class_id, string_agg(age::text, ', ' order by age) as ages from share.patients_quasi group by 1) as q"
        " join (select class_id, string_agg(disease, ', ' order by disease) as diseases"
        " from share.patients_sensitive group by 1) as s using (class_id) order by 1",
    )
    assert [list(row) for row in released] == rows(FILE, "The two tables")[1:]
    names = (
        "le_diversity:disease",
        "information_loss",
        "information_loss_sum",
        "dot",
        "dod_min",
        "dod_max",
        "suppressed_share",
    )
    assert [round(metrics[name], 4) for name in names] == [3, 0.4444, 4, 3, 3, 3, 0]
    calls = [row for row in rows(FILE, "Figures") if "anondb.le" in row[0]]
    assert len(calls) == 3
    for call, answer in calls:
        assert ask(db.connection, f"select {call.strip('`')}") == [(pytest.approx(float(answer)),)]
