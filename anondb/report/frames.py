"""Released rows, and metrics of releases, as pandas frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.run import publish_sql as publish
from anondb.sqltree.build import Node
from anondb.sqltree.render import render
from anondb.sqltree.tables import Relation

if TYPE_CHECKING:
    import pandas


def rows(connection: Connection, release: Relation, limit: int | None = None) -> pandas.DataFrame:
    """The rows of a release, or the first of them."""
    return _frame(connection, render(publish.all_rows(release, limit)))


def class_sizes(connection: Connection, counted: Node) -> pandas.Series[int]:
    """The sizes of classes, counted as the method that made them tells them apart."""
    return _frame(connection, render(counted))["n"]


def of_records(records: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Records of ours, a row each."""
    import pandas

    return pandas.DataFrame([dict(record) for record in records])


def _frame(connection: Connection, query: str) -> pandas.DataFrame:
    import pandas  # takes longer to import than most commands take to run

    with translated("reading the release"), connection.cursor() as cursor:
        cursor.execute(query.encode())
        names = [column.name for column in cursor.description or ()]
        return pandas.DataFrame(cursor.fetchall(), columns=names)
