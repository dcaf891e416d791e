"""What the README and docs/ say about the database is so: grants, queries, labels, figures."""

from __future__ import annotations

import re
from collections.abc import Callable

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.cli.demo import make_admissions
from anondb.db.connection import Connection
from anondb.db.execute import Executor
from anondb.db.install.upgrade import remove, upgrade
from anondb.db.introspect import snapshot
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
from tests.documentation import ROOT, blocks, rows

EXAMPLE = ROOT / "examples" / "hospital"


@pytest.mark.parametrize("file", ["README.md", "docs/database.md"])
def test_the_documented_grants_are_enough(clinic: Clinic, new_role: Callable[[], str], file: str) -> None:
    """On a database where nobody has a right that is not written there."""
    remove(clinic.connection)
    [(database,)] = clinic.execute("select current_database()")
    clinic.execute("revoke all on database {database} from public", database=database)
    to_install, to_run = (text for text in blocks(file, "sql") if text.lstrip().startswith(("grant", "--")))
    roles = {"anna": new_role(), "nightly": new_role(), "clinic": str(database)}

    def granted(text: str, owner: str) -> None:
        with psycopg.connect(as_role(owner), autocommit=True) as connection:
            for name, real in roles.items():
                text = re.sub(rf"\b{name}\b", real, text)
            connection.execute(text.encode())

    def as_role(name: str) -> str:
        return make_conninfo(clinic.dsn, options=f"-c role={name}") if name else clinic.dsn

    granted(to_install, "")
    with psycopg.connect(as_role(roles["anna"]), autocommit=True) as connection:
        upgrade(connection)
    assert clinic.cli("run", clinic.policy(), ANONDB_DSN=as_role(roles["anna"])).stderr == ""

    # a release belongs to the role that published it first
    by_administrator, _, by_owner = to_run.rpartition("-- as anna")
    same_but_create = re.sub(r"create, (temporary)", r"\1", to_install).replace("anna", "nightly")
    granted(by_administrator or same_but_create, "")
    granted(f"-- as anna{by_owner}" if by_administrator else to_run, roles["anna"])
    second = clinic.policy(target="share.nightly")
    for _ in range(2):
        trusting = {"ANONDB_DSN": as_role(roles["nightly"]), "ANONDB_OWNER": roles["anna"]}
        assert clinic.cli("run", second, **trusting).stderr == ""
    assert [status for status, _ in clinic.runs()] == ["done", "done", "done"]


def test_the_documented_queries_run(clinic: Clinic) -> None:
    clinic.has_released()
    last, steps, changes, policies = blocks("docs/run.md", "sql")
    assert len(clinic.execute(last)) == 1
    assert len(clinic.execute(steps)) == 10
    assert len(clinic.execute(changes)) == 1
    assert len(clinic.execute(policies)) == 1


TYPES = {"23": "int", "-3.2": "numeric", "2024-03-09": "date", "2024-03-09 14:30:00": "timestamp"}


@pytest.mark.parametrize("heading", ["Ranges", "Dates", "Masks"])
def test_the_documented_labels_are_those_of_a_run(clinic: Clinic, heading: str) -> None:
    for form, *cells in rows("docs/policy.md", heading)[1:]:
        hierarchy = form[form.index("{") : form.index("}") + 1]
        labels = [cell.strip("`") for cell in cells if cell]
        value = sql.SQL("create table hospital.one as select {}::{} as value")
        kind = sql.SQL(TYPES.get(labels[0], "text"))
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


def test_the_readmes_figures_are_those_of_the_example(db: Database) -> None:
    make_admissions(db, EXAMPLE)
    result = db.run(EXAMPLE / "admissions.toml").result
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{result.released:,} records in {result.classes:,} classes" in text
    assert f"{result.suppressed:,} of {result.records:,} records" in text
    before = re.findall(r"^\| ((?:[^|]+ \| ){6}.*) \|\n\| → (?:one of|suppressed)", text, re.MULTILINE)
    assert len(before) == 3
    for person in before:
        query = "select count(*) from hospital.admissions as a where %s = concat_ws(' | ', variadic array["
        query += "a.name, a.age::text, a.sex, a.zip, a.job, a.admitted::text, a.diagnosis])"
        assert db.connection.execute(query, (person,)).fetchall() == [(1,)]
    after = re.findall(r"^\| → one of (\d+) \|(.*)\|$", text, re.MULTILINE)
    assert after
    for alike, cells in after:
        *labels, _ = [cell.strip(" `") for cell in cells.split("|")]
        query = (
            "select count(*) from share.admissions as a"
            " where array[a.age, a.sex, a.zip, a.job, a.admitted] = %s::text[]"
        )
        assert db.connection.execute(query, (labels,)).fetchall() == [(int(alike),)]
