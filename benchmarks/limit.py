"""The physical limit: what PostgreSQL needs at the least to read and count the rows once, and to write them once."""

from __future__ import annotations

import time
from collections.abc import Sequence

from psycopg import sql

from anondb.db.connection import Connection

# counted in the server, so that no time goes into sending the groups
_GROUP = sql.SQL("select count(*) from (select {quasi}, count(*) from {source} group by {quasi}) as g")
_COPY = sql.SQL("create table bench.copy as select * from {source}")


def measure(connection: Connection, source: sql.Identifier, quasi: Sequence[str]) -> dict[str, float]:
    """Seconds of one grouping and of one plain table of the same rows, each a transaction of its own."""
    names = {"quasi": sql.SQL(", ").join(map(sql.Identifier, quasi)), "source": source}
    group = _seconds(connection, _GROUP.format(**names))
    copy = _seconds(connection, _COPY.format(**names))
    connection.execute("drop table bench.copy")
    return {"group": round(group, 4), "create_table_as": round(copy, 4), "sum": round(group + copy, 4)}


def _seconds(connection: Connection, statement: sql.Composed) -> float:
    started = time.perf_counter()
    connection.execute(statement)
    return time.perf_counter() - started
