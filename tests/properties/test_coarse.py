"""Columns of many values are coded by a level that a release can have: the release and its figures are the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from anondb.api import Database
from anondb.db.execute import Step
from anondb.errors import AnondbError
from anondb.policy.load import parse
from anondb.run import coarse
from anondb.run.pipeline import Silence
from anondb.run.plan import Options
from tests.properties.examples import COLUMNS, Example, calendars, laws, numbers, tables
from tests.properties.test_covered import codes
from tests.properties.test_datafly import fill, released_bytes

PLAIN = st.sampled_from(["datafly", "optimal", "incognito"])


@dataclass
class Told:
    """What is to be the same, and which steps it took."""

    levels: dict[str, int] = field(default_factory=dict)
    counts: tuple[int, ...] = ()
    figures: dict[Any, Any] = field(default_factory=dict)
    rows: bytes = b""
    error: str = ""
    steps: list[str] = field(default_factory=list)


def told(db: Database, example: Example, folder: Path, algorithm: str, options: Options) -> Told:
    text = example.policy(folder).replace("datafly", algorithm)
    found = Told()

    class Watch(Silence):
        def step(self, step: Step) -> None:
            found.steps.append(step.name)

    try:
        result = db.run(parse(text, base=folder), options=options, listener=Watch()).result
    except AnondbError as error:
        return replace(found, error=str(error))
    return replace(
        found,
        levels=dict(result.levels),
        counts=(result.records, result.released, result.suppressed, result.classes, result.k),
        figures={(of.name, of.column): (of.value, of.before, of.note) for of in result.metric_values},
        rows=released_bytes(db),
    )


def same_twice(
    db: Database, example: Example, folder: Path, algorithm: str = "optimal", **options: Any
) -> list[str]:
    """Holds both ways against each other; returns the steps of the coarse one."""
    fill(db, example)
    example.policy(folder)  # writes the files that it names
    for number, column in enumerate(example.columns):
        if column.file is not None:
            db.hierarchies.load(f"vgh {number}", folder / f"{number}.csv", replace=True)
    chosen = Options(allow_empty=True, replace=True, **options)
    by_values = told(db, example, folder, algorithm, chosen)
    with pytest.MonkeyPatch.context() as few:
        few.setattr(coarse, "MANY_VALUES", -1)
        by_labels = told(db, example, folder, algorithm, chosen)
    assert not any(step.startswith("coarse values") for step in by_values.steps)
    assert (by_labels.error == "") == (by_values.error == "")
    assert by_labels.levels == by_values.levels
    assert by_labels.counts == by_values.counts
    assert by_labels.rows == by_values.rows
    assert by_labels.figures.keys() == by_values.figures.keys()
    for key, (value, before, note) in by_values.figures.items():
        close = (pytest.approx(value, abs=1e-9), pytest.approx(before, abs=1e-9), note)
        assert by_labels.figures[key] == close, key
    return by_labels.steps


@laws
@given(
    example=tables(of=(numbers, calendars, codes, *COLUMNS), suppression=("0", "0.01", "0.05")),
    algorithm=PLAIN,
)
def test_a_release_is_the_same_whether_values_are_coded_or_the_labels_that_can_be_released(
    db: Database, tmp_path: Path, example: Example, algorithm: str
) -> None:
    same_twice(db, replace(example, nulls="value"), tmp_path, algorithm)


@laws
@given(example=tables(of=(numbers, calendars, codes)), data=st.data())
def test_a_release_at_given_levels_is_the_same_too(
    db: Database, tmp_path: Path, example: Example, data: st.DataObject
) -> None:
    heights = [hierarchy.height for hierarchy in example.hierarchies]
    levels = tuple(data.draw(st.integers(0, max(height, 1))) for height in heights)
    same_twice(db, replace(example, nulls="value"), tmp_path, levels=levels)


NIGHT = """
drop schema if exists clinic cascade; create schema clinic; create schema if not exists share;
create table clinic.stays as
select i as id, i * 7 %% 3001 as paid, date '2020-01-01' + i %% 700 as day, 'D' || i %% 3 as diagnosis
from generate_series(1, 3000) as i;
alter table clinic.stays add primary key (id); analyze clinic.stays
"""
STAYS = """
source = "clinic.stays"
target = "share.{target}"
[privacy]
k = 5
suppression = 0.02
changes = "hold"
[method]
algorithm = "optimal"
[columns]
id = {{ role = "identifier" }}
paid = {{ role = "quasi", hierarchy = {{ widths = [50, 500] }}{keys} }}
day = {{ role = "quasi", hierarchy = {{ dates = ["month", "year"] }} }}
diagnosis = {{ role = "sensitive" }}
"""


def night(db: Database, target: str, keys: str = "") -> tuple[list[str], list[Any], bytes]:
    """The steps of a release, what it says of itself, and its rows without their order, which has its own key."""
    steps: dict[str, int] = {}

    class Watch(Silence):
        def step(self, step: Step) -> None:
            steps[step.name] = step.rows or 0

    release = db.run(parse(STAYS.format(target=target, keys=keys)), listener=Watch())
    result = release.result
    query = sql.SQL("select * from {} order by 1, 2, 3").format(sql.Identifier("share", target))
    rows = db.connection.execute(query).fetchall()
    told = [(of.name, of.column, of.note) for of in result.metric_values]
    values = [pytest.approx(of.value, abs=1e-9) for of in result.metric_values]
    return list(steps), [result.levels, result.released, told, values], repr(rows).encode()


@pytest.mark.parametrize("keys", ["", ", min_level = 1"])
def test_releases_night_after_night_are_the_same_too(db: Database, keys: str) -> None:
    db.connection.execute(NIGHT.replace("%%", "%"))
    for changed in (
        "select 1",
        "delete from clinic.stays where id <= 40; insert into clinic.stays select i, i, '2020-02-02', 'D1' "
        "from generate_series(4000, 4050) as i",
    ):
        db.connection.execute(changed)
        by_values = night(db, "by_values", keys)
        with pytest.MonkeyPatch.context() as few:
            few.setattr(coarse, "MANY_VALUES", 1_000)
            by_labels = night(db, "by_labels", keys)
        assert "coarse values q1" in by_labels[0]
        assert "coarse values q1" not in by_values[0]
        assert by_labels[1:] == by_values[1:]


def test_a_column_that_a_release_can_have_as_it_is_is_coded_as_it_is(db: Database, tmp_path: Path) -> None:
    db.connection.execute(
        "create schema clinic; create schema share; create table clinic.stays as "
        "select i % 50 as paid from generate_series(1, 3000) as i; analyze clinic.stays"
    )
    policy = (
        'source = "clinic.stays"\ntarget = "share.release"\n[privacy]\nk = 5\n'
        '[method]\nalgorithm = "optimal"\n[columns]\n'
        'paid = { role = "quasi", hierarchy = { widths = [10, 20] } }'
    )
    with pytest.MonkeyPatch.context() as few:
        few.setattr(coarse, "MANY_VALUES", 10)
        assert db.run(parse(policy)).result.levels == {"paid": 0}
