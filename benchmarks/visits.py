"""Answers of the shape that record fusion was published on: why people visit a park, and what they saw there.

975 records, two textual attributes, 211 different pairs of which 118 are unique. The words are nouns of WordNet,
drawn by a seed; the frequencies fall as those of answers do.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from anondb.db.connection import Connection

TOPICS = {
    "reason": ("activity.n.01", "feeling.n.01", "event.n.01"),
    "sight": ("animal.n.01", "plant.n.02", "geological_formation.n.01", "structure.n.01"),
}

_NOUNS = """
select distinct l.lemma collate "C" from anondb.lexeme as l
join anondb.concept_closure as t on t.descendant = l.concept and t.distance between 1 and 4
join anondb.concept as c on c.id = t.ancestor
where c.key = any(%s::text[]) and l.pos = 'n' and l.sense = 1 and l.lemma ~ '^[a-z]{4,10}$'
order by 1
"""


@dataclass(frozen=True)
class Shape:
    records: int
    pairs: int  # different ones
    unique: int  # those of a single record
    words: int  # of each attribute, to make pairs of


PUBLISHED = Shape(records=975, pairs=211, unique=118, words=30)
LARGE = Shape(records=9_240, pairs=2_000, unique=1_118, words=90)  # nearly ten times as much of everything


def fill(connection: Connection, shape: Shape = PUBLISHED, seed: int = 7) -> None:
    """Makes the table visits; WordNet has to be loaded."""
    rows = answers(connection, shape, seed)
    connection.execute("create table visits (reason text, sight text)")
    with connection.cursor().copy("copy visits from stdin") as copy:
        for row in rows:
            copy.write_row(row)


def answers(connection: Connection, shape: Shape, seed: int) -> list[tuple[str, str]]:
    """The records, in an order that says nothing."""
    rng = random.Random(seed)
    words = {
        column: rng.sample(
            [str(word) for (word,) in connection.execute(_NOUNS, (list(roots),)).fetchall()], shape.words
        )
        for column, roots in TOPICS.items()
    }
    pairs = [(reason, sight) for reason in words["reason"] for sight in words["sight"]]
    chosen = rng.sample(pairs, shape.pairs)
    counts = [1] * shape.unique + [2] * (shape.pairs - shape.unique)
    frequent = range(shape.unique, shape.pairs)
    weights = [1 / place for place in range(1, len(frequent) + 1)]
    for place in rng.choices(frequent, weights, k=shape.records - sum(counts)):
        counts[place] += 1
    rows = [pair for pair, n in zip(chosen, counts, strict=True) for _ in range(n)]
    rng.shuffle(rows)
    return rows
