"""Hierarchies that compute their labels, by all methods that take them, against an oracle in memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.db.execute import Executor
from anondb.db.introspect import snapshot
from anondb.policy.load import parse
from anondb.run import publish_sql
from anondb.run.compile import compile_plan
from anondb.run.encode import encode
from anondb.run.engine import PostgresEngine
from anondb.run.plan import Options
from anondb.run.statement import Statement
from anondb.sqltree.tables import Relation
from tests.properties.examples import Example, laws, tables
from tests.properties.form_examples import FORMS
from tests.properties.oracle import Hierarchy, Label, Value, label_of, text
from tests.properties.test_datafly import fill, publish, released

fewer = settings(laws, max_examples=max(laws.max_examples * 2 // 3, 1))


def labelled(db: Database, example: Example, folder: Path) -> list[dict[str | None, list[str | None]]]:
    """The labels of each value of each column, by its text, as a run encodes them."""
    connection = db.connection
    policy = parse(example.policy(folder), base=folder)
    with connection.transaction(force_rollback=True):
        source, target = Relation("clinic", policy.source.table), Relation("share", policy.target.table)
        plan = compile_plan(policy, snapshot(connection, source, target))
        executor, names = Executor(connection, lambda step: None), plan.scratch(1)
        engine = PostgresEngine(executor, plan)
        quasi = encode(executor, engine, plan, names, Options(allow_empty=True)).quasi
        found = []
        for q in quasi:
            question = publish_sql.all_rows(Relation("pg_temp", names.dictionary(q)))
            rows = executor.rows(Statement("labels", question))
            found.append({row[0]: list(row[2 : 3 + q.height]) for row in rows})
    return found


@fewer
@given(example=tables(of=FORMS))
def test_each_label_is_the_oracles_and_equal_ones_stay_equal(
    db: Database, tmp_path: Path, example: Example
) -> None:
    fill(db, example)
    columns = labelled(db, example, tmp_path)
    for position, (hierarchy, column) in enumerate(zip(example.hierarchies, columns, strict=True)):
        values = {example.rows[record][position] for record in example.eligible}
        expected = {
            None if value is None else text(value): [
                label_of(value, hierarchy, level) for level in range(hierarchy.height + 1)
            ]
            for value in values
        }
        assert column == expected
        for level in range(1, hierarchy.height):
            above = {(labels[level], labels[level + 1]) for labels in column.values()}
            assert len(above) == len({label for label, _ in above})


@fewer
@given(example=tables(of=FORMS))
def test_a_release_is_the_oracles_and_shows_no_value_that_it_must_not(
    db: Database, tmp_path: Path, example: Example
) -> None:
    assume(example.satisfiable)
    fill(db, example)
    expected = example.outcome()
    result = publish(db, example, tmp_path).result
    assert tuple(result.levels.values()) == expected.levels
    rows = ((*labels, *example.kept(record)) for record, labels in example.released_as(expected).items())
    assert Counter(released(db)) == Counter(rows)


@fewer
@given(
    example=tables(of=FORMS, suppress=["remove"], suppression=["0"]),
    algorithm=st.sampled_from(["mondrian", 'mondrian"\nsplit = "loss', "optimal", "incognito"]),
)
def test_other_methods_release_labels_that_are_true(
    db: Database, tmp_path: Path, example: Example, algorithm: str
) -> None:
    assume(example.satisfiable)
    example = replace(example, numbered=True, nulls="value")
    assume(example.satisfiable)
    fill(db, example)
    policy = parse(example.policy(tmp_path).replace('"datafly"', f'"{algorithm}"'), base=tmp_path)
    db.run(policy, options=Options(allow_empty=True))
    rows = released(db)
    sizes = Counter(row[: len(example.columns)] for row in rows)
    assert all(size >= example.k for size in sizes.values())
    assert sum(sizes.values()) == len(example.rows)
    for *labels, _, record in rows:
        assert isinstance(record, int)
        for label, value, hierarchy in zip(labels, example.rows[record], example.hierarchies, strict=True):
            if value is None or not isinstance(label, str) or label.startswith("{"):
                continue
            if algorithm.startswith("mondrian") and hierarchy.lowest == 0:
                continue  # it makes ranges of its own
            assert hierarchy.covers(label, value)
            assert hierarchy.lowest == 0 or label in _labels(hierarchy, value)


def _labels(hierarchy: Hierarchy, value: Value) -> list[Label]:
    return [label_of(value, hierarchy, level) for level in range(hierarchy.lowest, hierarchy.height + 1)]
