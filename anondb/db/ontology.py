"""Stored ontologies: loaded as a whole or not at all, listed, looked into, dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from psycopg import sql
from psycopg.rows import class_row

from anondb.db.connection import Connection
from anondb.db.errors import translated
from anondb.errors import UsageError, did_you_mean
from anondb.ontology import graph
from anondb.ontology.model import Ontology, Progress

_EXISTING = "select o.id, o.content_sha256 from anondb.ontology as o where o.name = %s for update"
_CREATE = """
insert into anondb.ontology (name, kind, version, content_sha256, root_depth, depth, concepts)
values (%s, %s, %s, %s, %s, %s, %s) returning id
"""
_LOCK = "select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('anondb ontology'))"
_STAGE_CONCEPTS = """
create temporary table anondb_concept (
    key text, pos text, label text, gloss text, min_depth int, max_depth int) on commit drop
"""
_COPY_CONCEPTS = "copy pg_temp.anondb_concept from stdin"
_CONCEPTS = """
insert into anondb.concept (ontology, key, pos, label, gloss, gloss_words, min_depth, max_depth)
select %s, c.key, c.pos, c.label, c.gloss, anondb.gloss_words(c.gloss), c.min_depth, c.max_depth
from pg_temp.anondb_concept as c
"""
_IDS = "select c.key, c.id from anondb.concept as c where c.ontology = %s"
_EDGES = "copy anondb.concept_edge (ontology, child, parent, kind) from stdin"
_STAGE_LEXEMES = """
create temporary table anondb_lexeme (lemma text, sense int, pos text, concept int, kind text) on commit drop
"""
_COPY_LEXEMES = "copy pg_temp.anondb_lexeme from stdin"
_LEXEMES = """
insert into anondb.lexeme (ontology, lemma, sense, pos, concept, kind, stem)
select %s, l.lemma, l.sense, l.pos, l.concept, l.kind, anondb.stem(l.lemma) from pg_temp.anondb_lexeme as l
"""
_CLOSURE = "select anondb.build_closure(%s)"
_ANALYZE = "analyze anondb.concept, anondb.concept_edge, anondb.concept_closure, anondb.lexeme"
_DROP = "delete from anondb.ontology as o where o.name = %s"
_CATALOGUE = """
select o.id, o.name, o.kind, o.version, o.concepts, o.depth, o.loaded_at
from anondb.ontology as o order by o.name collate "C"
"""
_SENSES = """
select s.sense, c.key, c.label, c.gloss, s.how, c.min_depth, c.max_depth,
       (select array_agg(p.key order by p.key) from anondb.concept_edge as e
        join anondb.concept as p on p.id = e.parent where e.child = c.id and e.kind in ('isa', 'instance'))
from anondb.term_senses(%s, anondb.find_ontology(%s)) as s
join anondb.concept as c on c.id = s.concept
order by s.sense
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
class Sense:
    """One meaning of a term."""

    sense: int
    key: str
    label: str
    gloss: str
    how: str
    min_depth: int
    max_depth: int
    parents: list[str] | None


def store(
    connection: Connection, name: str, ontology: Ontology, progress: Progress | None = None
) -> tuple[OntologyInfo, bool]:
    """Loads an ontology under a name; False if the very same is there already. Another one is replaced."""
    tell = progress or (lambda doing, share: None)
    tell("checking", 0.0)
    depths = graph.depths(ontology)
    digest = ontology.sha256
    with translated("loading an ontology"), connection.transaction(), connection.cursor() as cursor:
        cursor.execute(_LOCK)
        existing = cast(tuple[int, str] | None, cursor.execute(_EXISTING, (name,)).fetchone())
        if existing is not None and existing[1] == digest:
            return _info(connection, name), False
        cursor.execute(_DROP, (name,))
        deepest = max(longest for _, longest in depths.values())
        entry = (name, ontology.kind, ontology.version, digest, ontology.root_depth)
        cursor.execute(_CREATE, (*entry, deepest - ontology.root_depth + 1, len(depths)))
        id_ = cast(tuple[int], cursor.fetchone())[0]
        tell("loading concepts", 0.1)
        cursor.execute(_STAGE_CONCEPTS)
        _copy(cursor, _COPY_CONCEPTS, ((*concept, *depths[concept.key]) for concept in ontology.concepts))
        cursor.execute(_CONCEPTS, (id_,))
        ids = dict(cast(list[tuple[str, int]], cursor.execute(_IDS, (id_,)).fetchall()))
        tell("loading edges", 0.2)
        edges = dict.fromkeys((ids[e.child], ids[e.parent], e.kind) for e in ontology.edges)
        _copy(cursor, _EDGES, ((id_, *edge) for edge in edges))
        tell("loading words", 0.3)
        cursor.execute(_STAGE_LEXEMES)
        lexemes = ((lx.lemma, lx.sense, lx.pos, ids[lx.concept], lx.kind) for lx in ontology.lexemes)
        _copy(cursor, _COPY_LEXEMES, lexemes)
        cursor.execute(_LEXEMES, (id_,))
        tell("computing generalizations", 0.6)
        cursor.execute(_CLOSURE, (id_,))
        tell("analyzing", 0.95)
        cursor.execute(_ANALYZE)
        return _info(connection, name), True


def catalogue(connection: Connection) -> list[OntologyInfo]:
    """All ontologies, by name."""
    with translated("listing ontologies"), connection.cursor(row_factory=class_row(OntologyInfo)) as cursor:
        return cursor.execute(_CATALOGUE).fetchall()


def senses(connection: Connection, term: str, ontology: str) -> list[Sense]:
    """What a term can mean, best known sense first."""
    with translated("looking up a term"):
        rows = cast(list[tuple[Any, ...]], connection.execute(_SENSES, (term, ontology)).fetchall())
    return [Sense(*row) for row in rows]


def drop(connection: Connection, name: str) -> None:
    """Forgets an ontology, with the meanings and similarities that come from it."""
    with translated("dropping an ontology"):
        if connection.execute(_DROP, (name,)).rowcount == 0:
            known = [info.name for info in catalogue(connection)]
            raise UsageError(
                f'there is no ontology "{name}"', hint=did_you_mean(name, known) or "anondb ontology list"
            )


def _info(connection: Connection, name: str) -> OntologyInfo:
    return next(info for info in catalogue(connection) if info.name == name)


def _copy(cursor: Any, statement: str, rows: Iterable[Sequence[object]]) -> None:
    with cursor.copy(sql.SQL(statement)) as copy:  # type: ignore[arg-type]
        for row in rows:
            copy.write_row(row)
