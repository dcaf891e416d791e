"""What others do to the target while a run is under way is neither undone nor lost, and readers see whole releases."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.errors import AnondbError, BusyError, DatabaseError, UsageError
from anondb.run.plan import Options
from benchmarks import meanwhile
from benchmarks.meanwhile import pg_dump
from benchmarks.options import Options as Benchmark
from tests.acceptance.clinic import AT_THE_GATE, COLUMNS, IDENTIFIER, Clinic, eventually

NewRole = Callable[[], str]
Running = Future[dict[str, Any]]

ROWS = "select count(*) from share.admissions"
WAITING = """
select a.pid from pg_stat_activity as a where a.datname = current_database() and a.application_name = 'anondb'
  and a.wait_event_type = 'Lock' and a.wait_event = 'relation'
"""


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def visitor(clinic: Clinic) -> Iterator[Connection]:
    """Another session."""
    with psycopg.connect(clinic.dsn) as connection:
        yield connection


def run(clinic: Clinic, policy: Path, **options: Any) -> dict[str, Any]:
    with Database(Door(clinic.dsn)) as database:
        return database.run(policy, options=Options(**options)).result.as_json()


@contextmanager
def under_way(
    clinic: Clinic, pool: ThreadPoolExecutor, policy: Path | None = None, **options: Any
) -> Iterator[Running]:
    """A run that stands still in the middle of writing its release, and goes on afterwards."""
    with clinic.gate_shut() as at_the_gate:
        running = pool.submit(run, clinic, policy or clinic.policy(source="hospital.gated"), **options)
        at_the_gate()
        yield running


def refusal(running: Running) -> AnondbError:
    error = running.exception(timeout=60)
    assert isinstance(error, AnondbError), error
    assert error.hint
    return error


def released(clinic: Clinic) -> None:
    """A release stands, and the source has changed since."""
    clinic.has_released(clinic.policy(source="hospital.gated"))
    clinic.execute("delete from hospital.admissions where age < 26")


@pytest.mark.parametrize("before", ["nothing", "a release"])
def test_a_table_that_somebody_makes_at_the_targets_name_is_kept(
    clinic: Clinic, pool: ThreadPoolExecutor, before: str
) -> None:
    if before == "a release":
        released(clinic)
    with under_way(clinic, pool) as running:
        clinic.execute(
            "drop table if exists share.admissions; create table share.admissions as select 'mine' as t"
        )
    error = refusal(running)
    assert isinstance(error, UsageError)
    assert "share.admissions was made by somebody else while the run was under way" in error.message
    assert clinic.execute("table share.admissions") == [("mine",)]
    assert clinic.leftovers() == []


def test_a_table_that_is_being_made_at_the_targets_name_is_kept(
    clinic: Clinic, pool: ThreadPoolExecutor, visitor: Connection
) -> None:
    with under_way(clinic, pool) as running:
        visitor.execute("create table share.admissions as select 'mine' as t")
    eventually(lambda: clinic.execute(WAITING.replace("'relation'", "'transactionid'")))
    visitor.commit()
    assert "has taken the name" in refusal(running).message
    assert clinic.execute("table share.admissions") == [("mine",)]


def test_consent_to_overwrite_a_table_is_for_that_table(clinic: Clinic, pool: ThreadPoolExecutor) -> None:
    clinic.execute("create table share.admissions as select 'old' as t")
    with under_way(clinic, pool, replace=True) as running:
        clinic.execute("drop table share.admissions; create table share.admissions as select 'precious' as t")
    assert isinstance(refusal(running), UsageError)
    assert clinic.execute("table share.admissions") == [("precious",)]


def test_a_release_that_is_dropped_stays_dropped(clinic: Clinic, pool: ThreadPoolExecutor) -> None:
    released(clinic)
    with under_way(clinic, pool) as running:
        clinic.execute("drop table share.admissions")
    assert "was dropped or renamed while the run was under way" in refusal(running).message
    assert clinic.execute("select to_regclass('share.admissions')") == [(None,)]


# What a session does during a run, and the query that tells whether it has lasted.
DONE: dict[str, tuple[str, str]] = {
    "revoke": (
        "revoke select on share.admissions from {role}",
        "select has_table_privilege({literal}, 'share.admissions', 'select')",
    ),
    "grant": (
        "grant update on share.admissions to {role}; grant insert (age) on share.admissions to {role}",
        "select has_table_privilege({literal}, 'share.admissions', 'update'),"
        " has_column_privilege({literal}, 'share.admissions', 'age', 'insert')",
    ),
    "row-level security": (
        "create policy few on share.admissions using (age = 'x');"
        "alter table share.admissions enable row level security",
        "select c.relrowsecurity, (select count(*) from pg_policy) from pg_class as c"
        " where c.oid = 'share.admissions'::regclass",
    ),
    "index": (
        "create index by_age on share.admissions (lower(age))",
        "select pg_get_indexdef(to_regclass('share.by_age'))",
    ),
    "constraint": (
        "alter table share.admissions add constraint short check (length(zip) < 9)",
        "select pg_get_constraintdef(oid) from pg_constraint where conname = 'short'",
    ),
    "publication": (
        "alter table share.admissions replica identity full; create publication news for table share.admissions",
        "select count(*) from pg_publication_tables where tablename = 'admissions'",
    ),
    "owner": (
        "grant create, usage on schema share to {role}; alter table share.admissions owner to {role}",
        "select relowner::regrole::text from pg_class where oid = 'share.admissions'::regclass",
    ),
    "comments": (
        "comment on column share.admissions.age is 'in years'; comment on table share.admissions is 'mine'",
        "select col_description('share.admissions'::regclass, 1), obj_description('share.admissions'::regclass)",
    ),
    "statistics": (
        "create statistics share.pair on age, zip from share.admissions",
        "select pg_get_statisticsobjdef(oid) from pg_statistic_ext",
    ),
    "views": (
        "create view share.seen as select a from share.admissions as a;"
        "create materialized view share.kept as select age from share.admissions;"
        "create view share.renamed as select age from share.admissions; alter view share.renamed rename to v",
        "select count(*) from pg_depend where refobjid = 'share.admissions'::regclass and deptype = 'n'",
    ),
}


@pytest.mark.parametrize("kind", DONE)
def test_what_is_done_to_a_release_during_a_run_lasts(
    clinic: Clinic, pool: ThreadPoolExecutor, new_role: NewRole, kind: str
) -> None:
    role = new_role()
    statement, query = (text.replace("{literal}", f"'{role}'") for text in DONE[kind])
    released(clinic)
    clinic.execute("grant select on share.admissions to {role}", role=role)
    unlike = clinic.execute(query)
    with under_way(clinic, pool) as running:
        clinic.execute(statement, role=role)
        done = clinic.execute(query)
    assert done != unlike
    assert running.result(timeout=60)["released"] == 12
    assert clinic.execute(query) == done
    assert clinic.execute(ROWS) == [(12,)]


@pytest.mark.parametrize(
    ("name", "statement"),
    [
        (
            "trigger tell",
            "create trigger tell before delete on share.admissions"
            " execute function suppress_redundant_updates_trigger()",
        ),
        ("rule quiet", "create rule quiet as on delete to share.admissions do instead nothing"),
        ("forced row-level security admissions", "alter table share.admissions force row level security"),
        (
            "publication without a replica identity of the release news",
            "create publication news for table share.admissions",
        ),
        ("inheriting table share.child", "create table share.child () inherits (share.admissions)"),
    ],
)
def test_what_a_new_release_cannot_live_with_is_named_also_when_it_comes_during_the_run(
    clinic: Clinic, pool: ThreadPoolExecutor, name: str, statement: str
) -> None:
    released(clinic)
    with under_way(clinic, pool) as running:
        clinic.execute(statement)
    assert refusal(running).message == f"in the way of the new release: {name}"
    assert clinic.execute(ROWS) == [(24,)]


def test_columns_that_change_during_a_run_end_it(clinic: Clinic, pool: ThreadPoolExecutor) -> None:
    released(clinic)
    with under_way(clinic, pool) as running:
        clinic.execute("alter table share.admissions add column remark text")
    assert "the columns of share.admissions were changed" in refusal(running).message
    assert clinic.execute(ROWS) == [(24,)]


@pytest.mark.parametrize(
    "statement",
    [
        "insert into share.admissions values ('x', 'y', 'z')",
        "update share.admissions set age = 'x'",
        "delete from share.admissions where diagnosis = 'Mumpox'",
    ],
)
def test_rows_that_others_write_are_never_part_of_a_release(
    clinic: Clinic, pool: ThreadPoolExecutor, statement: str
) -> None:
    """A release of the run's rows and of a stranger's would not be the one that was verified."""
    released(clinic)
    with under_way(clinic, pool) as running:
        clinic.execute(statement)
        written = clinic.dump()
    error = refusal(running)
    assert isinstance(error, BusyError)
    assert "rows of share.admissions were changed by another session" in error.message
    assert clinic.dump() == written


def test_who_waits_to_alter_a_release_goes_first_and_holds_nobody_up(
    clinic: Clinic, pool: ThreadPoolExecutor, visitor: Connection
) -> None:
    """He waits for the run, and the other connection of the run would wait behind him."""
    released(clinic)
    visitor.execute("lock table share.admissions in row exclusive mode")
    running = pool.submit(run, clinic, clinic.policy())
    assert eventually(lambda: clinic.execute(WAITING))
    with psycopg.connect(clinic.dsn, autocommit=True, application_name="altering") as other:
        altering = pool.submit(
            other.execute, "alter table share.admissions add constraint sane check (age <> 'x')"
        )
        assert eventually(lambda: clinic.execute(WAITING.replace("'anondb'", "'altering'")))
        visitor.commit()
        altering.result(timeout=30)
    assert running.result(timeout=30)["released"] == 12
    assert clinic.execute("select count(*) from pg_constraint where conname = 'sane'") == [(1,)]


def test_a_release_that_was_emptied_is_filled_again(clinic: Clinic, pool: ThreadPoolExecutor) -> None:
    released(clinic)
    with under_way(clinic, pool) as running:
        clinic.execute("truncate share.admissions")
    running.result(timeout=60)
    assert clinic.execute(ROWS) == [(12,)]


def test_a_transaction_that_began_before_sees_the_old_release_and_holds_nobody_up(
    clinic: Clinic, visitor: Connection
) -> None:
    released(clinic)
    clinic.execute("create view share.plain as select * from share.admissions")
    visitor.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    visitor.execute("select 1")
    run(clinic, clinic.policy(), lock_timeout=0.2)
    assert visitor.execute(ROWS).fetchone() == (24,)
    run(clinic, clinic.policy(), lock_timeout=0.2)  # a reader that holds the release is not waited for
    assert visitor.execute("select count(*) from share.plain").fetchone() == (24,)
    visitor.commit()
    assert visitor.execute(ROWS).fetchone() == (12,)


def test_a_statement_that_began_before_sees_the_old_release(
    clinic: Clinic, pool: ThreadPoolExecutor, visitor: Connection
) -> None:
    """A STABLE function looks at the release with the snapshot of the statement that calls it."""
    released(clinic)
    clinic.execute(
        "create function share.counted(n int) returns bigint language plpgsql stable as $$ begin"
        " perform pg_advisory_lock_shared(907), pg_advisory_unlock_shared(907);"
        " return (select count(*) from share.admissions); end $$"
    )
    with clinic.gate_shut() as at_the_gate:
        counted = pool.submit(lambda: visitor.execute("select share.counted(1)").fetchone())
        at_the_gate()
        run(clinic, clinic.policy())
        assert clinic.execute(ROWS) == [(12,)]
    assert counted.result(timeout=60) == (24,)


def test_a_dump_that_began_before_has_the_old_release(clinic: Clinic) -> None:
    released(clinic)
    version = clinic.connection.info.server_version // 10000
    if (program := pg_dump(version)) is None:
        pytest.skip(f"there is no pg_dump of PostgreSQL {version}")
    with psycopg.connect(clinic.dsn) as exporter:
        exporter.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        row = exporter.execute("select pg_export_snapshot()").fetchone()
        assert row is not None
        run(clinic, clinic.policy())
        dumped = subprocess.run(
            [program, f"--snapshot={row[0]}", "--data-only", "--table=share.admissions", f"--dbname={clinic.dsn}"],
            capture_output=True, text=True, timeout=60, env=os.environ,
        )  # fmt: skip
    assert dumped.returncode == 0, dumped.stderr
    copied = dumped.stdout.split("FROM stdin;\n")[1].split("\\.\n")[0]
    assert len(copied.splitlines()) == 24


def test_a_reader_of_a_view_is_never_the_victim_of_a_release_with_other_columns(
    clinic: Clinic, pool: ThreadPoolExecutor, visitor: Connection
) -> None:
    released(clinic)
    clinic.execute("create view share.of_age as select age from share.admissions")
    visitor.execute("select count(*) from share.admissions")
    narrower = clinic.policy(COLUMNS | {"zip": IDENTIFIER})
    running = pool.submit(run, clinic, narrower)
    assert eventually(lambda: clinic.execute(WAITING))
    # the run waits for the table and has the view, the reader has the table and wants the view
    assert visitor.execute("select count(*) from share.of_age").fetchone() == (24,)
    visitor.commit()
    assert running.result(timeout=60)["released"] == 12
    assert visitor.execute("select count(*) from share.of_age").fetchone() == (12,)


def test_a_release_with_other_columns_has_the_grants_of_the_last_moment(
    clinic: Clinic, pool: ThreadPoolExecutor, new_role: NewRole
) -> None:
    role = new_role()
    released(clinic)
    clinic.execute("grant select on share.admissions to {role}", role=role)
    narrower = clinic.policy(COLUMNS | {"zip": IDENTIFIER}, source="hospital.gated")
    with under_way(clinic, pool, narrower) as running:
        clinic.execute(
            "revoke select on share.admissions from {role}; grant select (age) on share.admissions to {role};"
            "create index by_age on share.admissions (age)",
            role=role,
        )
    running.result(timeout=60)
    assert clinic.execute(
        f"select has_table_privilege('{role}', 'share.admissions', 'select'),"
        f" has_column_privilege('{role}', 'share.admissions', 'age', 'select'), to_regclass('share.by_age') is null"
    ) == [(False, True, False)]


@pytest.mark.parametrize("reshaped", [False, True])
def test_runs_that_read_what_the_other_writes_do_not_deadlock(
    clinic: Clinic, pool: ThreadPoolExecutor, reshaped: bool
) -> None:
    names = ["age", "diagnosis"] if reshaped else ["age", "zip", "diagnosis"]
    columns = {name: COLUMNS["diagnosis" if name == "diagnosis" else "zip"] for name in names}
    for name in ("one", "two"):
        clinic.has_released(clinic.policy(target=f"share.{name}"))
        view = "create view hospital.{name} as select age, zip, diagnosis from share.{name} where hospital.gate()"
        clinic.execute(view.replace(", zip", "") if reshaped else view, name=name)
    with clinic.gate_shut() as at_the_gate:
        running = [
            pool.submit(run, clinic, clinic.policy(columns, source=source, target=target), lock_timeout=2)
            for source, target in (("hospital.one", "share.two"), ("hospital.two", "share.one"))
        ]
        at_the_gate()
        assert eventually(lambda: len(clinic.execute(AT_THE_GATE)) == 2)
    errors = [future.exception(timeout=90) for future in running]
    if reshaped:  # they wait for each other; whoever gives up first lets the other one go on
        assert all(error is None or isinstance(error, DatabaseError) for error in errors)
        assert "deadlock" not in " ".join(map(str, errors))
    else:
        assert errors == [None, None]


def test_the_private_name_of_a_run_cannot_be_taken(clinic: Clinic) -> None:
    clinic.execute("create table share.anondb_run_1 (n int); create table share.anondb_run_2 (n int)")
    assert clinic.has_released()["run"] == 1
    assert clinic.has_released()["run"] == 2
    assert clinic.execute("select count(*) from share.anondb_run_1") == [(0,)]


def test_a_crowd_sees_whole_releases_and_loses_nothing(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmark of it with fewer runs; `python -m benchmarks meanwhile` has 200."""
    monkeypatch.setattr(meanwhile, "TARGETS", 2)
    monkeypatch.setattr(meanwhile, "RUNS", 3)
    found = meanwhile.run(Benchmark(rows=(1000,), dsn=server))
    assert found["crowd"]["wrong"] == {}
    assert found["crowd"]["done"]["runs"] == 6
    assert found["swaps"][0]["share_row_exclusive_ms"] > 0
