"""An ontology as it is read from files, before the database numbers its concepts."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

ISA = ("isa", "instance")

Progress = Callable[[str, float], None]
"""Is called with what is being done, and with the share of it that is done (0 to 1)."""

_LONGEST_LEMMA = 500  # nobody types the formulas that chemists list as synonyms, and no index holds them
_ACCENTS = re.compile("[\u0300-\u036f]")
_LOOKALIKES = str.maketrans(
    dict.fromkeys("‐‑‒–—―", "-") | dict.fromkeys("\u2018\u2019\u02bc", "'") | {"_": " "}
)


def split(progress: Progress | None, share: float) -> tuple[Progress, Progress]:
    """Progress of two pieces of work one after the other, the first of which takes this share."""
    if progress is None:
        return (lambda doing, done: None), (lambda doing, done: None)
    return (
        lambda doing, done: progress(doing, done * share),
        lambda doing, done: progress(doing, share + done * (1 - share)),
    )


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
    place: str = ""  # the file, for messages

    @property
    def sha256(self) -> str:
        """A digest of all concepts, edges and words, in the order in which they were read."""
        digest = hashlib.sha256(f"{self.kind}\0{self.version}\0{self.root_depth}".encode())
        for row in self._rows():
            digest.update("\0".join(map(str, row)).encode())
            digest.update(b"\n")
        return digest.hexdigest()

    def _rows(self) -> Iterator[tuple[object, ...]]:
        yield from self.concepts
        yield from self.edges
        yield from self.lexemes


def number_senses(names: Iterable[tuple[str, str, str]]) -> list[Lexeme]:
    """Lexemes from (name, concept, kind): a name that several concepts have gets a sense for each."""
    seen: dict[str, set[str]] = {}
    lexemes = []
    for name, concept, kind in names:
        lemma = normal_term(name)
        concepts = seen.setdefault(lemma, set())
        if 0 < len(lemma) <= _LONGEST_LEMMA and concept not in concepts:
            concepts.add(concept)
            lexemes.append(Lexeme(lemma, len(concepts), "n", concept, kind))
    return lexemes


def normal_term(term: str) -> str:
    """As anondb.normal_term: lower case, single spaces, no underscores, no accents."""
    if not term.isascii():
        term = _ACCENTS.sub("", unicodedata.normalize("NFKD", term))
    return " ".join(term.translate(_LOOKALIKES).lower().split())
