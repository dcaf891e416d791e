"""WordNet: its load with nothing cached, the similarity of one pair, and all pairs of 500 concepts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import pairwise
from statistics import median
from typing import Any

from anondb.db.connection import Connection, Door
from anondb.ontology.measures import MEASURES
from benchmarks import machine
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

PAIRS = 200  # single ones, one statement each
CONCEPTS = 500

_CONCEPTS = "select c.id from anondb.concept as c order by md5(c.key), c.id limit %s"
_TERMS = "select c.key from anondb.concept as c order by md5(c.key), c.id limit %s"
_SIMILARITY = "select anondb.similarity(%s, %s, %s)"
_ALL_PAIRS = "select anondb.remember_all_pairs(%s, %s)"
_FORGET = "truncate anondb.concept_similarity"


def run(options: Options) -> dict[str, Any]:
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        say("loading WordNet")
        load = _load(conninfo)
        figures = {measure: _measure(connection, measure, options.repeat) for measure in MEASURES}
        return {
            "benchmark": "ontology",
            "machine": machine.facts(connection),
            "load_seconds": load,
            "concepts": CONCEPTS,
            "measures": figures,
        }


def _load(conninfo: str) -> float:
    """Seconds of the whole command, in a process that has imported and read nothing yet."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "anondb", "ontology", "load", "wordnet"],
        env=os.environ | {"ANONDB_DSN": conninfo},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return round(time.perf_counter() - started, 1)


def _measure(connection: Connection, measure: str, repeat: int) -> dict[str, float]:
    keys = [str(key) for (key,) in connection.execute(_TERMS, (PAIRS + 1,))]
    single = [_seconds(connection, _SIMILARITY, (a, b, measure)) for a, b in pairwise(keys)]
    concepts = [id_ for (id_,) in connection.execute(_CONCEPTS, (CONCEPTS,))]
    every = []
    for _ in range(repeat):
        connection.execute(_FORGET)
        every.append(_seconds(connection, _ALL_PAIRS, (concepts, measure)))
    figures = {"one_pair_ms": round(median(single) * 1000, 2), "all_pairs_seconds": round(median(every), 2)}
    say(f"{measure}: {figures}")
    return figures


def _seconds(connection: Connection, statement: str, parameters: tuple[object, ...]) -> float:
    started = time.perf_counter()
    connection.execute(statement.encode(), parameters)
    return time.perf_counter() - started
