"""Scale-out: one policy on a table that Citus has distributed, over fewer and more workers, by processor time.

All servers must be of this machine: their processes are asked for the time that they have used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.db.connection import Connection, Door
from anondb.errors import UsageError
from anondb.policy.load import parse
from anondb.run.plan import Options as RunOptions
from benchmarks import machine
from benchmarks.options import Options
from benchmarks.progress import say

WORKERS = (2, 4)
SHARDS = 32
_VALUES = (60, 40, 16, 9, 2, 7, 3, 12)  # of each quasi-identifier
_FORMS = ("{ start = 0, widths = [5, 10, 20] }", '{ mask = "right" }', '{ mask = "all" }')
_NODES = """
select n.nodename, n.nodeport from pg_dist_node as n
where n.groupid <> 0 and n.isactive and n.noderole = 'primary' order by 1, 2
"""
_SHARED = "select citus_set_node_property(%s, %s, 'shouldhaveshards', %s)"
_POLICY = """
source = "bench.{source}"
target = "bench.{target}"
target_layout = "{layout}"
[privacy]
k = 5
suppression = 0.05
changes = "free"
[method]
algorithm = "{algorithm}"
[columns]
person = {{ role = "identifier" }}
{quasi}
diag = {{ role = "sensitive" }}
paid = {{ role = "other", keep = "identifying" }}
"""


def run(options: Options) -> dict[str, Any]:
    """Every number of workers, with the same rows on one server to compare the releases with."""
    if options.dsn is None:
        raise UsageError("scale-out needs a cluster", hint="--dsn names the coordinator of a Citus cluster")
    if max(options.quasi) > len(_VALUES):
        raise UsageError(f"--quasi must be from 1 to {len(_VALUES)}")
    with Door(options.dsn).lend() as connection:
        nodes = connection.execute(_NODES.encode()).fetchall()
        if len(nodes) < max(WORKERS):
            raise UsageError(f"the cluster has {len(nodes)} workers", hint=f"it needs {max(WORKERS)}")
        cases = [
            _measured(options, connection, nodes, rows, quasi, algorithm)
            for rows in options.rows
            for quasi in options.quasi
            for algorithm in ([options.algorithm] if options.algorithm else ["datafly", "optimal"])
        ]
        return {"benchmark": "scale-out", "machine": machine.facts(connection), "cases": cases}


def _measured(
    options: Options, connection: Connection, nodes: list[Any], rows: int, quasi: int, algorithm: str
) -> dict[str, Any]:
    assert options.dsn is not None
    say(f"{rows:,} rows with {quasi} quasi-identifiers")
    connection.execute("drop schema if exists bench cascade")
    connection.execute("create schema bench")
    connection.execute(_rows(quasi, rows))
    connection.execute("analyze bench.one")
    by_workers = {}
    try:
        for count in WORKERS:
            for place, (host, port) in enumerate(nodes):
                connection.execute(_SHARED, (host, port, place < count))
            connection.execute("drop table if exists bench.apart, bench.there")
            connection.execute("create table bench.apart (like bench.one)")
            connection.execute(
                f"select create_distributed_table('bench.apart', 'person', shard_count := {SHARDS})"
            )
            connection.execute("insert into bench.apart select * from bench.one")
            connection.execute("analyze bench.apart")
            by_workers[count] = _one(options, connection, nodes[:count], quasi, algorithm)
    finally:
        for host, port in nodes:
            connection.execute(_SHARED, (host, port, True))
    say("the same on one server")
    policy = _policy(quasi, algorithm, "one", "here", "auto")
    with Database(Door(options.dsn)) as db:
        db.run(parse(policy), options=RunOptions(evaluate="none"))
    here, there = (_content(connection, quasi, table) for table in ("here", "there"))
    few, many = (sum(by_workers[count]["cpu_workers"]) / count for count in WORKERS)
    connection.execute("drop schema bench cascade")
    return {
        "rows": rows,
        "quasi": quasi,
        "algorithm": algorithm,
        "by_workers": by_workers,
        "efficiency": round(few * WORKERS[0] / (many * WORKERS[1]), 2),
        "same_content": here == there,
    }


def _one(
    options: Options, connection: Connection, nodes: list[Any], quasi: int, algorithm: str
) -> dict[str, Any]:
    """The seconds of each stage, and the processor time of each server."""
    assert options.dsn is not None
    postmasters = [_postmaster(options.dsn)]
    postmasters += [_postmaster(make_conninfo(options.dsn, host=host, port=port)) for host, port in nodes]
    policy = parse(_policy(quasi, algorithm, "apart", "there", "distributed"))
    before = [_spent(one) for one in postmasters]
    with Database(Door(options.dsn)) as db:
        result = db.run(policy, options=RunOptions(evaluate="none", restart=True)).result
    coordinator, *workers = (
        round(_spent(one) - spent, 2) for one, spent in zip(postmasters, before, strict=True)
    )
    say(f"{len(nodes)} workers: coordinator {coordinator} s, workers {workers} s of processor time")
    steps = connection.execute(
        "select s.name, round(s.ms)::int from anondb.run_step as s where s.run = %s and s.ms > 100 order by s.seq",
        (result.run,),
    )
    return {
        "seconds": {stage: round(seconds, 2) for stage, seconds in result.seconds.items()},
        "cpu_coordinator": coordinator,
        "cpu_workers": workers,
        "steps": dict(steps.fetchall()),  # type: ignore[arg-type]
        "released": result.released,
    }


def _postmaster(dsn: str) -> psutil.Process:
    with psycopg.connect(dsn, autocommit=True) as connection:
        [(folder,)] = connection.execute("show data_directory").fetchall()
    return psutil.Process(int((Path(folder) / "postmaster.pid").read_text().splitlines()[0]))


def _spent(postmaster: psutil.Process) -> float:
    """Processor time of a server: of its processes, and of those that have ended."""
    times = postmaster.cpu_times()
    spent = times.user + times.system + times.children_user + times.children_system
    for child in postmaster.children(recursive=True):
        try:
            own = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        spent += own.user + own.system
    return float(spent)


def _rows(quasi: int, rows: int) -> sql.Composed:
    columns = [
        sql.SQL("{} as {}").format(_value(place, count), sql.Identifier(f"q{place}"))
        for place, count in enumerate(_VALUES[:quasi], 1)
    ]
    return sql.SQL(
        "create table bench.one as select i / 3 as person, {}, 'D' || hashint8extended(i, 99) % 20 as diag,"
        " (hashint8extended(i, 98) % 1000000)::numeric / 100 as paid from generate_series(1::bigint, {}) as i"
    ).format(sql.SQL(", ").join(columns), sql.Literal(rows))


def _value(place: int, count: int) -> sql.Composed:
    """The lower a value, the more rows have it; numbers where the form takes these."""
    drawn = sql.SQL("(abs(hashint8extended(i, {}) % 1000) ^ 2 / 1000000 * {})::int").format(
        sql.Literal(place), sql.Literal(count - 1)
    )
    return drawn if place == 1 else sql.SQL("'v' || lpad({}::text, 2, '0')").format(drawn)


def _policy(quasi: int, algorithm: str, source: str, target: str, layout: str) -> str:
    lines = [
        f'q{place} = {{ role = "quasi", hierarchy = {_FORMS[0 if place == 1 else 1 + place % 2]} }}'
        for place in range(1, quasi + 1)
    ]
    return _POLICY.format(
        source=source, target=target, layout=layout, algorithm=algorithm, quasi="\n".join(lines)
    )


def _content(connection: Connection, quasi: int, table: str) -> tuple[Any, ...]:
    """How many rows, and a sum of their hashes, whatever their order."""
    names = [*(f"q{place}" for place in range(1, quasi + 1)), "diag", "paid"]
    row = sql.SQL(", ").join(map(sql.Identifier, names))
    ask = sql.SQL("select count(*), sum(hashtextextended(row({})::text, 0)) from {}")
    [found] = connection.execute(ask.format(row, sql.Identifier("bench", table))).fetchall()
    return tuple(found)
