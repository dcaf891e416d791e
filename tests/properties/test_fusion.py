"""Record fusion in the database against its definition: every round, every variant, on random small inputs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anondb.db.connection import Connection
from anondb.methods.fusion.fusion import VARIANTS
from tests.properties import fusion_oracle as oracle
from tests.properties.examples import laws
from tests.servers import new_database

Fusion = tuple[int, int, int, int]


@dataclass(frozen=True)
class Example:
    counts: list[int]
    k: int
    likeness: list[list[int]]
    variant: str
    seed: int
    rare: list[bool] | None = None

    @property
    def last(self) -> list[bool]:
        """Which tuples are partners of those alone that have no other."""
        return self.rare or [False] * len(self.counts)


@st.composite
def examples(draw: st.DrawFn, variants: tuple[str, ...] = VARIANTS) -> Example:
    counts = draw(st.lists(st.integers(1, 4), min_size=1, max_size=9))
    # few different similarities make ties, on which H3 and the seed decide
    likeness = [[10] * len(counts) for _ in counts]
    for i in range(len(counts)):
        for j in range(i):
            likeness[i][j] = likeness[j][i] = draw(st.integers(0, 3))
    k = draw(st.integers(1, min(6, sum(counts))))
    rare = draw(st.none() | st.lists(st.booleans(), min_size=len(counts), max_size=len(counts)))
    return Example(counts, k, likeness, draw(st.sampled_from(variants)), draw(st.integers(-5, 5)), rare)


@pytest.fixture(scope="module")
def one_connection(server: str, template: str) -> Iterator[Connection]:
    with new_database(server, template) as dsn, psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("create temporary table alike (tuple int primary key, likeness int[])")
        yield connection


def fuse(connection: Connection, example: Example) -> list[Fusion]:
    """The rounds of a fusion; tuples below k alone have their similarities stored."""
    connection.execute("truncate alike")
    rows = [(i + 1, row) for i, row in enumerate(example.likeness) if example.counts[i] < example.k]
    connection.cursor().executemany("insert into alike values (%s, %s)", rows)
    found: list[Any] = connection.execute(
        "select f.round, f.tuple, f.partner, f.released_as"
        " from anondb.fuse(%s::bigint[], %s, 'pg_temp.alike', %s, %s, %s) as f order by f.round",
        (example.counts, example.k, example.variant, example.seed, example.rare),
    ).fetchall()
    return [(round_, a - 1, b - 1, c - 1) for round_, a, b, c in found]


@dataclass(frozen=True)
class Columns:
    """Tuples of several columns; all but the first may be such that nothing is known of their values."""

    tuples: list[tuple[int, ...]]  # codes from 0, each tuple once
    alike: list[list[list[int]] | None]  # of each column, its values by its values

    def likeness(self, a: int, b: int) -> int:
        return sum(
            WHOLE if x == y else 0 if rows is None else rows[x][y]
            for x, y, rows in zip(self.tuples[a], self.tuples[b], self.alike, strict=True)
        )


WHOLE = 4


@st.composite
def columns(draw: st.DrawFn) -> Columns:
    widths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    alike: list[list[list[int]] | None] = []
    for width in widths:
        if draw(st.booleans()):
            rows = [[WHOLE] * width for _ in range(width)]
            for x in range(width):
                for y in range(x):
                    rows[x][y] = rows[y][x] = draw(st.integers(0, WHOLE - 1))
            alike.append(rows)
        else:
            alike.append(None)
    codes = st.tuples(*[st.integers(0, width - 1) for width in widths])
    return Columns(draw(st.lists(codes, min_size=1, max_size=12, unique=True)), alike)


def fuse_columns(connection: Connection, of: Columns, example: Example) -> list[Fusion]:
    """The same rounds, by the likeness of values instead of that of tuples."""
    connection.execute("truncate alike")
    widths = [1 + max(codes[d] for codes in of.tuples) for d in range(len(of.alike))]
    before = [sum(widths[:d]) for d in range(len(widths))]
    rows = [
        (before[d] + x + 1, row[: widths[d]])
        for d, values in enumerate(of.alike)
        for x, row in enumerate(values or ())
        if x < widths[d]
    ]
    connection.cursor().executemany("insert into alike values (%s, %s)", rows)
    codes = [before[d] + code + 1 for codes in of.tuples for d, code in enumerate(codes)]
    found: list[Any] = connection.execute(
        "select f.round, f.tuple, f.partner, f.released_as"
        " from anondb.fuse(%s::bigint[], %s, 'pg_temp.alike', %s, %s, %s, %s::int[], %s::int[], %s) as f"
        " order by f.round",
        (example.counts, example.k, example.variant, example.seed, example.rare, codes, widths, WHOLE),
    ).fetchall()
    return [(round_, a - 1, b - 1, c - 1) for round_, a, b, c in found]


many = settings(parent=laws, max_examples=5 * laws.max_examples)  # they are quick


@many
@given(example=examples())
def test_every_round_is_one_that_the_variant_allows(one_connection: Connection, example: Example) -> None:
    counts = list(example.counts)
    for place, (round_, chosen, partner, _) in enumerate(fuse(one_connection, example), 1):
        assert round_ == place
        assert (chosen, partner) in oracle.allowed(
            counts, example.k, example.likeness, example.variant, example.last
        )
        counts[partner] += counts[chosen]
        counts[chosen] = 0
    assert oracle.allowed(counts, example.k, example.likeness, example.variant, example.last) == set()


@many
@given(data=st.data(), of=columns())
def test_tuples_of_several_columns_are_fused_by_the_sum_of_their_likeness(
    one_connection: Connection, data: st.DataObject, of: Columns
) -> None:
    tuples = range(len(of.tuples))
    counts = data.draw(st.lists(st.integers(1, 4), min_size=len(tuples), max_size=len(tuples)))
    rare = data.draw(st.lists(st.booleans(), min_size=len(tuples), max_size=len(tuples)))
    example = Example(
        counts,
        data.draw(st.integers(1, min(9, sum(counts)))),
        [[of.likeness(a, b) for b in tuples] for a in tuples],
        data.draw(st.sampled_from(VARIANTS)),
        data.draw(st.integers(-5, 5)),
        rare,
    )
    now = list(counts)
    for _, chosen, partner, _ in fuse_columns(one_connection, of, example):
        allowed = oracle.allowed(now, example.k, example.likeness, example.variant, example.last)
        assert (chosen, partner) in allowed
        now[partner] += now[chosen]
        now[chosen] = 0
    assert oracle.allowed(now, example.k, example.likeness, example.variant, example.last) == set()


@many
@given(data=st.data(), example=examples())
def test_tuples_that_fail_are_fused_as_those_below_k(
    one_connection: Connection, data: st.DataObject, example: Example
) -> None:
    """A tuple that takes in another is judged anew by the caller, and so fails no more in these rounds."""
    tuples = len(example.counts)
    failing = data.draw(st.lists(st.booleans(), min_size=tuples, max_size=tuples))
    one_connection.execute("truncate alike")
    rows = [(i + 1, row) for i, row in enumerate(example.likeness)]
    one_connection.cursor().executemany("insert into alike values (%s, %s)", rows)
    found: list[Any] = one_connection.execute(
        "select f.tuple - 1, f.partner - 1 from anondb.fuse(%s::bigint[], %s, 'pg_temp.alike', %s, %s, %s,"
        " failing => %s::boolean[]) as f order by f.round",
        (example.counts, example.k, example.variant, example.seed, example.rare, failing),
    ).fetchall()
    now = list(example.counts)
    asked = example.k, example.likeness, example.variant, example.last
    for chosen, partner in found:
        assert (chosen, partner) in oracle.allowed(now, *asked, failing)
        now[partner] += now[chosen]
        now[chosen] = 0
        failing[partner] = False
    assert oracle.allowed(now, *asked, failing) == set()


@laws
@given(seed=st.integers(0, 99))
def test_many_tuples_are_fused_as_few_are(one_connection: Connection, seed: int) -> None:
    """More tuples than are looked at together, so that they are chosen again and again."""
    rng = random.Random(seed)
    tuples: list[tuple[int, ...]] = sorted(rng.sample([(x, y) for x in range(20) for y in range(20)], 150))
    alike: list[list[list[int]] | None] = [
        [[WHOLE if x == y else (x * y + rng.randint(0, 1)) % WHOLE for y in range(20)] for x in range(20)]
        for _ in range(2)
    ]
    of = Columns(tuples, alike)
    counts = [rng.choice((1, 1, 2, 3, 9)) for _ in tuples]
    places = range(len(tuples))
    likeness = [[of.likeness(a, b) for b in places] for a in places]
    example = Example(counts, 5, likeness, rng.choice(("semantic", "h1_h2", "h1")), seed)
    now = list(counts)
    for _, chosen, partner, _ in fuse_columns(one_connection, of, example):
        assert (chosen, partner) in oracle.allowed(now, 5, likeness, example.variant, example.last)
        now[partner] += now[chosen]
        now[chosen] = 0
    assert all(n == 0 or n >= 5 for n in now)


@many
@given(example=examples())
def test_records_end_where_their_fusions_lead(one_connection: Connection, example: Example) -> None:
    fusions = fuse(one_connection, example)
    ends = oracle.released_as(len(example.counts), [(a, b) for _, a, b, _ in fusions])
    assert {chosen: end for _, chosen, _, end in fusions} == {
        i: end for i, end in enumerate(ends) if end != i
    }
    sizes = [0] * len(ends)
    for n, end in zip(example.counts, ends, strict=True):
        sizes[end] += n
    assert all(size == 0 or size >= example.k for size in sizes)


@laws
@given(example=examples())
def test_the_same_seed_gives_the_same_fusions(one_connection: Connection, example: Example) -> None:
    assert fuse(one_connection, example) == fuse(one_connection, example)


@laws
@given(example=examples(("semantic",)))
def test_where_nothing_is_equal_the_seed_decides_nothing(
    one_connection: Connection, example: Example
) -> None:
    counts = list(example.counts)
    fusions = fuse(one_connection, example)
    for _, chosen, partner, _ in fusions:
        assume(len(oracle.allowed(counts, example.k, example.likeness, "semantic", example.last)) == 1)
        counts[partner] += counts[chosen]
        counts[chosen] = 0
    other = Example(example.counts, example.k, example.likeness, "semantic", example.seed + 1, example.rare)
    assert fuse(one_connection, other) == fusions


def test_the_seed_decides_between_equals(one_connection: Connection) -> None:
    equal = [[1] * 6 for _ in range(6)]
    ways = {tuple(fuse(one_connection, Example([1] * 6, 2, equal, "semantic", seed))) for seed in range(8)}
    assert len(ways) > 1


def test_a_hand_made_example(one_connection: Connection) -> None:
    """Tuples A 1, B 1, C 2, D 5 and k = 3.

    H1: A and B. H2: A is most similar to C (8), B to C (8) too. H3: both unions have 3 records. A draw.
    Whoever is first makes C 3; the other one is then the only tuple below k, and C is still the most similar.
    """
    likeness = [[10, 2, 8, 1], [2, 10, 8, 1], [8, 8, 10, 1], [1, 1, 1, 10]]
    fusions = fuse(one_connection, Example([1, 1, 2, 5], 3, likeness, "semantic", 1))
    assert sorted((a, b, c) for _, a, b, c in fusions) == [(0, 2, 2), (1, 2, 2)]
    # by counts alone, the two smallest are fused, then the pair of them with C
    fusions = fuse(one_connection, Example([1, 1, 2, 5], 3, likeness, "distributional", 1))
    assert sorted(fusions[0][1:3]) == [0, 1]
    assert len(fusions) == 2


@pytest.mark.parametrize("counts", [[], None])
def test_where_nothing_is_nothing_is_fused(one_connection: Connection, counts: list[int] | None) -> None:
    found = one_connection.execute("select anondb.fuse(%s::bigint[], 2, 'pg_temp.alike')", (counts,))
    assert found.fetchall() == []


@pytest.mark.parametrize(
    ("counts", "k", "variant", "code"),
    [
        ([1] * 50_001, 2, "semantic", "SA145"),
        ([1, 1], 2, "magic", "SA146"),
        ([1, 1], 2, "semantic", "SA147"),
        ([1, 1], 3, "random", "SA310"),
    ],
)
def test_what_cannot_be_fused_is_refused(
    one_connection: Connection, counts: list[int], k: int, variant: str, code: str
) -> None:
    with pytest.raises(psycopg.Error) as refused:
        one_connection.execute(
            "select anondb.fuse(%s::bigint[], %s, null, %s)", (counts, k, variant)
        ).fetchall()
    assert refused.value.sqlstate == code
    if code == "SA145":
        assert "2500100001 pairs" in str(refused.value)
