"""Small ontologies whose every similarity can be worked out by hand, and naive oracles for larger ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from anondb.hierarchies.forms import VghTable
from anondb.ontology.model import Concept, Edge, Lexeme, Ontology

Graph = Mapping[str, Sequence[str]]  # concept → its parents


def vgh(*rows: str) -> VghTable:
    """A hierarchy from rows as a file has them."""
    return VghTable(tuple(tuple(row.split(";")) for row in rows))


def ontology(
    parents: Graph,
    *,
    words: Mapping[str, Sequence[str]] | None = None,
    glosses: Mapping[str, str] | None = None,
    verbs: Iterable[str] = (),
    root_depth: int = 0,
) -> Ontology:
    """Concepts that are their own words, unless `words` says which concepts a word can mean, best known first."""
    meanings = {concept: [concept] for concept in parents} | dict(words or {})
    part = {concept: "v" if concept in set(verbs) else "n" for concept in parents}
    return Ontology(
        "wordnet" if root_depth else "csv",
        None,
        root_depth,
        [Concept(concept, part[concept], concept, (glosses or {}).get(concept, "")) for concept in parents],
        [Edge(child, parent, "isa") for child, above in parents.items() for parent in above],
        [
            Lexeme(word, sense, part[concept], concept, "lemma")
            for word, concepts in meanings.items()
            for sense, concept in enumerate(concepts, 1)
        ],
    )


class Oracle:
    """Similarities straight from their definitions, without a thought for speed."""

    def __init__(self, parents: Graph, root_depth: int) -> None:
        self.parents = parents
        self.root_depth = root_depth
        self.nodes_deep = max(self.longest(concept) for concept in parents) - root_depth + 1

    def above(self, concept: str) -> dict[str, int]:
        """Every generalization of a concept, itself included, with the links on the shortest way."""
        found = {concept: 0}
        for parent in self.parents[concept]:
            for far, links in self.above(parent).items():
                found[far] = min(found.get(far, links + 1), links + 1)
        return found

    def shortest(self, concept: str) -> int:
        return min((self.shortest(parent) + 1 for parent in self.parents[concept]), default=self.root_depth)

    def longest(self, concept: str) -> int:
        return max((self.longest(parent) + 1 for parent in self.parents[concept]), default=self.root_depth)

    def similarity(self, a: str, b: str, measure: str) -> float:
        return 1.0 if a == b else float(getattr(self, f"_{measure}")(a, b))

    def _wup(self, a: str, b: str) -> float:
        near_a, near_b = self.above(a), self.above(b)
        common = set(near_a) & set(near_b)
        if not common:
            if self.root_depth == 0:
                return 0.0
            return 2 / (self.shortest(a) - 1 + self.shortest(b) - 1 + 2)
        lowest = [c for c in common if not any(c in self.above(d) for d in common - {c})]
        best = min(lowest, key=lambda c: (-self.shortest(c), near_a[c] + near_b[c], c))
        depth = self.shortest(best)
        links = near_a[best] + near_b[best]
        return 2 * depth / (links + 2 * depth)

    def _wup_depth(self, a: str, b: str) -> float:
        common = set(self.above(a)) & set(self.above(b))
        deep = max(map(self.longest, common), default=1 if self.root_depth else 0)
        both = self.longest(a) + self.longest(b)
        return min(1.0, 2 * deep / both) if both else 0.0

    def _path(self, a: str, b: str) -> float:
        links = self._links(a, b)
        return 0.0 if links is None else 1 / (1 + links)

    def _lch(self, a: str, b: str) -> float:
        links = self._links(a, b)
        return 0.0 if links is None else max(0.0, 1 - math.log(1 + links) / math.log(2 * self.nodes_deep))

    def _shared(self, a: str, b: str) -> float:
        near_a, near_b = set(self.above(a)), set(self.above(b))
        return len(near_a & near_b) / len(near_a | near_b)

    def _links(self, a: str, b: str) -> int | None:
        near_a, near_b = self.above(a), self.above(b)
        ways = [near_a[c] + near_b[c] for c in set(near_a) & set(near_b)]
        if not ways and self.root_depth:
            return self.shortest(a) - 1 + self.shortest(b) - 1
        return min(ways, default=None)
