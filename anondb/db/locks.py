"""Advisory locks: one run at a time on a target, and the sign of life of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import cast

import psycopg

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import BusyError

# First keys of our two-key advisory locks; any numbers that others are unlikely to use.
TARGETS = 0x616E6F6E
RUNS = 0x616E6F72

_TRY = "select pg_catalog.pg_try_advisory_lock(%s, pg_catalog.hashtext(%s))"
_RELEASE = "select pg_catalog.pg_advisory_unlock_all()"
_HOLD = "select pg_catalog.pg_try_advisory_lock(%s, (%s::bigint %% 2147483647)::int)"


@contextmanager
def target_held(connection: Connection, target: str) -> Iterator[None]:
    """Holds the target. Taken before the transaction begins, so that its snapshot shows what the run
    before has left; given back in the end, as the server needs a moment to see that a connection closed."""
    with translated("locking the target"):
        row = cast(tuple[bool], connection.execute(_TRY, (TARGETS, target)).fetchone())
    if not row[0]:
        raise BusyError(
            f"another run is publishing {target}",
            hint="wait for it to end, or look: select * from anondb.run",
        )
    try:
        yield
    finally:
        with suppress(psycopg.Error):  # a broken connection holds nothing
            connection.execute(_RELEASE)


def hold_run(connection: Connection, run: int) -> None:
    """Shows that the run lives, until its target is given back."""
    with translated("locking the run"):
        connection.execute(_HOLD, (RUNS, run))
