"""Calls in SQL that are refused, each with a code of its own and a hint."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from anondb.db.connection import Connection


def refused(connection: Connection, state: str, query: str, *parameters: Any) -> psycopg.errors.Diagnostic:
    """What is said when a query is refused with this SQLSTATE."""
    with pytest.raises(psycopg.Error) as caught:
        connection.execute(query.encode(), parameters)
    assert caught.value.sqlstate == state
    assert caught.value.diag.message_hint
    return caught.value.diag
