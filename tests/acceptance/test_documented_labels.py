"""The labels that docs/ show of each hierarchy are those of a run; and what comes with anondb is as it is told."""

from __future__ import annotations

import re
import tomllib

import pytest
from psycopg import sql

from anondb.db.connection import Connection
from anondb.db.execute import Executor
from anondb.db.introspect import snapshot
from anondb.hierarchies.forms.builtin import FOLDER, PREFIX, names
from anondb.policy.load import load
from anondb.policy.model import Policy
from anondb.run import publish_sql as sqlgen
from anondb.run.compile import compile_plan
from anondb.run.encode import encode
from anondb.run.engine import PostgresEngine
from anondb.run.plan import Options
from anondb.run.statement import Statement
from anondb.sqltree.tables import Relation
from tests.acceptance.clinic import Clinic, quasi
from tests.documentation import ROOT, rows

TYPES = {
    "23": "int",
    "-3.2": "numeric",
    "47.376": "numeric",
    "2024-03-09": "date",
    "1961-05-17": "date",
    "2024-03-09 14:30:00": "timestamp",
    "(8.541,47.376)": "point",
}


@pytest.mark.parametrize("heading", ["Ranges", "Dates", "Ages", "Codes", "Grids", "Masks"])
def test_the_documented_labels_are_those_of_a_run(clinic: Clinic, heading: str) -> None:
    for form, *cells in rows("docs/policy.md", heading)[1:]:
        check(clinic, form[form.index("{") : form.index("}") + 1], cells)


def test_the_documented_open_ends_are_those_of_a_run(clinic: Clinic) -> None:
    (written, *_), *documented = rows("docs/policy.md", "Open ends")
    [hierarchy], [cap] = (re.findall(rf"{key} = (\{{.*?\}})", written) for key in ("hierarchy", "cap"))
    assert len(documented) == 4
    for _, *cells in documented:
        check(clinic, f"{hierarchy}, cap = {cap}", cells, "int")


def test_the_documented_labels_of_what_comes_with_anondb_are_those_of_a_run(clinic: Clinic) -> None:
    described = {}
    for name, _, *cells in rows("docs/hierarchies.md", "Hierarchies that come")[1:]:
        if len(cells) > 1:
            described[name.strip("`")] = cells
            check(clinic, f'"{PREFIX}{name.strip("`")}"', cells)
    assert tuple(described) == names()


def test_the_documented_sources_are_those_of_the_files() -> None:
    page = (ROOT / "docs" / "hierarchies.md").read_text(encoding="utf-8").replace("<", "").replace(">", "")
    for file in FOLDER.glob("*.toml"):
        keys = tomllib.loads(file.read_text(encoding="utf-8"))
        assert f"| `{file.stem}` | {keys['source']} | {keys['licence']} |" in page


def check(clinic: Clinic, hierarchy: str, cells: list[str], type_: str | None = None) -> None:
    """The first one gets the others as its labels, level by level."""
    labels = [cell.strip("`") for cell in cells if cell]
    value = sql.SQL("create table hospital.one as select {}::{} as value")
    kind = sql.SQL(type_ or TYPES.get(labels[0], "text"))
    clinic.connection.execute(value.format(sql.Literal(labels[0]), kind))
    policy = load(clinic.policy({"value": quasi(hierarchy)}, source="hospital.one"))
    with clinic.connection.transaction(force_rollback=True):
        assert encoded(clinic.connection, policy) == labels
    clinic.execute("drop table hospital.one")


def encoded(connection: Connection, policy: Policy) -> list[str]:
    """The labels that the encoding of a run gives to the one value of a source, level by level."""
    source, target = Relation("hospital", policy.source.table), Relation("share", policy.target.table)
    plan = compile_plan(policy, snapshot(connection, source, target))
    executor, names = Executor(connection, lambda step: None), plan.scratch(1)
    [quasi] = encode(executor, PostgresEngine(executor, plan), plan, names, Options()).quasi
    [row] = executor.rows(Statement("labels", sqlgen.all_rows(Relation("pg_temp", names.dictionary(quasi)))))
    return list(row[2 : 3 + quasi.height])
