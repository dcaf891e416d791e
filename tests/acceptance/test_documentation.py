"""What the README and docs/ say about the database is so: grants, queries, labels, figures."""

from __future__ import annotations

import re
from collections.abc import Callable

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.cli.demo import make_admissions
from anondb.db.install.upgrade import remove, upgrade
from tests.acceptance.clinic import Clinic
from tests.documentation import ROOT, blocks

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
