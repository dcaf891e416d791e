"""What the nodes of a hierarchy mean: leaves among leaves, ancestors for each leaf, users before all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from anondb.db import ontology, vgh
from anondb.db.connection import Connection
from anondb.db.install.upgrade import upgrade
from tests import toys
from tests.refusals import refused

PARENTS = {
    "thing": [],
    "animal": ["thing"],
    "tool": ["thing"],
    "mammal": ["animal"],
    "bird": ["animal"],
    "flitter": ["mammal"],
    "club": ["tool"],
    "wader": ["bird"],
    "hoist": ["tool"],
    "frog": ["frogs"],
    "frogs": ["animal"],
    "plane": ["tool"],
    "seaplane": ["plane"],
}
WORDS = {"bat": ["club", "flitter"], "crane": ["hoist", "wader"], "amphibian": ["plane", "frogs"]}
GLOSSES = {
    "flitter": "nocturnal creature with wings and fur",
    "club": "wooden stick",
    "wader": "creature with wings and long legs",
    "hoist": "machine that lifts loads",
}


@pytest.fixture
def toy(connection: Connection) -> Connection:
    ontology.store(connection, "toy", toys.ontology(PARENTS, words=WORDS, glosses=GLOSSES))
    return connection


def understand(connection: Connection, *rows: str, name: str = "v", **options: Any) -> list[tuple[Any, ...]]:
    """Stores a hierarchy and lists (label, concept, how, confidence, leaves)."""
    vgh.store(connection, name, toys.vgh(*rows), replace=True, ontology=options.get("ontology", "toy"))
    return senses(connection, name)


def senses(connection: Connection, name: str = "v") -> list[tuple[Any, ...]]:
    query = "select s.label, s.concept, s.how, s.confidence, s.leaves from anondb.vgh_senses(%s) as s"
    return connection.execute(query, (name,)).fetchall()


def losses(connection: Connection) -> dict[tuple[str, str], float]:
    query = "select t.leaf, t.ancestor, t.loss from anondb.trans_gsl('v', 'path', 'skip') as t"
    return {(leaf, ancestor): loss for leaf, ancestor, loss in connection.execute(query).fetchall()}  # type: ignore[misc]


def test_a_leaf_means_the_sense_whose_glosses_share_most_words_with_the_other_leaves(toy: Connection) -> None:
    found = understand(toy, "bat;*", "crane;*")
    # creature and wing are shared; the other senses share nothing
    assert found[:2] == [("bat", "flitter", "lemma, lesk", 1.0, 1), ("crane", "wader", "lemma, lesk", 1.0, 1)]


def test_ties_go_to_the_lower_sense_and_are_not_sure_at_all(toy: Connection) -> None:
    assert understand(toy, "bat;*")[0] == ("bat", "club", "lemma, lesk", 0.0, 1)


def test_a_given_sense_goes_before_glosses(toy: Connection) -> None:
    found = understand(toy, "bat#1;*", "crane;*")
    assert found[0] == ("bat#1", "club", "given", 1.0, 1)


def test_the_confidence_is_how_far_the_best_sense_is_ahead_of_the_next(connection: Connection) -> None:
    glosses = {"a": "red green blue", "b": "red", "c": "red green blue"}
    parents = {"thing": [], "a": ["thing"], "b": ["thing"], "c": ["thing"]}
    made = toys.ontology(parents, words={"x": ["b", "a"]}, glosses=glosses)
    ontology.store(connection, "toy", made)
    assert understand(connection, "x;*", "c;*")[0] == ("x", "a", "lemma, lesk", pytest.approx(2 / 3), 1)


def test_an_ancestor_means_for_each_leaf_what_the_leaf_inherits(toy: Connection) -> None:
    """Ayala-Rivera et al., Procedure 2: the sense is decided for each pair of a leaf and an ancestor."""
    found = understand(toy, "frog;amphibian;thing", "seaplane;amphibian;thing")
    assert [row for row in found if row[0] == "amphibian"] == [
        ("amphibian", "frogs", "inherited", 1.0, 1),
        ("amphibian", "plane", "inherited", 1.0, 1),
    ]
    assert losses(toy)["frog", "amphibian"] == losses(toy)["seaplane", "amphibian"] == pytest.approx(0.5)


def test_an_inherited_sense_goes_before_a_given_one_and_a_given_one_before_glosses(toy: Connection) -> None:
    found = understand(toy, "frog;amphibian#1;thing", "flitter;amphibian#1;thing")
    assert [row[:3] + row[4:] for row in found if row[0] == "amphibian#1"] == [
        ("amphibian#1", "frogs", "inherited", 1),
        ("amphibian#1", "plane", "given", 1),
    ]


def test_of_two_inherited_senses_the_nearer_one_is_meant(connection: Connection) -> None:
    parents = {"thing": [], "a": ["thing"], "b": ["a"], "c": ["b"]}
    ontology.store(connection, "toy", toys.ontology(parents, words={"kind": ["a", "b"]}))
    assert understand(connection, "c;kind;thing")[1][:3] == ("kind", "b", "inherited")


def test_a_chosen_sense_goes_before_all_others_for_every_leaf(toy: Connection) -> None:
    understand(toy, "frog;amphibian;thing", "seaplane;amphibian;thing")
    toy.execute("select anondb.choose_sense('v', 'amphibian', 'amphibian#1')")
    assert [row for row in senses(toy) if row[0] == "amphibian"] == [("amphibian", "plane", "chosen", 1.0, 2)]
    toy.execute("select anondb.choose_sense('v', 'frog', 'wader')")
    assert ("frog", "wader", "chosen", 1.0, 1) in senses(toy)
    toy.execute("select anondb.choose_sense('v', 'amphibian', null), anondb.choose_sense('v', 'frog', null)")
    assert ("amphibian", "frogs", "inherited", 1.0, 1) in senses(toy)
    assert ("frog", "frog", "key", 1.0, 1) in senses(toy)


def test_a_hierarchy_can_be_chosen_from_end_to_end(toy: Connection) -> None:
    vgh.store(toy, "v", toys.vgh("x1;y1"), ontology="toy")
    for label, concept in {"x1": "club", "y1": "thing"}.items():
        toy.execute("select anondb.choose_sense('v', %s, %s)", (label, concept))
    assert losses(toy) == {("x1", "y1"): pytest.approx(1 - 1 / 3)}


def test_a_choice_is_refused_for_unknown_labels_and_concepts(toy: Connection) -> None:
    understand(toy, "frog;amphibian;thing")
    refused(toy, "SA143", "select anondb.choose_sense('v', 'toad', 'frog')")
    refused(toy, "SA132", "select anondb.choose_sense('v', 'frog', 'toad')")
    refused(toy, "SA131", "select anondb.choose_sense('v', 'frog', 'bat#3')")
    assert senses(toy)[0][:3] == ("frog", "frog", "key")


def test_a_label_is_chosen_with_or_without_its_sense_on_every_level(toy: Connection) -> None:
    understand(toy, "bat#1;bat#1;thing", "frog;animal;thing")
    toy.execute("select anondb.choose_sense('v', 'bat', 'bat#2')")
    assert [row[1:3] for row in senses(toy) if row[0] == "bat#1"] == [("flitter", "chosen")] * 2


def test_a_leaf_repeated_upwards_loses_nothing(toy: Connection) -> None:
    found = understand(toy, "frog;animal;thing", "bat;bat;thing")
    assert found[1][1:3] == found[3][1:3]
    assert losses(toy)["bat", "bat"] == 0


def test_a_star_is_the_root_of_the_ontology(toy: Connection) -> None:
    assert understand(toy, "frog;*")[-1][:2] == ("*", "thing")


def test_a_star_means_nothing_where_there_are_several_roots(connection: Connection) -> None:
    made = toys.ontology({"a": [], "b": [], "c": ["a"], "d": ["b"]})
    ontology.store(connection, "toy", made)
    vgh.store(connection, "v", toys.vgh("c;a;*"), ontology="toy")
    assert '"*"' in (refused(connection, "SA151", "select anondb.vgh_gsl('v')").message_primary or "")
    assert losses(connection) == {("c", "a"): pytest.approx(0.5)}


def test_terms_that_are_unknown_are_named_in_one_error(toy: Connection) -> None:
    understand(toy, "frog;animal;thing", "qqq;animal;thing", "bat;rrr;thing", "sss;rrr;thing")
    for query in ("vgh_gsl", "level_gsl", "trans_gsl", "node_gsl", "vgh_faults"):
        message = refused(toy, "SA151", f"select anondb.{query}('v')").message_primary
        assert message == 'hierarchy "v" has terms that its ontology does not know: "qqq", "sss", "rrr"'
    found = {row[0]: row[1:3] for row in senses(toy)}
    assert found["qqq"] == found["rrr"] == (None, "unknown")


def test_of_very_many_unknown_terms_the_first_are_named(toy: Connection) -> None:
    understand(toy, "frog;animal;thing", *(f"q{n};animal;thing" for n in range(53)))
    message = refused(toy, "SA151", "select anondb.vgh_gsl('v')").message_primary or ""
    assert message.endswith('"q48", "q49" and 3 more')


def test_unknown_terms_can_be_left_out_and_the_score_says_what_it_covers(toy: Connection) -> None:
    understand(toy, "frog;animal;thing", "qqq;animal;thing", "bat;rrr;thing")
    assert set(losses(toy)) == {("frog", "animal"), ("frog", "thing"), ("bat", "thing")}
    covered = toy.execute("select * from anondb.vgh_coverage('v')").fetchone()
    assert covered == (3, 2, 6, 3)


def test_a_hierarchy_of_codes_has_no_meaning(toy: Connection) -> None:
    vgh.store(toy, "v", toys.vgh("1010;10**;*", "1020;10**;*"), ontology="toy")
    for query in ("select anondb.vgh_gsl('v', unmapped => 'skip')", "select anondb.vgh_senses('v')"):
        assert "no meaning" in (refused(toy, "SA141", query).message_primary or "")


def test_a_sense_that_does_not_exist_is_refused_whatever_is_skipped(toy: Connection) -> None:
    vgh.store(toy, "v", toys.vgh("bat#3;animal;*"), ontology="toy")
    diagnosis = refused(toy, "SA131", "select anondb.vgh_gsl('v', unmapped => 'skip')")
    assert "no sense 3" in (diagnosis.message_primary or "")


def test_nouns_and_verbs_do_not_mix_but_a_star_is_neither(connection: Connection) -> None:
    parents = {"thing": [], "frog": ["thing"], "move": [], "walk": ["move"], "run": ["move"]}
    made = toys.ontology(parents, verbs=["move", "walk", "run"], root_depth=2)
    ontology.store(connection, "toy", made)
    vgh.store(connection, "v", toys.vgh("walk;thing;*", "frog;thing;*"), ontology="toy")
    refused(connection, "SA142", "select anondb.vgh_gsl('v')")
    vgh.store(connection, "v", toys.vgh("walk;move;*", "run;move;*"), replace=True)
    assert losses(connection)["walk", "move"] == pytest.approx(0.5)


def test_a_hierarchy_needs_its_ontology(toy: Connection) -> None:
    vgh.store(toy, "v", toys.vgh("frog;*"), ontology="toys")
    assert "toys" in (refused(toy, "SA130", "select anondb.vgh_gsl('v')").message_primary or "")
    refused(toy, "SA140", "select anondb.vgh_gsl('w')")


def test_a_replaced_hierarchy_is_understood_anew(toy: Connection) -> None:
    understand(toy, "frog;animal;thing")
    assert losses(toy)["frog", "animal"] == pytest.approx(1 - 1 / 3)
    assert understand(toy, "frog;tool;thing")[1][1] == "tool"
    assert losses(toy) == {("frog", "tool"): pytest.approx(1 - 1 / 5), ("frog", "thing"): pytest.approx(0.75)}


def test_a_reloaded_ontology_changes_the_score(toy: Connection) -> None:
    understand(toy, "frog;animal;thing", "qqq;animal;thing")
    losses(toy)
    ontology.store(toy, "toy", toys.ontology(PARENTS | {"frog": ["animal"], "qqq": ["animal"]}, words=WORDS))
    assert losses(toy)["frog", "animal"] == losses(toy)["qqq", "animal"] == pytest.approx(0.5)


def test_without_its_ontology_there_is_no_old_score(toy: Connection) -> None:
    understand(toy, "frog;animal;thing")
    losses(toy)
    ontology.drop(toy, "toy")
    refused(toy, "SA130", "select anondb.vgh_gsl('v')")


def test_another_ontology_changes_the_score(toy: Connection) -> None:
    understand(toy, "frog;animal;thing")
    toy.execute("select anondb.choose_sense('v', 'frog', 'wader')")
    losses(toy)
    flat = {"thing": [], "frog": ["thing"], "animal": ["thing"]}
    ontology.store(toy, "flat", toys.ontology(flat))
    toy.execute("update anondb.vgh set ontology = 'flat'")
    assert losses(toy) == {
        ("frog", "animal"): pytest.approx(1 - 1 / 3),
        ("frog", "thing"): pytest.approx(0.5),
    }


def test_a_mapping_changes_the_score(toy: Connection) -> None:
    understand(toy, "qqq;animal;thing", "frog;animal;thing")
    assert ("qqq", "animal") not in losses(toy)
    toy.execute("select anondb.map_term('qqq', 'mammal', 'toy')")
    assert senses(toy)[0][:3] == ("qqq", "mammal", "mapping")
    assert losses(toy)["qqq", "animal"] == pytest.approx(0.5)


def test_the_ontology_and_the_choices_of_a_hierarchy_outlive_its_replacement(toy: Connection) -> None:
    understand(toy, "bat;animal;thing", "frog;animal;thing")
    toy.execute("select anondb.choose_sense('v', 'bat', 'bat#2'), anondb.choose_sense('v', 'frog', 'wader')")
    assert (
        vgh.store(toy, "v", toys.vgh("crane;bird;thing", "bat;mammal;thing"), replace=True).ontology == "toy"
    )
    assert [row[1:3] for row in senses(toy)[:2]] == [("wader", "lemma, lesk"), ("flitter", "chosen")]
    assert vgh.store(toy, "v", toys.vgh("bat;*"), replace=True, ontology="flat").ontology == "flat"
    assert vgh.store(toy, "w", toys.vgh("bat;*")).ontology == "wordnet"


def test_an_upgrade_keeps_what_users_chose_and_finds_the_rest_anew(toy: Connection) -> None:
    understand(toy, "bat;animal;thing", "frog;animal;thing")
    toy.execute("select anondb.choose_sense('v', 'bat', 'bat#2')")
    before = senses(toy), losses(toy)
    toy.execute("update anondb.install set functions_sha256 = 'another'")
    upgrade(toy)
    [(kept,)] = toy.execute("select count(*) from anondb.vgh_sense").fetchall()
    assert kept == 1
    assert (senses(toy), losses(toy)) == before


def test_many_sessions_understand_a_hierarchy_at_once(toy: Connection, dsn: str) -> None:
    vgh.store(
        toy, "v", toys.vgh("bat;animal;thing", "crane;animal;thing", "frog;amphibian;thing"), ontology="toy"
    )

    def score(_: int) -> object:
        with psycopg.connect(dsn, autocommit=True) as connection:
            return connection.execute("select anondb.vgh_gsl('v')").fetchone()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(score, range(16)))) == 1


def test_meanings_found_from_old_nodes_are_never_kept_for_new_ones(toy: Connection, dsn: str) -> None:
    """A session that is about to find out meanings waits for one that replaces the hierarchy."""
    vgh.store(toy, "v", toys.vgh("frog;animal;thing"), ontology="toy")

    def score() -> object:
        with psycopg.connect(dsn, autocommit=True) as connection:
            return connection.execute("select t.loss from anondb.trans_gsl('v', 'path') as t").fetchall()

    with ThreadPoolExecutor(1) as pool:
        with toy.transaction():
            vgh.store(toy, "v", toys.vgh("frog;frogs;thing"), replace=True)
            scored = pool.submit(score)
            with pytest.raises(TimeoutError):
                scored.result(timeout=0.5)
        assert scored.result(timeout=30) == [(pytest.approx(0.5),), (pytest.approx(0.75),)]
