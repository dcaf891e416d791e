"""Compiling a policy against a snapshot of the catalogue, without a database."""

from __future__ import annotations

import pytest

from anondb.errors import PolicyError
from anondb.policy.load import parse
from anondb.run.compile import compile_plan
from anondb.run.snapshot import Snapshot, SourceInfo, TargetInfo
from anondb.sqltree.tables import Relation, SourceColumn

POLICY = """
source = "hospital.admissions"
target = "share.admissions"
privacy = { k = 5 }
method = { algorithm = "datafly" }
[columns]
name = { role = "identifier" }
zip = { role = "quasi", hierarchy = { mask = "right" } }
stay = { role = "other" }
"""
SOURCE = SourceInfo(
    Relation("hospital", "admissions"),
    (
        SourceColumn("stay", "integer", "int4"),
        SourceColumn("zip", "text", "text"),
        SourceColumn("name", "text", "text"),
    ),
)


def snapshot(target: TargetInfo | None = None) -> Snapshot:
    return Snapshot(SOURCE, target or TargetInfo(Relation("share", "admissions")), {})


def test_the_release_has_the_sources_order_and_no_identifier() -> None:
    plan = compile_plan(parse(POLICY), snapshot())
    assert [column.name for column in plan.columns] == ["stay", "zip"]
    assert [(q.number, q.name) for q in plan.quasi] == [(1, "zip")]


@pytest.mark.parametrize("schema", ["anondb", "anondb_work"])
def test_our_own_schemas_hold_no_release(schema: str) -> None:
    # where the search path of a role called anondb leads a target without a schema
    with pytest.raises(PolicyError, match=f"would lie in anondb's own schema {schema}") as refused:
        compile_plan(parse(POLICY), snapshot(TargetInfo(Relation(schema, "admissions"))))
    assert [problem.hint for problem in refused.value.problems] == [
        'name another schema: target = "schema.table"'
    ]
