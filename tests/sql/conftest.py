"""A database in which one release stands and the next one waits, and one that serves all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from anondb.db.connection import Connection
from tests.servers import new_database
from tests.sql.releases import make_fresh


@pytest.fixture
def release(connection: Connection) -> Connection:
    """A release that stands, with an old row, and a fresh one with two new rows."""
    connection.execute(
        "create schema share;"
        "create table share.admissions (age text, zip text, stay int);"
        "insert into share.admissions values ('old', '*', 1)"
    )
    make_fresh(connection)
    return connection


@pytest.fixture(scope="module")
def shared(server: str, template: str) -> Iterator[Connection]:
    """A database with anondb in it, for tests that leave nothing behind."""
    with new_database(server, template) as dsn, psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def rolled_back(shared: Connection) -> Iterator[Connection]:
    """The same, without what the test does."""
    with shared.transaction(force_rollback=True):
        yield shared
