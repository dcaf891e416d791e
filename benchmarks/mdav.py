"""Microaggregation of sets: whole runs, and the loss of every distance for k from 2 to 5 (Batet et al.).

The records are made of WordNet's nouns by a seed. Each has a few topics of its own, and its texts are of those.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

from anondb.db import ontology
from anondb.db.connection import Connection, Door
from anondb.methods.mdav.mdav import DISTANCES, MEASURES
from anondb.ontology import wordnet
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

_TOPICS = """
select t.ancestor from anondb.concept_closure as t join anondb.concept as a on a.id = t.ancestor
where a.pos = 'n' group by t.ancestor, a.key having count(*) between %s and 2 * %s order by a.key collate "C"
"""
# nouns whose best known sense is below a topic, so that the word alone means it
_WORDS = """
select distinct l.lemma collate "C" from anondb.lexeme as l
join anondb.concept_closure as t on t.descendant = l.concept
where t.ancestor = %s and l.pos = 'n' and l.sense = 1 and l.kind <> 'irregular' order by 1
"""


@dataclass(frozen=True)
class Shape:
    """Of a log of searches."""

    records: int
    items: int  # of a record, on average
    topics: int  # in all
    words: int  # of a topic, at least and in its concepts
    topics_each: int = 2
    queries: bool = False  # texts are typed, as people do, and not single words


SMALL = Shape(300, 20, topics=40, words=50)
PUBLISHED = Shape(1000, 56, topics=50, words=70)
QUERIES = Shape(1000, 30, topics=50, words=70, queries=True)
FORMS = (
    "{0}", "{0}", "{0}", "{0} pics", "cheap {0}", "best {0} reviews", "{0} for sale", "how to find a {0}", "{0} {1}",
    "{0} and {1}", "free {0} pictures", "where can i buy {0} online", "the history of {0}", "www.{0}.com", "{0} 2006",
    "new {0} near {1}", "used {0} in ohio", "{0} xqz",
)  # fmt: skip
"""What people type around the words that they mean."""


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


def make(connection: Connection, shape: Shape, seed: int = 7) -> None:
    """The table `searches`, the same for the same seed on every machine."""
    draw = random.Random(seed)
    topics = [topic for (topic,) in connection.execute(_TOPICS, (shape.words, shape.words))]
    words = [
        [str(word) for (word,) in connection.execute(_WORDS, (topic,))]
        for topic in draw.sample(topics, shape.topics)
    ]
    connection.execute("drop table if exists searches; create table searches (id int, queries text[])")
    with connection.cursor() as cursor:
        cursor.executemany(
            "insert into searches values (%s, %s)",
            [(number, _queries(draw, shape, words)) for number in range(shape.records)],
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
    for distance, variant in product(DISTANCES, MEASURES):
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


def _queries(draw: random.Random, shape: Shape, words: Sequence[Sequence[str]]) -> list[str]:
    """Around so many different words, a quarter more or less."""
    known = sorted({word for topic in draw.sample(words, shape.topics_each) for word in topic})
    many = draw.randint(shape.items * 3 // 4, shape.items * 5 // 4)
    said = draw.sample(known, min(many, len(known)))
    if not shape.queries:
        return said
    return [draw.choice(FORMS).format(word, draw.choice(known)) for word in said]


def _run(conninfo: str, connection: Connection, shape: Shape) -> dict[str, Any]:
    make(connection, shape)
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "searches.toml"
        policy.write_text(POLICY, encoding="utf-8")
        found = run_policy(conninfo, policy, "basic")
    say(f"{shape.records:,} records of {shape.items} texts: {found['whole_seconds']} s")
    return {**asdict(shape), **found}
