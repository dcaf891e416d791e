"""Microaggregation of sets: whole runs, and the loss of every distance for k from 2 to 5 (Batet et al.).

The records are made of WordNet's nouns by a seed. Each has a few topics of its own, and its texts are of those.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any, cast

from anondb.db import ontology
from anondb.db.connection import Connection, Door
from anondb.methods.mdav.mdav import DISTANCES, MEASURES, VARIANTS
from anondb.ontology import wordnet
from anondb.study.synthetic_logs import LogShape, draw_log
from benchmarks import machine
from benchmarks.child import run_policy
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

K = (2, 3, 4, 5)
POLICY = """
source = "searches"
target = "searches_shared"
[privacy]
k = 5
[method]
algorithm = "mdav"
[columns]
id = { role = "identifier" }
queries = { role = "quasi", set = true }
"""

SMALL = LogShape(300, 20, topics=40, words=50)
PUBLISHED = LogShape(1000, 56, topics=50, words=70)
QUERIES = LogShape(1000, 30, topics=50, words=70, queries=True)


def run(options: Options) -> dict[str, Any]:
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        say("loading WordNet")
        ontology.store(connection, "wordnet", wordnet.read())
        runs = [_run(conninfo, connection, shape) for shape in (SMALL, QUERIES, PUBLISHED)]
        return {
            "benchmark": "mdav",
            "machine": machine.facts(connection),
            "runs": runs,
            "losses": list(losses(connection, K)),
        }


def make(connection: Connection, shape: LogShape, seed: int = 7) -> None:
    """The table `searches`, the same for the same seed on every machine."""
    log = draw_log(connection, shape, seed)
    connection.execute("drop table if exists searches; create table searches (id int, queries text[])")
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into searches values (%s, %s)",
            list(enumerate(log)),
        )


def losses(connection: Connection, ks: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The loss of the table `searches` by every distance, its twin without meaning, and every k."""
    connection.execute("drop table if exists mdav_text")
    connection.execute(
        "create temporary table mdav_text as select distinct s.id as record, t.text from searches as s"
        " cross join unnest(s.queries) as t (text)"
    )
    connection.execute("select anondb.mdav_unknown_texts('wordnet')")
    connection.execute("select anondb.mdav_items('wordnet')")
    for distance, variant in product(DISTANCES, VARIANTS):
        started = time.perf_counter()
        connection.execute("select anondb.mdav_distances(%s, %s)", (distance, MEASURES[variant]))
        seconds = round(time.perf_counter() - started, 2)
        found = {k: _loss(connection, k) for k in ks}
        say(f"{distance}, {variant}: {', '.join(f'{loss:.2f}' for loss in found.values())}, {seconds} s")
        yield {"distance": distance, "variant": variant, "loss": found, "distances_seconds": seconds}


def _loss(connection: Connection, k: int) -> float:
    connection.execute("select anondb.mdav_partition(%s)", (k,))
    connection.execute(
        "select anondb.mdav_centroids(1)"
    )  # as published: whole, whoever else has their concepts
    [loss] = connection.execute("select anondb.mdav_loss()").fetchone() or ()
    return round(float(cast(float, loss)), 4)


def _run(conninfo: str, connection: Connection, shape: LogShape) -> dict[str, Any]:
    make(connection, shape)
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "searches.toml"
        policy.write_text(POLICY, encoding="utf-8")
        found = run_policy(conninfo, policy, "basic")
    say(f"{shape.records:,} records of {shape.items} texts: {found['whole_seconds']} s")
    return {**asdict(shape), **found}
