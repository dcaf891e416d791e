"""The statements over the source and the release, for both engines: what a distributed PostgreSQL can share out."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from anondb.errors import PolicyError, UsageError
from anondb.policy.load import parse
from anondb.run.citus.layout import LEAST_SPREAD, MOST_PULLED, SHARD
from anondb.run.compile import compile_plan
from anondb.run.explain import script, statements
from anondb.run.plan import Plan
from anondb.run.snapshot import Distribution, Snapshot, SourceInfo, TargetInfo
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation, SourceColumn
from tests.unit.pushdown import Wide, faults

SOURCE = Relation("hospital", "admissions")
COLUMNS = (
    SourceColumn("patient", "bigint", "int8", compared_as="bigint"),
    SourceColumn("age", "integer", "int4", compared_as="integer", distinct=50),
    SourceColumn("zip", "text", "text", distinct=50),
    SourceColumn("job", "text", "text", distinct=50),
    SourceColumn("ill", "text", "text", distinct=9),
    SourceColumn("paid", "numeric", "numeric", compared_as="numeric"),
    SourceColumn("day", "date", "date", compared_as="date"),
)
POLICY = """
source = "hospital.admissions"
target = "share.admissions"
target_layout = "{layout}"
[privacy]
k = 5
suppression = 0.2
changes = "free"
{privacy}
[method]
algorithm = "{algorithm}"
{method}
[columns]
patient = {{ role = "{patient}" }}
age = {{ role = "quasi", hierarchy = {{ start = 15, widths = [5, 10] }} }}
zip = {{ role = "quasi", hierarchy = {{ mask = "right" }} }}
job = {{ role = "quasi", hierarchy = {{ mask = "all" }} }}
ill = {{ role = "sensitive" }}
paid = {{ role = "{kept}" }}
day = {{ role = "other"{form}, keep = "identifying" }}
"""
MODELS = {
    "k": "",
    "unit": 'unit = "patient"',
    "l": 'l_diversity = [{ column = "ill", l = 2 }, { column = "ill", l = 2, kind = "entropy" }]',
    "t": 't_closeness = { column = "ill", t = 0.4 }',
    "beta": 'beta_likeness = { column = "ill", beta = 2 }',
    "delta": 'delta_disclosure = { column = "ill", delta = 2 }',
    "le": 'le_diversity = { column = "ill", l = 2, e = 0, kind = "grouped" }',
    "masks": 'suppress = "mask"',
    "nulls": 'nulls = "suppress"',
}
METHODS = {
    "datafly": ("datafly", ""),
    "incognito": ("incognito", ""),
    "optimal": ("optimal", ""),
    "local": ("datafly", 'recode = "local"'),
    "mondrian": ("mondrian", ""),
    "relaxed": ("mondrian", "strict = false"),
    "fusion": ("fusion", ""),
}
CLUSTER = Distribution("patient", 32, (SOURCE,), (1,))
ROWS = {"one server": "", "local": "local", "distributed": "distributed"}


def plan(
    layout: str,
    method: str = "datafly",
    privacy: str = "",
    *,
    repeat: bool = False,
    form: str = "",
    rows: float = 1e5,
) -> Plan:
    algorithm, keys = METHODS.get(method, (method, ""))
    text = POLICY.format(
        layout=layout or "auto",
        privacy=privacy,
        algorithm=algorithm,
        method=keys,
        patient="identifier" if "role" not in form else "pseudonym",
        kept="identifier" if repeat else 'other", keep = "identifying',
        form=form if "role" not in form else "",
    )
    if "le_diversity" in privacy:
        text = text.replace(
            'ill = { role = "sensitive" }', 'ill = { role = "sensitive", hierarchy = { mask = "all" } }'
        )
    if algorithm in ("fusion", "le_diversity"):
        text = re.sub(r'"quasi", hierarchy = \{[^}]*\}', '"quasi"', text)
    days = [replace(c, distinct=9) if repeat and c.name == "day" else c for c in COLUMNS]
    source = SourceInfo(SOURCE, tuple(days), rows, distribution=CLUSTER if layout else None)
    return compile_plan(parse(text), Snapshot(source, TargetInfo(Relation("share", "admissions")), {}))


def found(one: Plan) -> list[tuple[str, str]]:
    """The faults of a run's statements, each with the statement's name."""
    wide = Wide(
        "hospital.admissions",
        "share.admissions",
        "patient",
        ("anondb_work.r0_stage", "anondb_work.r0_stage_person"),
        one.spread,
    )
    return [
        (statement.name, fault)
        for _, statement in statements(one)
        for fault in faults(statement.sql if isinstance(statement.sql, str) else render(statement.sql), wide)
    ]


@pytest.mark.parametrize("layout", ROWS.values(), ids=list(ROWS))
@pytest.mark.parametrize("repeat", [False, True], ids=["two passes", "one pass"])
@pytest.mark.parametrize("method", METHODS)
def test_workers_can_carry_out_the_statements_of_every_method(method: str, repeat: bool, layout: str) -> None:
    assert found(plan(layout, method, repeat=repeat)) == []


@pytest.mark.parametrize("layout", ROWS.values(), ids=list(ROWS))
@pytest.mark.parametrize("model", MODELS)
def test_workers_can_carry_out_the_statements_of_every_model(model: str, layout: str) -> None:
    assert found(plan(layout, "datafly", MODELS[model])) == []


@pytest.mark.parametrize("form", ['role = "pseudonym"', ', shift = { by = "patient", days = 9 }'])
def test_keyed_forms_need_no_function_of_ours_on_the_workers(form: str) -> None:
    assert found(plan("distributed", form=form)) == []


# What the engines sent before there was a cluster to think of, and statements that no worker could carry out.
BAD = {
    "insert": (
        'INSERT INTO "share"."anondb_run_1_ab" ("zip") SELECT "x"."g1" FROM (SELECT "v"."class", '
        'anondb.order_hash("key"."row_inner", \'x\') AS "order", "v"."g1" AS "g1" FROM "hospital"."admissions" '
        'AS "s" JOIN "pg_temp"."r1_combination" AS "v" ON "s"."zip" = "v"."v1" CROSS JOIN "pg_temp"."r1_key" '
        'AS "key" ORDER BY 1, 2) AS "x"',
        ["order below the top", "anondb.order_hash is ours"],
    ),
    "copy": (
        'CREATE TEMPORARY TABLE "pg_temp"."r1_rec" AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY "s"."zip") AS int) '
        'AS "rid", "s"."zip" AS "c1" FROM "hospital"."admissions" AS "s"',
        ["a window that is not by the distribution column", "rows into a temporary table"],
    ),
    "settings": ("select set_config('timezone', 'UTC', true)", ["set_config reaches no worker"]),
    "offset": (
        'SELECT COUNT(*) FROM (SELECT "s"."zip" FROM "hospital"."admissions" AS "s" OFFSET 0) AS "x"',
        ["offset below the top"],
    ),
    "limit": (
        'SELECT COUNT(*) FROM (SELECT "s"."zip" FROM "hospital"."admissions" AS "s" LIMIT 5) AS "x"',
        ["limit below the top"],
    ),
    "sorted stage": (
        'INSERT INTO "anondb_work"."r0_stage" ("r1") SELECT "s"."zip" FROM "hospital"."admissions" AS "s" ORDER BY 1',
        ["an order while rows travel"],
    ),
    "elsewhere": (
        'INSERT INTO "pg_temp"."other" ("r1") SELECT "s"."zip" FROM "hospital"."admissions" AS "s"',
        ["rows into a table that is not distributed"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_workers_could_not_carry_out_would_be_found(name: str) -> None:
    text, expected = BAD[name]
    wide = Wide("hospital.admissions", "share.admissions", "patient", ("anondb_work.r0_stage",), spread=True)
    assert list(faults(text, wide)) == expected


@pytest.mark.parametrize(
    ("layout", "rows", "spread"),
    [
        ("auto", LEAST_SPREAD, True),
        ("auto", LEAST_SPREAD - 1, False),
        ("local", LEAST_SPREAD, False),
        ("distributed", 0, True),
    ],
)
def test_a_release_follows_its_source_above_a_size_or_as_it_is_told(
    layout: str, rows: float, spread: bool
) -> None:
    one = plan(layout, rows=rows)
    assert one.spread is spread
    assert [c.name for c in one.places[0].columns].count(SHARD.name) == spread


def test_a_source_in_one_place_has_no_distributed_release() -> None:
    one_server = Snapshot(SourceInfo(SOURCE, COLUMNS), TargetInfo(Relation("share", "admissions")), {})
    text = POLICY.format(
        layout="distributed",
        privacy="",
        algorithm="datafly",
        method="",
        patient="identifier",
        kept="identifier",
        form="",
    )
    with pytest.raises(PolicyError) as refused:
        compile_plan(parse(text), one_server)
    assert "no distributed table" in refused.value.problems[0].message


def test_values_that_are_exchanged_need_a_source_in_one_place() -> None:
    for layout in ("local", "distributed"):
        with pytest.raises(PolicyError) as refused:
            plan(layout, form=", shuffle = true")
        assert "exchanged within a class" in refused.value.problems[0].message


def test_single_records_of_many_rows_are_not_brought_to_the_coordinator() -> None:
    demand = 'le_diversity = { column = "ill", l = 2, e = 0 }'
    few, many = (plan("local", "le_diversity", demand, rows=rows) for rows in (MOST_PULLED, MOST_PULLED + 1))
    statements(few)
    with pytest.raises(UsageError, match="needs single records in one place"):
        statements(many)


def test_a_plan_says_what_workers_do() -> None:
    assert "distributed by anondb_shard" in script(plan("distributed"))
    assert "come to the coordinator" in script(plan("local"))
    assert "distributed" not in script(plan("")).splitlines()[0]
