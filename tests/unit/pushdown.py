"""What a statement must not have, if a distributed PostgreSQL is to carry it out where the rows lie."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp


@dataclass(frozen=True)
class Wide:
    """The tables that have rows in proportion to the source, as `schema.name`."""

    source: str
    release: str  # also under the name that it is written to first
    by: str = ""  # the column that the source is distributed by
    stages: Collection[str] = ()
    spread: bool = False  # the release is distributed

    def has(self, node: exp.Expr) -> bool:
        return any(self.is_wide(table) for table in node.find_all(exp.Table))

    def is_wide(self, table: exp.Table) -> bool:
        name = f"{table.db}.{table.name}"
        schema = self.release.partition(".")[0]
        return name in (self.source, self.release, *self.stages) or (
            table.db == schema and table.name.startswith("anondb_run_")
        )


def faults(text: str, wide: Wide) -> Iterator[str]:
    """What would make Citus pull rows, or reach no worker, in one statement."""
    statement = sqlglot.parse_one(text, dialect="postgres")
    if any(call.name.lower() == "set_config" for call in statement.find_all(exp.Anonymous)):
        yield "set_config reaches no worker"
    if isinstance(statement, exp.Select | exp.Insert | exp.Create) and wide.has(statement):
        yield from _reading(statement, wide)


def _reading(statement: exp.Expr, wide: Wide) -> Iterator[str]:
    top = statement if isinstance(statement, exp.Query) else statement.expression
    if not isinstance(top, exp.Query):
        return
    for node in top.find_all(exp.Order, exp.Limit, exp.Offset):
        inside = node.find_ancestor(exp.Window, exp.Query)
        if inside is not top and not isinstance(inside, exp.Window) and wide.has(inside or node):
            yield f"{node.key} below the top"
    for window in top.find_all(exp.Window):
        query = window.find_ancestor(exp.Query)
        keys = [part.name for part in window.args.get("partition_by") or ()]
        if query is not None and wide.has(query) and (not wide.by or wide.by not in keys):
            yield "a window that is not by the distribution column"
    sources = [table for table in top.find_all(exp.Table) if f"{table.db}.{table.name}" == wide.source]
    if sources:
        yield from sorted({f"{name} is ours" for name in _ours(top)})
    reads = any(wide.is_wide(table) for table in top.find_all(exp.Table))
    groups = any(query.args.get("group") for query in top.find_all(exp.Select)) or _is_one_row(top)
    if isinstance(statement, exp.Create) and reads and not groups:
        target = statement.find(exp.Table)
        if target is not None and not wide.is_wide(target):
            yield "rows into a temporary table"
    if isinstance(statement, exp.Insert) and reads and not groups:
        target = statement.find(exp.Table)
        if target is not None and not wide.is_wide(target):
            yield "rows into a table that is not distributed"
        if statement.expression.args.get("order") and target is not None and sources and wide.spread:
            yield "an order while rows travel"


def _ours(node: exp.Expr) -> Iterator[str]:
    for dot in node.find_all(exp.Dot):
        if dot.this.name == "anondb":
            yield f"anondb.{dot.expression.name}"
    for call in node.find_all(exp.Anonymous):
        if call.name.startswith("anondb."):
            yield call.name


def _is_one_row(query: exp.Query) -> bool:
    """All its columns are aggregates."""
    return isinstance(query, exp.Select) and all(
        part.find(exp.AggFunc) is not None for part in query.expressions
    )
