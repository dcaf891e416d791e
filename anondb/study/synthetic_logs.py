"""Synthetic logs of searches: sets of WordNet's nouns by topics of interest, drawn by a seed, no person's data."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from anondb.db.connection import Connection
from anondb.errors import UsageError

SETS = ("words", "queries")
"""What a text is: a noun as it stands, or a query that somebody has typed around it."""

FORMS = (
    "{0}", "{0}", "{0}", "{0} pics", "cheap {0}", "best {0} reviews", "{0} for sale", "how to find a {0}", "{0} {1}",
    "{0} and {1}", "free {0} pictures", "where can i buy {0} online", "the history of {0}", "www.{0}.com", "{0} 2006",
    "new {0} near {1}", "used {0} in ohio", "{0} xqz",
)  # fmt: skip
"""What people type around the words that they mean."""

_TOPICS = """
select t.ancestor from anondb.concept_closure as t
join anondb.concept as a on a.id = t.ancestor
join anondb.ontology as o on o.id = a.ontology and o.name = 'wordnet'
where a.pos = 'n' group by t.ancestor, a.key having count(*) between %s and 2 * %s order by a.key collate "C"
"""
# nouns whose best known sense is below a topic, so that the word alone means it
_WORDS = """
select distinct l.lemma collate "C" from anondb.lexeme as l
join anondb.concept_closure as t on t.descendant = l.concept
where t.ancestor = %s and l.pos = 'n' and l.sense = 1 and l.kind <> 'irregular' order by 1
"""


@dataclass(frozen=True)
class LogShape:
    """Of a log of searches."""

    records: int
    items: int  # of a record, on average
    topics: int = 20  # in all
    words: int = 60  # of a topic, at least and in its concepts
    topics_each: int = 2
    queries: bool = False  # texts are typed around words, and not single words


def draw_log(connection: Connection, shape: LogShape, seed: int) -> list[list[str]]:
    """The texts of each record, the same for the same seed on every machine."""
    draw = random.Random(seed)
    topics = [topic for (topic,) in connection.execute(_TOPICS, (shape.words, shape.words))]
    if len(topics) < shape.topics:
        raise UsageError(
            f"WordNet is not loaded, or has only {len(topics)} topics of {shape.words} words or more",
            hint="anondb ontology load wordnet, or name your own data: --table T --column C",
        )
    words = [
        [str(word) for (word,) in connection.execute(_WORDS, (topic,))]
        for topic in draw.sample(topics, shape.topics)
    ]
    return [_texts(draw, shape, words) for _ in range(shape.records)]


def _texts(draw: random.Random, shape: LogShape, words: Sequence[Sequence[str]]) -> list[str]:
    """Around so many different words, a quarter more or less."""
    known = sorted({word for topic in draw.sample(words, shape.topics_each) for word in topic})
    many = draw.randint(shape.items * 3 // 4, shape.items * 5 // 4)
    said = draw.sample(known, min(many, len(known)))
    if not shape.queries:
        return said
    return [draw.choice(FORMS).format(word, draw.choice(known)) for word in said]
