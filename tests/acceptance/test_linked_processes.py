"""Linked tables by several processes: the bytes that one process writes, the same persons, and nothing left behind."""

from __future__ import annotations

import random
from typing import Any

import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.db.connection import Connection, Door
from tests.properties import test_linked as trees
from tests.properties.test_linked import DEEP, FLAT

SEVERAL = "-c min_parallel_table_scan_size=0 -c parallel_setup_cost=0"
SCRATCH = "select count(*) from pg_class as c where c.relnamespace = 'anondb_work'::regnamespace"
SHARED = "select count(*) from anondb.run_step as s where s.name = 'forget what was shared'"


@pytest.mark.parametrize(
    ("shape", "privacy"),
    [
        (FLAT, {"knows": 1}),
        (DEEP, {"knows": 1, "max_rows": 2, "suppress": "rows", "suppression_rows": 0.9}),
        (DEEP, {"knows": 2}),
        (FLAT, {"knows": 1, "l_diversity": {"column": "own", "l": 2}}),
    ],
)
def test_several_processes_release_what_one_does(
    dsn: str, connection: Connection, shape: dict[str, str], privacy: dict[str, Any]
) -> None:
    trees.fill(connection, trees.drawn(random.Random(f"processes {privacy}"), shape, 150), shape)
    connection.execute("create view h.own as select p.*, p.s as own from h.person as p")
    policy = trees.policy(shape, {"algorithm": "datafly"}, k=3, suppression=0.9, **privacy)
    if "l_diversity" in privacy:
        policy["table"][0]["source"] = "h.own"
        policy["table"][0]["columns"]["own"] = {"role": "sensitive"}
    found, shared = [], []
    for options in ("-c max_parallel_workers_per_gather=0", SEVERAL):
        with Database(Door(make_conninfo(dsn, options=options))) as db:
            result = db.run(policy).result
        rows = [
            connection.execute(
                sql.SQL("select t::text from share.{} as t").format(sql.Identifier(table))
            ).fetchall()
            for table in ("person", *shape)
        ]
        found.append((result.levels, result.released, result.k, rows))
        shared.append(connection.execute(SHARED).fetchall())
        assert connection.execute(SCRATCH).fetchall() == [(0,)]
    assert found[0] == found[1]
    assert found[0][1] > 0
    assert shared == [[(0,)], [(1,)]]
