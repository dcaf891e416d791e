"""The same policy and data give the same bytes, whatever the order in which the rows lie."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from tests.acceptance.clinic import IDENTIFIER, KEPT, MASK_ALL, OTHER, SENSITIVE, Clinic, quasi

# Duplicates, NULLs, values that sort differently by other collations, and enough rows for several pages.
ROWS = """
create table hospital.rows (name text, age int, zip text, since date, dose numeric, note text, tags jsonb, w float8);
insert into hospital.rows
select 'P' || i, nullif(i % 41, 7), chr(65 + i % 3) || case i % 5 when 0 then 'ä' when 1 then 'Z' else 'a' end,
       date '2020-02-28' + i % 700, (i % 9)::numeric / 8, nullif('n' || i % 4, 'n3'),
       jsonb_build_object('t', i % 3), case i % 6 when 0 then '-0' when 1 then 'NaN' else '0.1' end::float8
from generate_series(1, 4000) as i;
"""
COLUMNS = {
    "name": IDENTIFIER,
    "age": quasi("{ start = 0, widths = [5, 10] }"),
    "zip": quasi('{ mask = "right" }'),
    "since": quasi("{ dates = true }"),
    "dose": OTHER,
    "note": SENSITIVE,
    "tags": OTHER,
    "w": OTHER,
}
REORDERINGS = [
    "vacuum full hospital.rows",
    "create table hospital.shuffled as select * from hospital.rows order by md5(name)",
    "drop table hospital.rows; alter table hospital.shuffled rename to rows",
    "update hospital.rows set note = note where dose > 0.5",
    "create index by_note on hospital.rows (note desc, dose, name); cluster hospital.rows using by_note",
]
MASKED = 'k = 4\nsuppression = 0.2\nsuppress = "mask"'


@pytest.mark.parametrize("privacy", ["k = 4\nsuppression = 0.1", MASKED])
def test_the_order_of_the_rows_does_not_change_a_byte(clinic: Clinic, privacy: str) -> None:
    clinic.execute(ROWS)
    policy = clinic.policy(COLUMNS, source="hospital.rows", privacy=privacy)
    first = clinic.publish(policy), clinic.dump()
    assert first[0]["suppressed"] > 0
    for reorder in REORDERINGS[:3], REORDERINGS[3:]:
        for statement in reorder:
            clinic.execute(statement)
        assert figures(clinic.has_released(policy)) == figures(first[0])
        assert clinic.dump() == first[1]


# Types whose text depends on settings, each value twice, so that texts are released as they are.
TEXTS = r"""
create table hospital.texts as
select date '2024-02-29' + i / 2 as d, timestamptz '2024-07-01 23:30-01' + i / 2 * interval '1 hour' as t,
       (0.1 / 3)::float8 + i / 2 as f, interval '1 day 2:00' * (i / 2) as v, '\x00ff'::bytea as b,
       'it\''s ' || i / 2 as s
from generate_series(0, 19) as i;
"""
SETTINGS = {
    "timezone": "Asia/Tokyo", "datestyle": "German", "intervalstyle": "sql_standard", "bytea_output": "escape",
    "extra_float_digits": "-3", "client_encoding": "LATIN1", "search_path": "hospital", "row_security": "on",
    "work_mem": "64kB", "enable_hashjoin": "off", "enable_hashagg": "off", "enable_sort": "off",
    "min_parallel_table_scan_size": "0", "parallel_setup_cost": "0",
}  # fmt: skip


def test_the_settings_of_the_session_do_not_change_a_byte(clinic: Clinic) -> None:
    clinic.execute(TEXTS)
    policy = clinic.policy(dict.fromkeys("dtfvbs", MASK_ALL), source="hospital.texts", privacy="k = 2")
    assert set(clinic.has_released(policy)["levels"].values()) == {0}
    first = clinic.dump()
    options = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
    done = clinic.cli("run", policy, ANONDB_DSN=make_conninfo(clinic.dsn, options=options))
    assert (done.returncode, done.stderr) == (0, "")
    assert clinic.dump() == first
    assert b"2024-02-29\t2024-07-02 00:30:00+00\t0.033333333333333" in first


@pytest.mark.parametrize("privacy", ["k = 4\nsuppression = 0.1", MASKED])
def test_what_the_server_knows_of_the_source_does_not_change_a_byte(clinic: Clinic, privacy: str) -> None:
    """Statistics decide whether rows are counted whole, and read once, or read again to be released."""
    clinic.execute(ROWS)
    clinic.execute("alter table hospital.rows drop column dose, drop column tags, drop column w")
    columns = {name: role for name, role in COLUMNS.items() if name not in ("dose", "tags", "w")}
    policy = clinic.policy(columns, source="hospital.rows", privacy=privacy)
    releases, results = set(), []
    for statement in ("alter table hospital.rows set (autovacuum_enabled = off)", "analyze hospital.rows"):
        clinic.execute(statement)
        results.append(figures(clinic.has_released(policy)))
        releases.add(clinic.dump())
    passes = clinic.execute(
        'select count(*) from anondb.run_step as s where s.sql like \'%"hospital"."rows"%\''
        " and s.stage <> 'prepare' group by s.run"
    )
    assert len(releases) == 1
    assert results[0] == results[1]
    # the values of note are few, and rows are counted by them once that is known
    counted = clinic.execute("select count(*) from anondb.run_step as s where s.name = 'count rows'")
    assert counted == [(1,)]
    assert sorted(passes) == [(1,), (2,)]


# Kept columns of types that carry a length or a collation; a column of a domain is not made anew. One with NULLs.
SHARED = """
create domain hospital.short as varchar(3) collate "C";
create table hospital.shared as
select 'P' || i as name, nullif(i % 41, 7) as age, (i % 9)::int2 as ward, ('v' || i)::varchar(6) as a,
       ('c' || i % 7)::char(4) as b, ('t' || i % 5) collate "C" as c, (i / 8.0)::numeric(9, 2) as d,
       nullif(i, 5) * interval '1 hour' + timestamptz '2024-01-01' as e, (i % 3 = 0) as f, i::float8 / 3 as g
from generate_series(1, 3000) as i;
"""
PROCESSES = {
    "min_parallel_table_scan_size": "0",
    "parallel_setup_cost": "0",
    "max_parallel_workers_per_gather": "2",
}
ATTRIBUTES = """
select a.attname, format_type(a.atttypid, a.atttypmod), a.attcollation, c.relpersistence::text
from pg_attribute as a join pg_class as c on c.oid = a.attrelid
where c.oid = 'share.admissions'::regclass and a.attnum > 0 order by a.attnum
"""
SCRATCH = "select count(*) from pg_class as c where c.relnamespace = 'anondb_work'::regnamespace"


@pytest.mark.parametrize("privacy", ["k = 4\nsuppression = 0.1", MASKED, 'k = 4\nnulls = "suppress"'])
@pytest.mark.parametrize("domain", [False, True])
def test_several_processes_write_the_bytes_that_one_writes(
    clinic: Clinic, privacy: str, *, domain: bool
) -> None:
    clinic.execute(SHARED)
    if domain:
        clinic.execute("alter table hospital.shared alter column c type hospital.short")
    kept = dict.fromkeys("abcdefg", '{ role = "other", keep = "identifying" }')
    columns = {"name": IDENTIFIER, "age": quasi("{ start = 0, widths = [5, 10] }"), "ward": MASK_ALL, **kept}
    policy = clinic.policy(columns, source="hospital.shared", privacy=privacy)
    options = " ".join(f"-c {name}={value}" for name, value in PROCESSES.items())
    seen = []
    for dsn in (clinic.dsn, make_conninfo(clinic.dsn, options=options)):
        clinic.execute("drop table if exists share.admissions; truncate anondb.run_step")
        for _ in range(2):  # the second one takes the place of the first
            done = clinic.cli("run", policy, ANONDB_DSN=dsn)
            assert (done.returncode, done.stderr) == (0, "")
        [(shared,)] = clinic.execute(
            "select count(*) from anondb.run_step as s where s.name = 'share combinations'"
        )
        seen.append((shared, clinic.dump(), clinic.execute(ATTRIBUTES)))
        assert clinic.execute(SCRATCH) == [(0,)]
    one, several = seen
    assert (one[0], several[0]) == (0, 0 if domain else 2)
    assert several[1:] == one[1:]


def test_several_processes_write_every_form_of_a_column(clinic: Clinic) -> None:
    """Whoever writes the rows: what is not to be released as it is, is not."""
    clinic.execute(SHARED)
    columns = {
        "name": '{ role = "pseudonym", type = "text" }',
        "age": '{ role = "quasi", hierarchy = { widths = [5, 10] }, release = ["lower", "mean"] }',
        "ward": MASK_ALL,
        "e": '{ role = "other", shift = { by = "name", days = 99 }, keep = "identifying" }',
        "a": '{ role = "other", shuffle = true, keep = "identifying" }',
        "b": '{ role = "other", shuffle = true }',
        "d": '{ role = "other", round = 5, keep = "identifying" }',
        "g": '{ role = "other", noise = 0.2, keep = "identifying" }',
    } | dict.fromkeys("cf", IDENTIFIER)
    policy = clinic.policy(columns, source="hospital.shared", privacy="k = 4")
    options = " ".join(f"-c {name}={value}" for name, value in PROCESSES.items())
    seen = []
    for dsn in (clinic.dsn, make_conninfo(clinic.dsn, options=options)):
        clinic.execute("truncate anondb.run_step")
        done = clinic.cli("run", policy, ANONDB_DSN=dsn)
        assert (done.returncode, done.stderr) == (0, "")
        shared = "select count(*) from anondb.run_step as s where s.name = 'share combinations'"
        seen.append((clinic.execute(shared), clinic.dump()))
    assert [shared for shared, _ in seen] == [[(0,)], [(1,)]]
    assert seen[0][1] == seen[1][1]
    assert clinic.execute("select count(*) from share.admissions as a where a.name ~ '^P[0-9]+$'") == [(0,)]
    assert clinic.execute("select count(distinct a.age_lower), count(*) from share.admissions as a") == [
        (40, 3000)
    ]


def test_the_order_of_a_release_does_not_tell_the_order_of_the_source(clinic: Clinic) -> None:
    clinic.execute("create table hospital.queue as select i as n, 'x' as x from generate_series(1, 200) as i")
    clinic.has_released(clinic.policy({"n": KEPT, "x": quasi('{ mask = "all" }')}, source="hospital.queue"))
    order = [int(n) for (n,) in clinic.execute("select n from share.admissions")]
    assert sorted(order) == list(range(1, 201))
    rising = sum(one < other for one, other in pairwise(order))
    assert 60 < rising < 140


def figures(result: dict[str, Any]) -> dict[str, Any]:
    """What a result says of the release, and not of the run."""
    return {
        name: figure
        for name, figure in result.items()
        if name not in ("run", "seconds", "series", "warnings")
    }
