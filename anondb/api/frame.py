"""`anondb.anonymize`: a pandas DataFrame in, the release of it out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anondb.db.connection import find
from anondb.db.install import upgrade
from anondb.policy.accept import PolicyInput, policy_from
from anondb.run.plan import Options

if TYPE_CHECKING:
    import pandas

    from anondb.api.database import Database

_NAMES = {"source": "frame", "target": "release"}  # of which a policy for a frame needs none


def anonymize(
    frame: pandas.DataFrame,
    policy: PolicyInput,
    *,
    database: Database | None = None,
    dsn: str | None = None,
    options: Options | None = None,
) -> pandas.DataFrame:
    """The release of a frame's rows, as a new frame; its `attrs["anondb"]` has what `anondb run --json` prints.

    The rows go through the embedded PostgreSQL, or the database that is given or that ANONDB_DSN names, in a
    transaction that is rolled back: nothing stays there. `source` and `target` of the policy mean nothing here.
    The index is left out, and the rows come in another order.
    """
    from anondb.api.frame_columns import columns_of
    from anondb.report import frames
    from anondb.run.unkept import unkept

    wanted = policy_from({**_NAMES, **policy} if isinstance(policy, Mapping) else policy)
    columns = columns_of(frame)
    types = [(name, type_) for name, (type_, _) in columns.items()]
    rows = zip(*(cells for _, cells in columns.values()), strict=True)
    door = database.door if database is not None else find(dsn)
    try:
        if database is None and door.is_embedded:
            with door.open() as session:
                upgrade.upgrade(session)  # it is all ours
        with unkept(door, wanted, types, rows, options or Options()) as (connection, release, result):
            released = frames.rows(connection, release)
    finally:
        if database is None:
            door.close()
    told = result.as_json()
    released.attrs["anondb"] = {key: told[key] for key in told if key not in ("run", "source", "target")}
    return released
