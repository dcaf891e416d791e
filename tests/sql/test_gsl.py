"""Generalization Semantic Loss in SQL: degrees, weights, frequencies, and every mistake told."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.db import ontology, vgh
from anondb.db.connection import Connection
from tests import toys
from tests.refusals import refused

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
SYNONYMS = {"feline": ["cat"], "beast": ["animal"]}
ANIMALS = ("cat;mammal;animal;thing", "owl;bird;animal;thing", "wren;bird;animal;thing")


@pytest.fixture
def toy(connection: Connection) -> Connection:
    ontology.store(connection, "toy", toys.ontology(PARENTS, words=SYNONYMS))
    store(connection, *ANIMALS)
    return connection


def store(connection: Connection, *rows: str, name: str = "v") -> None:
    vgh.store(connection, name, toys.vgh(*rows), replace=True, ontology="toy")


def value(connection: Connection, query: str, *parameters: Any) -> Any:
    [(found,)] = connection.execute(query.encode(), parameters).fetchall()
    return found


# path: one link apart loses 1/2, two links 2/3, three links 3/4
UP = [1 / 2, 2 / 3, 3 / 4]


def test_the_four_degrees_by_hand(toy: Connection) -> None:
    found = toy.execute("select * from anondb.trans_gsl('v', 'path')").fetchall()
    ways = zip((1, 2, 3), ("mammal", "animal", "thing"), UP, strict=True)
    assert found[:3] == [("cat", level, ancestor, pytest.approx(loss)) for level, ancestor, loss in ways]
    levels = toy.execute("select * from anondb.level_gsl('v', 'path')").fetchall()
    assert levels == [(level, pytest.approx(UP[level - 1]), pytest.approx(0)) for level in (1, 2, 3)]
    assert value(toy, "select anondb.vgh_gsl('v', 'path')") == pytest.approx(sum(UP) / 3)
    assert value(toy, "select anondb.vgh_set_gsl(array['v', 'v'], measure => 'path')") == pytest.approx(
        sum(UP) / 3
    )


def test_weights_are_uniform_by_level_or_the_users_own(toy: Connection) -> None:
    by_level = value(toy, "select anondb.vgh_gsl('v', 'path', weights => 'level')")
    assert by_level == pytest.approx((3 * UP[0] + 2 * UP[1] + UP[2]) / 6)
    own = value(toy, "select anondb.vgh_gsl('v', 'path', level_weights => array[0.5, 0.3, 0.2])")
    assert own == pytest.approx(0.5 * UP[0] + 0.3 * UP[1] + 0.2 * UP[2])
    top = value(toy, "select anondb.vgh_gsl('v', 'path', level_weights => array[0, 0, 1])")
    assert top == pytest.approx(UP[2])


@pytest.mark.parametrize(
    ("state", "call"),
    [
        ("SA155", "vgh_gsl('v', weights => 'linear')"),
        ("SA155", "vgh_gsl('v', weights => null)"),
        ("SA156", "vgh_gsl('v', level_weights => array[0.5, 0.5])"),
        ("SA157", "vgh_gsl('v', level_weights => array[0.5, 0.3, 0.1])"),
        ("SA157", "vgh_gsl('v', level_weights => array[1.5, -0.5, 0])"),
        ("SA157", "vgh_gsl('v', level_weights => array[0.5, 0.5, null])"),
        ("SA157", "vgh_gsl('v', level_weights => array['nan', 0.5, 0.5]::float8[])"),
        ("SA153", "vgh_gsl('v', aggregate => 'min')"),
        ("SA153", "level_gsl('v', aggregate => null)"),
        ("SA153", "node_gsl('v', aggregate => 'min')"),
        ("SA133", "vgh_gsl('v', measure => 'cosine')"),
        ("SA133", "trans_gsl('v', measure => 'wup''; drop table anondb.vgh; --')"),
        ("SA133", "vgh_faults('v', measure => null)"),
        ("SA140", "vgh_gsl('w')"),
        ("SA140", "vgh_gsl(null)"),
        ("SA150", "vgh_gsl('v', unmapped => 'guess')"),
        ("SA150", "vgh_gsl('v', unmapped => null)"),
        ("SA154", "vgh_gsl('v', source => 'pg_class')"),
        ("SA154", "vgh_gsl('v', source_column => 'relname')"),
        ("SA111", "vgh_gsl('v', source => 'pg_class', source_column => 'name')"),
        ("SA158", "vgh_set_gsl('{}')"),
        ("SA158", "vgh_set_gsl(null)"),
        ("SA159", "vgh_set_gsl(array['v', 'v'], array[1])"),
        ("SA159", "vgh_set_gsl(array['v', 'v'], array[1.5, 1])"),
        ("SA159", "vgh_set_gsl(array['v', 'v'], array[3, -1])"),
        ("SA162", "vgh_set_gsl(array['v', 'v'], source => 'pg_class', source_columns => array['relname'])"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(toy: Connection, state: str, call: str) -> None:
    refused(toy, state, f"select anondb.{call}")


def test_a_set_is_scored_by_the_users_preferences(toy: Connection) -> None:
    store(toy, "owl;wren", name="w")
    a, b = (value(toy, "select anondb.vgh_gsl(%s)", name) for name in ("v", "w"))
    assert a != b
    assert value(toy, "select anondb.vgh_set_gsl(array['v', 'w'])") == pytest.approx((a + b) / 2)
    preferred = value(toy, "select anondb.vgh_set_gsl(array['v', 'w'], array[1.5, 0.5])")
    assert preferred == pytest.approx((1.5 * a + 0.5 * b) / 2)


@pytest.mark.parametrize(
    ("score", "rating"),
    [
        (0, "Very Good"),
        (0.1999, "Very Good"),
        (0.2, "Good"),
        (0.4, "Moderate"),
        (0.6, "Poor"),
        (0.8, "Very Poor"),
        (1, "Very Poor"),
        (None, None),
        (1.01, None),
    ],
)
def test_a_rating_names_a_fifth_of_the_scale(
    connection: Connection, score: float | None, rating: str | None
) -> None:
    assert value(connection, "select anondb.gsl_rating(%s)", score) == rating


def test_a_level_of_which_nothing_is_known_does_not_count_as_one_without_loss(toy: Connection) -> None:
    store(toy, "owl;bird;qqq;thing", "wren;bird;qqq;thing")
    assert value(toy, "select anondb.vgh_gsl('v', 'path', unmapped => 'skip')") == pytest.approx(
        (UP[0] + UP[2]) / 2
    )
    level = "select anondb.vgh_gsl('v', 'path', weights => 'level', unmapped => 'skip')"
    assert value(toy, level) == pytest.approx((3 * UP[0] + UP[2]) / 4)
    refused(toy, "SA161", "select anondb.vgh_gsl('v', level_weights => array[0, 1, 0], unmapped => 'skip')")


def test_the_loss_of_a_node_is_that_of_the_leaves_below_it(toy: Connection) -> None:
    store(toy, "owl;bird;thing", "cat;bird;thing", "qqq;tool;thing")
    query = "select n.level, n.label, n.loss, n.leaves from anondb.node_gsl('v', 'path', %s, 'skip') as n"
    average = {row[:2]: row[2:] for row in toy.execute(query, ("avg",)).fetchall()}
    assert average == {
        (0, "owl"): (0, 1),
        (0, "cat"): (0, 1),
        (0, "qqq"): (0, 1),
        (1, "bird"): (pytest.approx((1 / 2 + 3 / 4) / 2), 2),  # cat, mammal, animal, bird
        (1, "tool"): (None, 1),
        (2, "thing"): (pytest.approx(3 / 4), 3),
    }
    assert {row[1]: row[2] for row in toy.execute(query, ("max",)).fetchall()}["bird"] == pytest.approx(3 / 4)


class TestFrequencies:
    @pytest.fixture
    def mixed(self, toy: Connection) -> Connection:
        store(toy, "owl#1;bird;thing", "cat;bird;thing")  # to bird: 1/2 and 3/4
        toy.execute('create table "My Data" ("The Kind" text)')
        return toy

    def fill(self, connection: Connection, **counts: int) -> None:
        for word, count in counts.items():
            connection.execute('insert into "My Data" select %s from generate_series(1, %s)', (word, count))

    def levels(self, connection: Connection, aggregate: str) -> list[Any]:
        query = "select l.loss, l.deviation from anondb.level_gsl('v', 'path', %s, '\"My Data\"', 'The Kind') as l"
        return connection.execute(query, (aggregate,)).fetchall()

    def test_a_leaf_counts_as_often_as_it_occurs_and_nulls_do_not(self, mixed: Connection) -> None:
        self.fill(mixed, owl=3, cat=1)
        mixed.execute('insert into "My Data" values (null), (null)')
        mean = (3 * 1 / 2 + 3 / 4) / 4
        spread = ((3 * (1 / 2 - mean) ** 2 + (3 / 4 - mean) ** 2) / 4) ** 0.5
        assert self.levels(mixed, "avg")[0] == (pytest.approx(mean), pytest.approx(spread))
        assert self.levels(mixed, "max")[0][0] == pytest.approx(3 / 4)

    def test_a_leaf_that_does_not_occur_does_not_count_for_the_maximum(self, mixed: Connection) -> None:
        self.fill(mixed, owl=2)
        assert self.levels(mixed, "max")[0] == (pytest.approx(1 / 2), 0)

    def test_equal_frequencies_give_the_static_score(self, mixed: Connection) -> None:
        self.fill(mixed, owl=7, cat=7)
        for aggregate in ("max", "avg"):
            static = mixed.execute(
                "select l.loss, l.deviation from anondb.level_gsl('v', 'path', %s) as l", (aggregate,)
            )
            assert self.levels(mixed, aggregate) == [
                (pytest.approx(loss), pytest.approx(deviation)) for loss, deviation in static.fetchall()
            ]
        dynamic = "select anondb.vgh_gsl('v', source => '\"My Data\"', source_column => 'The Kind')"
        assert value(mixed, dynamic) == pytest.approx(value(mixed, "select anondb.vgh_gsl('v')"))

    def test_values_outside_the_leaves_are_counted_and_not_shown(self, mixed: Connection) -> None:
        self.fill(mixed, owl=1, secret=2, Owl=1)
        diagnosis = refused(
            mixed,
            "SA152",
            "select anondb.level_gsl('v', source => '\"My Data\"', source_column => 'The Kind')",
        )
        assert "2 distinct values" in (diagnosis.message_primary or "")
        assert "secret" not in str(vars(diagnosis))

    def test_a_column_without_values_is_refused(self, mixed: Connection) -> None:
        call = "select anondb.vgh_gsl('v', source => '\"My Data\"', source_column => 'The Kind')"
        refused(mixed, "SA160", call)
        mixed.execute('insert into "My Data" values (null)')
        refused(mixed, "SA160", call)

    @pytest.mark.parametrize("kind", ["varchar(10)", "char(10)", "name", "kind", 'text collate "C"'])
    def test_a_column_may_have_any_type_of_text(self, mixed: Connection, kind: str) -> None:
        mixed.execute("create type kind as enum ('owl', 'cat')")
        mixed.execute(f"create view w as select 'owl'::{kind} as k".encode())
        assert value(
            mixed, "select anondb.vgh_gsl('v', 'path', source => 'w', source_column => 'k')"
        ) == pytest.approx((1 / 2 + 3 / 4) / 2)

    def test_a_set_takes_a_column_for_each_hierarchy(self, mixed: Connection) -> None:
        store(mixed, "saw;tool;thing", name="w")
        mixed.execute("create table t (a text, b text)")
        mixed.execute("insert into t values ('owl', 'saw')")
        a = value(mixed, "select anondb.vgh_gsl('v', 'path', source => 't', source_column => 'a')")
        b = value(mixed, "select anondb.vgh_gsl('w', 'path', source => 't', source_column => 'b')")
        both = """
            select anondb.vgh_set_gsl(
                array['v', 'w'], measure => 'path', source => 't', source_columns => array['a', 'b'])
        """
        assert value(mixed, both) == pytest.approx((a + b) / 2)


class TestWhoMayNotWrite:
    @pytest.fixture
    def reader(self, toy: Connection, dsn: str) -> Iterator[Connection]:
        """A session of a role that may read the catalogue, and nothing else."""
        role = f"anondb_reader_{time.time_ns()}"
        name = sql.Identifier(role)
        toy.execute(sql.SQL("create role {}").format(name))
        toy.execute(sql.SQL("grant usage on schema anondb to {}").format(name))
        toy.execute(sql.SQL("grant select on all tables in schema anondb to {}").format(name))
        try:
            with psycopg.connect(
                make_conninfo(dsn, options=f"-c role={role}"), autocommit=True
            ) as connection:
                yield connection
        finally:
            toy.execute(sql.SQL("drop owned by {}").format(name))
            toy.execute(sql.SQL("drop role {}").format(name))

    CALLS = (
        "vgh_gsl('v')", "level_gsl('v')", "trans_gsl('v')", "node_gsl('v')", "vgh_set_gsl(array['v'])",
        "vgh_faults('v')", "vgh_senses('v')", "vgh_coverage('v')",
    )  # fmt: skip

    def test_what_is_kept_can_be_read_without_the_right_to_write(
        self, toy: Connection, reader: Connection
    ) -> None:
        toy.execute("select anondb.vgh_gsl('v')")
        for call in self.CALLS:
            assert reader.execute(f"select anondb.{call}".encode()).fetchall() is not None

    def test_what_is_kept_can_be_read_in_a_read_only_transaction(self, toy: Connection) -> None:
        toy.execute("select anondb.vgh_gsl('v')")
        with toy.transaction():
            toy.execute("set transaction read only")
            for call in self.CALLS:
                toy.execute(f"select anondb.{call}".encode())

    def test_what_is_not_kept_is_refused_with_what_to_do(self, toy: Connection, reader: Connection) -> None:
        for call in self.CALLS:
            assert "may not keep it" in (
                refused(reader, "SA401", f"select anondb.{call}").message_primary or ""
            )
        toy.execute("set default_transaction_read_only = on")
        assert "read-only" in (refused(toy, "SA401", "select anondb.vgh_gsl('v')").message_primary or "")
        toy.execute("reset default_transaction_read_only")

    def test_another_measure_has_to_be_kept_too(self, toy: Connection, reader: Connection) -> None:
        toy.execute("select anondb.vgh_gsl('v')")
        refused(reader, "SA401", "select anondb.vgh_gsl('v', 'path')")

    def test_a_warm_score_writes_nothing(self, toy: Connection) -> None:
        toy.execute("select anondb.vgh_gsl('v')")
        with toy.transaction():
            for call in self.CALLS:
                toy.execute(f"select anondb.{call}".encode())
            assert value(toy, "select pg_current_xact_id_if_assigned()") is None


def test_the_last_digit_of_a_score_does_not_hang_on_where_rows_lie(toy: Connection) -> None:
    """A sum of floating-point numbers depends on its order, and that of rows is anybody's."""
    store(toy, *(f"{name};animal;thing" for name in ("cat", "owl", "wren", "whale", "trout", "saw")))
    toy.execute("select * from anondb.trans_gsl('v', 'path')")  # keeps the losses
    toy.execute("create temporary table kept as select * from anondb.vgh_loss")
    toy.execute("update kept set loss = (leaf * 37 % 10) / 10.0 + 0.001 / (leaf + 1)")
    toy.execute("set enable_indexscan = off")  # a bitmap scan reads rows where they lie
    scores = set()
    for order in ("k.leaf", "k.leaf desc", "k.leaf * 7 % 5, k.leaf", "k.leaf % 3, k.leaf desc"):
        toy.execute("truncate anondb.vgh_loss")
        again = sql.SQL("insert into anondb.vgh_loss select k.* from kept as k order by {}, k.level")
        toy.execute(again.format(sql.SQL(order)))
        levels = toy.execute("select * from anondb.level_gsl('v', 'path', 'avg')").fetchall()
        scores.add((value(toy, "select anondb.vgh_gsl('v', 'path', 'avg')"), *levels))
    assert len(scores) == 1
