"""The physical limit: what PostgreSQL needs at the least to read and count the rows once, and to write them once.

The honest limit is what a release needs at the least: its rows are in an order that does not say that of the source,
and they are counted once more, from the table that was written.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from psycopg import sql

from anondb.db.connection import Connection

# counted in the server, so that no time goes into sending the groups
_GROUP = sql.SQL("select count(*) from (select {quasi}, count(*) from {source} group by {quasi}) as g")
_COPY = sql.SQL("create table bench.copy as select * from {source}")
_SORTED = sql.SQL(
    "create table bench.copy as select s.* from {source} as s order by hash_record_extended(s, 0)"
)


def measure(connection: Connection, source: sql.Identifier, quasi: Sequence[str]) -> dict[str, float]:
    """Seconds of one grouping and of one plain table of the same rows, each a transaction of its own."""
    names = {"quasi": sql.SQL(", ").join(map(sql.Identifier, quasi)), "source": source}
    group = _seconds(connection, _GROUP.format(**names))
    copy = _seconds(connection, _COPY.format(**names))
    connection.execute("drop table bench.copy")
    return {"group": round(group, 4), "create_table_as": round(copy, 4), "sum": round(group + copy, 4)}


def honest(connection: Connection, source: sql.Identifier, quasi: Sequence[str]) -> dict[str, float]:
    """The same with the rows sorted by 8 bytes, and counted again where they were written."""
    names = {"quasi": sql.SQL(", ").join(map(sql.Identifier, quasi)), "source": source}
    plain = measure(connection, source, quasi)
    ordered = _seconds(connection, _SORTED.format(**names))
    again = _seconds(connection, _GROUP.format(**names | {"source": sql.Identifier("bench", "copy")}))
    connection.execute("drop table bench.copy")
    return {
        **plain,
        "create_table_sorted": round(ordered, 4),
        "group_again": round(again, 4),
        "honest": round(plain["group"] + ordered + again, 4),
    }


def _seconds(connection: Connection, statement: sql.Composed) -> float:
    started = time.perf_counter()
    connection.execute(statement)
    return time.perf_counter() - started
