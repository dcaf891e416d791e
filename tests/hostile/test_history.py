"""A role that only runs policies, with the rights that the README gives it, cannot forge the history."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from anondb import resources
from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.db.install.upgrade import remove, upgrade
from anondb.policy.load import load
from tests.acceptance.clinic import HOSPITAL, Clinic, Ended, complaint
from tests.conftest import Cli
from tests.documentation import blocks

# What no grant of the README may allow, as statements on the run of another role; each would change something.
ATTACKS = [
    "update anondb.run set result = '{}' where id = {run}",
    "update anondb.run set status = 'failed', error = 'forged' where id = {run}",
    "update anondb.run set release_oid = 'share.register'::regclass where id = {run}",
    "insert into anondb.run_step (run, seq, stage, name) values ({run}, 9999, 'swap', 'forged')",
    "insert into anondb.run_metric (run, name, value) values ({run}, 'forged', 0)",
    "update anondb.policy set body = 'forged'",
    "delete from anondb.run",
]
BEGIN = """
insert into anondb.run (policy, source, target, algorithm, status, package)
select p.sha256, 'hospital.admissions', 'share.register', 'datafly', 'running', '0' from anondb.policy as p
limit 1 returning id
"""


@dataclass
class Ward:
    """A hospital whose anondb belongs to anna; nightly may only run policies, and has run one. So has anna."""

    clinic: Clinic
    anna: str
    nightly: str

    def dsn(self, role: str) -> str:
        return make_conninfo(self.clinic.dsn, options=f"-c role={role}")

    def cli(self, role: str, *arguments: str | Path) -> Ended:
        return self.clinic.cli(*arguments, ANONDB_DSN=self.dsn(role), ANONDB_OWNER=self.anna)

    def connect(self, role: str) -> Connection:
        return psycopg.connect(self.dsn(role), autocommit=True)

    def run_of(self, role: str) -> int:
        query = "select max(r.id) from anondb.run as r where r.started_by = %s"
        [(run,)] = self.clinic.connection.execute(query, [role]).fetchall()
        assert isinstance(run, int)
        return run

    def history(self) -> list[tuple[object, ...]]:
        return self.clinic.execute(
            "select 'run', r::text from anondb.run as r union all select 'step', s::text from anondb.run_step as s"
            " union all select 'metric', m::text from anondb.run_metric as m"
            " union all select 'policy', p::text from anondb.policy as p order by 1, 2"
        )


@pytest.fixture
def ward(dsn: str, connection: Connection, cli: Cli, tmp_path: Path, new_role: Callable[[], str]) -> Ward:
    connection.execute(HOSPITAL)
    clinic = Clinic(dsn, connection, cli, tmp_path)
    remove(connection)
    ward = Ward(clinic, new_role(), new_role())
    [(database,)] = clinic.execute("select current_database()")
    clinic.execute("grant create on database {database} to {anna}", database=str(database), anna=ward.anna)
    for role in (ward.anna, ward.nightly):
        clinic.execute(
            "grant usage on schema hospital to {role}; grant usage, create on schema share to {role};"
            "grant select on all tables in schema hospital to {role}",
            role=role,
        )
    with ward.connect(ward.anna) as owner:
        upgrade(owner)
        [grants] = [text for text in blocks("README.md", "sql") if "anondb.run" in text]
        owner.execute(grants.replace("nightly", f'"{ward.nightly}"').encode())
        owner.execute(
            "create table share.register (name text); insert into share.register values ('Person1')"
        )
    for role in (ward.anna, ward.nightly):
        with Database(Door(ward.dsn(role), owner=ward.anna)) as db:
            db.run(clinic.policy(target=f"share.of_{role}"))
    return ward


def test_a_role_that_runs_policies_can_write_and_read_its_report(ward: Ward) -> None:
    policy = ward.clinic.policy(target="share.nightly")
    for _ in range(2):
        done = ward.cli(ward.nightly, "run", policy, "--report", "night.html")
        assert (done.returncode, done.stderr) == (0, "")
    assert "Every released record looks like at least" in (ward.clinic.folder / "night.html").read_text()
    assert ward.cli(ward.nightly, "report", "last", "--out", "again.html").returncode == 0


def test_a_role_sees_its_own_runs_and_the_owner_sees_all(ward: Ward) -> None:
    with ward.connect(ward.nightly) as connection:
        assert connection.execute("select r.started_by from anondb.run as r").fetchall() == [(ward.nightly,)]
        for seen in (
            "select distinct s.run from anondb.run_step as s",
            "select distinct m.run from anondb.run_metric as m",
        ):
            assert connection.execute(seen.encode()).fetchall() == [(ward.run_of(ward.nightly),)]
        assert connection.execute("select count(*) from anondb.policy").fetchone() == (1,)
    with ward.connect(ward.anna) as connection:
        assert connection.execute("select count(*) from anondb.run").fetchone() == (2,)
        assert connection.execute("select count(distinct s.run) from anondb.run_step as s").fetchone() == (2,)
    assert "is not in the history" in complaint(
        ward.cli(ward.nightly, "report", str(ward.run_of(ward.anna))), 2
    )


@pytest.mark.parametrize("bypasses", [False, True], ids=["", "bypassrls"])
@pytest.mark.parametrize("of", ["anna", "nightly"])
def test_what_has_ended_is_not_rewritten(ward: Ward, of: str, bypasses: bool) -> None:
    """Neither another role's run nor its own; also not by a role that row-level security does not bind."""
    if bypasses:
        ward.clinic.execute("alter role {role} bypassrls", role=ward.nightly)
    before = ward.history()
    with ward.connect(ward.nightly) as connection:
        for attack in ATTACKS:
            text = attack.replace("{run}", str(ward.run_of(getattr(ward, of))))
            with suppress(psycopg.DatabaseError):
                assert connection.execute(text.encode()).rowcount == 0, attack
    assert ward.history() == before


def test_nobody_chooses_under_whose_name_a_run_is_entered(ward: Ward) -> None:
    with ward.connect(ward.nightly) as connection:
        signed = BEGIN.replace("package)", "package, started_by)").replace(
            "'0' from", f"'0', '{ward.anna}' from"
        )
        try:
            connection.execute(signed.encode())
        except psycopg.errors.InsufficientPrivilege:
            return
    assert ward.clinic.execute("select r.started_by from anondb.run as r order by r.id desc limit 1") == [
        (ward.nightly,)
    ]


def test_nobody_takes_the_number_of_a_run_of_another(ward: Ward) -> None:
    numbered = BEGIN.replace("(policy", "(id, policy").replace(
        "select p.sha256", "overriding system value select %s, p.sha256"
    )
    newest = max(ward.run_of(ward.anna), ward.run_of(ward.nightly))
    with ward.connect(ward.nightly) as connection:
        for number in (newest + 1, 2**62):
            with suppress(psycopg.errors.InsufficientPrivilege):
                connection.execute(numbered.encode(), [number])
    done = ward.cli(ward.anna, "run", ward.clinic.policy(target="share.next"))
    assert (done.returncode, done.stderr) == (0, "")
    assert ward.run_of(ward.anna) == newest + 1


def test_an_upgrade_narrows_what_roles_that_run_were_granted(ward: Ward) -> None:
    migration = runpy.run_path(str(resources.path("migrations") / "versions" / "0007_numbered_runs.py"))
    with ward.connect(ward.anna) as owner:
        for role in (f'"{ward.nightly}"', "public"):
            owner.execute(f"grant insert on anondb.run to {role}".encode())
        owner.execute(migration["GRANTS"].encode())
        may = "select has_column_privilege(%s, 'anondb.run', %s, 'insert')"
        for column, granted in (("id", False), ("started_at", False), ("target", True)):
            assert owner.execute(may, [ward.nightly, column]).fetchone() == (granted,)


def test_a_table_that_another_role_calls_a_release_is_not_overwritten(ward: Ward) -> None:
    with ward.connect(ward.nightly) as connection:
        [(run,)] = connection.execute(BEGIN.encode()).fetchall()
        connection.execute(
            "update anondb.run set release_oid = 'share.register'::regclass, status = 'done' where id = %s",
            [run],
        )
    for role in (ward.anna, ""):
        said = complaint(
            ward.cli(role, "run", ward.clinic.policy(target="share.register"))
            if role
            else ward.clinic.cli("run", ward.clinic.policy(target="share.register"), ANONDB_OWNER=ward.anna),
            2,
        )
        assert "was not made by anondb" in said
    assert ward.clinic.execute("select r.name from share.register as r") == [("Person1",)]


def test_a_policy_that_another_role_has_entered_is_not_taken_for_ones_own(ward: Ward) -> None:
    path = ward.clinic.policy(target="share.admissions")
    with ward.connect(ward.nightly) as connection:
        forged = "insert into anondb.policy (sha256, body) values (%s, '# forged by another role')"
        connection.execute(forged, [load(path).sha256])
    done = ward.cli(ward.anna, "run", path, "--report", "anna.html")
    assert (done.returncode, done.stderr) == (0, "")
    page = (ward.clinic.folder / "anna.html").read_text()
    assert "share.admissions" in page
    assert "forged" not in page


def test_lost_runs_are_found_by_their_role_and_by_the_owner(ward: Ward) -> None:
    def statuses() -> list[str]:
        rows = ward.clinic.execute(
            "select r.status from anondb.run as r where r.target = 'share.register' order by r.id"
        )
        return [status for (status,) in rows]

    for role, left in ((ward.nightly, "lost"), (ward.anna, "lost")):
        with ward.connect(ward.nightly) as connection:
            connection.execute(BEGIN.encode())  # and nobody shows that it lives
        assert statuses()[-1] == "running"
        with Database(Door(ward.dsn(role), owner=ward.anna)) as db:
            db.run(ward.clinic.policy(target=f"share.of_{role}"))
        assert statuses()[-1] == left
    with ward.connect(ward.anna) as connection:
        connection.execute(BEGIN.encode())
    with Database(Door(ward.dsn(ward.nightly), owner=ward.anna)) as db:
        db.run(ward.clinic.policy(target=f"share.of_{ward.nightly}"))
    assert statuses()[-1] == "running"


# Each makes share.trap a table that calls share.spy() when it is read.
TRAPS = {
    "cast": """
        create type share.mood as enum ('good', 'bad');
        create function share.told(share.mood) returns text language sql as 'select share.spy(1)::text';
        create cast (share.mood as text) with function share.told(share.mood);
        create table share.trap as select 'good'::share.mood as mood from generate_series(1, 9)
    """,
    "policy": """
        create table share.trap as select i from generate_series(1, 9) as i;
        alter table share.trap enable row level security;
        alter table share.trap force row level security;
        create policy spies on share.trap using (share.spy(i) > 0)
    """,
    "index": """
        create table share.trap as select i from generate_series(1, 9) as i;
        create index on share.trap (i) where share.spy(1) > 0
    """,
}


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("is_super", [True, False], ids=["superuser", "owner"])
def test_an_upgrade_reads_no_table_that_another_role_calls_a_release(
    ward: Ward, trap: str, is_super: bool
) -> None:
    ward.clinic.execute("grant {nightly} to {anna}", nightly=ward.nightly, anna=ward.anna)
    with ward.connect(ward.nightly) as connection:
        connection.execute(
            "create sequence share.calls; grant usage on sequence share.calls to public;"
            "create function share.spy(int) returns int language plpgsql immutable as"
            " $$ begin perform nextval('share.calls'); return $1; end $$"
        )
        connection.execute(TRAPS[trap].encode())
        connection.execute("alter sequence share.calls restart")
        [(run,)] = connection.execute(BEGIN.replace("register", "trap").encode()).fetchall()
        connection.execute(
            "update anondb.run set release_oid = 'share.trap'::regclass, status = 'done' where id = %s", [run]
        )
    upgraded = (
        ward.clinic.cli("db", "upgrade", ANONDB_OWNER=ward.anna)
        if is_super
        else ward.cli(ward.anna, "db", "upgrade")
    )
    assert upgraded.returncode == 0, upgraded.stderr
    assert ward.clinic.execute("select is_called from share.calls") == [(False,)]
