"""anondb procedure: what it writes and refuses, how it is called, and what a call tells when it cannot go on."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.db.connection import Connection
from tests.acceptance.clinic import LEFTOVERS, Clinic, eventually
from tests.acceptance.test_releases import OF_WARDS, WARDS

NAME = "share.refresh_wards"
CALL = "call share.refresh_wards()"
SETTINGS = (
    "select current_setting('search_path'), current_setting('row_security'), current_setting('work_mem')"
)
LAST = "select r.status, r.error from anondb.run as r order by r.id desc limit 1"


@pytest.fixture(autouse=True)
def unsaid(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a policy does not say is as for users."""
    monkeypatch.delenv("ANONDB_CHANGES")


@pytest.fixture
def wards(clinic: Clinic) -> Clinic:
    """A release that has been made once."""
    clinic.execute(WARDS)
    return clinic


def policy(wards: Clinic, **said: str) -> Any:
    said = {"privacy": "k = 4\nsuppression = 0.1", "source": "hospital.wards", "changes": "hold"} | said
    return wards.policy(OF_WARDS, **said)


@pytest.fixture
def written(wards: Clinic) -> Clinic:
    """With its procedure."""
    rules = policy(wards)
    wards.publish(rules)
    done = wards.cli("procedure", rules, "--name", NAME, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["call"] == 'call "share"."refresh_wards"()'
    return wards


def refused(wards: Clinic, code: str, call: str = CALL) -> str:
    with pytest.raises(psycopg.Error) as caught:
        wards.execute(call)
    assert caught.value.sqlstate == code, caught.value
    return f"{caught.value.diag.message_primary} {caught.value.diag.message_hint}"


def goes(wards: Clinic) -> bool:
    """Whether a call goes well: the server sees late that another session has ended."""
    try:
        return wards.execute(CALL) == []
    except psycopg.Error:
        return False


def complaint(wards: Clinic, code: int, *arguments: Any) -> str:
    done = wards.cli(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr


def test_a_call_refreshes_and_is_in_the_history(written: Clinic) -> None:
    written.execute(
        "insert into hospital.wards select 1000 + i, 26, 'Z0', 'Mumpox' from generate_series(1, 4) as i"
    )
    written.execute("listen anondb_run")
    before, notices = written.execute(SETTINGS), []
    written.connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    written.execute(CALL)
    assert notices == []
    assert written.execute("select sum(a.n) from (select count(*) as n from share.admissions) as a") == [
        (124,)
    ]
    assert written.execute(LAST) == [("done", None)]
    [told] = list(written.connection.notifies(timeout=5, stop_after=1))
    assert json.loads(told.payload) | {"run": 0} == {
        "run": 0,
        "target": "share.admissions",
        "outcome": "done",
    }
    names = [name for (name,) in written.execute("select s.name from anondb.run_step as s where s.run = 2")]
    assert {"frequencies", "compare with ledger", "replace rows"} <= set(names)
    assert written.execute(LEFTOVERS) == []
    assert written.execute(SETTINGS) == before
    report = written.cli("report", "last", "--out", written.folder / "report.html")
    assert report.returncode == 0, report.stderr
    assert written.cli("verify", "share.admissions").returncode == 0


def steps(wards: Clinic, run: int) -> dict[tuple[str, str], str]:
    """The statements of a run, without the numbers and names that each run has of its own."""
    found = {}
    for number, stage, name, text in wards.execute(
        "select s.run, s.stage, s.name, s.sql from anondb.run_step as s"
    ):
        if number == run:
            plain = re.sub(r"anondb_run_\d+_[0-9a-f]+", "fresh", " ".join(text.split()))
            found[stage, name] = re.sub(r'"r\d+_', '"r_', plain)
    return found


def test_its_statements_are_those_of_a_run(written: Clinic) -> None:
    """It leaves the search and the figures out, and numbers codes for more values."""
    written.publish(policy(written))
    written.execute(CALL)
    run, called = steps(written, 2), steps(written, 3)
    assert called.keys() <= run.keys()
    assert {stage for stage, _ in run.keys() - called.keys()} == {"prepare", "search", "evaluate", "swap"}
    for step in ("dictionary q1", "labels q2", "key statistics"):
        assert called["encode", step] == run["encode", step]
    for stage, step in (("publish", "insert release"), ("verify", "count classes")):
        assert called[stage, step] == run[stage, step]
    assert called["publish", "compare with ledger"] == run["publish", "compare with ledger"]


def test_what_no_longer_fits_is_refused_and_recorded(written: Clinic) -> None:
    written.execute("alter table hospital.wards add column town text")
    assert "columns" in refused(written, "SA144")
    written.execute("alter table hospital.wards drop column town")
    written.execute(CALL)
    written.execute("alter table hospital.wards drop constraint wards_pkey")
    assert "key" in refused(written, "SA144")
    written.execute("alter table hospital.wards add primary key (id)")
    written.execute("create table hospital.aside as select * from hospital.wards")
    written.execute("truncate hospital.wards")
    assert "is empty" in refused(written, "SA144")
    assert written.execute(LAST) == [("failed", "source hospital.wards is empty")]
    written.execute("insert into hospital.wards select * from hospital.aside")
    written.execute(
        "update share.admissions set diagnosis = 'Newitis' where ctid = (select min(a.ctid) from share.admissions as a)"
    )
    assert "changed by hand" in refused(written, "SA144")
    assert written.execute(LEFTOVERS) == []


def test_values_outside_a_stored_hierarchy_are_refused(wards: Clinic) -> None:
    csv = wards.folder / "zip.csv"
    csv.write_text("Z0;south;*\nZ1;north;*\n")
    assert wards.cli("vgh", "load", "zips", csv).returncode == 0
    columns = OF_WARDS | {"zip": '{ role = "quasi", hierarchy = "zips" }'}
    rules = wards.policy(columns, source="hospital.wards", privacy="k = 4\nsuppression = 0.1", changes="hold")
    wards.publish(rules)
    assert wards.cli("procedure", rules, "--name", NAME).returncode == 0
    wards.execute(CALL)
    wards.execute("insert into hospital.wards values (5000, 30, 'Z7', 'Mumpox')")
    said = refused(wards, "SA144")
    assert 'column "zip": distinct values outside the hierarchy: 1' in said
    assert "Z7" not in said
    assert "Z7" not in wards.history()


def inside(connection: Connection, isolation: str) -> None:
    """A call after another statement of the same transaction."""
    with connection.transaction():
        connection.execute(f"set transaction isolation level {isolation}".encode())
        time.sleep(0.01)
        connection.execute(CALL)
        assert connection.execute("select current_setting('lock_timeout')").fetchall() == [("0",)]


def test_inside_a_transaction_it_must_be_repeatable_read(written: Clinic) -> None:
    with pytest.raises(psycopg.Error, match="REPEATABLE READ"):
        inside(written.connection, "read committed")
    with pytest.raises(psycopg.Error, match="invalid transaction termination"):
        written.execute(f"do $$ begin {CALL}; exception when division_by_zero then null; end $$")

    def done() -> bool:
        """Others of this server may commit meanwhile, and then it says so."""
        with suppress(psycopg.Error):
            inside(written.connection, "repeatable read")
        return len(written.execute("select r.id from anondb.run as r where r.status = 'done'")) == 2

    assert eventually(done)
    written.execute("create table hospital.loads (i int)")
    written.execute(
        f"create function hospital.load() returns trigger language plpgsql as 'begin {CALL}; return null; end'"
    )
    written.execute("create trigger nightly after insert on hospital.loads execute function hospital.load()")
    assert "transaction" in refused(written, "SA144", "insert into hospital.loads values (1)")


def test_what_others_committed_meanwhile_is_not_missed(written: Clinic) -> None:
    connection = written.connection
    with psycopg.connect(written.dsn, autocommit=True) as other, connection.transaction():
        connection.execute("set transaction isolation level repeatable read")
        connection.execute("select count(*) from hospital.wards")
        other.execute("insert into share.admissions select * from share.admissions limit 1")
        with pytest.raises(psycopg.Error, match="others have committed"), connection.transaction():
            connection.execute(CALL)


def test_a_load_that_is_under_way_is_waited_for_and_seen_whole(written: Clinic) -> None:
    with psycopg.connect(written.dsn) as loader:
        loader.execute("truncate hospital.wards")
        loader.execute(WARDS[WARDS.index("insert") :].encode())
        loader.execute(
            "insert into hospital.wards select 2000 + i, 26, 'Z0', 'Mumpox' from generate_series(1, 4) as i"
        )

        def call() -> None:
            with psycopg.connect(written.dsn, autocommit=True) as caller:
                caller.execute(CALL)

        calling = threading.Thread(target=call)
        calling.start()
        waiting = (
            "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
        )
        assert eventually(lambda: bool(written.execute(waiting)))
        loader.commit()
        calling.join(30)
    assert written.execute("select count(*) from share.admissions") == [(124,)]


def test_a_second_call_is_told_and_leaves(written: Clinic) -> None:
    with psycopg.connect(written.dsn, autocommit=True) as other:
        other.execute("select pg_advisory_lock(1634627438, hashtext('share.admissions'))")
        assert "another run is publishing share.admissions" in refused(written, "SA503")
    assert eventually(lambda: goes(written))
    free = "select count(*) from pg_locks as l where l.locktype = 'advisory' and l.pid = pg_backend_pid()"
    assert written.execute(free) == [(0,)]


def test_a_cancelled_call_is_recorded_and_leaves_no_lock(written: Clinic) -> None:
    with psycopg.connect(written.dsn) as holder:
        holder.execute("lock table hospital.wards in access exclusive mode")
        written.execute("set statement_timeout = '300ms'")
        assert "statement timeout" in refused(written, "57014")
        written.execute("reset statement_timeout")
    assert written.execute(LAST)[0][0] == "interrupted"
    assert eventually(lambda: goes(written))


def test_names_that_are_taken_are_not_overwritten(wards: Clinic, new_role: Callable[[], str]) -> None:
    rules = policy(wards)
    assert "the ledger knows no release" in complaint(wards, 2, "procedure", rules, "--name", NAME)
    wards.publish(rules)
    wards.execute("create function share.refresh_wards() returns int language sql return 1")
    assert "something else" in complaint(wards, 2, "procedure", rules, "--name", NAME)
    wards.execute("drop function share.refresh_wards()")
    assert "no schema" in complaint(wards, 2, "procedure", rules, "--name", "nowhere.refresh")
    assert "needs its schema" in complaint(wards, 2, "procedure", rules, "--name", "refresh")
    assert "there is no procedure" in complaint(wards, 2, "procedure", rules, "--name", NAME, "--check")
    done = wards.cli("procedure", rules, "--name", NAME, "--print")
    assert done.stdout.startswith('create or replace procedure "share"."refresh_wards"()')
    assert wards.execute("select from pg_proc where proname = 'refresh_wards'") == []
    assert wards.cli("procedure", rules, "--name", NAME).returncode == 0
    assert wards.cli("procedure", rules, "--name", NAME).returncode == 0
    assert wards.cli("procedure", rules, "--name", NAME, "--check").returncode == 0
    other = policy(wards, privacy="k = 5\nsuppression = 0.1")
    wards.publish(other)
    assert "not what would be written today" in complaint(
        wards, 2, "procedure", other, "--name", NAME, "--check"
    )
    assert "of another policy" in refused(wards, "SA144")
    stranger = new_role()
    may = "select has_function_privilege({role}::text, 'share.refresh_wards()', 'execute')"
    assert wards.execute(may.replace("{role}", f"'{stranger}'")) == [(False,)]


@pytest.mark.parametrize("method", ["mondrian", 'datafly"\nrecode = "local'])
def test_what_needs_python_is_refused_with_the_reason(wards: Clinic, method: str) -> None:
    plain = {"id": OF_WARDS["id"], "age": '{ role = "quasi" }', "zip": '{ role = "quasi" }'}
    whole = OF_WARDS if method.startswith("datafly") else plain | {"diagnosis": OF_WARDS["diagnosis"]}
    rules = wards.policy(whole, source="hospital.wards", privacy="k = 4", method=f'algorithm = "{method}"')
    done = wards.cli("procedure", rules, "--name", NAME)
    assert done.returncode == 2
    assert "needs Python" in done.stderr


def test_a_release_that_is_judged_with_others_has_none(wards: Clinic) -> None:
    rules = policy(wards, privacy='k = 4\nsuppression = 0.1\nagainst = ["share.*"]')
    wards.publish(rules)
    assert "has no procedure" in complaint(wards, 2, "procedure", rules, "--name", NAME)


def test_a_version_that_is_not_installed_any_more_refuses(written: Clinic) -> None:
    written.execute("update anondb.install set functions_sha256 = repeat('0', 64)")
    assert "other functions" in refused(written, "SA144")
    assert "share.refresh_wards" not in written.cli("db", "upgrade").stdout  # the functions are the same
    assert eventually(lambda: goes(written))


def test_an_upgrade_names_procedures_of_another_version(written: Clinic) -> None:
    [(text,)] = written.execute("select pg_get_functiondef('share.refresh_wards()'::regprocedure)")
    start = text.index("functions ") + len("functions ")
    written.execute(text.replace(text[start : start + 64], "0" * 64))
    assert "other functions" in refused(written, "SA144")
    told = written.cli("db", "upgrade").stdout
    assert "written anew" in told
    assert "share.refresh_wards" in told


def test_an_owner_who_may_no_longer_read_the_source_is_told(
    written: Clinic, new_role: Callable[[], str]
) -> None:
    role = new_role()
    grants = """
    grant usage on schema hospital, share, anondb to {role}; grant create on schema share to {role};
    grant select on hospital.wards to {role};
    """
    written.connection.execute(sql.SQL(grants).format(role=sql.Identifier(role)))
    written.connection.execute(
        sql.SQL("alter procedure share.refresh_wards() owner to {}").format(sql.Identifier(role))
    )
    written.connection.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
    refused(written, "42501")
    written.execute("reset role")


def granted(wards: Clinic, role: str) -> None:
    """What the README says that a role which runs policies needs, and nothing else."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    [grants] = re.findall(r"grant usage on schema anondb to nightly;.*?(?=```)", readme, re.DOTALL)
    own = f"""
    grant usage on schema hospital, share to nightly; grant create on schema share to nightly;
    grant select on hospital.wards to nightly; grant temporary on database {wards.connection.info.dbname} to nightly;
    """
    wards.connection.execute((own + grants).replace("nightly", role).encode())


def test_a_role_with_the_documented_grants_publishes_and_refreshes(
    wards: Clinic, new_role: Callable[[], str]
) -> None:
    """The ledger is held by row-level security, which a run switches off for its source."""
    role, rules = new_role(), policy(wards)
    granted(wards, role)
    as_role = make_conninfo(wards.dsn, options=f"-c role={role}")
    assert wards.cli("run", rules, ANONDB_DSN=as_role).returncode == 0
    assert wards.cli("procedure", rules, "--name", NAME, ANONDB_DSN=as_role).returncode == 0
    wards.execute(
        "insert into hospital.wards select 1000 + i, 26, 'Z0', 'Mumpox' from generate_series(1, 4) as i"
    )
    with psycopg.connect(as_role, autocommit=True) as connection:
        connection.execute(CALL)
    assert wards.execute("select count(*) from share.admissions") == [(124,)]
    assert wards.cli("run", rules, ANONDB_DSN=as_role).returncode == 0


def test_without_pg_cron_the_schedule_is_printed(written: Clinic) -> None:
    rules = policy(written)
    done = written.cli("procedure", rules, "--name", NAME, "--schedule", "15 2 * * *")
    assert "select cron.schedule($t$anondb share.refresh_wards$t$, $t$15 2 * * *$t$" in done.stdout
    written.execute(
        "alter database {here} set cron.database_name = 'postgres'", here=written.connection.info.dbname
    )
    done = written.cli("procedure", rules, "--name", NAME, "--schedule", "15 2 * * *")
    assert "select cron.schedule_in_database(" in done.stdout
    assert f"$t${written.connection.info.dbname}$t$);" in done.stdout
    said = complaint(written, 4, "procedure", rules, "--name", NAME, "--schedule", "15 2 * * *", "--apply")
    assert "in database postgres" in said
    written.execute("alter database {here} reset cron.database_name", here=written.connection.info.dbname)
    [(has_cron,)] = written.execute("select exists (select from pg_extension where extname = 'pg_cron')")
    if not has_cron:
        said = complaint(
            written, 4, "procedure", rules, "--name", NAME, "--schedule", "15 2 * * *", "--apply"
        )
        assert "has no pg_cron" in said
