"""The published figures of GSL, on WordNet 3.0: Ayala-Rivera et al., "Ontology-Based Quality Evaluation of Value
Generalization Hierarchies for Data Anonymization" (2014), and "Enhancing the Utility of Anonymized Data by
Improving the Quality of Generalization Hierarchies" (2017).
"""

from __future__ import annotations

import statistics

import pytest

from anondb.api import Database
from anondb.db import vgh
from anondb.db.connection import Connection
from anondb.hierarchies.forms import VghTable
from tests import toys
from tests.papers.wordnet_oracle import WordNet

VERTEBRATES = toys.vgh(
    "Parrot#1;Bird;Homeotherm;Vertebrate",
    "Cat#1;Mammal;Homeotherm;Vertebrate",
    "Dog#1;Mammal;Homeotherm;Vertebrate",
    "Snake#1;Reptile;Ectotherm;Vertebrate",
    "Crocodile#1;Reptile;Ectotherm;Vertebrate",
    "Frog#1;Amphibian;Ectotherm;Vertebrate",
    "Salmon#1;Fish;Ectotherm;Vertebrate",
)
LEVELS = (0.1538, 0.3333, 0.2000)  # wup, max
FIGURES = 5e-5  # they are printed with four digits

# leaves with their senses, and with senses for ancestors that no leaf inherits
OCCUPATIONS = toys.vgh(
    "Surgeon;Doctor#1;Medical practitioner;Person#1;*",
    "Ophthalmologist;Doctor#1;Medical practitioner;Person#1;*",
    "Optician;Doctor#1;Medical practitioner;Person#1;*",
    "Nurse#1;Health professional;Professional#1;Person#1;*",
    "Math teacher;Teacher#1;Professional#1;Person#1;*",
    "Professor;Teacher#1;Professional#1;Person#1;*",
    "Tamer;Trainer#1;Leader#1;Person#1;*",
    "Carpenter;Carpenter;Craftsman#3;Person#1;*",
    "Plumber;Plumber;Plumber;Person#1;*",
)
DISEASES = toys.vgh(
    "Influenza;Respiratory disease;Disease;*",
    "Pneumonia;Respiratory disease;Disease;*",
    "Gastritis;Inflammation#1;Disease;*",
    "Measles;Contagious disease;Disease;*",
    "Cancer#1;Tumor;Disease;*",
    "Carcinoid;Tumor;Disease;*",
    "Diabetes;Metabolic disorder;Disorder#1;*",
)
FOOD = toys.vgh(
    "Apple#1;Edible fruit;Fruit#1;Food#2;*",
    "Banana#2;Edible fruit;Fruit#1;Food#2;*",
    "Tomato#1;Vegetable#1;Produce;Food#2;*",
    "Carrot#2;Vegetable#1;Produce;Food#2;*",
    "Salmon#3;Bird#2;Meat#1;Food#2;*",
    "Chicken#1;Bird#2;Meat#1;Food#2;*",
    "Beef#2;Beef#2;Meat#1;Food#2;*",
    "Milk#1;Drink#3;Liquid#1;Food#2;*",
    "Beer#1;Alcohol#1;Liquid#1;Food#2;*",
)


@pytest.fixture
def animals(wordnet: Database) -> Database:
    vgh.store(wordnet.connection, "vertebrates", VERTEBRATES)
    return wordnet


@pytest.fixture(scope="module")
def oracle() -> WordNet:
    return WordNet()


def test_the_vertebrates_are_good(animals: Database) -> None:
    score = animals.hierarchies.score("vertebrates")
    assert [level.loss for level in score.levels] == pytest.approx(LEVELS, abs=FIGURES)
    assert score.gsl == pytest.approx(0.2290, abs=1e-4)  # of the rounded levels
    assert score.rating == "Good"
    losses = {(step.leaf, step.ancestor): step.loss for step in score.worst}
    assert losses["Cat#1", "Homeotherm"] == pytest.approx(0.3333, abs=FIGURES)


def test_single_transitions(animals: Database) -> None:
    rows = animals.connection.execute(
        "select t.leaf, t.ancestor, t.loss from anondb.trans_gsl('vertebrates') as t"
    )
    losses = {(leaf, ancestor): loss for leaf, ancestor, loss in rows.fetchall()}
    figures = {
        ("Salmon#1", "Fish"): 0.0769,
        ("Salmon#1", "Ectotherm"): 0.3043,
        ("Salmon#1", "Vertebrate"): 0.1667,
        ("Parrot#1", "Bird"): 0.0435,
        ("Cat#1", "Homeotherm"): 0.3333,
        ("Dog#1", "Homeotherm"): 0.1579,
    }
    assert {pair: losses[pair] for pair in figures} == pytest.approx(figures, abs=FIGURES)


def test_transitions_in_depths(wordnet: Database) -> None:
    """The convention of WS4J, which the later papers use."""
    rows = ("surgeon#1;doctor#1;medical practitioner#1", "ophthalmologist#1;doctor#1;medical practitioner#1",
            "optician#1;doctor#1;medical practitioner#1")  # fmt: skip
    vgh.store(wordnet.connection, "jobs", toys.vgh(*rows))
    query = "select t.leaf, t.ancestor, t.loss from anondb.trans_gsl('jobs', 'wup_depth') as t"
    losses = {(leaf, up): loss for leaf, up, loss in wordnet.connection.execute(query).fetchall()}
    figures = {
        ("surgeon#1", "doctor#1"): 0.0370,
        ("ophthalmologist#1", "doctor#1"): 0.0714,
        ("ophthalmologist#1", "medical practitioner#1"): 0.1111,
        ("optician#1", "doctor#1"): 0.3333,
    }
    assert {pair: losses[pair] for pair in figures} == pytest.approx(figures, abs=FIGURES)


def test_an_amphibian_is_a_frogs_and_no_aeroplane(animals: Database) -> None:
    """Its sense 3, which is found because frog#1 inherits it."""
    [amphibian] = [sense for sense in animals.hierarchies.senses("vertebrates") if sense.label == "Amphibian"]
    assert (amphibian.concept, amphibian.how) == ("amphibian.n.03", "inherited")


def test_without_given_senses_the_glosses_lead_to_the_same_score(wordnet: Database) -> None:
    bare = VghTable(tuple(tuple(label.partition("#")[0] for label in row) for row in VERTEBRATES.rows))
    vgh.store(wordnet.connection, "vertebrates", bare)
    levels = [level.loss for level in wordnet.hierarchies.score("vertebrates").levels]
    assert levels == pytest.approx(LEVELS, abs=FIGURES)


def test_lower_levels_weigh_more_by_level(animals: Database) -> None:
    score = animals.hierarchies.score("vertebrates", weights="level")
    assert score.gsl == pytest.approx((3 * LEVELS[0] + 2 * LEVELS[1] + LEVELS[2]) / 6, abs=FIGURES)


def test_equal_frequencies_give_the_static_score(animals: Database) -> None:
    leaves = [row[0].partition("#")[0] for row in VERTEBRATES.rows]
    animals.connection.execute("create table pets (kind text)")
    animals.connection.execute("insert into pets select unnest(%s::text[])", (leaves * 3,))
    for aggregate in ("max", "avg"):
        static = animals.hierarchies.score("vertebrates", aggregate=aggregate)
        dynamic = animals.hierarchies.score("vertebrates", aggregate=aggregate, table="pets", column="kind")
        assert dynamic.gsl == pytest.approx(static.gsl)


def test_a_set_is_the_mean_of_its_preferred_scores(animals: Database) -> None:
    vgh.store(animals.connection, "birds", toys.vgh("Parrot#1;Bird;Vertebrate"))
    found = animals.hierarchies.score_set(["vertebrates", "birds"], preferences=[1.5, 0.5])
    by_name = {score.vgh: score.gsl for score in found.scores}
    assert [score.vgh for score in found.scores] == ["birds", "vertebrates"]
    assert found.gsl == pytest.approx((1.5 * by_name["vertebrates"] + 0.5 * by_name["birds"]) / 2)


@pytest.mark.parametrize(
    "table", [VERTEBRATES, OCCUPATIONS, DISEASES, FOOD], ids=["animals", "jobs", "ills", "food"]
)
def test_every_transition_is_that_of_the_definitions(
    wordnet_connection: Connection, oracle: WordNet, table: VghTable
) -> None:
    vgh.store(wordnet_connection, "v", table)
    for measure in ("wup", "wup_depth", "path"):
        query = "select t.leaf, t.level, t.ancestor, t.loss from anondb.trans_gsl('v', %s) as t"
        found = wordnet_connection.execute(query, (measure,)).fetchall()
        expected = {
            (row[0], level, row[level]): oracle.loss(row[0], row[level], measure)
            for row in table.rows
            for level in range(1, table.height + 1)
        }
        assert {(leaf, level, up): loss for leaf, level, up, loss in found} == pytest.approx(
            expected, abs=1e-12
        )
        score = wordnet_connection.execute("select anondb.vgh_gsl('v', %s, 'avg')", (measure,)).fetchone()
        by_level = [
            statistics.fmean(loss for (_, at, _), loss in expected.items() if at == level)
            for level in range(1, table.height + 1)
        ]
        assert score == (pytest.approx(statistics.fmean(by_level)),)


def test_a_score_says_what_is_wrong(animals: Database) -> None:
    """Homeotherm and ectotherm are no hypernyms in WordNet: their level loses more than the one above it."""
    text = str(animals.hierarchies.score("vertebrates"))
    assert "less than level 2" in text
    assert '"Ectotherm" is no generalization of Snake#1, Crocodile#1, Frog#1, Salmon#1' in text
