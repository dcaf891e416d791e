"""Labels at the edges: before year 1, leap days, what is not finite, other scripts, codes of classifications."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.errors import UsageError
from anondb.hierarchies import csvfile
from anondb.hierarchies.forms import BuiltinCode, BuiltinTable
from anondb.hierarchies.forms.builtin import FOLDER, names, read_builtin, scheme
from anondb.policy.check import Spot
from anondb.sqltree.build import string
from anondb.sqltree.render import render
from anondb.sqltree.tables import Quasi, SourceColumn
from tests.sql.test_hierarchy_labels import on_one_connection


def asked(connection: psycopg.Connection, expression: str, *values: object) -> object:
    [(answer,)] = connection.execute(f"select {expression}".encode(), values).fetchall()
    return answer


@pytest.mark.parametrize(
    ("moment", "years", "label"),
    [
        ("2024-03-09", 5, "2020-2024"),
        ("0001-01-01", 5, "0001-0004"),
        ("0005-01-01 BC", 5, "0005-0009 BC"),
        ("0004-12-31 BC", 5, "0001-0004 BC"),
        ("12024-01-01", 20, "12020-12039"),
        ("infinity", 5, None),
        ("2024-03-09", 0, None),
        ("2024-03-09", -5, None),
    ],
)
def test_years_are_counted_from_year_0_on_both_sides(
    connection: psycopg.Connection, moment: str, years: int, label: str | None
) -> None:
    assert asked(connection, "anondb.years_label(%s::timestamp, %s::int)", moment, years) == label


@pytest.mark.parametrize(
    ("born", "day", "age"),
    [
        ("2000-02-29", "2023-02-28", 22),
        ("2000-02-29", "2023-03-01", 23),
        ("2000-02-29", "2024-02-29", 24),
        ("2024-01-01 23:59", "2024-01-01", 0),
        ("2024-01-02", "2024-01-01", None),
        ("0044-03-15 BC", "0001-03-14", 43),
        ("0044-03-15 BC", "0001-03-15", 44),
        ("1924-01-01", "2024-01-01", 100),
        ("infinity", "2024-01-01", None),
        ("-infinity", "2024-01-01", None),
        (None, "2024-01-01", None),
    ],
)
def test_an_age_is_that_of_the_day(
    connection: psycopg.Connection, born: str | None, day: str, age: int | None
) -> None:
    found = asked(connection, "anondb.age_on(%s::timestamp, %s::date)", born, day)
    assert found == (None if age is None else Decimal(age))


@on_one_connection
@given(st.dates(), st.dates())
def test_an_age_grows_on_the_birthday(connection: psycopg.Connection, first: date, second: date) -> None:
    born, day = sorted([first, second])
    expected = day.year - born.year - ((day.month, day.day) < (born.month, born.day))
    assert asked(connection, "anondb.age_on(%s::timestamp, %s::date)", born, day) == expected


@pytest.mark.parametrize(
    ("value", "whole", "label"),
    [
        ("17", True, "<18"),
        ("18", True, "as it is"),
        ("89", True, "as it is"),
        ("90", True, "90+"),
        ("89.5", False, ">89"),
        ("17.999", False, "<18"),
        ("-5", True, "<18"),
        ("Infinity", False, ">89"),
        ("-Infinity", False, "<18"),
        ("NaN", False, None),
        (None, True, None),
    ],
)
def test_what_lies_beyond_a_bound_is_told_as_that(
    connection: psycopg.Connection, value: str | None, whole: bool, label: str | None
) -> None:
    question = "anondb.capped_label(%s::numeric, 18, 89, %s, 'as it is')"
    assert asked(connection, question, value, whole) == label


def test_a_bound_that_is_not_there_bounds_nothing(connection: psycopg.Connection) -> None:
    assert asked(connection, "anondb.capped_label(17, null, 89, true, '17')") == "17"
    assert asked(connection, "anondb.capped_label(90, 18, null, true, '90')") == "90"
    assert asked(connection, "anondb.capped_label(90, 18, 89.5, true, '90')") == "90+"


def test_a_cell_holds_its_point_on_all_sides_of_the_origin(connection: psycopg.Connection) -> None:
    cell = "anondb.cell_label(%s::point, %s::numeric)"
    assert asked(connection, cell, "(8.54,47.37)", "0.1") == "[8.5, 8.6) x [47.3, 47.4)"
    assert asked(connection, cell, "(-0.01,-91)", "0.5") == "[-0.5, 0) x [-91, -90.5)"
    assert asked(connection, cell, "(Infinity,1)", "0.5") is None
    assert asked(connection, cell, "(NaN,1)", "0.5") is None


@pytest.mark.parametrize(
    ("code", "kept", "prefix"),
    [
        ("12-34-56", 4, "12-34"),
        ("-12", 1, "-1"),
        ("E11.9", 4, "E11.9"),
        ("Жук-1", 3, "Жук"),
        ("🙂🙂🙂", 2, "🙂🙂"),
        ("a\nb", 2, "a\n"),
        ("--", 1, "--"),
        ("", 1, ""),
        ("x" * 300, 255, "x" * 255),
        (None, 1, None),
    ],
)
def test_separators_of_a_code_do_not_count(
    connection: psycopg.Connection, code: str | None, kept: int, prefix: str | None
) -> None:
    assert asked(connection, "anondb.code_prefix(%s::text, %s::int)", code, kept) == prefix


def builtin_labels(connection: psycopg.Connection, name: str, code: str) -> list[str | None]:
    column = SourceColumn("code", "text", "text")
    hierarchy = BuiltinCode(name)
    coded = Quasi(1, column, hierarchy, hierarchy.height)
    labels = [
        connection.execute(f"select {render(one)}".encode()) for one in hierarchy.labels(coded, string(code))
    ]
    return [str(label) if label is not None else None for cursor in labels for (label,) in cursor]


@pytest.mark.parametrize(
    ("name", "code", "labels"),
    [
        ("icd10", "E11.90", ["E11.9", "E11", "E10-E14", "E00-E90"]),
        ("icd10", "e119", ["E11.9", "E11", "E10-E14", "E00-E90"]),
        ("icd10", "G01*", ["G01", "G01", "G00-G09", "G00-G99"]),
        ("icd10", "U50", ["U50", "U50", "U50", "U00-U99"]),
        ("icd10", "C50.1", ["C50.1", "C50", "C50-C50", "C00-D48"]),
        ("icd10", "D95", ["D95", "D95", "D95", None]),
        ("icd10", "E1", [None] * 4),
        ("icd10", "Е11", [None] * 4),  # a Cyrillic letter
        ("icd10cm", "S72.001A", ["S72.0", "S72", "S70-S79", "S00-T88"]),
        ("icd10cm", "M1A.0110", ["M1A.0", "M1A", "M05-M14", "M00-M99"]),
        ("nuts", "DE212", ["DE21", "DE2", "DE"]),
        ("nuts", "DE", ["DE", "DE", "DE"]),
        ("isco08", "2211", ["221", "22", "2"]),
        ("isco08", "22110", [None] * 3),
        ("atc", "A10BA02", ["A10BA", "A10B", "A10", "A"]),
        ("atc", "E10", [None] * 4),
        ("nace", "J62.01", ["62.0", "62", "J Information and communication"]),
        ("nace", "0111", ["01.1", "01", "A Agriculture, forestry and fishing"]),
        ("nace", "62", ["62", "62", "J Information and communication"]),
        ("nace", "04.1", ["04.1", "04", None]),
        ("nace21", "62.10", ["62.1", "62", "K"]),
    ],
)
def test_a_code_is_told_by_its_known_structure(
    connection: psycopg.Connection, name: str, code: str, labels: list[str | None]
) -> None:
    assert builtin_labels(connection, name, code) == labels


@pytest.mark.parametrize("name", [name for name in names() if (FOLDER / f"{name}.toml").exists()])
def test_ranges_of_codes_come_in_order_and_do_not_overlap(name: str) -> None:
    for level in scheme(name).levels:
        ends = [end for ends in zip(level.starts, level.ends, strict=True) for end in ends]
        assert ends == sorted(ends)
        assert len(set(level.starts)) == len(level.starts)
        assert all(len(end) == level.kept for end in ends)
    kept = [level.kept for level in scheme(name).levels]
    assert kept == sorted(kept, reverse=True)


@pytest.mark.parametrize("name", ["icd10", "icd10cm"])
def test_blocks_lie_in_chapters(name: str) -> None:
    """What is one block is one chapter: of every category that there can be."""
    *_, block, chapter = scheme(name).levels
    for start, end in zip(block.starts, block.ends, strict=True):
        over = [
            (first, last)
            for first, last in zip(chapter.starts, chapter.ends, strict=True)
            if first <= end and start <= last
        ]
        assert len(over) == 1
        assert over[0][0] <= start
        assert end <= over[0][1]


def test_countries_lie_in_regions() -> None:
    table = csvfile.read(BuiltinTable("iso3166").path, comments=True)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["DE"] == rows["DEU"] == rows["276"] == ("Western Europe", "Europe", "*")
    assert len([code for code in rows if len(code) == 2]) == 250
    assert len({row[1] for row in table.rows}) == 23
    assert {row[2] for row in table.rows} == {"Africa", "Americas", "Antarctica", "Asia", "Europe", "Oceania"}


@pytest.mark.parametrize("name", names())
def test_a_hierarchy_that_is_shipped_names_its_source(name: str) -> None:
    [file] = FOLDER.glob(f"{name}.*")
    text = file.read_text(encoding="utf-8")
    assert "https://" in text
    assert "free to use" in text or "licence = " in text


def test_a_name_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(UsageError) as caught:
        read_builtin(Spot("p.toml", FOLDER).at("columns", "code", "hierarchy"), "builtin:icd9")
    assert 'no hierarchy "icd9" comes with anondb' in caught.value.message
    assert "icd10" in str(caught.value.hint)
    assert ", ".join(names()) in str(caught.value.hint)
