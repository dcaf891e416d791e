"""Distances within originals and release, the sample, and the agreement of the clusters of both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb.db import ontology, vgh
from anondb.db.connection import Connection
from anondb.db.execute import Executor
from anondb.errors import UsageError
from anondb.evaluation.clusters import METRICS, Row, cluster_agreement
from tests import toys
from tests.refusals import refused
from tests.sql import linked_oracle as oracle
from tests.sql.linked_oracle import Column, Value
from tests.sql.linked_tables import ANIMALS, PARENTS, QUASI, RELEASES, VGHS, Release, fill, prepare

LINKED = "select anondb.linked_query('original', 'release', 'id', %s::name[])"
SUPPRESSED = "(suppressed)"
Apart = Callable[[Value, Value], float]


@pytest.fixture
def tables(connection: Connection) -> Connection:
    prepare(connection)
    return connection


def linked_query(connection: Connection, quasi: Sequence[str] = tuple(QUASI)) -> str:
    [(query,)] = connection.execute(LINKED, [list(quasi)]).fetchall()
    return str(query)


def distances(connection: Connection, linked: str, quasi: Sequence[str], **given: Any) -> list[Any]:
    parameters = {"vghs": None, "ladder": None, "sample": 1000, "seed": 0, "meanings": None} | given
    return connection.execute(
        "select d.* from anondb.linked_distances(%(linked)s, %(quasi)s::name[], %(vghs)s::text[], 'path',"
        " %(ladder)s::regclass, %(sample)s, %(seed)s, %(meanings)s::regclass) as d",
        parameters | {"linked": linked, "quasi": list(quasi)},
    ).fetchall()


def agreement(
    connection: Connection, linked: str, quasi: Sequence[str], *given: Any, **named: Any
) -> list[Row]:
    return cluster_agreement(Executor(connection, lambda step: None), linked, quasi, *given, **named)


def between(distances: Sequence[float], a: int, b: int) -> float:
    """From the upper triangle of a matrix, row by row."""
    size = next(n for n in range(1, 99) if n * (n - 1) // 2 == len(distances))
    low, high = min(a, b), max(a, b)
    return 0 if low == high else distances[low * size - low * (low + 1) // 2 + high - low - 1]


def by_points(column: Column) -> Apart:
    points = column.points
    assert points

    def at(value: Value) -> Fraction | None:
        if value is None or oracle._is_number(value):
            return None if value is None else Fraction(value)
        ends = oracle._range(value)
        return None if ends is None else (ends[0] + ends[1]) / 2

    def apart(a: Value, b: Value) -> float:
        here, there = at(a), at(b)
        if a == b or (here is not None and here == there):
            return 0
        span = max(points) - min(points)
        return 1 if here is None or there is None or not span else min(1.0, float(abs(here - there) / span))

    return apart


def by_concepts(a: Value, b: Value) -> float:
    if a is not None and b is not None and {a, b} <= PARENTS.keys():
        return 1 - toys.Oracle(PARENTS, 0).similarity(a, b, "path")
    return 0 if a == b else 1


def by_classes(a: Value, b: Value) -> float:
    """The smallest class that holds all leaves of both."""
    if a == b:
        return 0
    below = [{row[0] for row in ANIMALS if value in row} for value in (a, b)]
    if not all(below):
        return 1
    classes = (
        {row[0] for row in ANIMALS if row[i] == label} for i in range(3) for label in {r[i] for r in ANIMALS}
    )
    return min(len(leaves) - 1 for leaves in classes if below[0] | below[1] <= leaves) / (len(ANIMALS) - 1)


def or_equal(a: Value, b: Value) -> float:
    return 0 if a == b else 1


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RELEASES, st.booleans())
def test_values_are_as_far_apart_as_their_definition_says(
    tables: Connection, release: Release, meant: bool
) -> None:
    fill(tables, release)
    tables.execute("create temporary table if not exists rungs (i int, leaf text, level int, label text)")
    tables.execute("truncate rungs")
    if not meant:
        tables.execute(
            "insert into rungs select 3, l.leaf, l.level, l.label from anondb.ladders(array['pets']) as l"
        )
    found = distances(tables, linked_query(tables), QUASI, vghs=VGHS if meant else None, ladder="rungs")
    [age, *_] = release.columns()
    compared = [by_points(age) if age.points else or_equal, or_equal, by_concepts if meant else by_classes]
    wanted = {}
    for records in set(zip(release.originals, release.released, strict=True)):
        original, released = records
        wanted[original, released or (SUPPRESSED,) * 3] = sum(
            pair == records for pair in zip(release.originals, release.released, strict=True)
        )
    ordered = sorted(
        wanted, key=lambda pair: [(v in (None, SUPPRESSED), v or "") for side in pair for v in side]
    )
    seen = {(number, of_release): (codes, apart) for number, of_release, codes, apart, *_ in found}
    for number in (1, 2, 3):
        for side in (0, 1):
            codes, apart = seen[number, bool(side)]
            assert len(codes) == len(wanted)
            values = [pair[side][number - 1] for pair in ordered]
            measure = compared[number - 1]
            for a, one in enumerate(values):
                for b, other in enumerate(values):
                    hidden = SUPPRESSED in (one, other) and one != other
                    assert between(apart, codes[a], codes[b]) == pytest.approx(
                        1 if hidden else measure(one, other)
                    ), (number, side, one, other)
    assert [*found[0][4]] == [wanted[pair] for pair in ordered]
    assert found[0][5] == len(release.originals)


def test_numbers_with_a_hierarchy_of_ranges_stay_numbers_and_codes_do_not(tables: Connection) -> None:
    tables.execute(
        "insert into original (id, age, code) values (1, '10', '10'), (2, '12', '12'), (3, '20', '20');"
        "insert into release (id, age, code) values (1, '[10, 15)', '1*'), (2, '[10, 15)', '1*'), (3, 'any', '2*');"
        "create temporary table rungs (i int, leaf text, level int, label text);"
        "insert into rungs select s.i, s.leaf, l.level, l.label from (values (1, '10', '[10, 15)', 'any'),"
        " (1, '12', '[10, 15)', 'any'), (1, '20', '[20, 25)', 'any'), (2, '10', '1*', '*'), (2, '12', '1*', '*'),"
        " (2, '20', '2*', '*')) as s (i, leaf, class, root)"
        " cross join lateral (values (0, s.leaf), (1, s.class), (2, s.root)) as l (level, label)"
    )
    quasi = ["age", "code"]
    found = distances(tables, linked_query(tables, quasi), quasi, ladder="rungs")
    assert [row[3] for row in found] == [[0.2, 1, 0.8], [1], [0.5, 1, 1], [1]]


def test_dates_lie_in_the_middle_of_their_ranges(tables: Connection) -> None:
    """Of 2024-01 (31 days) and 2024-Q1 (91 days), the middles are 30 days apart; the originals span 60."""
    tables.execute(
        "insert into original (id, age) values (1, '2024-01-01'), (2, '2024-01-31'), (3, '2024-03-01');"
        "insert into release (id, age) values (1, '2024-01'), (2, '2024-Q1'), (3, null)"
    )
    [originals, released] = distances(tables, linked_query(tables, ["age"]), ["age"])
    assert originals[3] == [0.5, 1, 0.5]
    assert released[3] == [0.5, 1, 1]


def test_an_ancestor_means_what_most_of_its_leaves_say(connection: Connection) -> None:
    """bird can be an animal or a fool; the fool comes first in the dictionary, and no leaf below is one."""
    parents = {"thing": [], "fool": ["thing"], "animal": ["thing"], "fowl": ["animal"], "fish": ["animal"]}
    parents |= {"owl": ["fowl"], "hen": ["fowl"], "cod": ["fish"]}
    words = {"bird": ["fool", "fowl"]}
    ontology.store(connection, "toy", toys.ontology(parents, words=words))
    table = toys.vgh("owl;bird;animal", "hen;bird;animal", "cod;fish;animal")
    vgh.store(connection, "pets", table, ontology="toy")
    connection.execute(
        "create temporary table pairs as select l.* from (values ('owl', 'bird', true, 1), ('hen', 'bird', true, 1),"
        " ('cod', 'fish', true, 1)) as l (o1, r1, released, n)"
    )
    found = distances(connection, "table pairs", ["pet"], vghs=["pets"])
    # cod, hen, owl: 4 links, 4 links, 2 links; bird and fish: 2 links
    assert found[0][3] == pytest.approx([0.8, 0.8, 2 / 3])
    assert found[1][3] == pytest.approx([2 / 3])


def test_values_can_mean_concepts_without_any_hierarchy(connection: Connection) -> None:
    """Links: cod and hen 4, cod and owl 4, hen and owl 2. owls mean what owl does, and a griffin means nothing."""
    parents = {"thing": [], "animal": ["thing"], "fowl": ["animal"], "fish": ["animal"]}
    parents |= {"owl": ["fowl"], "hen": ["fowl"], "cod": ["fish"]}
    ontology.store(connection, "toy", toys.ontology(parents))
    connection.execute(
        "create temporary table pairs as select p.o1, p.r1, true as released, 1 as n from (values ('cod', 'owl'),"
        " ('griffin', 'hen'), ('hen', 'hen'), ('owl', 'owl'), ('owls', 'owl'), (null, null)) as p (o1, r1);"
        "create temporary table meanings as select 1 as i, m.label, c.id as concept from (values ('cod', 'cod'),"
        " ('griffin', null), ('hen', 'hen'), ('owl', 'owl'), ('owls', 'owl')) as m (label, key)"
        " left join anondb.concept as c on c.key = m.key"
    )
    [originals, released] = distances(connection, "table pairs", ["pet"], meanings="meanings")
    near, far = 1 - 1 / 3, 1 - 1 / 5
    # cod, griffin, hen, owl, owls, NULL; then hen, owl, NULL
    expected = [1, far, far, far, 1, 1, 1, 1, 1, near, near, 1, 0, 1, 1]
    assert originals[3] == pytest.approx(expected)
    assert released[3] == pytest.approx([near, 1, 1])


def test_every_combination_has_its_share_of_a_sample(tables: Connection) -> None:
    tables.execute(
        "create temporary table pairs as select i::text as o1, (i % 3)::text as r1, true as released, i::bigint as n"
        " from generate_series(1, 100) as i"
    )
    for size in (2, 7, 100, 5049, 5050, 9999):
        [(_, _, codes, _, sampled, records), _] = distances(tables, "table pairs", ["x"], sample=size)
        assert (sum(sampled), records) == (min(size, 5050), 5050)
        assert len(sampled) == len(codes)
    assert sorted(sampled) == list(range(1, 101))


def test_a_sample_is_told_by_its_seed_and_not_by_the_order_of_the_rows(tables: Connection) -> None:
    tables.execute(
        "create temporary table pairs as select i::text as o1, i::text as r1, true as released, 1::bigint as n"
        " from generate_series(1, 300) as i"
    )
    forth, back = "select * from pairs order by o1", "select * from pairs order by o1 desc"
    some = distances(tables, forth, ["x"], sample=40, seed=7)
    assert distances(tables, back, ["x"], sample=40, seed=7) == some
    assert distances(tables, forth, ["x"], sample=40, seed=8) != some
    assert agreement(tables, forth, ["x"], sample=40) == agreement(tables, back, ["x"], sample=40)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RELEASES)
def test_a_release_of_the_originals_has_their_clusters_and_any_other_agrees_between_0_and_1(
    tables: Connection, release: Release
) -> None:
    fill(tables, release)
    figures = agreement(tables, linked_query(tables), QUASI, VGHS, "path")
    assert [name for name, *_ in figures] == list(METRICS)
    assert all(column is None and value is not None and 0 <= value <= 1 for _, column, value, _ in figures)
    fill(tables, Release(release.originals, release.originals))
    assert [value for *_, value, _ in agreement(tables, linked_query(tables), QUASI, VGHS)] == [1, 1, 1, 1, 0]


def test_agreement_by_hand(tables: Connection) -> None:
    """Three groups of four become two: the 18 pairs of the originals stay together, and 16 more come to them."""
    tables.execute(
        "insert into original (id, age) select i, i / 4 * 50 from generate_series(0, 11) as i;"
        "insert into release (id, age) select i, '[0, 50]' from generate_series(0, 7) as i;"
        "insert into release (id, age) select i, '100' from generate_series(8, 11) as i"
    )
    bits, fewer = math.log2(3), math.log2(3) - 2 / 3
    wanted = {
        "rand": 50 / 66,
        "wallace_1": 1,
        "wallace_2": 18 / 34,
        "nmi": 2 * fewer / (bits + fewer),
        "partition_distance": (bits - fewer) / bits,
    }
    figures = agreement(tables, linked_query(tables, ["age"]), ["age"])
    assert {name: value for name, _, value, _ in figures} == pytest.approx(wanted)
    assert {note for *_, note in figures} == {"3 clusters of the originals, 2 clusters of the release"}


def test_originals_and_release_are_cut_into_as_many_clusters(tables: Connection) -> None:
    """Two groups of the originals; the release has four of its own, of which the nearest are taken together."""
    tables.execute(
        "insert into original (id, age) select i, i / 8 * 100 from generate_series(0, 15) as i;"
        "insert into release (id, age) select i, (i / 4 * 30)::text from generate_series(0, 15) as i"
    )
    figures = agreement(tables, linked_query(tables, ["age"]), ["age"])
    assert {note for *_, note in figures} == {"2 clusters of the originals, 2 clusters of the release"}
    assert [value for *_, value, _ in figures] == [1, 1, 1, 1, 0]
    figures = agreement(tables, linked_query(tables, ["age"]), ["age"], wanted=1)
    assert {note for *_, note in figures} == {"1 cluster of the originals, 1 cluster of the release"}


def test_suppressed_records_lie_together_apart_from_all_others(tables: Connection) -> None:
    tables.execute(
        "insert into original (id, age) select i, i / 4 * 50 from generate_series(0, 11) as i;"
        "insert into release (id, age) select id, age from original where age in ('0', '50')"
    )
    figures = agreement(tables, linked_query(tables, ["age"]), ["age"])
    assert [value for *_, value, _ in figures] == [1, 1, 1, 1, 0]
    tables.execute("truncate release")
    figures = agreement(tables, linked_query(tables, ["age"]), ["age"])
    assert [value for *_, value, _ in figures] == pytest.approx([18 / 66, 1, 18 / 66, 0, 1])


def test_only_codes_and_distances_leave_the_database(tables: Connection) -> None:
    tables.execute(
        "insert into original values (1, '1', 'secret', 'cat'); insert into release values (1, '*', null)"
    )
    seen: list[Any] = []
    steps = Executor(tables, seen.append)
    kept = steps.rows
    steps.rows = lambda *given: seen.extend(rows := kept(*given)) or rows  # type: ignore[method-assign, func-returns-value]
    cluster_agreement(steps, linked_query(tables), QUASI, VGHS, "path")
    assert "secret" not in str(seen)
    assert "anondb.linked_distances" in str(seen[0])


def test_figures_that_are_of_a_sample_say_so(tables: Connection) -> None:
    tables.execute(
        "create temporary table pairs as select i::text as o1, '*' as r1, true as released, 2::bigint as n"
        " from generate_series(1, 50) as i"
    )
    notes = {note for *_, note in agreement(tables, "table pairs", ["x"], sample=30)}
    assert len(notes) == 1
    assert str(notes).endswith("1 cluster of the release, in a sample of 30 of 100 records'}")


def test_without_records_there_are_no_figures(tables: Connection) -> None:
    found = agreement(tables, linked_query(tables), QUASI)
    assert found == [(name, None, None, "there are no records") for name in METRICS]


@pytest.mark.parametrize("sample", [-1, 0, 1, 5001])
def test_a_sample_is_large_enough_and_not_too_large(tables: Connection, sample: int) -> None:
    with pytest.raises(UsageError, match="cannot be clustered"):
        agreement(tables, linked_query(tables), QUASI, sample=sample)


def test_wrong_calls_are_told_what_is_right(tables: Connection) -> None:
    call = "select * from anondb.linked_distances('select', array['age'], {})"
    refused(tables, "SA174", call.format("array['pets', 'pets']"))
    refused(tables, "SA140", call.format("array['cars']"))
    refused(tables, "SA133", call.format("measure => 'cosine'"))
