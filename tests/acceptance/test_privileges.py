"""A role needs few rights and no superuser; the right that it lacks, and rows hidden from it, are told."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from anondb.db.install.upgrade import remove, upgrade
from tests.acceptance.clinic import COLUMNS, IDENTIFIER, Clinic, Ended, complaint

OWNER = """
select c.relowner::regrole::text from pg_class as c
where c.relname = 'admissions' and c.relnamespace = 'share'::regnamespace
"""


@dataclass
class Runner:
    """A role that may create in the database, and the command line as that role."""

    clinic: Clinic
    role: str

    @property
    def dsn(self) -> str:
        return make_conninfo(self.clinic.dsn, options=f"-c role={self.role}")

    def cli(self, *arguments: str | Path) -> Ended:
        return self.clinic.cli(*arguments, ANONDB_DSN=self.dsn)

    def allow(self, *rights: str) -> None:
        for right in rights:
            self.clinic.execute(f"grant {right} to {{role}}", role=self.role)


RIGHTS = (
    "usage on schema hospital",
    "select on hospital.admissions, hospital.gated",
    "usage, create on schema share",
)


@pytest.fixture
def runner(clinic: Clinic, new_role: Callable[[], str]) -> Runner:
    """A role that has installed anondb itself, and may do no more."""
    remove(clinic.connection)
    runner = Runner(clinic, new_role())
    [(database,)] = clinic.execute("select current_database()")
    clinic.execute("grant create on database {database} to {role}", database=database, role=runner.role)
    with psycopg.connect(runner.dsn, autocommit=True) as connection:
        upgrade(connection)
    return runner


def test_no_superuser_is_needed(runner: Runner) -> None:
    clinic = runner.clinic
    runner.allow(*RIGHTS)
    remove(clinic.connection, owner=runner.role)
    (clinic.folder / "zip.csv").write_text("".join(f"Z907{n};*\n" for n in range(4)))
    columns = {
        "name": '{ role = "identifier" }',
        "age": '{ role = "other" }',
        "diagnosis": '{ role = "other" }',
    }
    policy = clinic.policy(columns | {"zip": '{ role = "quasi", hierarchy = "zip" }'})
    for command in (
        ("db", "upgrade"),
        ("vgh", "load", "zip", clinic.folder / "zip.csv"),
        ("plan", policy),
        ("run", policy),
        ("run", policy),
        ("db", "status"),
        ("db", "remove", "--yes"),
    ):
        done = runner.cli(*command)
        assert (done.returncode, done.stderr) == (0, "")
    assert clinic.execute(OWNER) == [(runner.role,)]
    assert len(clinic.dump().splitlines()) == 24


@pytest.mark.parametrize(
    ("missing", "refused"),
    [
        (0, "permission denied for schema hospital"),
        (1, "permission denied for table admissions"),
        (2, "permission denied for schema share"),
    ],
)
def test_a_right_that_is_missing_is_told_with_the_grants(runner: Runner, missing: int, refused: str) -> None:
    runner.allow(*(right for number, right in enumerate(RIGHTS) if number != missing))
    with runner.clinic.unchanged():
        said = complaint(runner.cli("run", runner.clinic.policy()), 4)
    assert refused in said
    assert "GRANT" in said


def test_a_role_without_rights_on_the_catalogue_is_told_the_grants(
    clinic: Clinic, new_role: Callable[[], str]
) -> None:
    stranger = Runner(clinic, new_role())
    with clinic.unchanged(None):
        said = complaint(stranger.cli("run", clinic.policy()), 4)
    assert f"grant usage on schema anondb to {stranger.role}" in said


def test_a_release_of_another_role_is_not_replaced(runner: Runner) -> None:
    clinic = runner.clinic
    runner.allow(*RIGHTS)
    clinic.execute("create table share.admissions (n int)")
    with clinic.unchanged():
        said = complaint(runner.cli("run", clinic.policy(), "--replace"), 2)
    assert "belongs to a role that this one is no member of" in said


def test_a_view_of_another_role_on_the_release_stays_or_is_named(
    runner: Runner, new_role: Callable[[], str]
) -> None:
    clinic, other = runner.clinic, new_role()
    runner.allow(*RIGHTS)
    assert runner.cli("run", clinic.policy()).returncode == 0
    clinic.execute(
        "grant usage, create on schema share to {other}; grant select on share.admissions to {other};"
        "create view share.theirs as select a.age from share.admissions as a;"
        "alter view share.theirs owner to {other}",
        other=other,
    )
    assert runner.cli("run", clinic.policy()).returncode == 0
    with (
        clinic.unchanged()
    ):  # with other columns it is another table, under which this role cannot put the view
        other_columns = clinic.policy({**COLUMNS, "diagnosis": IDENTIFIER})
        assert "view share.theirs" in complaint(runner.cli("run", other_columns), 2)


HIDDEN = """
alter table hospital.admissions enable row level security;
create policy young on hospital.admissions using (age < 25);
"""


def test_rows_that_row_security_hides_are_refused(runner: Runner) -> None:
    clinic = runner.clinic
    runner.allow(*RIGHTS)
    clinic.execute(HIDDEN)
    with clinic.unchanged():
        said = complaint(runner.cli("run", clinic.policy()), 4)
    assert "row-level security hides rows from this role" in said
    assert "BYPASSRLS" in said
    clinic.execute("alter table hospital.admissions disable row level security")
    assert runner.cli("run", clinic.policy()).returncode == 0


def test_rows_that_row_security_hides_behind_a_view_are_refused(runner: Runner) -> None:
    clinic = runner.clinic
    if clinic.connection.info.server_version < 150000:
        pytest.skip("views that run with their caller's rights came with PostgreSQL 15")
    runner.allow(*RIGHTS)
    clinic.execute(HIDDEN)
    clinic.execute("create view hospital.seen with (security_invoker) as select * from hospital.admissions")
    runner.allow("select on hospital.seen")
    with clinic.unchanged():
        said = complaint(runner.cli("run", clinic.policy(source="hospital.seen")), 4)
    assert "row-level security hides rows from this role" in said


def test_a_view_whose_owner_sees_every_row_is_a_source(runner: Runner) -> None:
    clinic = runner.clinic
    runner.allow(*RIGHTS)
    clinic.execute(HIDDEN)
    clinic.execute("create view hospital.seen as select * from hospital.admissions")
    runner.allow("select on hospital.seen")
    assert runner.cli("run", clinic.policy(source="hospital.seen")).returncode == 0
    assert len(clinic.dump().splitlines()) == 24


def test_a_read_only_session_is_refused(clinic: Clinic) -> None:
    dsn = make_conninfo(clinic.dsn, options="-c default_transaction_read_only=on")
    with clinic.unchanged(None):
        said = complaint(clinic.cli("run", clinic.policy(), ANONDB_DSN=dsn), 4)
    assert "read-only" in said


def test_a_superuser_is_warned_and_a_role_with_few_rights_is_not(runner: Runner) -> None:
    clinic = runner.clinic
    runner.allow(*RIGHTS)
    warned = clinic.cli(
        "run", clinic.policy(target="share.by_superuser"), ANONDB_SUPERUSER="", ANONDB_OWNER=runner.role
    )
    assert warned.returncode == 0
    assert warned.stderr.startswith("warning: this run is made by a superuser")
    assert warned.stderr.count("warning") == 1
    logged = clinic.cli(
        "--log-format",
        "json",
        "run",
        clinic.policy(target="share.by_superuser"),
        ANONDB_SUPERUSER="",
        ANONDB_OWNER=runner.role,
    )
    assert json.loads(logged.stderr)["level"] == "warning"
    accepted = clinic.cli(
        "run", clinic.policy(target="share.by_superuser"), ANONDB_SUPERUSER="accept", ANONDB_OWNER=runner.role
    )
    assert (accepted.returncode, accepted.stderr) == (0, "")
    done = clinic.cli("run", clinic.policy(), ANONDB_DSN=runner.dsn, ANONDB_SUPERUSER="")
    assert (done.returncode, done.stderr) == (0, "")
