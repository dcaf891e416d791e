"""anondb.k_anonymity: the size of the smallest class, on any relation, with the caller's rights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql

from anondb.db.connection import Connection

ODD = ['"; drop table x--', "select", "User", "größe 🙂", "50 % %s", "a\nb", "ß" * 31 + "x"]


def k_anonymity(connection: Connection, relation: str, *quasi: str) -> object:
    """The relation as SQL writes it, the columns as the catalogue spells them."""
    row = connection.execute(
        "select anondb.k_anonymity(%s::text::regclass, %s::name[])", [relation, list(quasi)]
    ).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
def patients(connection: Connection) -> Connection:
    connection.execute(
        "create table patient (age int, zip text, note json);"
        "insert into patient select a, z, '{}' from"
        " (values (1, 'x'), (1, 'x'), (1, 'x'), (2, 'x'), (2, 'x'), (2, 'y'), (2, 'y')) as t (a, z)"
    )
    return connection


def test_the_smallest_class_counts(patients: Connection) -> None:
    assert k_anonymity(patients, "patient", "age", "zip") == 2
    assert k_anonymity(patients, "patient", "zip", "age") == 2
    assert k_anonymity(patients, "patient", "age") == 3
    assert k_anonymity(patients, "patient", "zip", "zip") == 2


def test_an_empty_table_reaches_nothing(patients: Connection) -> None:
    patients.execute("truncate patient")
    assert k_anonymity(patients, "patient", "age") == 0


def test_nulls_are_one_value(patients: Connection) -> None:
    patients.execute(
        "truncate patient; insert into patient values (null, 'x'), (null, 'x'), (1, null), (1, null), (1, null)"
    )
    assert k_anonymity(patients, "patient", "age", "zip") == 2
    patients.execute("insert into patient values (null, null)")
    assert k_anonymity(patients, "patient", "age", "zip") == 1
    assert k_anonymity(patients, "patient", "age") == 3


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(*[st.one_of(st.none(), st.sampled_from(["", "a", "A", "null", "a "]))] * 3), max_size=30
    ),
    st.lists(st.integers(0, 2), min_size=1, max_size=4),
)
def test_it_is_what_counting_in_memory_gives(
    connection: Connection, rows: list[tuple[str | None, ...]], quasi: list[int]
) -> None:
    connection.execute("drop table if exists t; create table t (c0 text, c1 text, c2 text)")
    with connection.cursor() as cursor:
        cursor.executemany("insert into t values (%s, %s, %s)", rows)
    sizes = Counter(tuple(row[i] for i in quasi) for row in rows)
    assert k_anonymity(connection, "t", *(f"c{i}" for i in quasi)) == min(sizes.values(), default=0)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([None, 1, 2, 3])), max_size=20))
def test_with_a_unit_persons_count_and_nobody_is_one_of_them(
    connection: Connection, rows: list[tuple[str | None, int | None]]
) -> None:
    connection.execute("drop table if exists t; create table t (zip text, person int)")
    with connection.cursor() as cursor:
        cursor.executemany("insert into t values (%s, %s)", rows)
    persons = [
        len({person for zip_, person in rows if zip_ == place}) for place in {zip_ for zip_, _ in rows}
    ]
    [(found,)] = connection.execute("select anondb.k_anonymity('t', '{zip}', 'person')").fetchall()
    assert found == min(persons, default=0)


@pytest.mark.parametrize("name", ODD)
def test_names_may_hold_anything(connection: Connection, name: str) -> None:
    odd = sql.Identifier(name)
    connection.execute(sql.SQL("create schema {0}; create table {0}.{0} ({0} int)").format(odd))
    connection.execute(sql.SQL("insert into {0}.{0} values (1), (1), (2)").format(odd))
    qualified = sql.Identifier(name, name).as_string(connection)
    assert k_anonymity(connection, qualified, name) == 1


@pytest.mark.parametrize("columns", ["'{}'", "null"])
def test_no_column_is_refused(patients: Connection, columns: str) -> None:
    query = sql.SQL("select anondb.k_anonymity('patient', {})").format(sql.SQL(columns))
    with pytest.raises(psycopg.Error, match="no quasi-identifier is named") as refused:
        patients.execute(query)
    assert refused.value.sqlstate == "SA110"


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        (["age", "AGE", "Zip"], '"AGE", "Zip"'),
        (["ctid"], "ctid"),  # of the system, not of the table
        (["dropped"], "dropped"),
        (["age", None], "NULL"),
        (['age"; drop table patient--'], '"age""; drop table patient--"'),
    ],
)
def test_columns_that_are_not_there_are_named(patients: Connection, columns: list[str], missing: str) -> None:
    patients.execute("alter table patient add dropped int; alter table patient drop dropped")
    with pytest.raises(psycopg.Error) as refused:
        k_anonymity(patients, "patient", *columns)
    assert refused.value.sqlstate == "SA111"
    assert refused.value.diag.message_primary == f"public.patient has no column {missing}"
    assert refused.value.diag.message_hint is not None


def test_views_partitions_and_materialized_views_are_counted(patients: Connection) -> None:
    patients.execute(
        "create view young as select age, zip as code from patient where age = 1;"
        "create materialized view both_ages as select * from patient;"
        "create table split (like patient) partition by list (age);"
        "create table split_1 partition of split for values in (1);"
        "create table split_2 partition of split for values in (2);"
        "insert into split select * from patient"
    )
    assert k_anonymity(patients, "young", "code") == 3
    assert k_anonymity(patients, "both_ages", "age", "zip") == 2
    assert k_anonymity(patients, "split", "age", "zip") == 2
    assert k_anonymity(patients, "split_1", "age") == 3


def test_a_table_of_pg_catalogs_name_is_not_mistaken(connection: Connection) -> None:
    connection.execute(
        "create table public.pg_class (relname int); insert into public.pg_class values (1), (1)"
    )
    assert k_anonymity(connection, "public.pg_class", "relname") == 2


def test_what_the_caller_may_not_read_is_not_counted(
    patients: Connection, new_role: Callable[[], str]
) -> None:
    role = sql.Identifier(new_role())
    patients.execute(sql.SQL("grant usage on schema anondb, public to {}").format(role))
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for table patient"):
        count_as(patients, role)
    patients.execute(sql.SQL("grant select (zip) on patient to {}").format(role))
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        count_as(patients, role)
    patients.execute(sql.SQL("grant select (age) on patient to {}").format(role))
    assert count_as(patients, role) == 2


def test_only_the_rows_that_the_caller_may_see_are_counted(
    patients: Connection, new_role: Callable[[], str]
) -> None:
    role = sql.Identifier(new_role())
    patients.execute(
        sql.SQL(
            "grant usage on schema anondb, public to {0}; grant select on patient to {0};"
            "alter table patient enable row level security; create policy p on patient using (age = 1)"
        ).format(role)
    )
    assert count_as(patients, role) == 3
    assert k_anonymity(patients, "patient", "age", "zip") == 2


def count_as(connection: Connection, role: sql.Identifier) -> object:
    with connection.transaction():
        connection.execute(sql.SQL("set local role {}").format(role))
        return k_anonymity(connection, "patient", "age", "zip")
