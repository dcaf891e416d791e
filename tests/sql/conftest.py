"""A database in which one release stands and the next one waits."""

from __future__ import annotations

import pytest

from anondb.db.connection import Connection
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
