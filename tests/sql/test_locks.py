"""A target belongs to one run at a time, and to nobody from the moment that the run has ended."""

from __future__ import annotations

import psycopg
import pytest

from anondb.db.connection import Connection
from anondb.db.locks import hold_run, target_held
from anondb.errors import BusyError


def test_a_held_target_is_refused_to_others_and_free_at_once_afterwards(
    connection: Connection, dsn: str
) -> None:
    with psycopg.connect(dsn, autocommit=True) as other:
        with target_held(connection, "share.admissions"):
            hold_run(connection, 1)
            with pytest.raises(BusyError, match=r"share\.admissions"), target_held(other, "share.admissions"):
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
    with pytest.raises(ZeroDivisionError), target_held(broken, "share.admissions"):
        raise ZeroDivisionError(broken.close())
