"""Advisory locks: one run at a time on a target, and the sign of life of a run."""

from __future__ import annotations

from typing import cast

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import BusyError

# First keys of our two-key advisory locks; any numbers that others are unlikely to use.
TARGETS = 0x616E6F6E
RUNS = 0x616E6F72

_TRY = "select pg_catalog.pg_try_advisory_lock(%s, pg_catalog.hashtext(%s))"
_HOLD = "select pg_catalog.pg_try_advisory_lock(%s, (%s::bigint %% 2147483647)::int)"


def hold_target(connection: Connection, target: str) -> None:
    """Holds the target until the connection closes. Taken before the transaction begins, so that its
    snapshot shows what the run before has left."""
    with translated("locking the target"):
        row = cast(tuple[bool], connection.execute(_TRY, (TARGETS, target)).fetchone())
    if not row[0]:
        raise BusyError(
            f"another run is publishing {target}",
            hint="wait for it to end, or look: select * from anondb.run",
        )


def hold_run(connection: Connection, run: int) -> None:
    """Shows that the run lives, until the connection closes."""
    with translated("locking the run"):
        connection.execute(_HOLD, (RUNS, run))
