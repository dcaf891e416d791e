"""Fusion under every privacy model, on random tables: what is released meets them all, by nothing but its own rows."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from anondb.policy.load import parse
from anondb.run.plan import Options
from tests.properties.examples import laws
from tests.properties.model_examples import ANIMALS, SENSITIVE, Search, searches
from tests.properties.test_models_in_database import fill, released_classes

fewer = settings(laws, max_examples=max(laws.max_examples // 2, 1))


def policy(search: Search, folder: Path) -> str:
    """Without what only levels have."""
    written = search.policy("fusion", folder)
    written = re.sub(r", min_level = \d+, max_level = \d+", "", written)
    return re.sub(r'\nobjective = "\w+"(\nweights = .*)?', "", written)


@fewer
@given(search=searches())
def test_fused_classes_meet_every_model_and_keep_every_record(
    db: Database, tmp_path: Path, search: Search
) -> None:
    # a person may have several records, which fusion does not look at
    demanded = replace(search.demanded, by_person=False)
    search = replace(search, demanded=demanded, numbered=True)
    assume(search.eligible and (demanded.diversity or demanded.closeness or demanded.compared))
    lines = [";".join([leaf, *above]) for leaf, above in ANIMALS.paths.items()]
    (tmp_path / "animals.csv").write_text("\n".join(lines) + "\n")
    db.hierarchies.load("animals", tmp_path / "animals.csv", replace=True)
    fill(db, search)
    asked = parse(policy(search, tmp_path), base=tmp_path)
    whole = search.eligible
    if not (demanded.holds(whole) and demanded.close(whole, whole)):
        with pytest.raises(UnsatisfiableError):
            db.run(asked, options=Options(evaluate="none"))
        return
    result = db.run(asked, options=Options(evaluate="none")).result
    rows: Counter[tuple[Any, ...]] = Counter(
        db.connection.execute("select * from share.admissions").fetchall()
    )
    assert result.released == rows.total() == len(whole)
    assert demanded.satisfied_by(released_classes(search, rows))
    width = len(search.columns)
    for row in rows:
        assert row[width : width + len(SENSITIVE)] == search.records[row[-1]].sensitive
