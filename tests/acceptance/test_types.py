"""Columns of many types as quasi-identifiers, and other columns that keep their type."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.acceptance.clinic import MASK_ALL, OTHER, Clinic, complaint, quasi

TYPES = """
create type hospital.mood as enum ('sad', 'so so', 'happy');
create domain hospital."Short text" as varchar(9) check (value <> '');
create domain hospital.share as numeric check (value >= 0);
create type hospital.pair as (x int, y text);
create table hospital.typed (
    a_int2 int2, a_int4 int4, a_int8 int8, a_numeric numeric, a_float4 float4, a_float8 float8, a_bool bool,
    a_text text, a_varchar varchar(20), a_char char(6), a_name name, a_byte "char", a_date date, a_time time,
    a_timestamp timestamp, a_timestamptz timestamptz, an_interval interval, a_uuid uuid, an_inet inet,
    some_bytes bytea, a_jsonb jsonb, an_array int[], some_texts text[], an_enum hospital.mood,
    a_domain hospital."Short text", a_share hospital.share, a_range int4range, a_pair hospital.pair, some_bits bit(3),
    a_json json
);
"""
# Equal values written in two ways, and the text that is released for both.
SAME = {
    "a_int2": ("-7", "-7", "-7"),
    "a_int4": ("2147483647", "2147483647", "2147483647"),
    "a_int8": ("-9223372036854775808", "-9223372036854775808", "-9223372036854775808"),
    "a_numeric": ("1.0", "1.00", "1"),
    "a_float4": ("0.1", "1e-1", "0.1"),
    "a_float8": ("NaN", "nan", "NaN"),
    "a_bool": ("t", "true", "true"),
    "a_text": ("it's ü\\ %s", "it's ü\\ %s", "it's ü\\ %s"),
    "a_varchar": ("  x ", "  x ", "  x "),
    "a_char": ("ab", "ab    ", "ab"),
    "a_name": ("Name", "Name", "Name"),
    "a_byte": ("b", "b", "b"),
    "a_date": ("2024-02-29", "29 Feb 2024", "2024-02-29"),
    "a_time": ("04:05", "04:05:00", "04:05:00"),
    "a_timestamp": ("0044-03-15 12:00 BC", "0044-03-15 12:00:00 BC", "0044-03-15 12:00:00 BC"),
    "a_timestamptz": ("2024-07-01 12:00+02", "2024-07-01 10:00Z", "2024-07-01 10:00:00+00"),
    "an_interval": ("1 day 2:00", "P1DT2H", "1 day 02:00:00"),
    "a_uuid": ("A0EEBC99-9C0B4EF8BB6D6BB9BD380A11",) * 2 + ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",),
    "an_inet": ("10.0.0.1", "10.0.0.1/32", "10.0.0.1"),
    "some_bytes": ("\\x00ff", "\\x00FF", "\\x00ff"),
    "a_jsonb": ('{"b":1,"a":[null]}', '{"a": [null], "b": 1}', '{"a": [null], "b": 1}'),
    "an_array": ("{1,NULL,3}", "{1, null, 3}", "{1,NULL,3}"),
    "some_texts": ('{a,"b c"}', '{"a","b c"}', '{a,"b c"}'),
    "an_enum": ("so so", "so so", "so so"),
    "a_domain": ("short", "short", "short"),
    "a_share": ("0.50", "0.5", "0.5"),
    "a_range": ("[1,5)", "[1,4]", "[1,5)"),
    "a_pair": ('(1,"x y")', '(1,"x y")', '(1,"x y")'),
    "some_bits": ("101", "101", "101"),
}
INSERT = sql.SQL("insert into hospital.typed values ({}, '{{}}')")


@pytest.fixture
def typed(clinic: Clinic) -> Clinic:
    """Two rows of the same values, written in two ways, and four rows of NULLs."""
    clinic.execute(TYPES)
    for way in (0, 1):
        values = {name: same[way] for name, same in SAME.items()}
        clinic.connection.execute(INSERT.format(sql.SQL(", ").join(map(sql.Placeholder, SAME))), values)
    clinic.execute("insert into hospital.typed select from generate_series(1, 4)")
    return clinic


def test_equal_values_of_every_type_have_one_text(typed: Clinic) -> None:
    columns = dict.fromkeys(SAME, MASK_ALL) | {"a_json": OTHER}
    result = typed.publish(typed.policy(columns, source="hospital.typed", privacy="k = 2"))
    assert result["levels"] == dict.fromkeys(SAME, 0)
    assert (result["k"], result["classes"], result["released"]) == (2, 2, 6)
    assert typed.execute("select count(*) from share.admissions as a where a is null") == [(4,)]
    rows = typed.execute("select * from share.admissions where a_int2 is not null")
    expected = (*(same[2] for same in SAME.values()), {})
    assert rows == [expected, expected]


def test_values_and_nulls_of_every_type_meet_at_the_root(typed: Clinic) -> None:
    columns = dict.fromkeys(SAME, MASK_ALL) | {"a_json": OTHER}
    result = typed.publish(typed.policy(columns, source="hospital.typed", privacy="k = 6"))
    assert result["levels"] == dict.fromkeys(SAME, 1)
    assert set(typed.execute("select a_int2, some_bytes, a_pair from share.admissions")) == {("*",) * 3}


def test_other_columns_keep_type_collation_and_domain(typed: Clinic) -> None:
    typed.execute(
        'alter table hospital.typed add k int, add c text collate "C", add v varchar(3) collate "POSIX",'
        ' add n numeric(8, 2), add t timestamptz(3), add i interval hour to minute, add m text[] collate "C",'
        " add x xml"
    )
    names = [name for (name,) in typed.execute(COLUMNS.format("a.attname"))]
    columns = dict.fromkeys(names, OTHER) | {"k": MASK_ALL}
    typed.publish(typed.policy(columns, source="hospital.typed"))
    kept = COLUMNS.format("a.attname, a.atttypid::regtype, a.atttypmod, a.attcollation::regcollation::text")
    before = {row[0]: row for row in typed.execute(kept)}
    after = {row[0]: row for row in typed.execute(kept.replace("hospital.typed", "share.admissions"))}
    assert before.pop("k")[1] == "integer"
    assert after.pop("k")[1] == "text"
    assert after == before
    assert sorted(typed.dump("typed", "hospital").splitlines()) == sorted(typed.dump().splitlines())


COLUMNS = "select {} from pg_attribute as a where a.attrelid = 'hospital.typed'::regclass and a.attnum > 0"


def released(
    clinic: Clinic, type_: str, values: list[Any], hierarchy: str, k: int = 2
) -> tuple[int, list[Any]]:
    """The level and the labels that a column of a type is released with."""
    clinic.execute("drop table if exists hospital.t")
    clinic.execute(f"create table hospital.t (x {type_})")
    with clinic.connection.cursor() as cursor:
        cursor.executemany("insert into hospital.t values (%s)", [(value,) for value in values])
    policy = clinic.policy({"x": quasi(hierarchy)}, source="hospital.t", target="share.t", privacy=f"k = {k}")
    level = clinic.has_released(policy)["levels"]["x"]
    return level, [label for (label,) in clinic.execute('select x from share.t order by x collate "C"')]


@pytest.mark.parametrize("type_", ["int2", "int4", "int8", "numeric", "numeric(9, 3)", "float4", "float8"])
def test_ranges_hold_numbers_of_every_type(clinic: Clinic, type_: str) -> None:
    level, labels = released(clinic, type_, ["-3", "-1", "0", "4", "5", "9"], "{ start = 0, widths = [5] }")
    assert (level, labels) == (1, ["[-5, 0)"] * 2 + ["[0, 5)"] * 2 + ["[5, 10)"] * 2)


def test_ranges_of_decimals_say_which_ends_belong_to_them(clinic: Clinic) -> None:
    found = released(clinic, "float8", ["-0.25", "-0.1", "0.1", "0.2"], "{ start = 0.05, widths = [0.5, 1] }")
    assert found == (1, ["[-0.45, 0.05)"] * 2 + ["[0.05, 0.55)"] * 2)


def test_equal_floats_with_two_texts_are_one_value(clinic: Clinic) -> None:
    assert (
        released(clinic, "float8", ["0", "-0", "7", "8"], "{ widths = [5] }")[1]
        == ["[0, 5)"] * 2 + ["[5, 10)"] * 2
    )
    assert released(clinic, "float8", ["0", "-0"], '{ mask = "all" }') == (0, ["0", "0"])


DAYS = ["2024-03-09", "2024-03-10"]
MOMENTS = ["2024-03-09", "2024-03-09 12:00"]
# at 23:30 west of Greenwich it is the next day in UTC, the zone that releases are written in
ZONED = ["2024-03-08 23:30-01", "2024-03-09 12:00Z"]


@pytest.mark.parametrize(
    ("type_", "values", "label"),
    [
        ("date", DAYS, "2024-03"),
        ("timestamp", MOMENTS, "2024-03-09"),
        ("timestamptz", ZONED, "2024-03-09"),
        ("timestamptz(0)", ZONED, "2024-03-09"),
    ],
)
def test_dates_rise_by_calendar_units(clinic: Clinic, type_: str, values: list[str], label: str) -> None:
    assert released(clinic, type_, values, "{ dates = true }") == (1, [label] * 2)


def test_dates_rise_by_the_units_that_are_named(clinic: Clinic) -> None:
    values = ["2024-03-09", "2021-11-30", "2020-01-01", "2029-12-31"]
    assert released(clinic, "date", values, '{ dates = ["year", "decade"] }') == (2, ["2020s"] * 4)


@pytest.mark.parametrize(
    ("type_", "values", "rows"),
    [
        ("bool", ["t", "f"], "true;any\nfalse;any\n"),
        ("int8", ["1", "22"], "1;any\n22;any\n"),
        ("date", ["2024-03-09", "2024-03-10"], "2024-03-09;any\n2024-03-10;any\n"),
        ("char(5)", ["a", "b  "], "a;any\nb;any\n"),
        ("numeric(4, 1)", ["1.0", "1.5"], "1;any\n1.5;any\n"),
        ("numeric", ["10", "1.50"], "10;any\n1.5;any\n"),
        ("inet", ["10.0.0.1", "10.0.0.0/8"], "10.0.0.1;any\n10.0.0.0/8;any\n"),
        ("text", ["a;b", 'say "x"'], '"a;b";any\n"say ""x""";any\n'),
    ],
)
def test_values_are_found_in_a_hierarchy_file_by_their_text(
    clinic: Clinic, type_: str, values: list[str], rows: str
) -> None:
    (clinic.folder / "x.csv").write_text(rows)
    assert released(clinic, type_, values, '{ csv = "x.csv" }') == (1, ["any", "any"])


def test_values_that_a_collation_takes_for_equal_are_one_but_for_a_file_that_lists_them_apart(
    clinic: Clinic,
) -> None:
    try:
        clinic.execute(
            "create collation hospital.no_case"
            " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
    except psycopg.errors.FeatureNotSupported as error:
        pytest.skip(f"this server has no ICU: {error.diag.message_primary}")
    type_ = "text collate hospital.no_case"
    assert released(clinic, type_, ["Anna", "anna"], '{ mask = "all" }') == (0, ["anna", "anna"])
    (clinic.folder / "x.csv").write_text("Anna;A;*\nanna;a;*\n")
    assert released(clinic, type_, ["Anna", "anna"], '{ csv = "x.csv" }') == (2, ["*", "*"])


def test_a_mask_hides_characters_not_bytes(clinic: Clinic) -> None:
    assert released(clinic, "text", ["漢字1", "漢字2"], '{ mask = "right" }') == (1, ["漢字*"] * 2)
    assert released(clinic, "text", ["1漢", "2漢"], '{ mask = "left" }') == (1, ["*漢"] * 2)


def test_values_too_long_to_mask_one_by_one_are_refused(clinic: Clinic) -> None:
    clinic.execute("create table hospital.t as select repeat('x', 101) as x from generate_series(1, 3)")
    policy = clinic.policy({"x": quasi('{ mask = "right" }')}, source="hospital.t")
    with clinic.unchanged():
        assert "has 101 characters" in complaint(clinic.cli("run", policy), 2)
