"""An ontology as it is read from files, before the database numbers its concepts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

ISA = ("isa", "instance")

Progress = Callable[[str, float], None]
"""Told what is being done, and which share of it is done (0 to 1)."""


class Concept(NamedTuple):
    key: str
    pos: str
    label: str
    gloss: str


class Edge(NamedTuple):
    child: str
    parent: str
    kind: str  # isa, instance, part, substance


class Lexeme(NamedTuple):
    lemma: str
    sense: int
    pos: str
    concept: str
    kind: str  # lemma, synonym, irregular


@dataclass
class Ontology:
    kind: str  # wordnet, obo, csv
    version: str | None
    root_depth: int  # of a concept without parents
    concepts: list[Concept] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    lexemes: list[Lexeme] = field(default_factory=list)

    @property
    def sha256(self) -> str:
        """Of everything in it, in the order of reading."""
        digest = hashlib.sha256(f"{self.kind}\0{self.version}\0{self.root_depth}".encode())
        for row in self._rows():
            digest.update("\0".join(map(str, row)).encode())
            digest.update(b"\n")
        return digest.hexdigest()

    def _rows(self) -> Iterator[tuple[object, ...]]:
        yield from self.concepts
        yield from self.edges
        yield from self.lexemes


def number_senses(names: list[tuple[str, str, str]]) -> list[Lexeme]:
    """Lexemes from (name, concept, kind): a name that several concepts have gets a sense for each."""
    seen: dict[str, list[str]] = {}
    lexemes = []
    for name, concept, kind in names:
        lemma = normal_term(name)
        concepts = seen.setdefault(lemma, [])
        if lemma and concept not in concepts:
            concepts.append(concept)
            lexemes.append(Lexeme(lemma, len(concepts), "n", concept, kind))
    return lexemes


def normal_term(term: str) -> str:
    """As anondb.normal_term: lower case, single spaces, no underscores."""
    return " ".join(term.lower().replace("_", " ").split())
