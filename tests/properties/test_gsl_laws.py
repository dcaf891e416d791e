"""GSL against its definitions, on random ontologies and hierarchies."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb.db import ontology, vgh
from anondb.db.connection import Connection
from anondb.hierarchies.forms import VghTable
from tests import toys

MEASURES = ("wup", "wup_depth", "path", "lch", "shared")


@dataclass(frozen=True)
class World:
    """An ontology, what its words mean, and a hierarchy of some of them."""

    parents: dict[str, list[str]]
    meaning: dict[str, str]
    root_depth: int
    table: VghTable

    @property
    def oracle(self) -> toys.Oracle:
        return toys.Oracle(self.parents, self.root_depth)

    def store(self, connection: Connection) -> None:
        words = {word: [concept] for word, concept in self.meaning.items()}
        made = toys.ontology(self.parents, words=words, root_depth=self.root_depth)
        ontology.store(connection, "toy", made)
        vgh.store(connection, "v", self.table, replace=True, ontology="toy")

    def loss(self, leaf: str, ancestor: str, measure: str) -> float:
        return 1 - self.oracle.similarity(self.meaning[leaf], self.meaning[ancestor], measure)

    def subsumes(self, ancestor: str, word: str) -> bool:
        return self.meaning[ancestor] in self.oracle.above(self.meaning[word])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    size = draw(st.integers(4, 12))
    parents: dict[str, list[str]] = {"c0": []}
    for number in range(1, size):
        above = st.lists(st.sampled_from(sorted(parents)), min_size=1, max_size=3, unique=True)
        parents[f"c{number}"] = draw(above)
    root_depth = draw(st.sampled_from([0, 2]))
    if root_depth:  # where concepts need not meet
        parents |= {"d0": [], "d1": ["d0"]}
    meaning = {concept: concept for concept in parents}
    meaning |= {f"s{concept}": concept for concept in sorted(parents)[:3]}  # synonyms
    words = sorted(meaning)
    rows = [[leaf] for leaf in draw(st.lists(st.sampled_from(words), min_size=1, max_size=7, unique=True))]
    for level in range(draw(st.integers(1, 3)), 0, -1):
        labels = draw(
            st.lists(st.sampled_from(words), min_size=1, max_size=4 if level > 1 else 1, unique=True)
        )
        parent = {label: draw(st.sampled_from(labels)) for label in dict.fromkeys(row[-1] for row in rows)}
        for row in rows:
            row.append(parent[row[-1]])
    return World(parents, meaning, root_depth, VghTable(tuple(map(tuple, rows))))


def rows(connection: Connection, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode(), parameters).fetchall()


def value(connection: Connection, query: str, *parameters: Any) -> Any:
    [(found,)] = rows(connection, query, *parameters)
    return found


on_random_worlds = settings(
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@on_random_worlds
@given(world=worlds(), measure=st.sampled_from(MEASURES))
def test_a_transition_loses_what_its_concepts_do_not_share(
    connection: Connection, world: World, measure: str
) -> None:
    world.store(connection)
    found = rows(
        connection, "select t.leaf, t.level, t.ancestor, t.loss from anondb.trans_gsl('v', %s) as t", measure
    )
    expected = [
        (row[0], level, row[level], world.loss(row[0], row[level], measure))
        for row in world.table.rows
        for level in range(1, world.table.height + 1)
    ]
    assert [step[:3] for step in found] == [step[:3] for step in expected]
    assert [step[3] for step in found] == pytest.approx([step[3] for step in expected], abs=1e-12)


@on_random_worlds
@given(world=worlds(), measure=st.sampled_from(MEASURES), frequencies=st.data())
def test_levels_and_scores_are_those_of_the_definitions(
    connection: Connection, world: World, measure: str, frequencies: st.DataObject
) -> None:
    world.store(connection)
    leaves, height = [row[0] for row in world.table.rows], world.table.height
    losses = {
        level: [world.loss(row[0], row[level], measure) for row in world.table.rows]
        for level in range(1, height + 1)
    }
    counts = frequencies.draw(
        st.lists(st.integers(0, 5), min_size=len(leaves), max_size=len(leaves)), label="counts"
    )
    counts[0] += not any(counts)
    connection.execute("create temporary table if not exists seen (word text)")
    connection.execute("truncate seen")
    for leaf, count in zip(leaves, counts, strict=True):
        connection.execute("insert into seen select %s from generate_series(1, %s)", (leaf, count))

    by_level = [(height + 1 - level) * 2 / (height * (height + 1)) for level in losses]
    for aggregate in ("max", "avg"):
        level_gsl = "select l.level, l.loss, l.deviation from anondb.level_gsl('v', %s, %s) as l"
        static = rows(connection, level_gsl, measure, aggregate)
        for level, loss, deviation in static:
            reduce = max if aggregate == "max" else statistics.fmean
            assert loss == pytest.approx(reduce(losses[level]), abs=1e-12)
            assert deviation == pytest.approx(statistics.pstdev(losses[level]), abs=1e-9)
        figures = [loss for _, loss, _ in static]
        assert value(connection, "select anondb.vgh_gsl('v', %s, %s)", measure, aggregate) == pytest.approx(
            statistics.fmean(figures)
        )
        weighted = value(
            connection, "select anondb.vgh_gsl('v', %s, %s, weights => 'level')", measure, aggregate
        )
        assert weighted == pytest.approx(sum(map(lambda w, x: w * x, by_level, figures)))
        dynamic = rows(
            connection,
            "select l.level, l.loss from anondb.level_gsl('v', %s, %s, 'pg_temp.seen', 'word') as l",
            measure,
            aggregate,
        )
        assert [loss for _, loss in dynamic] == pytest.approx(
            [of_the_data(losses[level], counts, aggregate) for level in losses], abs=1e-12
        )


def of_the_data(losses: Sequence[float], counts: Sequence[int], aggregate: str) -> float:
    if aggregate == "max":
        return max(loss for loss, count in zip(losses, counts, strict=True) if count)
    return sum(loss * count for loss, count in zip(losses, counts, strict=True)) / sum(counts)


@on_random_worlds
@given(world=worlds())
def test_faults_are_exactly_those_that_the_graph_has(connection: Connection, world: World) -> None:
    world.store(connection)
    query = "select f.kind, f.level, f.node, f.other, f.leaves from anondb.vgh_faults('v') as f"
    found: dict[str, set[tuple[Any, ...]]] = {}
    for kind, level, node, other, leaves in rows(connection, query):
        told = found.setdefault(kind, set())
        if kind == "synonym":
            told.add((level, node, other))
        elif kind == "overlap":
            told |= {(level, node, other, leaf) for leaf in leaves}
        else:
            told |= {(level, node, leaf) for leaf in leaves}
    height = world.table.height
    steps = [(row, level) for row in world.table.rows for level in range(1, height + 1)]
    assert found.get("no_hypernym", set()) == {
        (level, row[level], row[0]) for row, level in steps if not world.subsumes(row[level], row[0])
    }
    assert found.get("falling", set()) == {
        (level, row[level], row[0])
        for row, level in steps
        if level < height
        and world.loss(row[0], row[level], "wup") > world.loss(row[0], row[level + 1], "wup") + 1e-9
    }
    assert found.get("synonym", set()) == synonyms(world)
    assert found.get("overlap", set()) == overlaps(world)


@on_random_worlds
@given(world=worlds())
def test_what_is_suggested_is_a_generalization_of_the_leaves(connection: Connection, world: World) -> None:
    world.store(connection)
    for leaves, suggestion in rows(
        connection,
        "select f.leaves, f.suggestion from anondb.vgh_faults('v') as f where f.kind = 'no_hypernym'",
    ):
        if suggestion is not None:
            assert all(world.subsumes(suggestion, leaf) for leaf in leaves)


def synonyms(world: World) -> set[tuple[int, str, str]]:
    """Two nodes of the same concept with other labels; a leaf that is repeated upwards is one node."""
    nodes = {
        (level, label): number
        for number, (level, label) in enumerate(
            dict.fromkeys(
                (level, row[level]) for level in range(world.table.height + 1) for row in world.table.rows
            )
        )
    }
    repeated = {
        (level, row[0]) for row in world.table.rows for level in range(1, len(row)) if row[level] == row[0]
    }
    own = {node for node in nodes if node not in repeated or is_class_too(world, node)}
    return {
        (a[0], a[1], b[1])
        for a in own
        for b in own
        if nodes[a] < nodes[b] and a[1] != b[1] and world.meaning[a[1]] == world.meaning[b[1]]
    }


def is_class_too(world: World, node: tuple[int, str]) -> bool:
    """Whether a node that repeats a leaf stands above another leaf as well."""
    return any(row[node[0]] == node[1] and row[0] != node[1] for row in world.table.rows)


def overlaps(world: World) -> set[tuple[int, str, str, str]]:
    """(level, node, sibling, leaf): the highest on a leaf's way that belongs to a sibling of its class too."""
    found = set()
    for row in world.table.rows:
        for level in range(1, world.table.height):
            siblings = {
                other[level]
                for other in world.table.rows
                if other[level + 1] == row[level + 1]
                and other[level] != row[level]
                and other[0] != other[level]
            }
            for sibling in siblings:
                concept = world.meaning[sibling]
                if concept in (world.meaning[row[0]], world.meaning[row[level]]):
                    continue  # synonyms
                if not world.subsumes(sibling, row[0]) or not world.subsumes(row[level], row[0]):
                    continue
                highest = max(
                    at
                    for at in range(level + 1)
                    if world.subsumes(row[at], row[0]) and world.subsumes(sibling, row[at])
                )
                found.add((highest, row[highest], sibling, row[0]))
    return found


@on_random_worlds
@given(world=worlds(), measure=st.sampled_from(MEASURES))
def test_scores_stay_within_their_bounds(connection: Connection, world: World, measure: str) -> None:
    """0 <= avg <= max <= 1; a further leaf never lowers a maximum; the order of the leaves does not matter."""
    world.store(connection)
    query = "select l.loss from anondb.level_gsl('v', %s, %s) as l order by l.level"
    greatest = [loss for (loss,) in rows(connection, query, measure, "max")]
    average = [loss for (loss,) in rows(connection, query, measure, "avg")]
    assert all(0 <= low <= high + 1e-12 and high <= 1 for low, high in zip(average, greatest, strict=True))

    vgh.store(connection, "v", VghTable(world.table.rows[::-1]), replace=True)
    assert [loss for (loss,) in rows(connection, query, measure, "max")] == greatest
    vgh.store(connection, "v", VghTable(world.table.rows[:1]), replace=True)
    fewer = [loss for (loss,) in rows(connection, query, measure, "max")]
    assert all(less <= more for less, more in zip(fewer, greatest, strict=True))
