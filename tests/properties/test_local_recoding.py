"""Local recoding on random tables in a real database, under every model: what is released is read from its rows."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from anondb.policy.load import parse
from tests.properties.examples import laws
from tests.properties.model_examples import Losses, Search, searches
from tests.properties.oracle import label_of
from tests.properties.test_models_in_database import fill, losses, released_classes

__all__ = ["losses"]


def locally(search: Search) -> Search:
    """The same, as far as rounds can see to it."""
    demanded = replace(search.demanded, by_person=False)
    return replace(search, demanded=demanded, suppress="remove", objective="loss")


def written(search: Search, algorithm: str, folder: Path, *, recode: bool) -> str:
    text = search.policy(algorithm, folder)
    if algorithm == "datafly":
        text = re.sub(r'\nobjective = "\w+"(\nweights = .*)?', "", text)
    return text.replace("[method]\n", '[method]\nrecode = "local"\n' if recode else "[method]\n")


@settings(laws, max_examples=max(laws.max_examples // 2, 1))
@given(search=searches())
def test_a_local_release_meets_every_model_its_labels_cover_and_it_loses_no_more_than_one_node(
    db: Database, losses: Losses, tmp_path: Path, search: Search
) -> None:
    search = locally(search)
    assume(search.eligible)
    fill(db, search)
    for algorithm in ("optimal", "datafly"):
        try:
            plain = db.run(parse(written(search, algorithm, tmp_path, recode=False), base=tmp_path)).result
        except UnsatisfiableError:
            with pytest.raises(UnsatisfiableError):
                db.run(parse(written(search, algorithm, tmp_path, recode=True), base=tmp_path))
            continue
        found = db.run(parse(written(search, algorithm, tmp_path, recode=True), base=tmp_path)).result
        rows = Counter(db.connection.execute("select * from share.admissions").fetchall())
        classes = released_classes(search, rows)
        left_out = len(search.records) - len(search.eligible)
        assert rows.total() == len(search.records) - found.suppressed
        assert found.suppressed - left_out <= search.suppression * len(search.eligible)
        assert search.demanded.satisfied_by(classes)
        if search.numbered:
            for row in rows:
                number = row[-1]
                assert isinstance(number, int)
                values = search.records[number].quasi
                for place, levels in enumerate(search.ranges):
                    labels = [label_of(values[place], search.hierarchies[place], level) for level in levels]
                    assert row[place] in labels
        printed = found.as_json()
        assert sum(one["records"] for one in printed["rounds"]) == rows.total()
        whole = next(m.value for m in plain.metric_values if m.name == "gen_iloss" and m.column is None)
        if algorithm == "optimal":
            assert printed["score"] <= plain.as_json()["score"] + 1e-8
        elif len(set(search.weights)) == 1 and whole is not None and not left_out:
            assert printed["score"] <= whole + 1e-8


@settings(laws, max_examples=max(laws.max_examples // 5, 1))
@given(search=searches())
def test_what_is_released_locally_hangs_on_no_order_of_the_source(
    db: Database, losses: Losses, tmp_path: Path, search: Search
) -> None:
    search = locally(search)
    assume(search.eligible)
    seen = []
    for records in (search.records, search.records[::-1]):
        fill(db, replace(search, records=records, numbered=False))
        text = written(replace(search, numbered=False), "optimal", tmp_path, recode=True)
        try:
            db.run(parse(text, base=tmp_path))
        except UnsatisfiableError:
            return
        seen.append(db.connection.execute("select * from share.admissions").fetchall())
    assert seen[0] == seen[1]
