"""GSL straight from WordNet's own files and the definitions, without a line of anondb but the one that finds them."""

from __future__ import annotations

from functools import cached_property

from anondb.ontology import wordnet

Synset = int  # its offset in data.noun


class WordNet:
    """Nouns, their generalizations and the losses between them, by walking from synset to synset."""

    def __init__(self) -> None:
        place = wordnet.find()
        self.parents: dict[Synset, list[Synset]] = {}
        self.first: dict[Synset, str] = {}
        self.senses: dict[str, list[Synset]] = {}
        for line in (place / "data.noun").read_text(encoding="utf-8").splitlines():
            if not line.startswith(" "):
                self._read(line.split(" | ")[0].split())
        for line in (place / "index.noun").read_text(encoding="utf-8").splitlines():
            if not line.startswith(" "):
                lemma, _, count, *rest = line.split()
                self.senses[lemma.replace("_", " ")] = [int(offset) for offset in rest[-int(count) :]]
        self._above: dict[Synset, dict[Synset, int]] = {}

    def _read(self, fields: list[str]) -> None:
        """offset file type words(hex) (word id)… pointers (symbol offset part source)…"""
        offset, words = int(fields[0]), int(fields[3], 16)
        self.first[offset] = fields[4].lower().replace("_", " ")
        pointers = fields[5 + 2 * words :]
        quads = [pointers[at : at + 4] for at in range(0, len(pointers), 4)]
        self.parents[offset] = [int(quad[1]) for quad in quads if quad[0] in ("@", "@i")]

    @cached_property
    def root(self) -> Synset:
        return self.senses["entity"][0]

    def sense(self, term: str) -> Synset:
        """`dog#1`, the only sense of a word, or `*` for what is above all."""
        if term == "*":
            return self.root
        word, _, number = term.lower().partition("#")
        assert number or len(self.senses[word]) == 1, f"{term} is ambiguous"
        return self.senses[word][int(number or 1) - 1]

    def meant(self, leaf: Synset, ancestor: str) -> Synset:
        """Procedure 2 for a pair: the nearest inherited sense of the ancestor's word, else the given one."""
        above = self.above(leaf)
        inherited = [s for s in self.senses.get(ancestor.lower().partition("#")[0], []) if s in above]
        return min(inherited, key=above.__getitem__) if inherited else self.sense(ancestor)

    def loss(self, leaf_term: str, ancestor: str, measure: str) -> float:
        leaf = self.sense(leaf_term)
        meant = leaf if ancestor == leaf_term else self.meant(leaf, ancestor)
        return 0.0 if leaf == meant else 1 - float(getattr(self, measure)(leaf, meant))

    def above(self, synset: Synset) -> dict[Synset, int]:
        """All generalizations with the links on the shortest way, found breadth first."""
        if synset not in self._above:
            found, edge = {synset: 0}, [synset]
            while edge:
                further = [(parent, found[near] + 1) for near in edge for parent in self.parents[near]]
                edge = [parent for parent, _ in dict(further).items() if parent not in found]
                found |= {parent: links for parent, links in further if parent not in found}
            self._above[synset] = found
        return self._above[synset]

    def depth(self, synset: Synset) -> int:
        """On the shortest way, in nodes, with a virtual root above entity."""
        return 2 + self.above(synset)[self.root]

    def longest(self, synset: Synset) -> int:
        return 1 + max((self.longest(parent) for parent in self.parents[synset]), default=1)

    def key(self, synset: Synset) -> str:
        """As nltk names synsets."""
        first = self.first[synset]
        return f"{first.replace(' ', '_')}.n.{self.senses[first].index(synset) + 1:02d}"

    def wup(self, a: Synset, b: Synset) -> float:
        near_a, near_b = self.above(a), self.above(b)
        common = set(near_a) & set(near_b)
        lowest = [c for c in common if not any(c in self.above(d) for d in common - {c})]
        best = min(lowest, key=lambda c: (-self.depth(c), near_a[c] + near_b[c], self.key(c)))
        return 2 * self.depth(best) / (near_a[best] + near_b[best] + 2 * self.depth(best))

    def wup_depth(self, a: Synset, b: Synset) -> float:
        common = set(self.above(a)) & set(self.above(b))
        return min(1.0, 2 * max(map(self.longest, common)) / (self.longest(a) + self.longest(b)))

    def path(self, a: Synset, b: Synset) -> float:
        near_a, near_b = self.above(a), self.above(b)
        return 1 / (1 + min(near_a[c] + near_b[c] for c in set(near_a) & set(near_b)))
