"""A target belongs to one run at a time, and to nobody from the moment that the run has ended."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from anondb.db.connection import Connection
from anondb.db.locks import TARGETS, hold_run, target_held
from anondb.errors import BusyError


def test_a_held_target_is_refused_to_others_and_free_at_once_afterwards(
    connection: Connection, dsn: str
) -> None:
    with psycopg.connect(dsn, autocommit=True) as other:
        with target_held(connection, "share.admissions"):
            hold_run(connection, 1)
            with pytest.raises(BusyError, match=r"share\.admissions"), target_held(other, "share.admissions"):
                pass
            pid = connection.info.backend_pid
            with (
                pytest.raises(BusyError, match=f"another run is .*: session {pid} of role .* since 20"),
                target_held(other, "share.admissions"),
            ):
                pass
            with target_held(other, "share.visits"):
                pass
        with target_held(other, "share.admissions"):
            pass


def test_an_error_gives_the_target_back_too(connection: Connection, dsn: str) -> None:
    with pytest.raises(ZeroDivisionError), target_held(connection, "share.admissions"):
        raise ZeroDivisionError
    with psycopg.connect(dsn, autocommit=True) as other, target_held(other, "share.admissions"):
        pass


def test_a_connection_that_broke_in_between_hides_no_error(dsn: str) -> None:
    broken = psycopg.connect(dsn, autocommit=True)

    def break_and_fail() -> None:
        broken.close()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), target_held(broken, "share.admissions"):
        break_and_fail()


def test_a_lock_that_no_run_holds_is_told_with_its_session(
    connection: Connection, dsn: str, new_role: Callable[[], str]
) -> None:
    """As a role sees it that may not see much of other sessions."""
    take = "select pg_advisory_lock(%s, hashtext('share.admissions'))"
    with psycopg.connect(dsn, autocommit=True, application_name="psql") as stranger:
        stranger.execute(take, [TARGETS])
        pid = stranger.info.backend_pid
        connection.execute(f'set role "{new_role()}"'.encode())
        said = f"held by a stranger, no run of anondb: session {pid} of role .*, psql"
        with pytest.raises(BusyError, match=said) as told, target_held(connection, "share.admissions"):
            pass
        connection.execute("reset role")
    assert f"pg_terminate_backend({pid})" in str(told.value.hint)
