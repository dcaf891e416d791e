"""Ontologies as OBO files (disease, phenotype, anatomy, …), parsed by fastobo."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anondb.errors import UsageError
from anondb.ontology.model import Concept, Edge, Ontology, Progress, number_senses

_PARTS = {"part_of", "BFO:0000050"}
_NAME, _EXACT, _OTHER = range(3)  # what a term is called goes before what it is called too


def read(path: Path, *, progress: Progress | None = None) -> Ontology:
    """The terms of an OBO file that are not obsolete, with their names, synonyms, is-a and part-of."""
    import fastobo

    ontology = Ontology("obo", None, root_depth=0, place=path.name)
    _refuse_nul(path)
    names: list[tuple[int, str, str]] = []
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            document = fastobo.iter(file)
            header = {clause.raw_tag(): clause.raw_value() for clause in document.header()}
            ontology.version = header.get("data-version")
            for number, frame in enumerate(document):
                if progress is not None and number % 1000 == 0:
                    progress("reading terms", file.tell() / size)
                if isinstance(frame, fastobo.term.TermFrame):
                    names.extend(_read_term(frame, ontology))
    except SyntaxError as error:
        raise UsageError(
            f"{path.name} line {error.lineno}: is not OBO: {error.msg}",
            hint="OBO 1.4 has terms as frames: [Term]",
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path.name}: is not UTF-8", hint="save it as UTF-8") from None
    except (OSError, ValueError) as error:
        # fastobo reports a text that is not UTF-8 as an OSError without a number
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path}: cannot be read: {reason}", hint="is it an OBO file in UTF-8?") from None
    if not ontology.concepts:
        raise UsageError(f"{path.name}: has no terms", hint="OBO terms are frames that start with [Term]")
    names.sort(key=lambda name: name[0])
    kinds = {_NAME: "lemma", _EXACT: "synonym", _OTHER: "synonym"}
    ontology.lexemes = number_senses((name, key, kinds[rank]) for rank, name, key in names)
    return ontology


def _refuse_nul(path: Path) -> None:
    """Refuses NUL characters: PostgreSQL cannot store them, and a file in UTF-16 is full of them."""
    try:
        with path.open("rb") as file:
            has_nul = any(b"\0" in block for block in iter(lambda: file.read(2**20), b""))
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read: {error.strerror}", hint="is it an OBO file in UTF-8?"
        ) from None
    if has_nul:
        raise UsageError(f"{path.name}: has a NUL character", hint="save it as plain text in UTF-8")


def _read_term(frame: Any, ontology: Ontology) -> Iterator[tuple[int, str, str]]:
    """Adds a term to the ontology; gives its names, each with how good a name it is."""
    key, label, gloss = str(frame.id), None, ""
    names, edges = [], []
    for clause in frame:
        match clause.raw_tag():
            case "is_obsolete" if clause.obsolete:
                return
            case "name":
                label = str(clause.name).strip()
            case "def":
                gloss = str(clause.definition)
            case "synonym":
                rank = _EXACT if clause.synonym.scope == "EXACT" else _OTHER
                names.append((rank, str(clause.synonym.desc), key))
            case "alt_id":
                names.append((_EXACT, str(clause.alt_id), key))
            case "is_a":
                edges.append(Edge(key, str(clause.term), "isa"))
            case "relationship" if str(clause.typedef) in _PARTS:
                edges.append(Edge(key, str(clause.term), "part"))
    ontology.concepts.append(Concept(key, "n", label or key, gloss))
    ontology.edges.extend(edges)
    yield _NAME, label or key, key
    yield from names
