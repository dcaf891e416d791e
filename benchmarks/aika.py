"""AIKA: a hundred candidates for 96 animals of WordNet's, built and ranked; and a column of 5,000 nouns."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

from psycopg import sql

from anondb.api import Database
from anondb.db import ontology
from anondb.db.connection import Connection, Door
from anondb.hierarchies.build.ranking import RankingMethod
from anondb.ontology import wordnet
from benchmarks import machine
from benchmarks.database import fresh_database
from benchmarks.options import Options
from benchmarks.progress import say

ANIMALS, PERSPECTIVES = 96, 14
NOUNS = 5_000

# words of a kind, spread by a hash, each with as many records as its place says
_FILL = """
create table {table} as
select w.lemma as word
from (select l.lemma, row_number() over (order by md5(l.lemma), l.lemma) as place
      from (select distinct l.lemma from anondb.lexeme as l
            join anondb.concept_closure as t on t.descendant = l.concept
            join anondb.concept as a on a.id = t.ancestor and a.key = {kind}
            where l.sense = 1 and l.lemma ~ '^[a-z]+$') as l) as w
cross join lateral generate_series(0, (w.place * 7 % 13)::int) as n
where w.place <= {words}
"""


def run(options: Options) -> dict[str, Any]:
    say("making a database")
    with fresh_database(options.dsn) as conninfo, Database(Door(conninfo)) as db:
        say("loading WordNet")
        ontology.store(db.connection, "wordnet", wordnet.read())
        fill(db.connection, "animals", "animal.n.01", ANIMALS)
        fill(db.connection, "nouns", "physical_entity.n.01", NOUNS)
        say("building and ranking")
        few = [measure(db, "animals", PERSPECTIVES) for _ in range(options.repeat)]
        return {
            "benchmark": "aika",
            "machine": machine.facts(db.connection),
            "animals": _medians(few),
            "nouns": measure(db, "nouns", 3),
        }


def fill(connection: Connection, table: str, kind: str, words: int) -> None:
    names = {"table": sql.Identifier(table), "kind": sql.Literal(kind), "words": sql.Literal(words)}
    connection.execute(sql.SQL(_FILL).format(**names))


def measure(db: Database, table: str, perspectives: int) -> dict[str, float]:
    """Seconds of building and of ranking the candidates of a table's words."""
    started = time.perf_counter()
    built = db.hierarchies.build(table, table, "word", perspectives=perspectives, replace=True)
    building = time.perf_counter() - started
    ranking = db.hierarchies.rank(table, RankingMethod(table=table, column="word"))
    ranked = time.perf_counter() - started
    say(
        f"{table}: {len(built.names)} candidates, {building:.1f} s to build, {ranked - building:.1f} s to rank"
    )
    return {
        "values": built.values,
        "candidates": len(ranking.ranked),
        "build_seconds": round(building, 2),
        "rank_seconds": round(ranked - building, 2),
    }


def _medians(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: median(one[name] for one in found) for name in found[0]}
