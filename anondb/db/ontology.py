"""Stored ontologies: loaded as a whole or not at all, listed, looked into, dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from psycopg.rows import class_row

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import UsageError
from anondb.ontology import graph
from anondb.ontology.model import Ontology, Progress

_LOCK = "lock table anondb.ontology in share row exclusive mode"  # one load at a time; readers read on
_EXISTING = "select o.content_sha256 from anondb.ontology as o where o.name = %s"
# What users said about terms outlives the version of the ontology that they said it of, by the keys.
_KEEP_MAPPINGS = """
create temporary table anondb_kept as
select m.term, null::int as vgh, null::int as node, c.key
from anondb.ontology as o
join anondb.term_mapping as m on m.ontology = o.id
join anondb.concept as c on c.id = m.concept
where o.name = %(name)s
union all
select null, s.vgh, s.node, c.key
from anondb.ontology as o
join anondb.concept as c on c.ontology = o.id
join anondb.vgh_sense as s on s.concept = c.id and s.chosen
where o.name = %(name)s
"""
_DROP = "select anondb.drop_ontology(%s)"
_CREATE = """
insert into anondb.ontology (name, kind, version, content_sha256, root_depth, depth, concepts)
values (%s, %s, %s, %s, %s, %s, %s) returning id
"""
_STAGE_CONCEPTS = """
create temporary table anondb_concept (
    key text, pos text, label text, gloss text, min_depth int, max_depth int)
"""
_COPY_CONCEPTS = "copy pg_temp.anondb_concept from stdin"
_CONCEPTS = """
insert into anondb.concept (ontology, key, pos, label, gloss, gloss_words, min_depth, max_depth)
select %s, c.key, c.pos, c.label, c.gloss, anondb.gloss_words(c.gloss), c.min_depth, c.max_depth
from pg_temp.anondb_concept as c
"""
_IDS = "select c.key, c.id from anondb.concept as c where c.ontology = %s"
_COPY_EDGES = "copy anondb.concept_edge (child, parent, kind) from stdin"
_STAGE_LEXEMES = """
create temporary table anondb_lexeme (lemma text, sense int, pos text, concept int, kind text)
"""
_COPY_LEXEMES = "copy pg_temp.anondb_lexeme from stdin"
_LEXEMES = """
insert into anondb.lexeme (ontology, lemma, sense, pos, concept, kind, stem)
select %s, l.lemma, l.sense, l.pos, l.concept, l.kind, anondb.stem(l.lemma) from pg_temp.anondb_lexeme as l
"""
_CLOSURE = "select anondb.build_closure(%s)"
_RESTORE_MAPPINGS = """
insert into anondb.term_mapping (ontology, term, concept)
select c.ontology, k.term, c.id
from pg_temp.anondb_kept as k
join anondb.concept as c on c.ontology = %s and c.key = k.key
where k.term is not null
"""
_RESTORE_CHOICES = """
insert into anondb.vgh_sense (vgh, node, concept, how, chosen)
select k.vgh, k.node, c.id, 'chosen', true
from pg_temp.anondb_kept as k
join anondb.concept as c on c.ontology = %s and c.key = k.key
where k.vgh is not null
"""
_FORGOTTEN = """
select count(*) from pg_temp.anondb_kept as k
where not exists (select from anondb.concept as c where c.ontology = %s and c.key = k.key)
"""
_UNDERSTAND_ANEW = "select anondb.forget_meanings(v.id) from anondb.vgh as v where v.ontology = %s"
_CLEAR = "drop table pg_temp.anondb_kept, pg_temp.anondb_concept, pg_temp.anondb_lexeme"
# Who is not the owner of the tables gets a warning from the server, and autovacuum does it later.
_ANALYZE = "analyze anondb.concept, anondb.concept_edge, anondb.concept_closure, anondb.lexeme"
_CATALOGUE = """
select o.id, o.name, o.kind, o.version, o.concepts, o.depth, o.loaded_at
from anondb.ontology as o order by o.name collate "C"
"""
_FIND = "select anondb.find_ontology(%s)"  # by itself: a query without rows might never call it
_SENSES = """
select s.sense, c.key, c.label, c.gloss, s.how, c.min_depth, c.max_depth,
       array(select p.key from anondb.concept_edge as e join anondb.concept as p on p.id = e.parent
             where e.child = c.id and e.kind in ('isa', 'instance') order by p.key collate "C") as parents
from anondb.term_senses(%s, %s, ids => true) as s
join anondb.concept as c on c.id = s.concept
order by s.sense
"""
_SIMILARITY = "select anondb.similarity(%s, %s, %s, %s)"
_MAP = "select anondb.map_term(%s, %s, %s)"
_MAPPINGS = """
select m.term, c.key, c.label
from anondb.term_mapping as m
join anondb.concept as c on c.id = m.concept
where m.ontology = %s order by m.term collate "C"
"""


@dataclass(frozen=True)
class OntologyInfo:
    """What the catalogue knows about an ontology."""

    id: int
    name: str
    kind: str
    version: str | None
    concepts: int
    depth: int
    loaded_at: datetime


@dataclass(frozen=True)
class Loaded:
    """How a load ended."""

    info: OntologyInfo
    outcome: str  # new, replaced, unchanged
    forgotten: int = 0  # mappings and choices of users whose concept is not in the ontology any more


@dataclass(frozen=True)
class Sense:
    """One meaning of a term."""

    sense: int
    key: str
    label: str
    gloss: str
    how: str
    min_depth: int
    max_depth: int
    parents: list[str]


@dataclass(frozen=True)
class TermMapping:
    """What a user said that a term means."""

    term: str
    key: str
    label: str


def store(connection: Connection, name: str, ontology: Ontology, progress: Progress | None = None) -> Loaded:
    """Loads an ontology under a name, as a whole or not at all; another one of that name is replaced."""
    if not name.strip():
        raise UsageError("an ontology needs a name", hint="anondb ontology load FILE --name NAME")
    tell = progress or (lambda doing, share: None)
    tell("checking", 0.0)
    depths = graph.depths(ontology)
    digest = ontology.sha256
    with translated("loading an ontology"), connection.transaction(), connection.cursor() as cursor:
        cursor.execute(_LOCK)
        existing = cursor.execute(_EXISTING, (name,)).fetchone()
        if existing == (digest,):
            return Loaded(_info(connection, name), "unchanged")
        cursor.execute(_KEEP_MAPPINGS, {"name": name})
        if existing is not None:
            tell("dropping the old one", 0.05)
            cursor.execute(_DROP, (name,))
        deepest = max(longest for _, longest in depths.values())
        entry = (name, ontology.kind, ontology.version, digest, ontology.root_depth)
        cursor.execute(_CREATE, (*entry, deepest - ontology.root_depth + 1, len(depths)))
        (id_,) = cast(tuple[int], cursor.fetchone())
        _fill(cursor, id_, ontology, depths, tell)
        tell("analyzing", 0.95)
        cursor.execute(_RESTORE_MAPPINGS, (id_,))
        cursor.execute(_RESTORE_CHOICES, (id_,))
        (forgotten,) = cast(tuple[int], cursor.execute(_FORGOTTEN, (id_,)).fetchone())
        cursor.execute(_UNDERSTAND_ANEW, (name,))
        cursor.execute(_CLEAR)
        cursor.execute(_ANALYZE)
        return Loaded(_info(connection, name), "new" if existing is None else "replaced", forgotten)


def _fill(
    cursor: Any, id_: int, ontology: Ontology, depths: dict[str, tuple[int, int]], tell: Progress
) -> None:
    """Concepts, edges, words and generalizations of a new ontology; the shares are measured ones."""
    tell("loading concepts", 0.1)
    cursor.execute(_STAGE_CONCEPTS)
    _copy(cursor, _COPY_CONCEPTS, ((*concept, *depths[concept.key]) for concept in ontology.concepts))
    cursor.execute(_CONCEPTS, (id_,))
    ids = dict(cast(list[tuple[str, int]], cursor.execute(_IDS, (id_,)).fetchall()))
    tell("loading edges", 0.3)
    _copy(cursor, _COPY_EDGES, dict.fromkeys((ids[e.child], ids[e.parent], e.kind) for e in ontology.edges))
    tell("loading words", 0.35)
    cursor.execute(_STAGE_LEXEMES)
    words = ((word.lemma, word.sense, word.pos, ids[word.concept], word.kind) for word in ontology.lexemes)
    _copy(cursor, _COPY_LEXEMES, words)
    cursor.execute(_LEXEMES, (id_,))
    tell("computing generalizations", 0.6)
    cursor.execute(_CLOSURE, (id_,))


def _copy(cursor: Any, statement: str, rows: Iterable[Sequence[object]]) -> None:
    with cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def catalogue(connection: Connection) -> list[OntologyInfo]:
    """All ontologies, by name."""
    with translated("listing ontologies"), connection.cursor(row_factory=class_row(OntologyInfo)) as cursor:
        return cursor.execute(_CATALOGUE).fetchall()


def senses(connection: Connection, term: str, ontology: str) -> list[Sense]:
    """What a term can mean, best known sense first."""
    with translated("looking up a term"), connection.cursor(row_factory=class_row(Sense)) as cursor:
        return cursor.execute(_SENSES, (term, _find(connection, ontology))).fetchall()


def similarity(connection: Connection, a: str, b: str, measure: str, ontology: str) -> float:
    """The similarity of two terms, keys or ids."""
    with translated("comparing terms"):
        (likeness,) = cast(
            tuple[float], connection.execute(_SIMILARITY, (a, b, measure, ontology)).fetchone()
        )
    return likeness


def map_term(connection: Connection, term: str, concept: str | None, ontology: str) -> None:
    """Says what a term means; None forgets it."""
    with translated("mapping a term"):
        connection.execute(_MAP, (term, concept, ontology))


def mappings(connection: Connection, ontology: str) -> list[TermMapping]:
    """What users said about terms."""
    with translated("listing mappings"), connection.cursor(row_factory=class_row(TermMapping)) as cursor:
        return cursor.execute(_MAPPINGS, (_find(connection, ontology),)).fetchall()


def drop(connection: Connection, name: str) -> None:
    """Forgets an ontology, with the meanings and similarities that come from it."""
    with translated("dropping an ontology"), connection.transaction():
        connection.execute(_LOCK)
        connection.execute(_DROP, (name,))


def _find(connection: Connection, name: str) -> int:
    (id_,) = cast(tuple[int], connection.execute(_FIND, (name,)).fetchone())
    return id_


def _info(connection: Connection, name: str) -> OntologyInfo:
    return next(info for info in catalogue(connection) if info.name == name)
