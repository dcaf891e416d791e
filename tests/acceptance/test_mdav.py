"""Sets of texts from a policy to a release: classes around centroids, what is quoted, what a policy may say."""

from __future__ import annotations

from itertools import product
from typing import cast

import pytest

from anondb.api import Database
from anondb.errors import PolicyError
from anondb.methods.mdav.mdav import DISTANCES, VARIANTS
from anondb.policy.model import Policy
from tests.acceptance.search_logs import LISTENERS, SWIMMERS, a_policy, log, released


def test_each_class_is_released_with_the_concepts_of_its_centroid(db: Database) -> None:
    log(db, SWIMMERS + LISTENERS)
    result = db.run(a_policy()).result
    assert (result.records, result.released, result.suppressed) == (6, 6, 0)
    assert (result.classes, result.k, result.as_json()["concepts"], result.as_json()["unmapped"]) == (
        2,
        3,
        5,
        0,
    )
    rows = released(db)
    # itself included, the record of one concept is nearest to all; what two of the class have becomes what three have
    assert [terms for _, terms in rows[:3]] == [["water sport"]] * 3
    assert [city for city, _ in rows] == [f"city {number}" for number in range(6)]
    assert {tuple(terms) for _, terms in rows[3:]} == {("jazz",)}


def test_the_loss_is_the_sum_of_squared_average_distances_to_what_is_released(db: Database) -> None:
    """By hand: δ(jazz, opera) = 2/3, so that {jazz, opera} is 1/3 from itself, and from the centroid {jazz}."""
    log(db, LISTENERS)
    result = db.run(a_policy()).result
    assert {tuple(terms) for _, terms in released(db)} == {("jazz",)}
    assert result.all_metrics()["semantic_sse"] == pytest.approx(2 * (1 / 3) ** 2)


def test_a_record_that_is_released_with_nothing_has_lost_all(db: Database) -> None:
    log(db, [["jazz"], ["atlantic"], ["football"]])
    metrics = db.run(a_policy()).result.all_metrics()
    assert (metrics["semantic_sse"], metrics["prosecutor_max"]) == pytest.approx((3, 1 / 3))


def test_a_text_of_fewer_than_k_records_is_not_quoted(db: Database) -> None:
    log(db, [["my uncle's football"], ["green football"], ["Smith football"]])
    db.run(a_policy())
    assert {tuple(terms) for _, terms in released(db)} == {("football",)}


def test_a_text_of_k_records_is_quoted_as_they_write_it(db: Database) -> None:
    log(db, [["Smith football"], ["smith  Football"], ["smith football", "smith football"], ["football"]])
    db.run(a_policy(k=4))
    assert {tuple(terms) for _, terms in released(db)} == {("sport",)}  # one has written football
    db.run(a_policy(k=3))
    assert {tuple(terms) for _, terms in released(db)} == {("smith football",)}


def test_the_same_seed_gives_the_same_release_whatever_the_order_of_rows(db: Database) -> None:
    log(db, [["jazz"], ["loud jazz"]] * 8)
    method = "seed = 7"
    db.run(a_policy(method=method))
    rows = db.connection.execute("select * from share").fetchall()
    assert {cast(list[str], terms)[0] for _, terms in rows} == {"jazz", "loud jazz"}
    db.connection.execute("create table other as select * from logs order by id desc")
    db.connection.execute("drop table logs")
    db.connection.execute("alter table other rename to logs")
    db.run(a_policy(method=method))
    assert db.connection.execute("select * from share").fetchall() == rows


CARS = [["loud jazz"]] * 180 + [["old jazz"]] * 20


def drawn_by(db: Database, policy: Policy) -> list[list[str]]:
    db.run(policy)
    return [cast(list[str], terms) for (terms,) in db.connection.execute("select queries from share")]


def test_terms_are_drawn_as_often_as_records_have_them(db: Database) -> None:
    """180 and 20 of 200: each record draws for itself, and the share of each stays within what chance allows."""
    log(db, CARS)
    shares = []
    for seed in range(5):
        drawn = drawn_by(db, a_policy(method=f'seed = {seed}\ndraw = "record"', city="identifier"))
        assert {tuple(terms) for terms in drawn} == {("loud jazz",), ("old jazz",)}
        shares.append(drawn.count(["old jazz"]) / len(drawn))
    # of 1,000 draws at 0.1, four standard deviations
    assert sum(shares) / len(shares) == pytest.approx(0.1, abs=4 * (0.1 * 0.9 / 1000) ** 0.5)
    assert len(set(shares)) > 1


def test_classes_draw_as_often_as_records_have_a_term_too(db: Database) -> None:
    log(db, CARS)
    many = slow = 0
    for seed in range(8):
        drawn = drawn_by(db, a_policy(k=2, method=f"seed = {seed}", city="identifier"))
        many, slow = many + len(drawn), slow + drawn.count(["old jazz"])
    # of 800 classes of two
    assert slow / many == pytest.approx(0.1, abs=4 * (0.1 * 0.9 / 800) ** 0.5)


def test_every_distance_gives_classes_of_k(db: Database) -> None:
    log(db, [*SWIMMERS, *LISTENERS, ["football", "atlantic"]])
    for distance, variant in product(DISTANCES, VARIANTS):
        result = db.run(a_policy(method=f'distance = "{distance}"\nvariant = "{variant}"')).result
        assert (result.k >= 3, result.released) == (True, 7), (distance, variant)


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ("set = true, hierarchy = { mask = \"all\" }", "leave the hierarchy out"),
        ("min_level = 0", "is no set"),
        ('set = true, items = { table = "t", key = "k", item = "i" }', "leave one out"),
    ],
)  # fmt: skip
def test_a_policy_for_sets_says_what_is_wrong(column: str, problem: str) -> None:
    with pytest.raises(PolicyError, match=problem):
        a_policy(column=column)


def test_the_phrases_of_texts_can_be_reviewed_before_a_run(db: Database) -> None:
    """Most frequent first; what is no term by itself has a line for each of its phrases."""
    log(db, [["jazz"], ["jazz", "football near jazz"], ["qwertz"]])
    found = [(v.value, v.records, v.phrase, v.label) for v in db.ontologies.review(a_policy())]
    assert found == [
        ("jazz", 2, "jazz", "jazz"),
        ("football near jazz", 1, "football", "football"),
        ("football near jazz", 1, "jazz", "jazz"),
        ("qwertz", 1, "qwertz", None),
    ]
