"""Whatever can be selected from is a source, whatever its kind and its names."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.db.connection import Door
from tests.acceptance.clinic import KEPT, MASK_ALL, OTHER, Clinic, complaint, quasi

KINDS = {
    "a partitioned table": """
        create table hospital.source (like hospital.admissions) partition by range (age);
        create table hospital.young partition of hospital.source for values from (0) to (25);
        create table hospital.old partition of hospital.source for values from (25) to (99)
            partition by list (zip);
        create table hospital.rest partition of hospital.old default;
        insert into hospital.source select * from hospital.admissions""",
    "a table that others inherit from": """
        create table hospital.source (like hospital.admissions);
        create table hospital.heir () inherits (hospital.source);
        insert into hospital.heir select * from hospital.admissions""",
    "a view": """
        create view hospital.source with (security_barrier) as
        select a.* from hospital.admissions as a where a.age > 0 order by random()""",
    "a materialized view": "create materialized view hospital.source as select * from hospital.admissions",
    "a table with dropped, generated and identity columns": """
        create table hospital.source (id int generated always as identity, gone text, name text,
            age int not null, zip text default 'x', diagnosis text, age2 int generated always as (age * 2) stored);
        insert into hospital.source (name, age, zip, diagnosis) select * from hospital.admissions;
        alter table hospital.source drop column gone, drop column id, drop column age2""",
    "an unlogged table": """
        create unlogged table hospital.source as select * from hospital.admissions""",
    "a foreign table": """
        create extension file_fdw schema hospital;
        create server files foreign data wrapper file_fdw;
        create foreign table hospital.source (name text, age int, zip text, diagnosis text) server files
            options (program 'for i in 0 1 2 3 4 5 6 7; do for n in 1 2 3; do echo P$i$n,2$i,Z9071,X; done; done',
                     format 'csv')""",
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_relation_is_a_source(clinic: Clinic, kind: str) -> None:
    try:
        clinic.execute(KINDS[kind])
    except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as error:
        pytest.skip(f"this server has none: {error.diag.message_primary}")
    result = clinic.publish(clinic.policy(source="hospital.source"))
    assert (result["records"], result["released"]) == (24, 24)
    assert result["k"] >= 3
    assert clinic.execute("select anondb.k_anonymity('share.admissions', array['age', 'zip'])") == [
        (result["k"],)
    ]


# Names that SQL, its text, the driver or the report could take for something else.
ODD = [
    "User",
    "Zip; drop table x--",
    'say "hi"',
    "it's",
    "100%s %(n)s %I $1",
    "back\\slash",
    "two\nlines",
    "ünïcödé 漢字 🙂",
    "select",
    "[/bold]",
    "a.b",
    " padded ",
    "n" * 63,
    "ü" * 31 + "x",
]
# Names that the run's own statements use.
OURS = "n s c x r d h v f key raw code leaf label class position is_null raw_c v1 q1 l0 g0 g1 m1 d1".split()
OURS += ["class key", "class key_", "anondb", "pg_temp"]


def test_a_column_may_have_any_name(clinic: Clinic) -> None:
    names = ODD + OURS
    columns = sql.SQL(", ").join(sql.SQL("{} text").format(sql.Identifier(name)) for name in names)
    clinic.connection.execute(sql.SQL("create table hospital.odd ({})").format(columns))
    values = sql.SQL(", ").join(
        sql.SQL("{} || i / 3").format(sql.Literal(f"value {number} ")) for number in range(len(names))
    )
    clinic.connection.execute(
        sql.SQL("insert into hospital.odd select {} from generate_series(0, 5) as i").format(values)
    )
    for turn in range(2):  # so that each name is once a quasi-identifier and once not
        roles = {name: (MASK_ALL, OTHER)[(number + turn) % 2] for number, name in enumerate(names)}
        result = clinic.publish(clinic.policy(roles, source="hospital.odd", target="share.odd"))
        assert result["k"] == 3
        assert list(result["levels"]) == [name for name, role in roles.items() if role == MASK_ALL]
        assert sorted(clinic.dump("odd").splitlines()) == sorted(clinic.dump("odd", "hospital").splitlines())
    assert clinic.cli("run", clinic.policy(roles, source="hospital.odd", target="share.odd")).returncode == 0


@pytest.mark.parametrize("name", ODD)
def test_a_schema_and_a_table_may_have_any_name(clinic: Clinic, name: str) -> None:
    schema, table, target = name, name, name[:-1] + "T"
    clinic.execute(
        "create schema {name}; create table {name}.{name} as"
        " select 'a' || i % 2 as x from generate_series(1, 6) as i",
        name=name,
    )
    policy = clinic.policy({"x": MASK_ALL}, source=written(schema, table), target=written(schema, target))
    with Database(Door(clinic.dsn)) as database:
        for _ in range(2):
            assert database.run(policy).result.k == 3
        assert "insert into" in database.plan(policy).lower()
    assert len(clinic.dump(target, schema).splitlines()) == 6
    assert clinic.leftovers() == []


def test_names_of_63_bytes_are_whole(clinic: Clinic) -> None:
    longest = "x" * 62
    schema, table, column, target = (f"{longest}{n}" for n in range(4))
    clinic.execute(
        "create schema {schema}; create table {schema}.{table} as"
        " select i / 3 as {column} from generate_series(0, 5) as i",
        schema=schema,
        table=table,
        column=column,
    )
    columns = {column: quasi("{ widths = [2] }")}
    policy = clinic.policy(columns, source=f"{schema}.{table}", target=f"{schema}.{target}")
    for publish in (clinic.publish, clinic.has_released):
        assert publish(policy)["levels"] == {column: 0}
    assert clinic.dump(target, schema).splitlines() == [b"0"] * 3 + [b"1"] * 3
    too_long = clinic.policy(columns, source=f"{schema}.{table}", target=f"{schema}.{target}9")
    assert "64 bytes" in complaint(clinic.cli("run", too_long), 2)


def test_many_distinct_values_find_their_labels(clinic: Clinic) -> None:
    """More than fit into a map: they are joined."""
    clinic.execute(
        "create table hospital.many as select nullif(i % 6000, 7) as x, 'v' || i % 2 as y, i % 6000 as z"
        " from generate_series(1, 12000) as i"
    )
    columns = {"x": quasi("{ widths = [10] }"), "y": MASK_ALL, "z": KEPT}
    result = clinic.has_released(clinic.policy(columns, source="hospital.many", privacy="k = 2"))
    assert (result["levels"], result["k"], result["classes"]) == ({"x": 0, "y": 0}, 2, 6000)
    assert clinic.execute("select count(*) from share.admissions where x is distinct from z::text") == [(2,)]


def test_names_without_a_schema_are_found_in_the_search_path(clinic: Clinic) -> None:
    clinic.execute("create table public.admissions (like hospital.admissions)")
    dsn = make_conninfo(clinic.dsn, options="-c search_path=share,hospital,public")
    done = clinic.cli("run", clinic.policy(source="admissions", target="released"), ANONDB_DSN=dsn)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(clinic.dump("released").splitlines()) == 24


def written(*parts: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
