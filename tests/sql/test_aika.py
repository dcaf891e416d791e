"""AIKA in the database: aspects and ranks by hand and by a naive oracle, candidates that score as any other."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from anondb.api import Database
from anondb.db import ontology, vgh
from anondb.db.connection import Connection
from anondb.errors import UsageError
from anondb.hierarchies.build.ranking import RankingMethod
from anondb.hierarchies.forms import VghTable
from tests import toys
from tests.refusals import refused

PARENTS = {
    "thing": [],
    "animal": ["thing"],
    "bird": ["animal"],
    "mammal": ["animal"],
    "pet": ["thing"],
    "cat": ["mammal", "pet"],
    "dog": ["mammal", "pet"],
    "owl": ["bird"],
    "wren": ["bird"],
    "tool": ["thing"],
    "saw": ["tool"],
    "axe": ["tool"],
    "ash": ["thing"],
    "code": ["thing"],
}
COUNTS = {"owl": 4, "wren": 1, "cat": 6, "dog": 1, "animal": 1, "saw": 2, "axe": 3}


@pytest.fixture
def toy(db: Database) -> Database:
    words = {"bat": ["tool", "mammal"]}
    ontology.store(db.connection, "toy", toys.ontology(PARENTS, words=words))
    db.connection.execute(
        "create table pets (name text, age int, code text, one text, nothing text, born date)"
    )
    rows = [name for name, count in COUNTS.items() for _ in range(count)]
    with db.connection.cursor().copy("copy pets (name, age, code, one) from stdin") as copy:
        for place, name in enumerate(rows):
            copy.write_row((name, place % 7, f"x{place}z", "cat"))
    return db


def aspects(connection: Connection, names: Sequence[str], k: int) -> list[tuple[Any, ...]]:
    query = "select * from anondb.vgh_aspects(%s::text[], %s)"
    return connection.execute(query, (list(names), k)).fetchall()


def test_the_aspects_by_hand(toy: Database) -> None:
    rows = ("owl;bird;animal", "wren;bird;animal", "cat;cat;animal")  # cat is repeated to balance its branch
    vgh.store(toy.connection, "v", toys.vgh(*rows), ontology="toy")
    one, two = math.log2(1 + 1 / 2), math.log2(1 + 2 / 3)
    [(_, semq, priv, distrn, isize)] = aspects(toy.connection, ["v"], 2)
    assert priv == pytest.approx((0 + 2 * one**2 + 2 * two**2) / 5)
    assert isize == pytest.approx((2 + 3) / 2)
    assert distrn == 1  # cat stands alone below the root
    assert (semq,) == toy.connection.execute("select anondb.vgh_gsl('v')").fetchone()
    assert aspects(toy.connection, ["v"], 1)[0][3] == 0


def tables(draw: random.Random) -> VghTable:
    """A random tree of at most 12 leaves, balanced by repeating leaves upwards."""
    paths: list[list[str]] = []

    def grow(way: list[str]) -> None:
        for _ in range(draw.randint(2, 3)):
            if len(way) < 3 and len(paths) < 9 and draw.random() < 0.5:
                grow([*way, f"class {draw.random()}"])
            else:
                paths.append([*way, f"leaf {len(paths)}"])

    grow(["root"])
    height = max(map(len, paths)) - 1
    return VghTable(tuple((path[-1],) * (height + 1 - len(path)) + tuple(path[::-1]) for path in paths))


def naive(table: VghTable, k: int) -> tuple[float, float, float]:
    """priv, distrn and isize straight from their definitions."""
    ways = [list(dict.fromkeys(row)) for row in table.rows]
    nodes = {tuple(way[place:]) for way in ways for place in range(len(way))}
    distances = [math.log2(1 + (len(node) - 1) / len(node)) for node in nodes]
    met = next(
        (
            level
            for level in range(table.height + 1)
            if min(Counter(r[level] for r in table.rows).values()) >= k
        ),
        table.height,
    )
    below = [
        sum(tuple(way[-len(node) :]) == node for way in ways)
        for node in nodes
        if not node[0].startswith("leaf")
    ]
    return sum(d * d for d in distances) / len(nodes), met / table.height, sum(below) / len(below)


def test_the_aspects_are_those_of_a_naive_oracle(connection: Connection) -> None:
    for seed in range(25):
        draw = random.Random(seed)
        found = {f"v{seed}.{place}": tables(draw) for place in (1, 2)}
        for name, table in found.items():
            vgh.store(connection, name, table, ontology="none")
        k = draw.randint(1, 5)
        for name, semq, *figures in aspects(connection, list(found), k):
            assert semq is None
            assert figures == pytest.approx(naive(found[name], k)), seed


def test_rewards_and_ranks_by_hand(toy: Database) -> None:
    """Of two equal hierarchies and a flat one: ties share the better rank, and the first named wins."""
    deep = toys.vgh("owl;bird;animal", "wren;bird;animal", "cat;mammal;animal", "dog;mammal;animal")
    flat = toys.vgh("owl;animal", "wren;animal", "cat;animal", "dog;animal")
    for name, table in {"a": deep, "b": deep, "c": flat}.items():
        vgh.store(toy.connection, name, table, ontology="toy")
    found = toy.hierarchies.rank(
        ["a", "b", "c"], RankingMethod({"semq": 40, "priv": 20, "distrn": 20, "isize": 20}, k=2)
    )
    places = {one.vgh: {name: aspect.rank for name, aspect in one.aspects.items()} for one in found.ranked}
    assert places["a"] == places["b"] == {"semq": 1, "priv": 2, "distrn": 1, "isize": 1}
    assert places["c"] == {"semq": 3, "priv": 1, "distrn": 3, "isize": 3}
    assert [(one.vgh, one.score, one.rank) for one in found.ranked] == [
        ("a", 40 * 3 + 20 * 2 + 20 * 3 + 20 * 3, 1),
        ("b", 40 * 3 + 20 * 2 + 20 * 3 + 20 * 3, 1),
        ("c", 40 * 1 + 20 * 3 + 20 * 1 + 20 * 1, 3),
    ]
    structure = found.ranked[0].structure
    assert (structure["branching"].mean, structure["breadth"].maximum, structure["depth"].minimum) == (
        2,
        4,
        2,
    )


def test_candidates_score_as_any_other_hierarchy(toy: Database) -> None:
    built = toy.hierarchies.build("pet", "pets", "name", ontology="toy", bound=0, k=4, levels=0.5)
    assert built.names[0] == "pet.base"
    assert len(built.names) >= 4
    for measure in ("wup", "path"):
        for aggregate in ("max", "avg"):
            ranking = toy.hierarchies.rank(
                "pet", RankingMethod(k=4, measure=measure, aggregate=aggregate, table="pets", column="name")
            )
            assert sorted(one.vgh for one in ranking.ranked) == sorted(built.names)
            for one in ranking.ranked:
                scored = toy.hierarchies.score(
                    one.vgh, measure=measure, aggregate=aggregate, table="pets", column="name"
                )
                assert one.aspects["semq"].score == pytest.approx(scored.gsl)


def test_the_base_of_a_column_by_hand(toy: Database) -> None:
    toy.hierarchies.build("pet", "pets", "name", ontology="toy")
    assert {row[0]: row[1:] for row in toy.hierarchies.show("pet.base").rows} == {
        "animal": ("animal", "animal", "thing"),
        "axe": ("axe", "tool", "thing"),
        "cat": ("mammal", "animal", "thing"),
        "dog": ("mammal", "animal", "thing"),
        "owl": ("bird", "animal", "thing"),
        "saw": ("saw", "tool", "thing"),
        "wren": ("bird", "animal", "thing"),
    }


def test_the_same_seed_builds_the_same_and_the_meanings_outlive_an_upgrade(toy: Database) -> None:
    first = toy.hierarchies.build("pet", "pets", "name", ontology="toy", bound=0, seed=3)
    tables_before = [toy.hierarchies.show(name).rows for name in first.names]
    again = toy.hierarchies.build("pet", "pets", "name", ontology="toy", bound=0, seed=3, replace=True)
    assert [toy.hierarchies.show(name).rows for name in again.names] == tables_before
    before = toy.hierarchies.rank("pet")
    toy.connection.execute(
        "delete from anondb.vgh_sense where not chosen; delete from anondb.concept_similarity"
    )
    assert toy.hierarchies.rank("pet") == before


def test_given_senses_go_before_all_others(toy: Database) -> None:
    toy.connection.execute("insert into pets (name) values ('bat')")
    built = toy.hierarchies.build("pet", "pets", "name", ontology="toy")
    assert [(one.value, one.concept) for one in built.ambiguous] == [("bat", "tool")]
    toy.hierarchies.build("pet", "pets", "name", ontology="toy", senses={"bat": "bat#2"}, replace=True)
    [row] = [row for row in toy.hierarchies.show("pet.base").rows if row[0] == "bat"]
    assert row[1:] == ("mammal", "animal", "thing")


def test_values_that_nobody_knows_lie_below_the_root(toy: Database) -> None:
    toy.connection.execute("insert into pets (name) values ('qwrt'), ('zz#2')")
    built = toy.hierarchies.build("pet", "pets", "name", ontology="toy")
    assert built.unknown == ["qwrt", "zz#2"]
    labels = {row[0]: row for row in toy.hierarchies.show("pet.base").rows}
    assert labels["qwrt"] == ("qwrt", "qwrt", "qwrt", "thing")
    found = toy.hierarchies.rank(
        "pet", RankingMethod(table="pets", column="name")
    )  # zz#2 is matched all the same
    assert found.ranked[0].leaves == 9


def test_values_of_several_roots_meet_below_a_root_of_our_own(toy: Database) -> None:
    ontology.store(
        toy.connection, "two", toys.ontology({"animal": [], "tool": [], "cat": ["animal"], "axe": ["tool"]})
    )
    toy.connection.execute("create table mixed as select unnest(array['cat', 'axe', 'animal']) as name")
    built = toy.hierarchies.build("mixed", "mixed", "name", ontology="two")
    assert built.meets_at_root
    assert set(toy.hierarchies.show("mixed.base").rows) == {
        ("cat", "animal", "*"), ("animal", "animal", "*"), ("axe", "axe", "*"),
    }  # fmt: skip
    toy.connection.execute("delete from pets where name in ('saw', 'axe')")
    assert not toy.hierarchies.build("pet", "pets", "name", ontology="toy").meets_at_root
    assert toy.hierarchies.rank("mixed").ranked[0].leaves == 3


def test_numbers_have_ranges_and_no_meaning(toy: Database) -> None:
    built = toy.hierarchies.build("age", "pets", "age", k=4)
    assert built.candidates[0].made_by == ("merged",)
    found = toy.hierarchies.rank("age", RankingMethod(k=4, table="pets", column="age"))
    assert {one.aspects["semq"].score for one in found.ranked} == {None}
    toy.hierarchies.keep(found.winner, "age")
    assert toy.hierarchies.show("age") == toy.hierarchies.show(found.winner)


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("code", r"knows 0% of the 18 distinct values"),
        ("one", "one distinct value"),
        ("nothing", "no values"),
        ("born", "holds dates"),
        ("names", "no column"),
    ],
)
def test_a_column_that_cannot_be_generalized_is_told(toy: Database, column: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        toy.hierarchies.build("v", "pets", column, ontology="toy")
    assert [info.name for info in toy.hierarchies.list()] == []


def test_what_was_built_is_not_overwritten_unasked(toy: Database) -> None:
    toy.hierarchies.build("pet", "pets", "name", ontology="toy", levels=0.5)
    with pytest.raises(UsageError, match="exists"):
        toy.hierarchies.build("pet", "pets", "name", ontology="toy")
    toy.hierarchies.keep("pet.base", "pet")
    with pytest.raises(UsageError, match="exists"):
        toy.hierarchies.keep("pet.base", "pet")
    toy.hierarchies.keep("pet.1", "pet", replace=True)
    assert toy.hierarchies.show("pet") == toy.hierarchies.show("pet.1")
    assert toy.hierarchies.score("pet").gsl == pytest.approx(toy.hierarchies.score("pet.1").gsl)


@pytest.mark.parametrize(
    ("state", "call"),
    [
        ("SA242", "select * from anondb.rank_vghs(array['v'], 40, 20, 20, 10)"),
        ("SA242", "select * from anondb.rank_vghs(array['v'], 120, -20, 0, 0)"),
        ("SA242", "select * from anondb.rank_vghs(array['v'], 'NaN', 0, 0, 0)"),
        ("SA241", "select * from anondb.vgh_aspects(array[]::text[])"),
        ("SA241", "select * from anondb.vgh_aspects(array['v'], 0)"),
        ("SA241", "select * from anondb.vgh_aspects(array['v'], source => 'pets')"),
        ("SA240", "select * from anondb.vgh_aspects(array['v'], source => 'pets', source_column => 'name')"),
        ("SA140", "select * from anondb.vgh_structure(array['unknown'])"),
    ],
)
def test_calls_that_do_not_fit_are_refused(toy: Database, state: str, call: str) -> None:
    vgh.store(toy.connection, "v", toys.vgh("owl;animal", "cat;animal"), ontology="toy")
    refused(toy.connection, state, call)
