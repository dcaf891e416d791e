"""The published figures of semantic microaggregation: its worked example, and which distances lose least."""

from __future__ import annotations

import pytest

from anondb.db.connection import Connection
from anondb.db.ontology import store
from anondb.methods.mdav.mdav import DISTANCES
from anondb.study.synthetic_logs import LogShape
from benchmarks.mdav import K, losses, make
from tests.toys import ontology

pytestmark = pytest.mark.once


def test_the_published_example(connection: Connection) -> None:
    """Batet et al.: two searches for holidays that differ in the sport, not in the place."""
    graph = {
        "sports": [], "water sports": ["sports"], "swimming": ["water sports"], "windsurfing": ["water sports"],
        "sea": [], "mediterranean": ["sea"],
    }  # fmt: skip
    store(connection, "toy", ontology(graph))
    one, other = ["Swimming", "Mediterranean"], ["Windsurfing", "Mediterranean"]
    query = "select anondb.set_distance(%s, %s, %s, 'shared', 'toy')"
    assert connection.execute(query, (one[:1], other[:1], "average")).fetchone() == (0.5,)
    published = {
        "sum_of_minimum": 0.25,
        "minimum": 0.0,
        "maximum": 1.0,
        "average": 0.625,
        "sum_of_maximum": 1.0,
    }
    for distance, expected in published.items():
        assert connection.execute(query, (one, other, distance)).fetchone() == (expected,), distance


def test_semantic_distances_lose_less_than_their_twins_and_average_loses_least(
    wordnet_connection: Connection,
) -> None:
    """The published order, on seeded data of its kind; `python -m benchmarks mdav` has it in full size.

    In a single draw sum_of_minimum may be ahead of average: for 1 of 8 seeds, with one k, by 1 %. So seeds are summed.
    """
    seeds = range(1, 5)
    lost: dict[tuple[str, str], dict[int, float]] = {}
    for seed in seeds:
        make(wordnet_connection, LogShape(100, 6, topics=10, words=60), seed)
        for row in losses(wordnet_connection, K):
            found = lost.setdefault((row["distance"], row["variant"]), dict.fromkeys(K, 0.0))
            found |= {k: found[k] + row["loss"][k] for k in K}
    for k in K:
        for distance in DISTANCES:
            assert lost[distance, "semantic"][k] < lost[distance, "non_semantic"][k], (distance, k)
        least = min((found[k], way) for way, found in lost.items())
        assert least[1] == ("average", "semantic"), k


def test_a_term_of_a_concept_means_that_concept(wordnet_connection: Connection) -> None:
    query = """
        select c.key, anondb.find_concept(anondb.term_of_concept(c.id)) = c.id
        from anondb.concept as c where hashtext(c.key) % 400 = 0
    """
    found = wordnet_connection.execute(query).fetchall()
    assert len(found) > 100
    assert [key for key, same in found if not same] == []


def test_a_label_that_is_better_known_for_something_else_has_its_sense(
    wordnet_connection: Connection,
) -> None:
    query = "select anondb.term_of_concept(anondb.find_concept(%s))"
    assert wordnet_connection.execute(query, ("cricket#1",)).fetchone() == ("cricket",)
    assert wordnet_connection.execute(query, ("cricket#2",)).fetchone() == ("cricket#2",)
