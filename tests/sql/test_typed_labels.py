"""Labels read as ranges: open ends, dates before year 1, moments, the limits of types."""

from __future__ import annotations

import psycopg
import pytest


def asked(connection: psycopg.Connection, function: str, label: str | None) -> str | None:
    [(answer,)] = connection.execute(f"select anondb.{function}(%s)::text".encode(), [label]).fetchall()
    return answer if answer is None else str(answer)


@pytest.mark.parametrize(
    ("function", "label", "bounds"),
    [
        ("number_bounds", "[20, 25)", "[20,25)"),
        ("number_bounds", "[-2.5, 0]", "[-2.5,0]"),
        ("number_bounds", "7", "[7,7]"),
        ("number_bounds", "1e+20", "[100000000000000000000,100000000000000000000]"),
        ("number_bounds", "<18", "(,18)"),
        ("number_bounds", ">89.5", "(89.5,)"),
        ("number_bounds", "90+", "[90,)"),
        ("number_bounds", "*", "(,)"),
        ("number_bounds", None, None),
        ("int4_bounds", "[20, 25)", "[20,25)"),
        ("int4_bounds", "[20, 25]", "[20,26)"),
        ("int4_bounds", "[22.5, 25)", "[23,25)"),
        ("int4_bounds", "<18", "(,18)"),
        ("int4_bounds", "90+", "[90,)"),
        ("int4_bounds", "*", "(,)"),
        ("int4_bounds", None, None),
        ("int4_bounds", "2147483647", "[2147483647,)"),
        ("int4_bounds", "[2147483640, 2147483650)", "[2147483640,)"),
        ("int4_bounds", "[-2147483650, -2147483640)", "(,-2147483640)"),
        ("int8_bounds", "[9223372036854775800, 9223372036854775810)", "[9223372036854775800,)"),
        ("int8_bounds", "5", "[5,6)"),
        ("date_bounds", "2024-02-29", '["2024-02-29 00:00:00","2024-03-01 00:00:00")'),
        ("date_bounds", "2024-02", '["2024-02-01 00:00:00","2024-03-01 00:00:00")'),
        ("date_bounds", "2024-Q4", '["2024-10-01 00:00:00","2025-01-01 00:00:00")'),
        ("date_bounds", "2024", '["2024-01-01 00:00:00","2025-01-01 00:00:00")'),
        ("date_bounds", "2020s", '["2020-01-01 00:00:00","2030-01-01 00:00:00")'),
        ("date_bounds", "0000s", '["0001-01-01 00:00:00","0010-01-01 00:00:00")'),
        ("date_bounds", "2020-2024", '["2020-01-01 00:00:00","2025-01-01 00:00:00")'),
        ("date_bounds", "0044 BC", '["0044-01-01 00:00:00 BC","0043-01-01 00:00:00 BC")'),
        ("date_bounds", "0001 BC", '["0001-01-01 00:00:00 BC","0001-01-01 00:00:00")'),
        ("date_bounds", "0000s BC", '["0009-01-01 00:00:00 BC","0001-01-01 00:00:00")'),
        ("date_bounds", "0040s BC", '["0049-01-01 00:00:00 BC","0039-01-01 00:00:00 BC")'),
        ("date_bounds", "0040-0044 BC", '["0044-01-01 00:00:00 BC","0039-01-01 00:00:00 BC")'),
        ("date_bounds", "0044-03 BC", '["0044-03-01 00:00:00 BC","0044-04-01 00:00:00 BC")'),
        ("date_bounds", "0044-03-15 BC", '["0044-03-15 00:00:00 BC","0044-03-16 00:00:00 BC")'),
        ("date_bounds", "294276", '["294276-01-01 00:00:00",)'),
        ("date_bounds", "2024-02-29 14:30:00", '["2024-02-29 14:30:00","2024-02-29 14:30:00"]'),
        ("date_bounds", "[2024-01-01, 2024-06-30]", '["2024-01-01 00:00:00","2024-07-01 00:00:00")'),
        (
            "date_bounds",
            "[2024-01-01 10:00:00+00, 2024-06-30 12:00:00+00]",
            '["2024-01-01 10:00:00","2024-06-30 12:00:00"]',
        ),
        ("date_bounds", "*", "(,)"),
        ("date_bounds", None, None),
    ],
)
def test_a_label_is_read_as_what_it_says(
    connection: psycopg.Connection, function: str, label: str | None, bounds: str | None
) -> None:
    assert asked(connection, function, label) == bounds


@pytest.mark.parametrize("unit", ["day", "month", "quarter", "year", "decade", "5 years", "20 years"])
@pytest.mark.parametrize("first", ["0060-01-01 BC", "1890-01-01", "1990-11-30"])
def test_every_moment_lies_in_what_its_label_says(
    connection: psycopg.Connection, unit: str, first: str
) -> None:
    years = unit.removesuffix(" years")
    question = """
        select count(*) filter (where not m.at <@ anondb.date_bounds(m.label)), count(*)
        from (select n.at, coalesce(anondb.years_label(n.at, %(years)s), anondb.date_label(n.at, %(unit)s)) as label
              from (select %(first)s::timestamp + g.days * interval '37 days 5 hours' as at
                    from generate_series(0, 1000) as g (days)) as n) as m
    """
    numbers = {"years": int(years) if years != unit else 0, "unit": unit, "first": first}
    assert connection.execute(question, numbers).fetchall() == [(0, 1001)]
