"""A run that is cut off in the middle leaves the old release, no scratch, and a word in the history."""

from __future__ import annotations

import os
import signal

import psycopg
import pytest

from tests.acceptance.clinic import Clinic, complaint, ended


@pytest.mark.parametrize(
    ("sign", "code", "word"),
    [
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "hung up"),
    ],
)
def test_a_signal_in_the_middle_ends_the_run_and_changes_nothing(
    clinic: Clinic, sign: signal.Signals, code: int, word: str
) -> None:
    clinic.has_released()
    with clinic.unchanged("interrupted"), clinic.gate_shut() as wait_for_backend:
        running = clinic.start("run", clinic.policy(source="hospital.gated"))
        wait_for_backend()
        running.send_signal(sign)
        done = ended(running)
        assert (done.returncode, done.stdout) == (code, "")
        assert done.stderr == f"error: {word}; what was not finished is undone\n"


def test_a_connection_that_is_cut_in_the_middle_is_told(clinic: Clinic) -> None:
    clinic.has_released()
    with clinic.unchanged(), clinic.gate_shut() as wait_for_backend:
        running = clinic.start("run", clinic.policy(source="hospital.gated"))
        clinic.connection.execute("select pg_terminate_backend(%s)", (wait_for_backend(),))
        said = complaint(ended(running), 4)
    assert "terminating connection due to administrator command" in said


def test_a_cancelled_statement_is_told(clinic: Clinic) -> None:
    clinic.has_released()
    with clinic.unchanged(), clinic.gate_shut() as wait_for_backend:
        running = clinic.start("run", clinic.policy(source="hospital.gated"))
        clinic.connection.execute("select pg_cancel_backend(%s)", (wait_for_backend(),))
        assert "canceling statement" in complaint(ended(running), 4)


def test_a_run_whose_process_is_killed_is_found_lost_by_the_next(clinic: Clinic) -> None:
    clinic.has_released()
    before = clinic.dump()
    with clinic.gate_shut() as wait_for_backend:
        running = clinic.start("run", clinic.policy(source="hospital.gated"))
        pid = wait_for_backend()
        os.kill(running.pid, signal.SIGKILL)
        ended(running)
        clinic.connection.execute("select pg_terminate_backend(%s, 20000)", (pid,))
    assert clinic.leftovers() == []
    assert clinic.dump() == before
    clinic.publish()
    assert [status for status, _ in clinic.runs()] == ["done", "lost", "done"]


def test_the_second_of_two_runs_on_one_target_is_told_and_leaves(clinic: Clinic) -> None:
    policy = clinic.policy(source="hospital.gated")
    with clinic.gate_shut() as wait_for_backend:
        first = clinic.start("run", policy, "--lock-timeout", "60")
        wait_for_backend()
        with clinic.unchanged(None):
            assert "another run is publishing share.admissions" in complaint(clinic.cli("run", policy), 5)
        assert clinic.publish(clinic.policy(target="share.another"))["released"] == 24
    assert ended(first).returncode == 0
    assert [status for status, _ in clinic.runs()] == ["done", "done"]


def test_a_writer_who_holds_the_old_release_is_not_waited_for_beyond_the_limit(clinic: Clinic) -> None:
    clinic.has_released()
    with psycopg.connect(clinic.dsn) as writer:
        writer.execute("lock table share.admissions in row exclusive mode")
        with clinic.unchanged():
            said = complaint(clinic.cli("run", clinic.policy(), "--lock-timeout", "0.5"), 4)
        assert "lock timeout" in said
        assert "--lock-timeout" in said
    clinic.publish()


def test_a_source_that_somebody_holds_is_not_waited_for_beyond_the_limit(clinic: Clinic) -> None:
    clinic.has_released()
    with psycopg.connect(clinic.dsn) as holder:
        holder.execute("lock table hospital.admissions")
        failed = clinic.cli("run", clinic.policy(), "--lock-timeout", "0.5")
    assert "lock timeout" in complaint(failed, 4)
    assert [status for status, _ in clinic.runs()] == ["done", "failed"]


def test_readers_see_the_old_release_while_the_new_one_is_written(clinic: Clinic) -> None:
    clinic.has_released()
    before = clinic.dump()
    clinic.execute("delete from hospital.admissions where age < 26")
    with clinic.gate_shut() as wait_for_backend:
        running = clinic.start("run", clinic.policy(source="hospital.gated"))
        wait_for_backend()
        assert clinic.dump() == before
    assert ended(running).returncode == 0
    assert clinic.dump() != before


def test_a_source_that_changes_between_the_passes_is_not_published(clinic: Clinic) -> None:
    """A view is looked at once before its first pass, as nobody knows how many values it has."""
    clinic.has_released()
    clinic.execute(
        "create sequence hospital.clock; create view hospital.moving as"
        " select a.* from hospital.admissions as a where nextval('hospital.clock') <= 54"
    )
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(source="hospital.moving")), 1)
    assert "24 records were to be released, 6 were written and 6 are there" in said


def test_an_error_of_the_source_is_told_without_the_data_that_it_quotes(clinic: Clinic) -> None:
    clinic.has_released()
    clinic.execute(
        "create view hospital.broken as select a.name, a.name::int as age, a.zip, a.diagnosis"
        " from hospital.admissions as a"
    )
    with clinic.unchanged():
        said = complaint(clinic.cli("run", clinic.policy(source="hospital.broken")), 4)
    assert "SQLSTATE 22P02" in said
    assert "Person" not in said
    assert not any("Person" in str(error) for _, error in clinic.runs())
