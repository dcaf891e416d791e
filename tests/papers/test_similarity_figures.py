"""Published similarities, on WordNet 3.0 nouns and on the papers' own small taxonomies."""

from __future__ import annotations

import math

import pytest

from anondb.db import ontology
from anondb.db.connection import Connection
from anondb.ontology.csvfile import parse


def distance(connection: Connection, a: str, b: str, measure: str, name: str = "wordnet") -> float:
    return 1 - ontology.similarity(connection, a, b, measure, name)


# Ayala-Rivera, McDonagh, Cerqueus, Murphy: Generalization Semantic Loss; Wu and Palmer 1994, counted in links.
WUP = [
    ("salmon#1", "fish#1", 0.0769),
    ("salmon#1", "ectotherm#1", 0.3043),
    ("salmon#1", "vertebrate#1", 0.1667),
    ("parrot#1", "bird#1", 0.0435),
    ("cat#1", "homeotherm#1", 0.3333),
    ("dog#1", "homeotherm#1", 0.1579),
]


@pytest.mark.parametrize(("a", "b", "loss"), WUP)
def test_wu_palmer_by_links_is_that_of_the_gsl_paper(
    wordnet_connection: Connection, a: str, b: str, loss: float
) -> None:
    assert distance(wordnet_connection, a, b, "wup") == pytest.approx(loss, abs=5e-5)


# The same authors' figures for hierarchies of occupations; Wu and Palmer 1994, by depths as WS4J has it.
WUP_DEPTH = [
    ("surgeon#1", "doctor#1", 0.0370),
    ("ophthalmologist#1", "doctor#1", 0.0714),
    ("ophthalmologist#1", "medical practitioner#1", 0.1111),
    ("optician#1", "doctor#1", 0.3333),
    ("tamer#1", "trainer#1", 0.0909),
    ("math teacher#1", "teacher#1", 0.0400),
]


@pytest.mark.parametrize(("a", "b", "loss"), WUP_DEPTH)
def test_wu_palmer_by_depths_is_that_of_ws4j(
    wordnet_connection: Connection, a: str, b: str, loss: float
) -> None:
    assert distance(wordnet_connection, a, b, "wup_depth") == pytest.approx(loss, abs=5e-5)


def test_a_concept_with_two_parents_is_like_itself(wordnet_connection: Connection) -> None:
    for measure in ("wup", "wup_depth", "path", "lch", "shared"):
        assert ontology.similarity(wordnet_connection, "person#1", "person.n.01", measure, "wordnet") == 1


def test_wu_palmer_in_the_small_taxonomy_of_its_definition(connection: Connection) -> None:
    """Wu and Palmer 1994: car lies two links below the root, compact car one below it: 2·2 / (0 + 1 + 2·2)."""
    cars = "car,vehicle\nvehicle,thing\ncompact car,car\nboat,vehicle\n"
    ontology.store(connection, "cars", parse(cars, place="cars.csv"))
    assert ontology.similarity(connection, "car", "compact car", "wup", "cars") == pytest.approx(0.8)


def test_leacock_chodorow_divides_by_twice_the_depth_of_the_taxonomy(wordnet_connection: Connection) -> None:
    """Leacock and Chodorow 1998: −ln(Np / 2D) with D = 20 for WordNet 3.0 nouns, divided by ln(2D)."""
    greatest = math.log(2 * 20)
    # car#1 to automobile#1 is one synset; dog#1 is a canine#2: two nodes; dog#1, canine, carnivore, feline, cat#1
    for a, b, nodes in (("car", "automobile", 1), ("dog#1", "canine#2", 2), ("dog#1", "cat#1", 5)):
        expected = -math.log(nodes / (2 * 20)) / greatest
        found = ontology.similarity(wordnet_connection, a, b, "lch", "wordnet")
        assert found == pytest.approx(expected, abs=1e-12)


def test_the_path_measure_counts_links(wordnet_connection: Connection) -> None:
    """Rada et al. 1989, as a similarity: 1 / (1 + shortest path)."""
    assert ontology.similarity(wordnet_connection, "dog#1", "cat#1", "path", "wordnet") == pytest.approx(
        1 / 5
    )
    assert ontology.similarity(wordnet_connection, "dog#1", "canine#2", "path", "wordnet") == pytest.approx(
        1 / 2
    )


def test_swimming_and_windsurfing_share_half_of_their_generalizations(connection: Connection) -> None:
    """Batet et al. 2014: T(Swimming) and T(Windsurfing) share Sports and Water Sports; δ = 2/4."""
    sports = "Swimming,Water Sports\nWindsurfing,Water Sports\nWater Sports,Sports\nMediterranean,Sea\nSea,Sports\n"
    ontology.store(connection, "trips", parse(sports, place="trips.csv"))
    assert distance(connection, "Swimming", "Windsurfing", "shared", "trips") == 0.5
    assert distance(connection, "Swimming", "Swimming", "shared", "trips") == 0
