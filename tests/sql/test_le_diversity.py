"""(l, e)-diversity in SQL: the published example, and the loop that maximal-bucket-first is, record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import psycopg
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anondb.db.connection import Connection
from anondb.db.vgh import store
from anondb.hierarchies.csvfile import parse
from tests.properties.examples import laws
from tests.properties.le_diversity_oracle import (
    Path,
    apart,
    buckets_of,
    diverse,
    dods,
    largest_first,
    losses,
    most_strangers,
    reached,
)
from tests.refusals import refused
from tests.servers import new_database

DISEASES = """\
flu;respiratory infection;respiratory;*
pneumonia;respiratory infection;respiratory;*
bronchitis;respiratory infection;respiratory;*
cancer;tumour;growth;*
carcinoid;tumour;growth;*
gastric ulcer;stomach disease;digestive;*
dyspepsia;stomach disease;digestive;*
gastritis;stomach disease;digestive;*
"""
NINE = ("flu pneumonia flu carcinoid cancer cancer gastric_ulcer dyspepsia gastritis").split()

# a1 and a2 are two steps apart, each of them one and a half from b, which hangs one level higher
UNBALANCED: list[Path] = [
    ["a1", "a1x", "a", "*"],
    ["a2", "a2x", "a", "*"],
    ["b", "b", "a", "*"],
    ["c", "c", "c", "*"],
    ["d", "d", "d", "*"],
    ["f", "g", "g", "*"],
]
# the same a1, b and a2, and a stranger
BRIDGED: list[Path] = [UNBALANCED[0], UNBALANCED[1], UNBALANCED[2], ["c", "cx", "cy", "*"]]
BALANCED: list[Path] = [row.split(";") for row in DISEASES.splitlines()]


@pytest.fixture(scope="module")
def _one(server: str, template: str) -> Iterator[Connection]:
    with (
        new_database(server, template) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        store(connection, "disease", parse(DISEASES, place="diseases"))
        yield connection


@pytest.fixture
def le(_one: Connection) -> Iterator[Connection]:
    """A database with the hierarchy of diseases; what a test does in it is taken back."""
    with _one.transaction(force_rollback=True):
        yield _one


def ask(connection: Connection, query: str, *parameters: object) -> list[Any]:
    return connection.execute(query.encode(), parameters).fetchall()


def fill(connection: Connection, paths: Sequence[Path], values: Sequence[int]) -> None:
    connection.execute(
        "drop table if exists pg_temp.paths, pg_temp.records, pg_temp.buckets, pg_temp.counts;"
        "create temporary table paths (value int, path text[]);"
        "create temporary table records (rid bigint, value int, class bigint, q int)"
    )
    with connection.cursor() as cursor:
        cursor.executemany("insert into paths values (%s, %s)", [(v, list(p)) for v, p in enumerate(paths)])
        cursor.executemany(
            "insert into records values (%s, %s, null, %s)", [(r, v, r % 3) for r, v in enumerate(values)]
        )
    connection.execute("create temporary table counts as select value, count(*) as n from records group by 1")


def first_classes(connection: Connection, l: int, e: float, portion: int = 1) -> None:  # noqa: E741
    connection.execute(
        "create temporary table buckets as"
        " select * from anondb.le_buckets('pg_temp.paths', 'pg_temp.counts', %s, %s, %s)",
        (l, e, portion),
    )
    connection.execute(
        "update pg_temp.records as r set class = f.class"
        " from anondb.le_first_classes('pg_temp.records', 'pg_temp.buckets', %s, %s, 7) as f"
        " where f.rid = r.rid",
        (l, portion),
    )


def join_nearest(connection: Connection, l: int, e: float, compared: int = 10**9) -> int:  # noqa: E741
    [[joined]] = ask(
        connection,
        "select anondb.le_join_nearest('pg_temp.records', 'pg_temp.paths', %s, %s, 'abs(o.q - r.q) / 2.0', 7, %s)",
        *(l, e, compared),
    )
    return int(joined)


def classes_of(connection: Connection) -> dict[int | None, list[int]]:
    rows = ask(connection, "select class, value from pg_temp.records order by rid")
    found: dict[int | None, list[int]] = {}
    for number, value in rows:
        found.setdefault(number, []).append(value)
    return found


HIERARCHIES = st.sampled_from([BALANCED, UNBALANCED, [*UNBALANCED, [None, None, None, "*"]]])
TABLES = HIERARCHIES.flatmap(
    lambda paths: st.tuples(st.just(paths), st.lists(st.integers(0, len(paths) - 1), min_size=1, max_size=30))
)
ES = st.sampled_from([0, 0.5, 1, 1.5, 2, 3])


@laws
@given(HIERARCHIES, ES)
def test_values_are_similar_whose_distance_in_the_unpadded_tree_is_at_most_e(
    le: Connection, paths: list[Path], e: float
) -> None:
    fill(le, paths, [])
    pairs = set(le.execute("select a, b from anondb.le_similar('pg_temp.paths', %s)", (e,)).fetchall())
    others = [(a, b) for a in range(len(paths)) for b in range(len(paths)) if a != b]
    assert pairs == {(a, b) for a, b in others if apart(paths[a], paths[b]) <= e}
    measured = ask(
        le, "select a.value, b.value, anondb.path_distance(a.path, b.path) from paths as a, paths as b"
    )
    for a, b, distance in measured:
        assert distance == (apart(paths[a], paths[b]) if a != b else 0)


@laws
@given(TABLES, st.integers(2, 4), ES, st.integers(1, 3))
@example((BRIDGED, [0, 0, 1, 1, 2, 3, 3]), 2, 1.5, 1)
@example((BRIDGED, [0, 1, *[2] * 9, *[3] * 10]), 2, 1.5, 1)
def test_buckets_are_strangers_and_make_as_many_classes_as_setting_values_aside_can(
    le: Connection,
    table: tuple[list[Path], list[int]],
    l: int,  # noqa: E741
    e: float,
    portion: int,
) -> None:
    paths, values = table
    fill(le, paths, values)
    asked = (l, e, portion)
    made = dict(
        ask(le, "select * from anondb.le_buckets('pg_temp.paths', 'pg_temp.counts', %s, %s, %s)", *asked)
    )
    counts = Counter(values)
    assert made.keys() == counts.keys()
    settled = [{v for v, bucket in made.items() if bucket == one} for one in {*made.values()} - {None}]
    for one, other in combinations(settled, 2):
        assert all(apart(paths[a], paths[b]) > e for a in one for b in other)

    def classes(buckets: Iterable[set[int]]) -> int:
        return largest_first([sum(counts[v] // portion for v in bucket) for bucket in buckets], l)[0]

    [(number, left)] = ask(
        le, "select * from anondb.le_first_left('pg_temp.paths', 'pg_temp.counts', %s, %s, %s)", *asked
    )
    assert (number, left) == (classes(settled), len(values) - classes(settled) * l * portion)
    chains = [{list(counts)[place] for place in one} for one in buckets_of([paths[v] for v in counts], e)]
    assert number >= classes(chains)
    if all(apart(paths[a], paths[b]) <= e for chain in chains for a, b in combinations(chain, 2)):
        assert sorted(map(sorted, settled)) == sorted(map(sorted, chains))  # nothing had to be chosen
    often = [value for value, n in counts.items() if n >= portion]
    assert (number > 0) == (most_strangers(often, paths, e) >= l)


def test_a_value_near_to_all_others_is_set_aside_and_a_frequent_one_is_not(le: Connection) -> None:
    """b lies between a1 and a2: alone it would cost their classes, and with most records it makes more."""
    query = "select * from anondb.le_buckets('pg_temp.paths', 'pg_temp.counts', 2, 1.5) order by value"
    fill(le, BRIDGED, [0, 0, 1, 1, 2, 3])
    assert ask(le, query) == [(0, 0), (1, 1), (2, None), (3, 3)]
    fill(le, BRIDGED, [0, 1, *[2] * 9, *[3] * 10])
    assert ask(le, query) == [(0, 0), (1, 0), (2, 0), (3, 3)]


@laws
@given(TABLES, st.integers(2, 4), ES, st.sampled_from([1, 4]), st.sampled_from([0, 0.2, 0.5]))
def test_the_largest_l_and_e_that_are_told_are_the_largest_that_leave_few_enough(
    le: Connection,
    table: tuple[list[Path], list[int]],
    l: int,  # noqa: E741
    e: float,
    k: int,
    share: float,
) -> None:
    paths, values = table
    fill(le, paths, values)
    may = int(share * len(values))
    found = ask(
        le,
        "select * from anondb.le_feasible('pg_temp.paths', 'pg_temp.counts', %s, %s, %s, %s)",
        l,
        e,
        k,
        may,
    )

    def fits(one: int, near: float) -> bool:
        [(classes, left)] = ask(
            le,
            "select * from anondb.le_first_left('pg_temp.paths', 'pg_temp.counts', %s, %s, %s)",
            *(one, near, max(1, -(-k // one))),
        )
        return bool(classes > 0 and left <= may)

    steps = [near for near in (3, 2.5, 2, 1.5, 1, 0) if near <= e]
    best = [(max([one for one in range(2, l + 1) if fits(one, near)], default=1), near) for near in steps]
    expected = [
        (one, near) for place, (one, near) in enumerate(best) if one > max([1, *(b for b, _ in best[:place])])
    ]
    assert found == expected


@laws
@given(st.lists(st.integers(0, 12), min_size=1, max_size=7), st.integers(2, 5))
def test_the_sizes_of_buckets_say_how_many_classes_the_loop_makes(
    le: Connection,
    sizes: list[int],
    l: int,  # noqa: E741
) -> None:
    row = le.execute("select anondb.le_rounds(%s::bigint[], %s)", (sizes, l)).fetchone()
    assert row == (largest_first(sizes, l)[0],)


def test_an_l_beyond_all_buckets_is_answered_at_once(le: Connection) -> None:
    assert ask(le, "select anondb.le_rounds('{5, 7}', 2147483647)") == [(0,)]


@laws
@given(TABLES, st.integers(2, 4), ES, st.integers(1, 3))
def test_as_many_classes_and_rests_as_taking_from_the_largest_buckets_one_by_one(
    le: Connection,
    table: tuple[list[Path], list[int]],
    l: int,  # noqa: E741
    e: float,
    portion: int,
) -> None:
    paths, values = table
    fill(le, paths, values)
    first_classes(le, l, e, portion)
    found = classes_of(le)
    rest = Counter(found.pop(None, []))
    buckets: dict[int, set[int]] = {}
    for value, bucket in ask(le, "select value, bucket from pg_temp.buckets"):
        buckets.setdefault(bucket, set()).add(value)
    aside = buckets.pop(None, set())  # type: ignore[call-overload]
    counts = Counter(values)
    wanted, left = largest_first([sum(counts[v] // portion for v in b) for b in buckets.values()], l)
    assert set(found) == set(range(wanted))
    assert all(len(c) == l * portion and diverse(c, paths, l, e) for c in found.values())
    assert all(rest[value] == counts[value] for value in aside)
    whole = [sum(rest[v] - counts[v] % portion for v in bucket) // portion for bucket in buckets.values()]
    assert sorted(whole) == sorted(left)


@laws
@given(TABLES, st.integers(2, 4), ES, st.integers(1, 2), st.sampled_from([1, 10**9]))
@example((UNBALANCED, [2, 3, 2, 3, 0, 1, 0, 1]), 2, 1.5, 1, 10**9)
def test_classes_stay_diverse_and_no_record_is_left_that_one_would_have_taken(
    le: Connection,
    table: tuple[list[Path], list[int]],
    l: int,  # noqa: E741
    e: float,
    portion: int,
    compared: int,
) -> None:
    paths, values = table
    fill(le, paths, values)
    first_classes(le, l, e, portion)
    before = classes_of(le)
    joined = join_nearest(le, l, e, compared)
    found = classes_of(le)
    left = found.pop(None, [])
    assert len(before.pop(None, [])) - len(left) == joined
    assert set(found) == set(before)
    assert all(diverse(members, paths, l, e) for members in found.values())
    if joined == 0:  # a record that was refused early may fit a class that has grown since
        assert not any(diverse([*members, v], paths, l, e) for v in left for members in found.values())


@laws
@given(TABLES, st.integers(2, 3), ES)
def test_the_rest_joins_as_a_loop_over_all_classes_would_have_it(
    le: Connection,
    table: tuple[list[Path], list[int]],
    l: int,  # noqa: E741
    e: float,
) -> None:
    paths, values = table
    fill(le, paths, values)
    first_classes(le, l, e)
    held: dict[int, list[int]] = {}  # class → record ids
    for rid, number in ask(le, "select rid, class from pg_temp.records where class is not null"):
        held.setdefault(number, []).append(rid)
    waiting = ask(
        le, "select rid from pg_temp.records where class is null order by hashint8extended(rid, 7), rid"
    )
    for (rid,) in waiting:
        near = [
            (round(sum(abs(m % 3 - rid % 3) / 2 for m in members) / len(members), 9), number)
            for number, members in held.items()
            if diverse([*(values[m] for m in members), values[rid]], paths, l, e)
        ]
        if near:
            held[min(near)[1]].append(rid)
    join_nearest(le, l, e)
    rows = ask(le, "select rid, class from pg_temp.records where class is not null")
    assert dict(rows) == {rid: number for number, members in held.items() for rid in members}


def test_nine_records_make_three_classes_of_three_diseases(le: Connection) -> None:
    """GOLDEN: buckets of respiratory infections, tumours and diseases of the stomach."""
    names = [path[0] for path in BALANCED]
    values = [names.index(name.replace("_", " ")) for name in NINE]
    fill(le, BALANCED, values)
    first_classes(le, 3, 1)
    found = classes_of(le)
    assert len(found) == 3
    kinds = [{0, 1, 2}, {3, 4}, {5, 6, 7}]
    for members in found.values():
        assert [sum(v in kind for v in members) for kind in kinds] == [1, 1, 1]
    le.execute("create temporary table release (class_id bigint, disease text)")
    le.execute(
        "insert into release select r.class, p.path[1] from records as r join paths as p using (value)"
    )
    figures = le.execute(
        "select f.* from anondb.le_figures('pg_temp.release', '{class_id}', 'disease', 'disease', 1) as f"
    ).fetchone()
    # three pairs, three steps apart each, by three records
    loss = (1 / 3 - 1) ** 2
    assert figures == (
        9,
        3,
        3,
        3,
        3.0,
        pytest.approx(loss),
        pytest.approx(9 * loss),
        *[pytest.approx(3.0)] * 3,
    )
    with_one_lost = le.execute(
        "select f.loss from anondb.le_figures('pg_temp.release', '{class_id}', 'disease', 'disease', 1, 1) as f"
    ).fetchone()
    assert with_one_lost == (pytest.approx((9 * 4 / 9 + 1) / 10),)


@laws
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 7)), max_size=15), ES)
def test_the_measure_is_the_definition(le: Connection, rows: list[tuple[int, int]], e: float) -> None:
    paths: list[Path] = [*BALANCED, [None, None, None, "*"]]
    le.execute("drop table if exists pg_temp.release")
    le.execute("create temporary table release (class_id int, disease text)")
    with le.cursor() as cursor:
        cursor.executemany("insert into release values (%s, %s)", [(c, paths[v][0]) for c, v in rows])
    classes = [[v % len(paths) for c, v in rows if c == one] for one in {c for c, _ in rows}]
    [l] = le.execute(  # noqa: E741
        "select anondb.le_diversity('pg_temp.release', '{class_id}', 'disease', 'disease', %s)", (e,)
    ).fetchone() or (None,)
    assert l == pytest.approx(reached(classes, paths, e))
    loss, dod = losses(classes), dods(classes, paths)
    found = le.execute(
        "select f.loss, f.dot from anondb.le_figures('pg_temp.release', '{class_id}', 'disease', 'disease') as f"
    ).fetchone()
    wanted = (sum(loss) / len(loss), sum(dod) / len(dod)) if rows else (None, 0)
    assert found == (pytest.approx(wanted[0]), pytest.approx(wanted[1]))


def test_what_cannot_be_measured_is_refused(le: Connection) -> None:
    le.execute("create temporary table release (class_id int, disease text)")
    le.execute("insert into release values (1, 'measles')")
    call = "select anondb.le_diversity('pg_temp.release', '{class_id}', 'disease', 'disease', %s)"
    with le.transaction(force_rollback=True):
        diagnostic = refused(le, "SA189", call, 1)
    assert "measles" not in (diagnostic.message_primary or "")
    for e in (-1, None, "infinity"):
        with le.transaction(force_rollback=True):
            refused(le, "SA188", call, e)
