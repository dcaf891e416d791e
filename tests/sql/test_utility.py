"""Utility of a release: each measure by hand, and against a naive program on random tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from psycopg import sql
from psycopg.rows import args_row

from anondb.db import vgh
from anondb.db.connection import Connection
from tests import toys
from tests.refusals import refused
from tests.sql import linked_oracle as oracle
from tests.sql.linked_tables import ANIMALS, PARENTS, QUASI, RELEASES, VGHS, Release, fill, prepare

Figures = dict[tuple[str, str | None], float | None]


@pytest.fixture
def tables(connection: Connection) -> Connection:
    prepare(connection)
    return connection


def utility(
    connection: Connection, quasi: Sequence[str] = tuple(QUASI), vghs: Sequence[str | None] | None = None
) -> tuple[Figures, dict[tuple[str, str | None], str]]:
    query = (
        "select u.name, u.of_column, u.value, u.note from anondb.utility("
        " 'original', 'release', 'id', %s::name[], %s::text[], 'path') as u"
    )
    with connection.cursor(row_factory=args_row(lambda *row: row)) as cursor:
        found = cursor.execute(query, [list(quasi), None if vghs is None else list(vghs)]).fetchall()
    figures = {(name, column): value for name, column, value, _ in found}
    return figures, {(name, column): note for name, column, _, note in found if note}


def semantic(o: str | None, r: str | None, kept: bool) -> float | None:
    """By the concepts of cat, dog and owl; of newts and stones nothing is known."""
    if o not in PARENTS:
        return None
    if not kept or r is None or r == "*":
        return 1
    return 1 - toys.Oracle(PARENTS, 0).similarity(o, r, "path") if r in PARENTS else None


def expected(release: Release) -> Figures:
    columns = release.columns()
    figures: Figures = {}
    lost = [[oracle.generalization(c, *cell) for cell in c.cells] for c in columns]
    bits = [[oracle.entropy(c, *cell) for cell in c.cells] for c in columns]
    risen = [[oracle.height_share(c, *cell) for cell in c.cells] for c in columns]
    apart = [[semantic(*cell) if i == 2 else None for cell in c.cells] for i, c in enumerate(columns)]
    for name, of in [(None, range(3)), *((QUASI[i], [i]) for i in range(3))]:
        figures["gen_iloss", name] = mean([x for i in of for x in lost[i]])
        most = sum(m for i in of for _, m in bits[i])
        figures["non_uniform_entropy", name] = (
            sum(b for i in of for b, _ in bits[i]) / most if most > 1e-9 else 0
        )
        share = mean([x for i in of for x in risen[i]])
        figures["precision", name] = None if share is None else 1 - share
        loss = mean([x for i in of for x in apart[i]])
        figures["sem_iloss", name] = loss
        figures["semantic_quality", name] = None if loss is None else 1 - loss
    squares = [x**2 for x in apart[2] if x is not None]
    figures["semantic_sse", None] = sum(squares) if squares else None
    return figures


def mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RELEASES)
@example(Release([("1", "a", "cat")], [None]))
def test_every_measure_is_what_a_naive_program_gives(tables: Connection, release: Release) -> None:
    fill(tables, release)
    figures, _ = utility(tables, vghs=VGHS)
    wanted = expected(release)
    assert figures.keys() == wanted.keys()
    for name, value in wanted.items():
        assert figures[name] == (None if value is None else pytest.approx(value, abs=1e-9)), name


def test_generalization_loss_by_hand(tables: Connection) -> None:
    """Not married, 4 of 6 leaves, loses 0.6; 5 of 20 years 0.25; a suppressed cell 1."""
    rows = ["civ;married;any", "af;married;any"] + [f"n{i};not married;any" for i in range(4)]
    vgh.store(tables, "marital", toys.vgh(*rows))
    tables.execute(
        "insert into original values (1, '17', 'n1', ''), (2, '37', 'civ', ''), (3, '20', 'af', '');"
        "insert into release values (1, '[17, 22)', 'not married', ''), (2, '[17, 37]', 'married', '')"
    )
    figures, notes = utility(tables, ["age", "code"], [None, "marital"])
    assert figures["gen_iloss", "age"] == pytest.approx((0.25 + 1 + 1) / 3)
    assert figures["gen_iloss", "code"] == pytest.approx((0.6 + 0.2 + 1) / 3)
    assert figures["gen_iloss", None] == pytest.approx((0.25 + 1 + 1 + 0.6 + 0.2 + 1) / 6)
    assert figures["precision", "code"] == pytest.approx(1 - (0.5 + 0.5 + 1) / 3)
    assert figures["precision", None] == figures["precision", "code"]
    assert notes["precision", "age"] == "no stored hierarchy"


def test_entropy_by_hand(tables: Connection) -> None:
    """Half of the records have 1, so that 1 in {1, 2} misses log2(3/2) bits, and 2 there log2(3)."""
    tables.execute(
        "insert into original values (1, '1'), (2, '1'), (3, '2'), (4, '3');"
        "insert into release values (1, '{1, 2}'), (2, '{1, 2}'), (3, '{1, 2}'), (4, '3')"
    )
    figures, _ = utility(tables, ["age"])
    missing = 2 * math.log2(3 / 2) + math.log2(3)
    assert figures["non_uniform_entropy", "age"] == pytest.approx(missing / (2 * 1 + 2 + 2))
    assert figures["gen_iloss", "age"] == pytest.approx(3 * 0.5 / 4)


def test_dates_lose_by_the_width_of_their_unit(tables: Connection) -> None:
    tables.execute(
        "insert into original values (1, '2024-01-01'), (2, '2024-12-31'), (3, '2024-02-10');"
        "insert into release values (1, '2024-01'), (2, '2024-Q4'), (3, '2024-02-10')"
    )
    figures, _ = utility(tables, ["age"])
    assert figures["gen_iloss", "age"] == pytest.approx((31 / 365 + 92 / 365 + 0) / 3)


def test_semantic_loss_by_hand(tables: Connection) -> None:
    """path: cat → mammal 1/2, owl → animal 2/3, dog suppressed 1, cat → owl four links apart."""
    tables.execute(
        "insert into original (id, pet) values (1, 'cat'), (2, 'owl'), (3, 'dog'), (4, 'cat');"
        "insert into release (id, pet) values (1, 'mammal'), (2, 'animal'), (4, 'owl')"
    )
    figures, _ = utility(tables, ["pet"], ["pets"])
    apart = [1 / 2, 2 / 3, 1, 4 / 5]
    assert figures["sem_iloss", None] == pytest.approx(sum(apart) / 4)
    assert figures["semantic_sse", None] == pytest.approx(sum(d**2 for d in apart))


def test_each_measure_is_a_function_of_its_own(tables: Connection) -> None:
    fill(tables, Release([("1", "a", "cat"), ("2", "b", "owl")], [("[1, 2]", "a", "mammal"), None]))
    figures, _ = utility(tables, vghs=VGHS)
    arguments = "('original', 'release', 'id', array['age', 'code', 'pet'], array[null, null, 'pets']"
    for name, call in {
        "gen_iloss": f"gen_iloss{arguments})",
        "precision": f"generalization_precision{arguments})",
        "non_uniform_entropy": f"non_uniform_entropy{arguments})",
        "sem_iloss": f"sem_iloss{arguments}, 'path')",
        "semantic_sse": f"semantic_sse{arguments}, 'path')",
    }.items():
        assert tables.execute(f"select anondb.{call}".encode()).fetchall() == [(figures[name, None],)]


def test_what_does_not_apply_says_so_and_the_rest_still_comes(tables: Connection) -> None:
    vgh.store(tables, "codes", toys.vgh("a;x", "b;x"), ontology="toy")
    fill(tables, Release([("1", "a", "cat"), ("2", "b", "stone")], [("1", "x", "cat"), ("2", "x", "*")]))
    figures, notes = utility(tables, vghs=[None, "codes", "pets"])
    assert notes["sem_iloss", "age"] == "no stored hierarchy"
    assert "has no meaning" in notes["sem_iloss", "code"]
    assert notes["sem_iloss", "pet"] == "1 cells have no concept, and are left out"
    assert figures["sem_iloss", None] == 0
    assert figures["gen_iloss", "code"] == 1
    figures, notes = utility(tables)
    assert figures["semantic_sse", None] is None
    assert notes["semantic_sse", None] == "no column has concepts"


def test_a_masked_row_is_a_suppressed_one(tables: Connection) -> None:
    fill(tables, Release([("1", "a", "cat"), ("2", "b", "dog")], [("1", "a", "cat"), ("*", "*", "animal")]))
    [(seen,)] = tables.execute(
        "select anondb.sem_iloss('original', 'release', 'id', array['age', 'code', 'pet'],"
        " array[null, null, 'pets'], 'path', array['*', '*', 'animal'])"
    ).fetchall()
    assert seen == 0.5


def test_a_hierarchy_that_is_not_stored_comes_as_a_relation(tables: Connection) -> None:
    tables.execute("create temporary table ladder (i int, leaf text, level int, label text)")
    with tables.cursor() as cursor:
        cursor.executemany(
            "insert into ladder values (3, %s, %s, %s)",
            [(row[0], level, label) for row in ANIMALS for level, label in enumerate(row)],
        )
    fill(tables, Release([("1", "a", "cat"), ("2", "b", "owl")], [("1", "a", "mammal"), ("2", "b", "bird")]))
    found = tables.execute(
        "select u.value from anondb.linked_utility("
        " anondb.linked_query('original', 'release', 'id', array['age', 'code', 'pet']),"
        " array['age', 'code', 'pet'], ladder => 'ladder') as u"
        " where u.of_column = 'pet' and u.name in ('gen_iloss', 'precision') order by u.name"
    ).fetchall()
    assert found == [(pytest.approx(1 / 6),), (pytest.approx(0.5),)]


@pytest.mark.parametrize(
    ("state", "change"),
    [
        ("SA170", "insert into original values (1)"),
        ("SA170", "insert into original values (null)"),
        ("SA170", "insert into release values (1), (1)"),
        ("SA171", "truncate original; insert into release values (1)"),
        ("SA172", "insert into release values (3)"),
        ("SA111", "alter table release drop column pet"),
        ("SA111", "alter table original drop column pet"),
        ("SA111", "alter table release drop column id"),
    ],
)
def test_a_release_without_its_original_is_refused(tables: Connection, state: str, change: str) -> None:
    tables.execute("insert into original values (1), (2)")
    tables.execute(change.encode())
    refused(tables, state, "select anondb.gen_iloss('original', 'release', 'id', array['age', 'pet'])")


@pytest.mark.parametrize(
    ("state", "arguments"),
    [
        ("SA110", "'{}'"),
        ("SA174", "array['age', 'pet'], array['pets']"),
        ("SA140", "array['age', 'pet'], array[null, 'unknown']"),
        ("SA173", "array['age', 'pet'], roots => array['*']"),
        ("SA133", "array['age', 'pet'], measure => 'cosine'"),
    ],
)
def test_a_wrong_call_is_told_what_is_right(tables: Connection, state: str, arguments: str) -> None:
    refused(tables, state, f"select anondb.utility('original', 'release', 'id', {arguments})")


def test_keys_of_two_types_and_columns_of_any_name_and_type_are_joined(connection: Connection) -> None:
    connection.execute(
        'create table o ("n" int primary key, "o1" date, "a b" numeric);'
        'create table r ("n" text primary key, "o1" text, "a b" text);'
        "insert into o values (1, '2024-03-09', 1.5), (2, '2024-04-10', 2.50);"
        "insert into r values ('1', '2024-03', '1.5'), ('2', '2024-04-10', '[1, 3)');"
        "set datestyle = 'German'"
    )
    found = connection.execute(
        "select u.of_column, u.value from anondb.utility('o', 'r', 'n', array['o1', 'a b']) as u"
        " where u.name = 'gen_iloss' and u.of_column is not null"
    ).fetchall()
    assert found == [("o1", pytest.approx(31 / 32 / 2)), ("a b", 0.5)]


def test_who_may_read_the_two_tables_may_measure_them(
    connection: Connection, new_role: Callable[[], str]
) -> None:
    role = sql.Identifier(new_role())
    connection.execute("create table o (id int, q int, x int); create table r (id int, q text, x int)")
    grants = "grant usage on schema anondb, public to {0}; grant select (id, q) on o, r to {0}"
    connection.execute(sql.SQL(grants).format(role))
    with connection.transaction():
        connection.execute(sql.SQL("set local role {}").format(role))
        for call in ("gen_iloss({})", "record_linkage({}, 'coverage')", "record_linkage({}, 'hierarchy')"):
            connection.execute(f"select anondb.{call}".format("'o', 'r', 'id', array['q']").encode())
        connection.execute("select anondb.covers('[1, 2]', '2'), anondb.risk('r', array['q'])")
    connection.execute(sql.SQL("revoke select (q) on r from {0}; set role {0}").format(role))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("select anondb.gen_iloss('o', 'r', 'id', array['q'])")
    connection.execute("reset role")
