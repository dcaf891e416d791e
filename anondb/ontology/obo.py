"""Ontologies as OBO files (disease, phenotype, anatomy, …), parsed by fastobo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anondb.errors import UsageError
from anondb.ontology.model import Concept, Edge, Ontology, Progress, number_senses

_PARTS = {"part_of": "part", "BFO:0000050": "part"}


def read(path: Path, *, progress: Progress | None = None) -> Ontology:
    """The terms of an OBO file that are not obsolete, with their names, synonyms, is-a and part-of."""
    try:
        import fastobo
    except ImportError:
        raise UsageError("reading OBO files needs fastobo", hint="pip install 'anondb[ontology]'") from None
    if progress is not None:
        progress("parsing OBO", 0.0)
    try:
        document = fastobo.load(str(path))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}", hint="check the file's name") from None
    except (SyntaxError, ValueError) as error:
        line = f" line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise UsageError(f"{path.name}{line}: is not OBO", hint="OBO 1.4 has frames as [Term]") from None
    concepts, edges, names = [], [], []
    for frame in document:
        if isinstance(frame, fastobo.term.TermFrame):
            clauses = [(clause.raw_tag(), clause) for clause in frame]
            if any(tag == "is_obsolete" and clause.obsolete for tag, clause in clauses):
                continue
            _read_term(str(frame.id), clauses, concepts, edges, names)
    if not concepts:
        raise UsageError(f"{path.name}: has no terms", hint="OBO terms are frames that start with [Term]")
    version = next((c.raw_value() for c in document.header if c.raw_tag() == "data-version"), None)
    return Ontology("obo", version, 0, concepts, edges, number_senses(names))


def _read_term(
    key: str,
    clauses: list[tuple[str, Any]],
    concepts: list[Concept],
    edges: list[Edge],
    names: list[tuple[str, str, str]],
) -> None:
    label = next((str(clause.name) for tag, clause in clauses if tag == "name"), key)
    gloss = next((str(clause.definition) for tag, clause in clauses if tag == "def"), "")
    concepts.append(Concept(key, "n", label, gloss))
    names.append((label, key, "lemma"))
    for tag, clause in clauses:
        if tag == "is_a":
            edges.append(Edge(key, str(clause.term), "isa"))
        elif tag == "synonym":
            names.append((str(clause.synonym.desc), key, "synonym"))
        elif tag == "relationship" and str(clause.typedef) in _PARTS:
            edges.append(Edge(key, str(clause.term), _PARTS[str(clause.typedef)]))
