"""Sets of texts that several ontologies explain: each is looked up in the first one that knows it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from anondb.api import Database
from anondb.errors import PolicyError
from tests.acceptance.search_logs import BOTH, a_policy, log_of_two, released
from tests.conftest import Cli


def test_a_text_means_the_concept_of_the_first_ontology_that_knows_it(db: Database) -> None:
    log_of_two(db, [["jazz", "cat"], ["jazz"], ["big cat near jazz"], ["qwertz"]])
    both = {
        (v.value, v.phrase): (v.ontology, v.label) for v in db.ontologies.review(a_policy(k=2, ontology=BOTH))
    }
    assert both == {
        ("jazz", "jazz"): ("toy", "jazz"),
        ("cat", "cat"): ("second", "cat"),
        ("big cat near jazz", "big cat"): ("second", "cat"),
        ("big cat near jazz", "jazz"): ("toy", "jazz"),
        ("qwertz", "qwertz"): (None, None),
    }
    turned = {v.value: v.ontology for v in db.ontologies.review(a_policy(ontology='["second", "toy"]'))}
    assert turned["jazz"] == "second"


def test_a_review_lists_the_ontology_of_each_phrase(db: Database, cli: Cli, tmp_path: Path) -> None:
    log_of_two(db, [["jazz", "cat"]])
    policy = tmp_path / "logs.toml"
    policy.write_text(
        """
        source = "logs"
        target = "share"
        [privacy]
        k = 2
        [method]
        algorithm = "mdav"
        [columns]
        id = { role = "identifier" }
        city = { role = "other" }
        queries = { role = "quasi", set = true, ontology = ["toy", "second"] }
        """
    )
    said = cli("ontology", "review", policy)
    assert (said.returncode, said.stderr) == (0, "")
    assert [line.split()[1:5] for line in said.stdout.splitlines() if line.split()[:1] == ["queries"]] == [
        ["cat", "1", "second", "cat"],
        ["jazz", "1", "toy", "jazz"],
    ]


def test_one_statement_looks_up_all_terms_in_their_order(db: Database) -> None:
    log_of_two(db, [])
    rows = db.connection.execute(
        """
        select s.term, o.name from anondb.preferred_senses('{jazz, dog, qwertz, opera, dog}', '{toy, second}') as s
        join anondb.concept as c on c.id = s.concept join anondb.ontology as o on o.id = c.ontology order by s.term
        """
    ).fetchall()
    assert rows == [("dog", "second"), ("jazz", "toy"), ("opera", "toy")]


@pytest.mark.parametrize("draw", ["class", "record"])
def test_concepts_of_both_are_released_and_k_is_counted_by_both(db: Database, draw: str) -> None:
    log_of_two(db, [["jazz", "cat"]] * 3 + [["sea", "dog"]] * 2 + [["xyzzy"]] * 2)
    result = db.run(a_policy(k=2, method=f'draw = "{draw}"', ontology=BOTH)).result
    assert (result.records, result.released, result.k, result.as_json()["unmapped"]) == (7, 7, 2, 2)
    assert result.as_json()["concepts"] == 4
    alike = Counter(tuple(terms) for _, terms in released(db))
    assert alike == {("cat", "jazz"): 3, ("dog", "sea"): 2, (): 2}
    sizes = "select size from anondb.concept_set_sizes('share', 'queries', 'toy', 'second') order by size"
    assert db.connection.execute(sizes).fetchall() == [(2,), (2,), (3,)]
    [column] = [one for one in result.report["columns"] if one["name"] == "queries"]
    assert column["hierarchy"].startswith("no hierarchy: concepts of toy, then second for 12 texts")


def test_concepts_of_different_ontologies_have_nothing_in_common(db: Database) -> None:
    """By hand: {jazz, cat} is 1/2 from itself, as its two concepts are as far apart as can be."""
    log_of_two(db, [["jazz", "cat"]] * 2)
    assert db.run(a_policy(k=2, ontology=BOTH)).result.all_metrics()["semantic_sse"] == pytest.approx(
        2 * (1 / 2) ** 2
    )


def test_a_word_that_an_earlier_ontology_knows_stands_for_no_concept_of_a_later_one(db: Database) -> None:
    """Songs and ballads are rare: above them is the second's music, but who reads "music" looks in the first."""
    log_of_two(db, [["song"], ["ballad"]])
    query = "select anondb.term_of_concept(anondb.find_concept(%s, 'second'), %s)"

    def term(concept: str, *ontologies: str) -> object:
        [(found,)] = db.connection.execute(query, (concept, list(ontologies))).fetchall()
        return found

    assert [term("music"), term("music", "second"), term("music", "second", "toy")] == ["music"] * 3
    assert [term("music", "toy", "second"), term("jazz", "toy", "second")] == [None, None]
    assert term("art", "toy", "second") == "art"
    db.run(a_policy(k=2, ontology=BOTH))
    assert [terms for _, terms in released(db)] == [["art"]] * 2
    db.run(a_policy(k=2, ontology='"second"'))
    assert [terms for _, terms in released(db)] == [["music"]] * 2


def test_an_ontology_that_is_not_loaded_is_refused_by_its_name(db: Database) -> None:
    log_of_two(db, [["jazz"]] * 2)
    with pytest.raises(PolicyError, match='there is no ontology "third"'):
        db.run(a_policy(ontology='["toy", "third"]'))
