"""Senses against their definitions, on random ontologies whose words mean several things."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb.db import ontology, vgh
from anondb.db.connection import Connection
from anondb.hierarchies.forms import VghTable
from tests import toys

WORDS = [f"w{number}" for number in range(8)]
COLOURS = ["red", "green", "blue", "black", "white", "pink"]  # no stop words, and each its own stem


@dataclass(frozen=True)
class World:
    parents: dict[str, list[str]]
    glosses: dict[str, str]
    meanings: dict[str, list[str]]  # word → concepts, best known first
    table: VghTable

    @property
    def oracle(self) -> toys.Oracle:
        return toys.Oracle(self.parents, 0)

    def near(self, concept: str) -> set[str]:
        """The words of a concept's gloss, and of those directly above and below it."""
        below = [child for child, above in self.parents.items() if concept in above]
        around = [concept, *self.parents[concept], *below]
        return {word for other in around for word in self.glosses[other].split()}

    def lesk(self, term: str, terms: set[str]) -> tuple[str, float]:
        """The sense that shares most words with the senses of the other terms, and how far it is ahead."""
        others = {
            word
            for other in terms - {term}
            for concept in self.meanings[other]
            for word in self.near(concept)
        }
        scores = [len(self.near(concept) & others) for concept in self.meanings[term]]
        best = max(range(len(scores)), key=lambda sense: (scores[sense], -sense))
        rest = sorted(scores[:best] + scores[best + 1 :])
        ahead = (scores[best] - rest[-1]) / scores[best] if rest and scores[best] else float(not rest)
        return self.meanings[term][best], ahead

    def meant(self, leaf: str, ancestor: str) -> str:
        """Procedure 2: what the leaf inherits of the ancestor's senses, the nearest first; else by the glosses."""
        leaves = {row[0] for row in self.table.rows}
        labels = {label for row in self.table.rows for label in row}
        concept = self.lesk(leaf, leaves)[0]
        if ancestor == leaf:
            return concept
        above = self.oracle.above(concept)
        inherited = [sense for sense in self.meanings[ancestor] if sense in above]
        if inherited:
            return min(inherited, key=lambda sense: (above[sense], self.meanings[ancestor].index(sense)))
        return self.lesk(ancestor, leaves if ancestor in leaves else labels)[0]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    parents: dict[str, list[str]] = {"c0": []}
    for number in range(1, draw(st.integers(4, 10))):
        parents[f"c{number}"] = draw(
            st.lists(st.sampled_from(sorted(parents)), min_size=1, max_size=2, unique=True)
        )
    colours = st.lists(st.sampled_from(COLOURS), max_size=3, unique=True).map(" ".join)
    glosses = {concept: draw(colours) for concept in parents}
    several = st.lists(st.sampled_from(sorted(parents)), min_size=1, max_size=3, unique=True)
    meanings = {word: draw(several) for word in WORDS}
    rows = [[leaf] for leaf in draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5, unique=True))]
    for _ in range(draw(st.integers(0, 1))):
        classes = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True))
        for row in rows:
            row.append(draw(st.sampled_from(classes)))
    root = draw(st.sampled_from(WORDS))
    return World(parents, glosses, meanings, VghTable(tuple((*row, root) for row in rows)))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(world=worlds())
def test_leaves_and_ancestors_mean_what_the_definitions_say(connection: Connection, world: World) -> None:
    made = toys.ontology(world.parents, words=world.meanings, glosses=world.glosses)
    ontology.store(connection, "toy", made)
    vgh.store(connection, "v", world.table, replace=True, ontology="toy")
    senses = connection.execute(
        "select s.label, s.concept, s.confidence from anondb.vgh_senses('v') as s where s.level = 0"
    ).fetchall()
    leaves = {row[0] for row in world.table.rows}
    expected = [(row[0], *world.lesk(row[0], leaves)) for row in world.table.rows]
    assert senses == [(label, concept, pytest.approx(ahead)) for label, concept, ahead in expected]

    pairs = connection.execute(
        """
        select l.label, p.level, n.label, c.key
        from anondb.vgh_pair as p
        join anondb.vgh_path as t on t.vgh = p.vgh and t.leaf = p.leaf and t.level = p.level
        join anondb.vgh_node as l on l.vgh = p.vgh and l.node = p.leaf
        join anondb.vgh_node as n on n.vgh = p.vgh and n.node = t.node
        join anondb.concept as c on c.id = p.concept
        """
    ).fetchall()
    assert set(pairs) == {
        (row[0], level, row[level], world.meant(row[0], row[level]))
        for row in world.table.rows
        for level in range(1, world.table.height + 1)
    }
