"""The synthetic sets of an experiment: words of WordNet in two columns, drawn by a seed, no person's data."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import UsageError, did_you_mean

TABLE = "anondb_experiment"
COLUMNS = ("first", "second")
WORDS = 40  # of each column
RECORDS = 5_000

SETS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "visits": {
        "first": ("activity.n.01", "feeling.n.01", "event.n.01"),
        "second": ("animal.n.01", "plant.n.02", "geological_formation.n.01", "structure.n.01"),
    },
    "clinic": {
        "first": ("worker.n.01", "expert.n.01", "leader.n.01"),
        "second": ("disease.n.01", "injury.n.01", "symptom.n.01", "mental_disorder.n.01"),
    },
    "market": {
        "first": ("food.n.01", "food.n.02", "beverage.n.01"),
        "second": ("clothing.n.01", "furniture.n.01", "tool.n.01", "vehicle.n.01"),
    },
}
"""Set → column → the concepts below which its words lie; several, so that classes can be unrelated."""

_WORDS = """
select distinct l.lemma collate "C" from anondb.lexeme as l
join anondb.concept_closure as t on t.descendant = l.concept and t.distance between 1 and 4
join anondb.concept as c on c.id = t.ancestor
join anondb.ontology as o on o.id = c.ontology and o.name = 'wordnet'
where c.key = any (%s::text[]) and l.pos = 'n' and l.sense = 1 and l.lemma ~ '^[a-z]{4,12}$'
order by 1
"""
_CREATE = "create temporary table anondb_experiment (first text, second text)"
_CREATE_ONCE = "create temporary table if not exists anondb_experiment (first text, second text)"
_EMPTY = "truncate pg_temp.anondb_experiment"
_FILL = "copy pg_temp.anondb_experiment from stdin"


@dataclass(frozen=True)
class SyntheticSet:
    """A set as it was made, in a table that only this connection sees."""

    table: str
    columns: tuple[str, ...]


def make(connection: Connection, name: str, seed: int) -> SyntheticSet:
    """Makes a set; the seed and the ontology decide every row."""
    if name not in SETS:
        raise UsageError(
            f'there is no set "{name}"', hint=did_you_mean(name, SETS) or f"choose from {', '.join(SETS)}"
        )
    draw = random.Random(seed)
    with translated("making the synthetic set"), connection.transaction():
        known = [_words(connection, roots) for roots in SETS[name].values()]
        if min(map(len, known)) < WORDS:
            raise UsageError(
                "the synthetic sets are made of WordNet's words, and it is not loaded",
                hint="anondb ontology load wordnet, or name your own data: --table T --column C",
            )
        columns = [draw.sample(words, WORDS) for words in known]
        connection.execute(_CREATE)
        with connection.cursor() as cursor, cursor.copy(_FILL) as copy:
            for row in zip(*(_skewed(words, draw) for words in columns), strict=True):
                copy.write_row(row)
    return SyntheticSet(TABLE, COLUMNS)


def occupations(connection: Connection, number: int, seed: int) -> list[str]:
    """So many names of occupations, drawn by the seed."""
    known = _words(connection, SETS["clinic"]["first"])
    if len(known) < number:
        raise UsageError(
            "the occupations are WordNet's words, and it is not loaded", hint="anondb ontology load wordnet"
        )
    return random.Random(seed).sample(known, number)


def fill(connection: Connection, values: Sequence[str]) -> None:
    """The first column of a table that only this connection sees has these values, and no others."""
    with translated("making the data"), connection.transaction():
        connection.execute(_CREATE_ONCE)
        connection.execute(_EMPTY)
        with connection.cursor() as cursor, cursor.copy(_FILL) as copy:
            for value in values:
                copy.write_row((value, ""))


def _words(connection: Connection, roots: Sequence[str]) -> list[str]:
    return [str(word) for (word,) in connection.execute(_WORDS, (list(roots),)).fetchall()]


def _skewed(words: Sequence[str], draw: random.Random) -> list[str]:
    """A column: a few words are frequent, and many are rare, as in life (Zipf)."""
    weights = [1 / place for place in range(1, len(words) + 1)]
    drawn = draw.choices(words, weights, k=RECORDS - len(words))
    column = [*words, *drawn]  # each word occurs, or its hierarchy would have fewer leaves
    draw.shuffle(column)
    return column
