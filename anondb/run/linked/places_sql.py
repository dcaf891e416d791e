"""Where the scratch tables of linked tables lie: temporary ones are read by one process, those of `anondb_work` by all.

What is made in `anondb_work` is unlogged, nobody else ever sees it, and it is dropped in the run's own transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from anondb.run.linked.plan import LinkedScratch
from anondb.sqltree.build import (
    call,
    cast,
    create_scratch,
    every,
    ident,
    named,
    number,
    query,
    scratch,
    star,
    string,
    table,
)
from anondb.sqltree.tables import SHARED, TEMPORARY

_ROW_BYTES = 64  # of a row of a source, at the least


def at(names: LinkedScratch, name: str, alias: str | None = None) -> exp.Expr:
    """A scratch table, wherever it was made."""
    return table(name, SHARED, alias) if name in names.shared else scratch(name, alias)


def create(names: LinkedScratch, name: str, rows: exp.Query) -> exp.Create:
    """A scratch table that all processes of the run are to read, if there are several."""
    if not names.several_processes:
        return create_scratch(name, rows)
    names.shared.add(name)
    unlogged = exp.Properties(expressions=[exp.UnloggedProperty()])
    return exp.Create(this=table(name, SHARED), kind="TABLE", expression=rows, properties=unlogged)


def analyze(names: LinkedScratch, name: str) -> exp.Analyze:
    return exp.Analyze(tables=[at(names, name)])


def home(names: LinkedScratch, name: str) -> str:
    return SHARED if name in names.shared else TEMPORARY


def drop(names: LinkedScratch, made: Sequence[str]) -> exp.Drop:
    return exp.Drop(tables=[at(names, name) for name in made], kind="TABLE")


def gains(rows: int) -> exp.Select:
    """Whether the server would share out so many rows among processes, and this role may put down what they read."""
    size = cast(number(rows * _ROW_BYTES), "bigint")
    workers = cast(call("current_setting", string("max_parallel_workers_per_gather")), "int")
    least = call("pg_size_bytes", call("current_setting", string("min_parallel_table_scan_size")))
    conditions = [
        exp.GTE(this=size, expression=least),
        exp.GT(this=workers, expression=number(0)),
        call("has_schema_privilege", string(SHARED), string("create")),
    ]
    return exp.select(named(every(conditions), "gains"))


def keys(names: LinkedScratch) -> exp.Create:
    return create(names, names.keys.keys, query([star("k")], scratch(names.keys.keys, "k")))


def emptied(names: LinkedScratch, name: str) -> exp.TruncateTable:
    return exp.TruncateTable(expressions=[at(names, name)])


def filled(names: LinkedScratch, made: exp.Expr) -> exp.Insert:
    """The rows of a scratch table that is there, and empty."""
    assert isinstance(made, exp.Create)
    return exp.Insert(this=at(names, made.this.name), expression=made.expression)


def index(name: str, of: str, columns: Sequence[str]) -> exp.Create:
    keys = [exp.Ordered(this=exp.Column(this=ident(column))) for column in columns]
    parameters = exp.IndexParameters(columns=keys)
    return exp.Create(this=exp.Index(this=ident(name), table=scratch(of), params=parameters), kind="INDEX")


def without_index(name: str) -> exp.Drop:
    return exp.Drop(tables=[scratch(name)], kind="INDEX")
