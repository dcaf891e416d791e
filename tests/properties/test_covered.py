"""Columns of many values are evaluated by their codes: the figures are those of their texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anondb.api import Database
from anondb.policy.load import parse
from anondb.run import covered
from anondb.run.plan import Options
from tests.properties.examples import COLUMNS, Column, Example, laws, numbers, tables
from tests.properties.oracle import Stars
from tests.properties.test_datafly import fill


@st.composite
def codes(draw: st.DrawFn, name: str) -> Column:
    """All of one length, as zip codes are."""
    values = draw(st.lists(st.integers(0, 999).map("{:03}".format), min_size=1, max_size=30))
    side = draw(st.sampled_from(["left", "right"]))
    return Column(name, "text", Stars(side, 0), f'{{ mask = "{side}" }}', values)


def figures(db: Database, example: Example, folder: Path) -> dict[Any, Any]:
    """All that a run says of its release."""
    policy = parse(example.policy(folder), base=folder)
    result = db.run(policy, options=Options(allow_empty=True, replace=True)).result
    return {(of.name, of.column): (of.value, of.before, of.note) for of in result.metric_values}


@laws
@given(example=tables(of=(*COLUMNS, numbers, codes)))
def test_columns_that_are_counted_by_codes_have_the_figures_of_their_texts(
    db: Database, tmp_path: Path, example: Example
) -> None:
    assume(example.satisfiable)
    fill(db, example)
    example.policy(tmp_path)  # writes the files that it names
    for number, column in enumerate(example.columns):
        if column.file is not None:
            db.hierarchies.load(f"vgh {number}", tmp_path / f"{number}.csv", replace=True)
    by_texts = figures(db, example, tmp_path)
    with pytest.MonkeyPatch.context() as few:
        few.setattr(covered, "MANY_VALUES", -1)
        by_codes = figures(db, example, tmp_path)
    assert by_codes.keys() == by_texts.keys()
    for key, (value, before, note) in by_texts.items():
        assert by_codes[key] == (pytest.approx(value), pytest.approx(before), note), key
