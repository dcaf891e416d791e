"""Sets that are empty, unknown, few or strangely named: each has an outcome that is said."""

from __future__ import annotations

import pytest

from anondb.api import Database
from anondb.errors import PolicyError, UnsatisfiableError, UsageError
from anondb.ontology import phrases
from anondb.policy.load import parse
from anondb.run.plan import Options
from tests.acceptance.search_logs import (
    ITEMS,
    LISTENERS,
    SWIMMERS,
    a_policy,
    log,
    log_items,
    released,
)


def test_texts_without_a_concept_are_counted_and_never_released(db: Database) -> None:
    log(db, [*LISTENERS, ["xyzzy", "jazz"], [None, "plugh 12"], None, []])
    result = db.run(a_policy()).result
    assert (result.records, result.released, result.as_json()["unmapped"]) == (7, 7, 2)
    assert (result.metrics["texts"], result.metrics["texts_unmapped"]) == (8, 2)
    assert {tuple(terms) for _, terms in released(db)} == {("jazz",), ()}


def test_too_few_records_without_concepts_are_suppressed_or_refused(db: Database) -> None:
    log(db, [*LISTENERS, ["xyzzy"]])
    with pytest.raises(UnsatisfiableError, match="1 would have to be suppressed"):
        db.run(a_policy())
    result = db.run(a_policy(privacy="suppression = 0.25")).result
    assert (result.released, result.suppressed) == (3, 1)


def test_too_few_records_with_concepts_are_suppressed_too(db: Database) -> None:
    log(db, [["jazz"], ["xyzzy"], ["plugh"], None])
    result = db.run(a_policy(privacy="suppression = 0.25")).result
    assert (result.released, result.suppressed) == (3, 1)
    assert result.report["suppression"]["reasons"] == {"with concepts, but fewer than k": 1}
    assert [terms for _, terms in released(db)] == [[]] * 3


def test_records_that_all_mean_nothing_are_released_as_empty_sets(db: Database) -> None:
    log(db, [["xyzzy"], ["plugh"], []])
    result = db.run(a_policy()).result
    assert (result.released, result.k, result.as_json()["concepts"], result.as_json()["unmapped"]) == (
        3,
        3,
        0,
        2,
    )
    assert [terms for _, terms in released(db)] == [[]] * 3
    assert "semantic_sse" not in result.all_metrics()


def test_fewer_records_than_k_and_an_empty_source_are_refused(db: Database) -> None:
    log(db, [])
    with pytest.raises(UsageError, match="is empty"):
        db.run(a_policy())
    assert db.run(a_policy(), options=Options(allow_empty=True)).result.released == 0
    db.connection.execute("insert into logs values (1, 'a', '{jazz}')")
    with pytest.raises(UnsatisfiableError, match="k = 3 is larger"):
        db.run(a_policy())


def test_one_record_repeated_stays_itself(db: Database) -> None:
    log(db, [["jazz", "opera"]] * 7)
    result = db.run(a_policy()).result
    assert (result.classes, result.k) == (1, 7)  # classes with the same concepts are one
    assert [terms for _, terms in released(db)] == [["jazz", "opera"]] * 7


def test_texts_can_be_rows_of_another_table(db: Database) -> None:
    log(db, SWIMMERS + LISTENERS)
    db.run(a_policy())
    expected = released(db)
    log_items(db, SWIMMERS + LISTENERS)
    db.run(a_policy(column=ITEMS))
    assert released(db) == expected


def test_items_of_nobody_are_left_alone_and_records_without_items_are_empty_sets(db: Database) -> None:
    log_items(db, [*LISTENERS, [], [None], []])
    db.connection.execute("insert into items values (99, 'football'), (null, 'sea'), (99, 'xyzzy')")
    result = db.run(a_policy(column=ITEMS)).result
    assert (result.records, result.released, result.as_json()["unmapped"]) == (6, 6, 0)
    assert [terms for _, terms in released(db)][3:] == [[]] * 3


def test_items_have_their_columns_and_keys_that_can_be_equal(db: Database) -> None:
    log_items(db, LISTENERS)
    db.connection.execute("alter table items rename item to txt")
    with pytest.raises(PolicyError, match='items has no column "item"'):
        db.run(a_policy(column=ITEMS))
    db.connection.execute("alter table items rename txt to item; alter table items alter id type bigint")
    assert db.run(a_policy(column=ITEMS)).result.released == 3
    db.connection.execute("alter table items alter id type text")
    with pytest.raises(PolicyError, match='"id" is integer in the source and text in the table of items'):
        db.run(a_policy(column=ITEMS))


def test_a_set_is_an_array_of_texts(db: Database) -> None:
    log(db, LISTENERS)
    db.connection.execute("alter table logs alter queries type int[] using '{1}'")
    with pytest.raises(PolicyError, match="is integer"):
        db.run(a_policy())


def test_names_may_have_any_characters(db: Database) -> None:
    log_items(db, LISTENERS)
    db.connection.execute(
        """
        alter table logs rename id to "key %s""s"; alter table logs rename city to "select";
        alter table items rename id to "key %s""s"; alter table items rename item to "it'em $1";
        alter table logs rename to "lo'gs"; alter table items rename to "it""ems"
        """
    )
    policy = """
        source = "lo'gs"
        target = '"sh""are"'
        [privacy]
        k = 3
        [method]
        algorithm = "mdav"
        [columns]
        'key %s"s' = { role = "identifier" }
        select = { role = "sensitive" }
        [columns.'a "set"']
        role = "quasi"
        ontology = "toy"
        items = { table = '"it""ems"', key = 'key %s"s', item = "it'em $1" }
    """
    release = db.run(parse(policy))
    assert release.result.released == 3
    assert list(release.to_frame().columns) == ["select", 'a "set"']
    assert list(release.class_sizes()) == [3]


def test_stop_words_are_left_out_and_can_be_others(db: Database) -> None:
    log(db, [["loud jazz pics"], ["pics of loud jazz", "pics"], *[["loud jazz"]] * 2])
    db.run(a_policy())
    assert {tuple(terms) for _, terms in released(db)} == {("loud jazz",)}
    unmapped = [
        db.run(a_policy(column=f"set = true, stop_words = {words}", privacy="suppression = 0.5")).result
        for words in ("[]", '["Loud", "pics"]')
    ]
    assert [result.as_json()["unmapped"] for result in unmapped] == [2, 1]
    assert {tuple(terms) for _, terms in released(db)} == {("jazz",)}


def test_a_list_of_stop_words_is_one_of_texts_for_a_set() -> None:
    with pytest.raises(PolicyError, match="stop_words must be a list of texts"):
        a_policy(column='set = true, stop_words = "pics"')
    with pytest.raises(PolicyError, match="is no set of texts, of which words"):
        a_policy(column='stop_words = ["pics"]')


def test_an_ontology_that_is_not_there_is_named(db: Database) -> None:
    log(db, LISTENERS)
    db.connection.execute("update anondb.ontology set name = 'other'")
    for attempt in (db.plan, db.run):
        with pytest.raises(PolicyError, match=r'queries.*there is no ontology "toy"'):
            attempt(a_policy())


def test_only_texts_that_the_ontology_does_not_know_need_a_tagger(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_nltk", "_textblob"):
        monkeypatch.setattr(phrases, name, lambda: None)
    phrases.tagger.cache_clear()
    log(db, LISTENERS)
    assert db.run(a_policy()).result.released == 3
    log(db, [*LISTENERS, ["loud jazz"]])
    with pytest.raises(UsageError, match="no tagger") as refused:
        db.run(a_policy())
    assert refused.value.hint == "install one: pip install 'anondb[text]'"


def test_drawn_terms_do_not_tell_the_number_of_a_record_to_those_who_know_the_seed(db: Database) -> None:
    """They come from the secret of the installation too."""
    log(db, [["jazz"], ["loud jazz"]] * 8)
    drawn = []
    for _ in range(2):
        db.run(a_policy(method='seed = 7\ndraw = "record"'))
        drawn.append(released(db))
        db.secret.renew()
    assert {tuple(terms) for _, terms in drawn[0]} == {("jazz",), ("loud jazz",)}
    assert drawn[0] != drawn[1]
