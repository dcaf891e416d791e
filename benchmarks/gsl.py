"""GSL: hierarchies of 100 leaves and 6 levels made of WordNet, scored for the first time and again."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from anondb.db import ontology, vgh
from anondb.db.connection import Connection, Door
from anondb.hierarchies.forms import VghTable
from anondb.ontology import wordnet
from benchmarks import machine
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

HIERARCHIES, LEAVES, LEVELS = 100, 100, 6

# concepts with a single way to the root, and that way
_WAYS = """
select array_agg(a.key order by t.distance)
from anondb.concept as c
join anondb.concept_closure as t on t.descendant = c.id
join anondb.concept as a on a.id = t.ancestor
join anondb.ontology as o on o.id = c.ontology
where o.name = 'wordnet' and c.pos = 'n' and c.min_depth = c.max_depth
group by c.id, c.key
having count(*) > %s and count(*) = max(t.distance) + 1
order by md5(c.key), c.id limit %s
"""
_SCORES = "select anondb.vgh_gsl('bench' || n) from generate_series(1, %s) as n"
_FAULTS = "select * from anondb.vgh_faults('bench1')"


def run(options: Options) -> dict[str, Any]:
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Door(conninfo).lend() as connection:
        say("loading WordNet")
        ontology.store(connection, "wordnet", wordnet.read())
        say("storing hierarchies")
        store(connection)
        say("scoring them")
        return {
            "benchmark": "gsl",
            "machine": machine.facts(connection),
            "hierarchies": HIERARCHIES,
            "leaves": LEAVES,
            "levels": LEVELS,
            "milliseconds": measure(connection, options.repeat),
        }


def store(connection: Connection) -> None:
    """Hierarchies bench1, bench2, …: each leaf with the six most general of its generalizations."""
    found = connection.execute(_WAYS, (LEVELS, HIERARCHIES * LEAVES)).fetchall()
    ways = [(keys[0], *keys[-LEVELS:]) for (keys,) in found]  # type: ignore[index]
    for number in range(HIERARCHIES):
        rows = tuple(ways[number * LEAVES : (number + 1) * LEAVES])
        vgh.store(connection, f"bench{number + 1}", VghTable(rows), ontology="wordnet")


def measure(connection: Connection, repeat: int = 3) -> dict[str, float]:
    """Milliseconds: of the first score, which finds the concepts, and of later ones; one and all in a statement."""
    return {
        "one_first": _milliseconds(connection, _SCORES, 1),
        "all_first": _milliseconds(connection, _SCORES, HIERARCHIES),
        "one": median(_milliseconds(connection, _SCORES, 1) for _ in range(10 * repeat)),
        "all": median(_milliseconds(connection, _SCORES, HIERARCHIES) for _ in range(repeat)),
        "faults_of_one": median(_milliseconds(connection, _FAULTS) for _ in range(repeat)),
    }


def _milliseconds(connection: Connection, statement: str, *parameters: object) -> float:
    started = time.perf_counter()
    connection.execute(statement.encode(), parameters).fetchall()
    return round((time.perf_counter() - started) * 1000, 2)
