"""Releases of random sets that two ontologies explain, against MDAV by its definition on one graph of both."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.errors import UnsatisfiableError
from tests.acceptance.search_logs import BOTH, GRAPH, SECOND, a_policy, log_of_two, released
from tests.properties.examples import laws
from tests.properties.mdav_oracle import DISTANCES, delta, generalizations, partition, set_distance
from tests.toys import Graph

UNION: Graph = {
    **GRAPH,
    **{f"2 {name}": [f"2 {above}" for above in parents] for name, parents in SECOND.items()},
}

# what people may write, the phrase that it is taken for, and what that means; both ontologies know jazz and music
MEANINGS = {
    "Jazz": ("jazz", "jazz"), "loud jazz": ("loud jazz", "jazz"), "opera": ("opera", "opera"), "sea": ("sea", "sea"),
    "song": ("song", "2 song"), "ballad": ("ballad", "2 ballad"), "Cat": ("cat", "2 cat"), "dog": ("dog", "2 dog"),
    "old dog": ("old dog", "2 dog"),
}  # fmt: skip
OWN = {name: name for name in GRAPH} | {f"2 {name}": name for name in SECOND if name not in GRAPH}
"""The word that stands for a concept; whoever reads the second one's music or jazz looks in the first."""

texts = st.sampled_from(["xyzzy", *MEANINGS])
logs = st.lists(st.lists(texts, max_size=4), min_size=1, max_size=10)


def means(texts: list[str]) -> frozenset[str]:
    return frozenset(MEANINGS[text][1] for text in texts if text in MEANINGS)


def expected(sets: dict[int, list[str]], k: int, distance: str) -> dict[int, frozenset[str]]:
    """What the records with concepts, in their order, are released with: concepts of both ontologies."""
    known = {record: means(one) for record, one in sets.items() if means(one)}
    said = Counter(text for one in sets.values() for text in {MEANINGS[t][0] for t in one if t in MEANINGS})
    had = Counter(
        above
        for one in known.values()
        for above in frozenset[str]().union(*(generalizations(UNION, c) for c in one))
    )

    def tells(concept: str) -> bool:
        frequent = any(said[phrase] >= k for phrase, of in MEANINGS.values() if of == concept)
        return had[concept] >= k and (frequent or (concept in OWN and not said[OWN[concept]]))

    def told(concept: str) -> list[str]:
        """The nearest one above that can be told; here a concept has one parent at most."""
        if tells(concept):
            return [concept]
        return [found for parent in UNION[concept] for found in told(parent)]

    apart = delta(UNION, "shared")
    found = partition(known, k, lambda a, b: set_distance(known[a], known[b], distance, apart))
    return {
        record: frozenset(name for concept in known[centroid] for name in told(concept))
        for members, centroid in found
        for record in members
    }


@settings(laws, max_examples=max(laws.max_examples // 2, 10))  # each is a whole run
@given(sets=logs, k=st.integers(2, 3), distance=st.sampled_from(DISTANCES))
@example(sets=[["song"], ["ballad"], ["Jazz", "Cat"], ["Jazz", "dog"]], k=2, distance="average")
def test_sets_of_two_ontologies_are_released_as_by_definition(
    db: Database, sets: list[list[str]], k: int, distance: str
) -> None:
    log_of_two(db, sets)
    policy = a_policy(k=k, method=f'distance = "{distance}"', privacy="suppression = 1.0", ontology=BOTH)
    with_concepts = sum(bool(means(one)) for one in sets)
    if len(sets) < k or max(with_concepts, len(sets) - with_concepts) < k:
        try:
            db.run(policy)
        except UnsatisfiableError:
            return
        raise AssertionError("nothing can be released")
    db.run(policy)
    # records are numbered in the order of their texts
    numbers = 'select id from logs order by queries::text collate "C", city collate "C"'
    order: list[int] = [int(str(number)) for (number,) in db.connection.execute(numbers.encode())]
    by_place = {place: sets[number] for place, number in enumerate(order)}
    wanted = expected(by_place, k, distance) if with_concepts >= k else {}
    meant = dict(MEANINGS.values()) | {word: concept for concept, word in OWN.items()}
    rows = {city: frozenset(meant[term] for term in terms) for city, terms in released(db)}
    assert {city: rows[city] for city in rows if rows[city]} == {
        f"city {order[place]}": concepts for place, concepts in wanted.items() if concepts
    }
    sizes = b"select size from anondb.concept_set_sizes('share', 'queries', 'toy', 'second') order by size"
    counted = [size for (size,) in db.connection.execute(sizes)]
    assert counted == sorted(Counter(rows.values()).values())
    assert min(Counter(tuple(terms) for _, terms in released(db)).values()) >= k
