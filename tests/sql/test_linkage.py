"""Record linkage: each matching by hand, and against comparing every two records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from anondb.db.connection import Connection
from tests import toys
from tests.refusals import refused
from tests.sql import linked_oracle as oracle
from tests.sql.linked_oracle import Value
from tests.sql.linked_tables import PARENTS, QUASI, RELEASES, VGHS, Release, fill, prepare


@pytest.fixture
def tables(connection: Connection) -> Connection:
    prepare(connection)
    return connection


def record_linkage(
    connection: Connection, matching: str, quasi: Sequence[str] = tuple(QUASI), vghs: Any = None
) -> float:
    row = connection.execute(
        "select anondb.record_linkage('original', 'release', 'id', %s::name[], %s, %s::text[], 'path')",
        [list(quasi), matching, vghs],
    ).fetchone()
    assert row is not None
    assert isinstance(row[0], float)
    return row[0]


def semantic(o: Value, r: Value) -> float:
    if o is not None and r is not None and {o, r} <= PARENTS.keys():
        return 1 - toys.Oracle(PARENTS, 0).similarity(o, r, "path")
    return 0 if o == r else 1


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RELEASES)
def test_it_is_what_comparing_every_two_records_gives(tables: Connection, release: Release) -> None:
    fill(tables, release)
    columns = release.columns()
    by_ladder = [oracle.ladder_distance(column) for column in columns]
    wanted = {
        "text": oracle.linkage(columns, None, text=True),
        "coverage": oracle.linkage(columns, None),
        "hierarchy": oracle.linkage(columns, by_ladder),
        "semantic": oracle.linkage(columns, [*by_ladder[:2], semantic]),
    }
    found = {matching: record_linkage(tables, matching, vghs=VGHS) for matching in wanted}
    assert found == pytest.approx(wanted)


def test_text_and_coverage_by_hand(tables: Connection) -> None:
    """Three originals are in the range, so each of the two released ones is found one time in three."""
    tables.execute(
        "insert into original values (1, '20', 'x'), (2, '21', 'x'), (3, '24', 'x'), (4, '30', 'x'), (5, '30', 'y');"
        "insert into release values (1, '[20, 25)', 'x'), (2, '[20, 25)', 'x'), (4, '30', 'x')"
    )
    assert record_linkage(tables, "coverage", ["age", "code"]) == pytest.approx(100 / 3 * (1 / 3 + 1 / 3 + 1))
    assert record_linkage(tables, "text", ["age", "code"]) == pytest.approx(100 / 3)
    assert record_linkage(tables, "coverage", ["age"]) == pytest.approx(100 / 3 * (2 / 3 + 1 / 2))


def test_a_release_of_generalized_values_has_none_by_text_and_all_the_risk_by_coverage(
    tables: Connection,
) -> None:
    tables.execute(
        "insert into original values (1, '1'), (2, '5'); insert into release values (1, '[0, 3)'), (2, '[3, 6)')"
    )
    assert record_linkage(tables, "text", ["age"]) == 0
    assert record_linkage(tables, "coverage", ["age"]) == 100


def test_a_label_without_a_hierarchy_stands_for_what_became_it(tables: Connection) -> None:
    tables.execute(
        "insert into original (id, pet) values (1, 'cat'), (2, 'dog'), (3, 'owl'), (4, 'dog');"
        "insert into release (id, pet) values (1, 'mammal'), (2, 'mammal'), (3, 'bird')"
    )
    with_hierarchy = record_linkage(tables, "coverage", ["pet"], ["pets"])
    assert (
        record_linkage(tables, "coverage", ["pet"]) == with_hierarchy == pytest.approx(100 / 3 * (2 / 3 + 1))
    )


def test_swapped_values_are_linked_by_distance_alone(tables: Connection) -> None:
    tables.execute(
        "insert into original (id, pet) values (1, 'cat'), (2, 'owl'), (3, 'cat');"
        "insert into release (id, pet) values (1, 'dog')"
    )
    assert (
        record_linkage(tables, "coverage", ["pet"], ["pets"]) == 0 == record_linkage(tables, "text", ["pet"])
    )
    assert record_linkage(tables, "hierarchy", ["pet"], ["pets"]) == 50
    assert record_linkage(tables, "semantic", ["pet"], ["pets"]) == 50


def test_masked_rows_are_not_released(tables: Connection) -> None:
    tables.execute(
        "insert into original (id, age) values (1, '1'), (2, '2'), (3, '3');"
        "insert into release (id, age) values (1, '1'), (2, '*'), (3, '*')"
    )
    call = "select anondb.record_linkage('original', 'release', 'id', array['age'], 'coverage'"
    assert tables.execute(f"{call})".encode()).fetchall() == [(pytest.approx(100 / 3 * (1 + 2 / 3)),)]
    assert tables.execute(f"{call}, roots => array['*'])".encode()).fetchall() == [(100,)]


def test_nothing_released_links_nothing(tables: Connection) -> None:
    assert record_linkage(tables, "coverage") == 0
    tables.execute("insert into original values (1, '1', 'a', 'cat')")
    assert [record_linkage(tables, matching) for matching in ("text", "coverage", "hierarchy")] == [0, 0, 0]


def test_wrong_calls_are_told_what_is_right(tables: Connection) -> None:
    call = "select anondb.record_linkage('original', 'release', 'id', array['age'], {})"
    refused(tables, "SA176", call.format("'fuzzy'"))
    refused(tables, "SA176", call.format("null"))
    refused(tables, "SA174", call.format("'coverage', array['pets', 'pets']"))
    refused(tables, "SA133", call.format("'semantic', measure => 'cosine'"))


def test_too_many_distances_are_refused_and_coverage_is_not(tables: Connection) -> None:
    tables.execute("insert into original select i, i from generate_series(1, 1800) as i")
    tables.execute("insert into release select i, i from generate_series(1, 1700) as i")
    call = "select anondb.record_linkage('original', 'release', 'id', array['age'], 'hierarchy')"
    assert "1800 different originals" in str(refused(tables, "SA175", call).message_primary)
    assert record_linkage(tables, "coverage", ["age"]) == 100


def test_many_records_of_few_kinds_are_fast(tables: Connection) -> None:
    """No two records are compared: 40,000 million pairs would take hours."""
    tables.execute(
        "insert into original select i, i % 50, i % 7, i % 3 from generate_series(1, 200000) as i;"
        "insert into release select i, anondb.range_label(i % 50, 0, 10), '*', i % 3"
        " from generate_series(1, 200000) as i;"
        "analyze original; analyze release; set statement_timeout = '60s'"
    )
    [(classes, records)] = tables.execute(
        "select count(distinct (age, code, pet)), count(*) from release"
    ).fetchall()
    assert record_linkage(tables, "coverage") == pytest.approx(100 * int(str(classes)) / int(str(records)))


def test_of_many_different_records_each_counts_wherever_it_stands(tables: Connection) -> None:
    """Labels overlap, so that each class is held against all originals: more than fit a block, some several times."""
    tables.execute(
        "insert into original select i, i % 9000, i % 9000 % 7, i % 3 from generate_series(1, 10000) as i;"
        "insert into release select i, anondb.range_label(i % 9000, 0, 100 * (1 + i % 2)), '*', i % 3"
        " from generate_series(1, 10000, 11) as i;"
        "analyze original; analyze release"
    )
    by_pairs = """
        select 100 * avg(1.0 / (select count(*) from original as o
                                where o.pet = r.pet and o.age::int / s.width = a.age::int / s.width))
        from release as r join original as a on a.id = r.id
        cross join lateral (select 100 * (1 + r.id % 2) as width) as s
    """
    [(wanted,)] = tables.execute(by_pairs).fetchall()
    assert record_linkage(tables, "coverage") == pytest.approx(float(str(wanted)))
