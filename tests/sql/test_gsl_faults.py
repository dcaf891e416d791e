"""What is wrong with a hierarchy, and what to do about it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from anondb.db import ontology, vgh
from anondb.db.connection import Connection
from tests import toys

PARENTS = {
    "thing": [],
    "animal": ["thing"],
    "bird": ["animal"],
    "mammal": ["animal"],
    "whale": ["mammal", "swimmer"],
    "swimmer": ["animal"],
    "cat": ["mammal"],
    "owl": ["bird"],
    "wren": ["bird"],
    "trout": ["fish"],
    "fish": ["swimmer"],
    "tool": ["thing"],
    "saw": ["tool"],
}
WORDS = {"feline": ["cat"], "beast": ["animal"]}
ANIMALS = ("cat;mammal;animal;thing", "owl;bird;animal;thing", "wren;bird;animal;thing")


@pytest.fixture
def toy(connection: Connection) -> Connection:
    ontology.store(connection, "toy", toys.ontology(PARENTS, words=WORDS))
    return connection


def store(connection: Connection, *rows: str) -> None:
    vgh.store(connection, "v", toys.vgh(*rows), replace=True, ontology="toy")


def faults(connection: Connection, *rows: str, kind: str = "%") -> list[tuple[Any, ...]]:
    """(kind, level, node, other, leaves, suggestion, advice)"""
    store(connection, *rows)
    query = """
        select f.kind, f.level, f.node, f.other, f.leaves, f.suggestion, f.advice
        from anondb.vgh_faults('v') as f where f.kind like %s
    """
    return connection.execute(query, (kind,)).fetchall()


def count(connection: Connection, what: str) -> Any:
    [(found,)] = connection.execute(f"select {what}".encode()).fetchall()
    return found


def test_a_sound_hierarchy_has_none(toy: Connection) -> None:
    assert faults(toy, *ANIMALS) == []


def test_they_are_found_in_the_call_that_understands_the_hierarchy(toy: Connection) -> None:
    store(toy, "owl;mammal;thing")
    assert count(toy, "count(*) from anondb.vgh_faults('v')") > 0


def test_a_level_less_specific_than_the_one_above_should_change_places_with_it(toy: Connection) -> None:
    advice = '"animal" is less specific than "bird" above it: exchange the two'
    found = faults(toy, "owl;animal;bird;thing", "wren;animal;bird;thing")
    assert found == [("falling", 1, "animal", "bird", ["owl", "wren"], None, advice)]


def test_a_leaf_in_a_wrong_class_is_sent_to_the_right_one(toy: Connection) -> None:
    rows = (*ANIMALS, "trout;bird;animal;thing", "whale;swimmer;animal;thing")
    found = faults(toy, *rows, kind="no_hypernym")
    assert found == [("no_hypernym", 1, "bird", "swimmer", ["trout"], "swimmer", 'move to "swimmer"')]


def test_a_leaf_is_not_sent_where_what_is_above_would_be_wrong(toy: Connection) -> None:
    rows = ("wren;bird;animal;thing", "trout;bird;animal;thing", "saw;fish;tool;thing")
    found = [fault for fault in faults(toy, *rows, kind="no_hypernym") if fault[4] == ["trout"]]
    advice = '"fish" is the nearest that fits here'
    assert found == [("no_hypernym", 1, "bird", None, ["trout"], "fish", advice)]


def test_without_a_right_class_the_nearest_generalization_is_suggested(toy: Connection) -> None:
    found = faults(toy, *ANIMALS, "trout;bird;animal;thing", kind="no_hypernym")
    advice = '"fish" is the nearest that fits here'
    assert found == [("no_hypernym", 1, "bird", None, ["trout"], "fish", advice)]


def test_a_class_that_is_wrong_for_all_gets_what_its_leaves_share(toy: Connection) -> None:
    found = faults(toy, "cat;tool;animal;thing", "whale;tool;animal;thing", kind="no_hypernym")
    advice = '"mammal" is the nearest that fits here'
    assert found == [("no_hypernym", 1, "tool", None, ["cat", "whale"], "mammal", advice)]


def test_where_nothing_fits_the_level_should_go(toy: Connection) -> None:
    found = faults(toy, "cat;mammal;tool;animal", "owl;bird;tool;animal", kind="no_hypernym")
    advice = '"animal" is the nearest, and nothing fits between: leave this level out here'
    assert found == [("no_hypernym", 2, "tool", None, ["cat", "owl"], "animal", advice)]


def test_a_root_has_to_cover_all_leaves(toy: Connection) -> None:
    found = faults(toy, "cat;mammal;animal", "saw;tool;animal", kind="no_hypernym")
    advice = 'to cover all leaves it has to be "thing"'
    assert found == [("no_hypernym", 2, "animal", None, ["saw"], "thing", advice)]


def test_two_words_for_one_concept_are_told(toy: Connection) -> None:
    found = faults(toy, "cat;mammal;thing", "feline;mammal;thing")
    assert found == [("synonym", 0, "cat", "feline", None, "cat", "both mean the same: make them one")]
    [above] = faults(toy, "owl;animal;beast;thing", kind="synonym")
    assert above[:4] == ("synonym", 1, "animal", "beast")
    assert "one of the two is enough" in above[6]


def test_phrases_of_one_kind_are_no_synonyms(toy: Connection) -> None:
    """The ontology knows no barn owl, only that it is an owl."""
    assert faults(toy, "barn owl;bird;thing", "snow owl;bird;thing") == []


def test_a_leaf_repeated_upwards_is_no_synonym_of_itself(toy: Connection) -> None:
    assert faults(toy, "cat;cat;animal;thing", "owl;bird;animal;thing") == []


def test_a_child_of_two_siblings_is_told(toy: Connection) -> None:
    found = faults(toy, "whale;mammal;animal;thing", "cat;mammal;animal;thing", "trout;swimmer;animal;thing")
    advice = '"whale" is a kind of "swimmer" as well: the classes are not disjoint'
    assert found == [("overlap", 0, "whale", "swimmer", ["whale"], "swimmer", advice)]


def test_a_class_beside_the_class_that_it_belongs_to_is_told(toy: Connection) -> None:
    found = faults(toy, "trout;fish;animal;thing", "whale;swimmer;animal;thing")
    advice = '"fish" is a kind of "swimmer" beside it: put it below'
    assert found == [("overlap", 1, "fish", "swimmer", ["trout"], "swimmer", advice)]


def test_a_leaf_beside_the_class_that_it_belongs_to_is_told(toy: Connection) -> None:
    [found] = faults(toy, "trout;trout;animal;thing", "whale;swimmer;animal;thing")
    assert found[:4] == ("overlap", 1, "trout", "swimmer")


def test_unknown_terms_are_no_faults_when_they_are_skipped(toy: Connection) -> None:
    store(toy, *ANIMALS, "qqq;rrr;animal;thing")
    assert toy.execute("select * from anondb.vgh_faults('v', unmapped => 'skip')").fetchall() == []


def test_a_large_hierarchy_of_misplaced_leaves_is_judged_in_seconds(toy: Connection) -> None:
    """The planner has no figures of what was found a moment ago; its plans must not go round for each leaf."""
    classes = {f"k{n}": ["thing"] for n in range(40)}
    leaves = {f"x{n}": [f"k{n % 40}"] for n in range(1500)}
    ontology.store(toy, "toy", toys.ontology({"thing": [], **classes, **leaves}))
    store(toy, *(f"x{n};k{(n + n % 3) % 40};thing" for n in range(1500)))
    toy.execute("analyze")
    started = time.perf_counter()
    wrong = "sum(cardinality(f.leaves)) from anondb.vgh_faults('v') as f where f.kind = 'no_hypernym'"
    assert count(toy, wrong) == 1000
    assert count(toy, "count(*) from anondb.vgh_senses('v')") == 1541
    assert time.perf_counter() - started < 20
