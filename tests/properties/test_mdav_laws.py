"""MDAV in the database against its definition in exact fractions, on small ontologies and sets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.db.connection import Connection
from anondb.db.ontology import store
from tests.properties.examples import laws
from tests.properties.mdav_oracle import (
    DISTANCES,
    MEASURES,
    Sets,
    delta,
    generalizations,
    partition,
    set_distance,
)
from tests.toys import Graph, Oracle, ontology

# two parents, several roots, a chain, and concepts without any relation
GRAPH: Graph = {
    "sports": [], "water sports": ["sports"], "swimming": ["water sports"], "windsurfing": ["water sports"],
    "football": ["sports"], "sea": [], "mediterranean": ["sea"], "atlantic": ["sea"], "beach": ["sea", "sports"],
    "bay": ["beach"], "cove": ["bay"], "music": [], "jazz": ["music"], "swing": ["jazz", "sports"],
}  # fmt: skip

records = st.lists(
    st.frozensets(st.sampled_from(sorted(GRAPH)), min_size=1, max_size=5), min_size=1, max_size=14
)


@pytest.fixture
def toy(connection: Connection) -> Connection:
    store(connection, "toy", ontology(GRAPH))
    connection.execute(
        """
        create temporary table mdav_item (record int, concept int);
        create temporary table mdav_term (phrase text collate "C", concept int, records bigint);
        create temporary table mdav_said (term text collate "C", records bigint)
        """
    )
    return connection


def fill(connection: Connection, sets: Sets) -> None:
    rows = [(record, concept) for record, concepts in sets.items() for concept in sorted(concepts)]
    connection.execute("truncate mdav_item")
    with connection.cursor() as cursor:
        cursor.executemany("insert into mdav_item values (%s, anondb.find_concept(%s, 'toy'))", rows)


def rows(connection: Connection, query: str) -> list[Any]:
    return connection.execute(query.encode()).fetchall()


@laws
@given(found=records, distance=st.sampled_from(DISTANCES), measure=st.sampled_from(MEASURES))
def test_record_distances_are_those_of_the_definition(
    toy: Connection, found: list[frozenset[str]], distance: str, measure: str
) -> None:
    sets = dict(enumerate(found, 10))
    fill(toy, sets)
    toy.execute("select anondb.mdav_distances(%s, %s)", (distance, measure))
    apart = delta(GRAPH, measure)
    got = rows(toy, "select record, distances::float8[] from mdav_record order by place")
    assert [record for record, _ in got] == sorted(sets)
    unit = float(rows(toy, "select anondb.mdav_unit()")[0][0])
    for record, distances in got:
        expected = [float(set_distance(sets[record], sets[other], distance, apart)) for other in sorted(sets)]
        assert [far / unit for far in distances] == pytest.approx(expected, abs=1e-12)
    if distance == "average":  # sets of more than 250 concepts are looked up, as other distances are
        toy.execute("select anondb.mdav_looked_up('average')")
        assert rows(toy, "select record, distances::float8[] from mdav_record order by place") == got


@laws
@given(
    found=records, k=st.integers(1, 4), distance=st.sampled_from(DISTANCES), measure=st.sampled_from(MEASURES)
)
def test_classes_and_centroids_are_those_of_the_definition(
    toy: Connection, found: list[frozenset[str]], k: int, distance: str, measure: str
) -> None:
    sets = dict(enumerate(found, 1))
    fill(toy, sets)
    toy.execute("select anondb.mdav_distances(%s, %s)", (distance, measure))
    [(classes,)] = rows(toy, f"select anondb.mdav_partition({k})")
    apart = delta(GRAPH, measure)
    expected = partition(sets, k, lambda a, b: set_distance(sets[a], sets[b], distance, apart))
    got = rows(
        toy, "select array_agg(record), centroid from mdav_class group by class, centroid order by class"
    )
    assert [(frozenset(members), centroid) for members, centroid in got] == expected
    assert classes == len(expected)
    if len(sets) >= k:
        assert all(k <= len(members) < 2 * k for members, _ in got)


@laws
@given(x=records.map(lambda sets: sets[0]), y=records.map(lambda sets: sets[-1]),
       distance=st.sampled_from(DISTANCES), measure=st.sampled_from(MEASURES))  # fmt: skip
def test_the_distance_of_two_sets_of_terms_is_the_definition_and_symmetric(
    toy: Connection, x: frozenset[str], y: frozenset[str], distance: str, measure: str
) -> None:
    query = "select anondb.set_distance(%s, %s, %s, %s, 'toy')"
    [there] = toy.execute(query, (sorted(x), sorted(y), distance, measure)).fetchone() or ()
    [back] = toy.execute(query, (sorted(y), sorted(x), distance, measure)).fetchone() or ()
    assert there == pytest.approx(float(set_distance(x, y, distance, delta(GRAPH, measure))), abs=1e-12)
    assert there == pytest.approx(back, abs=1e-12)


@laws
@given(found=records, distance=st.sampled_from(DISTANCES))
def test_texts_are_the_same_or_not_whatever_they_mean(
    toy: Connection, found: list[frozenset[str]], distance: str
) -> None:
    """The twin over texts: those that mean nothing count too, and synonyms are as far apart as any two."""
    sets = dict(enumerate(found, 10))
    fill(toy, sets)
    said = {
        record: frozenset({f"{c} text" for c in concepts} | {"xyzzy"}) for record, concepts in sets.items()
    }
    toy.execute("drop table if exists mdav_text; create temporary table mdav_text (record int, text text)")
    with toy.cursor() as cursor:
        cursor.executemany(
            "insert into mdav_text values (%s, %s)",
            [(record, text.upper()) for record, texts in said.items() for text in sorted(texts)],
        )
    toy.execute("insert into mdav_text values (9, 'of a record without concepts')")
    toy.execute("select anondb.mdav_distances(%s, 'texts')", (distance,))
    apart = delta({}, "equal")
    unit = float(rows(toy, "select anondb.mdav_unit()")[0][0])
    got = rows(toy, "select record, distances::float8[] from mdav_record order by place")
    assert [record for record, _ in got] == sorted(sets)
    for record, distances in got:
        expected = [float(set_distance(said[record], said[other], distance, apart)) for other in sorted(sets)]
        assert [far / unit for far in distances] == pytest.approx(expected, abs=1e-12)


def test_a_set_has_a_distance_from_itself_on_average(toy: Connection) -> None:
    query = "select anondb.set_distance(%s, %s, 'average', 'shared', 'toy')"
    both = ["swimming", "windsurfing"]
    assert toy.execute(query, (both, both)).fetchone() == (0.25,)


def test_nothing_is_at_no_distance(toy: Connection) -> None:
    query = "select anondb.set_distance(%s::text[], %s, 'average', 'shared', 'toy')"
    assert toy.execute(query, ([], ["sea"])).fetchone() == (None,)
    assert toy.execute(query, (None, ["sea"])).fetchone() == (None,)


def centroids(connection: Connection, k: int) -> Sets:
    """What the classes are released with."""
    connection.execute("select anondb.mdav_centroids(%s)", (k,))
    query = """
        select t.record, array_agg(c.key) from mdav_centroid as t
        join anondb.concept as c on c.id = t.concept group by t.record
    """
    return {record: frozenset(concepts) for record, concepts in rows(connection, query)}


@laws
@given(
    found=records,
    k=st.integers(1, 4),
    written=st.dictionaries(st.sampled_from(sorted(GRAPH)), st.integers(1, 5)),
)
def test_a_concept_is_released_as_the_nearest_one_that_k_records_have_and_few_have_not_written(
    toy: Connection, found: list[frozenset[str]], k: int, written: dict[str, int]
) -> None:
    sets = dict(enumerate(found))
    fill(toy, sets)
    toy.execute("truncate mdav_said")
    with toy.cursor() as cursor:
        cursor.executemany("insert into mdav_said values (%s, %s)", list(written.items()))
    toy.execute("select anondb.mdav_distances()")
    toy.execute("select anondb.mdav_partition(%s)", (k,))
    have = Counter(
        name
        for concepts in found
        for name in frozenset().union(*(generalizations(GRAPH, c) for c in concepts))
    )
    oracle = Oracle(GRAPH, 0)

    def nearest(concept: str) -> set[str]:
        known = [
            (links, have[name], name)
            for name, links in oracle.above(concept).items()
            if have[name] >= k and written.get(name, k) >= k
        ]
        return {name for _, _, name in sorted(known)[:1]}

    of = {record for (record,) in rows(toy, "select distinct centroid from mdav_class")}
    told = {record: frozenset[str]().union(*map(nearest, sets[record])) for record in of}
    assert centroids(toy, k) == {record: concepts for record, concepts in told.items() if concepts}


@laws
@given(found=records, k=st.integers(1, 4), shared_by=st.integers(1, 4), measure=st.sampled_from(MEASURES))
def test_the_loss_is_by_meaning_however_the_classes_were_made(
    toy: Connection, found: list[frozenset[str]], k: int, shared_by: int, measure: str
) -> None:
    sets, apart = dict(enumerate(found)), delta(GRAPH, "shared")
    fill(toy, sets)
    toy.execute("select anondb.mdav_distances('average', %s)", (measure,))
    toy.execute("select anondb.mdav_partition(%s)", (k,))
    classes = rows(toy, "select record, centroid from mdav_class")
    told = centroids(toy, shared_by)
    if shared_by == 1:
        assert told == {centroid: sets[centroid] for _, centroid in classes}
    expected = sum(
        set_distance(sets[a], told[b], "average", apart) ** 2 if b in told else 1 for a, b in classes
    )
    assert rows(toy, "select anondb.mdav_loss()") == [(pytest.approx(float(expected), abs=1e-9),)]


@pytest.mark.parametrize(
    ("distance", "measure", "state"), [("median", "shared", "SA190"), ("average", "wup", "SA191")]
)
def test_an_unknown_distance_is_refused(toy: Connection, distance: str, measure: str, state: str) -> None:
    with pytest.raises(psycopg.Error) as refused:
        toy.execute(
            "select anondb.set_distance(array['sea'], array['sea'], %s, %s, 'toy')", (distance, measure)
        )
    assert refused.value.sqlstate == state


@pytest.mark.parametrize(("column", "state"), [("concept", "SA192"), ("record", "SA193")])
def test_too_many_are_refused_before_anything_is_computed(toy: Connection, column: str, state: str) -> None:
    numbers = {"concept": "select 1, g", "record": "select g, 1"}[column]
    toy.execute(f"insert into mdav_item {numbers} from generate_series(1, 10001) as g".encode())
    with pytest.raises(psycopg.Error) as refused:
        toy.execute("select anondb.mdav_distances()")
    assert refused.value.sqlstate == state
