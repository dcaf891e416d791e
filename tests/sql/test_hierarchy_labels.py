"""The labels of generated hierarchies: a range, a calendar unit, a mask."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anondb.hierarchies.forms import DATE_UNITS, ROOT

# Every example asks the database afresh and leaves nothing in it, so one connection serves them all.
on_one_connection = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

Range = tuple[Decimal, Decimal, Decimal]  # value, start, width
Moment = tuple[int, int, int, int]  # year (negative before year 1), month, day, hour


def range_labels(connection: psycopg.Connection, ranges: list[Range]) -> list[str]:
    rows = connection.execute(
        """
        select anondb.range_label(t.value, t.start, t.width)
        from unnest(%s::numeric[], %s::numeric[], %s::numeric[])
            with ordinality as t (value, start, width, place)
        order by t.place
        """,
        [list(column) for column in zip(*ranges, strict=True)],
    )
    return [label for (label,) in rows]


def date_labels(connection: psycopg.Connection, moments: list[Moment], unit: str) -> list[str]:
    rows = connection.execute(
        """
        select anondb.date_label(make_timestamp(t.year, t.month, t.day, t.hour, 59, 59.999999), %s)
        from unnest(%s::int[], %s::int[], %s::int[], %s::int[])
            with ordinality as t (year, month, day, hour, place)
        order by t.place
        """,
        [unit, *(list(column) for column in zip(*moments, strict=True))],
    )
    return [label for (label,) in rows]


def mask_labels(
    connection: psycopg.Connection, values: list[str], side: str, length: int, stars: int
) -> list[str]:
    rows = connection.execute(
        """
        select anondb.mask_label(t.value, %s, %s, %s)
        from unnest(%s::text[]) with ordinality as t (value, place)
        order by t.place
        """,
        [side, length, stars, values],
    )
    return [label for (label,) in rows]


def ends(label: str) -> tuple[Fraction, Fraction]:
    assert label[0] == "["
    assert label[-1] == ")"
    lower, upper = label[1:-1].split(", ")
    for number in (lower, upper):
        assert "." not in number or not number.endswith("0"), "a number is written without idle zeros"
    return Fraction(lower), Fraction(upper)


NUMBERS = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=7),
    st.integers(-100, 100).map(Decimal),
)
WIDTHS = st.one_of(
    st.sampled_from([Decimal(text) for text in ("3", "7", "0.7", "0.3", "1e-9", "6e12")]),
    st.decimals(allow_nan=False, allow_infinity=False, min_value="1e-7", max_value=10**12, places=7),
)


@on_one_connection
@given(st.lists(st.tuples(NUMBERS, NUMBERS, WIDTHS), min_size=1, max_size=30))
def test_a_range_contains_its_value_and_is_counted_from_the_start(
    connection: psycopg.Connection, ranges: list[Range]
) -> None:
    for (value, start, width), label in zip(ranges, range_labels(connection, ranges), strict=True):
        lower, upper = ends(label)
        assert lower <= Fraction(value) < upper
        assert upper - lower == Fraction(width)
        assert ((lower - Fraction(start)) / Fraction(width)).denominator == 1


@on_one_connection
@given(NUMBERS, NUMBERS, WIDTHS, st.integers(2, 9))
def test_a_range_lies_in_the_range_of_a_multiple_of_its_width(
    connection: psycopg.Connection, value: Decimal, start: Decimal, width: Decimal, factor: int
) -> None:
    fine, coarse = map(
        ends, range_labels(connection, [(value, start, width), (value, start, width * factor)])
    )
    assert coarse[0] <= fine[0]
    assert fine[1] <= coarse[1]


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("17", "[17, 22)"),
        ("21.999", "[17, 22)"),
        ("22.000", "[22, 27)"),
        ("16.5", "[12, 17)"),
        ("-3", "[-3, 2)"),
        ("-3.01", "[-8, -3)"),
        ("1e40", "[9999999999999999999999999999999999999997, 10000000000000000000000000000000000000002)"),
        ("NaN", None),
        ("Infinity", None),
        ("-Infinity", None),
    ],
)
def test_a_range_is_half_open(connection: psycopg.Connection, value: str, label: str | None) -> None:
    assert range_labels(connection, [(Decimal(value), Decimal(17), Decimal(5))]) == [label]


@pytest.mark.parametrize("width", ["0", "-5", "NaN", "Infinity"])
def test_a_width_that_makes_no_range_gives_null(connection: psycopg.Connection, width: str) -> None:
    assert range_labels(connection, [(Decimal(1), Decimal(0), Decimal(width))]) == [None]


def expected_date(moment: Moment, unit: str) -> str:
    year, month, day, _ = moment
    digits = f"{abs(year):04}"
    label = {
        "day": f"{digits}-{month:02}-{day:02}",
        "month": f"{digits}-{month:02}",
        "quarter": f"{digits}-Q{(month + 2) // 3}",
        "year": digits,
        "decade": f"{abs(year) // 10 * 10:04}s",
    }[unit]
    return label + (" BC" if year < 0 else "")


YEARS = st.one_of(st.integers(-25, 25), st.integers(1890, 2110), st.integers(-4712, 294275)).filter(bool)
MOMENTS = st.lists(
    st.tuples(YEARS, st.integers(1, 12), st.integers(1, 28), st.integers(0, 23)), min_size=1, max_size=60
)


@on_one_connection
@given(MOMENTS, st.sampled_from(DATE_UNITS))
def test_a_calendar_unit_contains_its_moment(
    connection: psycopg.Connection, moments: list[Moment], unit: str
) -> None:
    expected = [expected_date(moment, unit) for moment in moments]
    assert date_labels(connection, moments, unit) == expected


@on_one_connection
@given(MOMENTS)
def test_moments_of_one_calendar_unit_are_of_one_coarser_unit(
    connection: psycopg.Connection, moments: list[Moment]
) -> None:
    for fine, coarse in pairwise(date_labels(connection, moments, unit) for unit in DATE_UNITS):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))


@on_one_connection
@given(MOMENTS, st.sampled_from(DATE_UNITS))
def test_years_before_and_after_year_1_are_apart(
    connection: psycopg.Connection, moments: list[Moment], unit: str
) -> None:
    # the calendar of PostgreSQL starts in 4713 BC
    mirrored = [(-year, month, day, hour) for year, month, day, hour in moments if year <= 4712]
    both = moments + mirrored
    labels = dict(zip(both, date_labels(connection, both, unit), strict=True))
    after = {label for moment, label in labels.items() if moment[0] > 0}
    before = {label for moment, label in labels.items() if moment[0] < 0}
    assert not after & before


@pytest.mark.parametrize("value", ["infinity", "-infinity"])
@pytest.mark.parametrize("unit", DATE_UNITS)
def test_infinity_has_no_calendar_unit(connection: psycopg.Connection, value: str, unit: str) -> None:
    row = connection.execute("select anondb.date_label(%s::timestamp, %s)", (value, unit)).fetchone()
    assert row == (None,)


def test_an_unknown_calendar_unit_gives_null(connection: psycopg.Connection) -> None:
    assert date_labels(connection, [(2024, 3, 9, 0)], "fortnight") == [None]


def test_a_date_label_obeys_no_setting_of_the_session(connection: psycopg.Connection) -> None:
    connection.execute(
        "set datestyle = 'German, DMY'; set timezone = 'Asia/Tokyo'; set intervalstyle = 'iso_8601'"
    )
    assert [date_labels(connection, [(2024, 3, 9, 23)], unit)[0] for unit in DATE_UNITS] == [
        "2024-03-09",
        "2024-03",
        "2024-Q1",
        "2024",
        "2020s",
    ]


# Few characters, so that masks meet; among them the star, two bytes, four bytes, and a combining accent.
VALUES = st.lists(st.text("ab*é😀\u0301", max_size=7), min_size=1, max_size=60)
SIDES = st.sampled_from(["right", "left"])


@on_one_connection
@given(VALUES, SIDES, st.integers(0, 7))
def test_values_with_one_mask_have_one_mask_with_more_stars(
    connection: psycopg.Connection, values: list[str], side: str, length: int
) -> None:
    levels = [mask_labels(connection, values, side, length, stars) for stars in range(length + 1)]
    for fine, coarse in pairwise(levels):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))


@on_one_connection
@given(VALUES, SIDES, st.integers(1, 7), st.data())
def test_a_mask_stars_characters_from_its_side(
    connection: psycopg.Connection, values: list[str], side: str, length: int, data: st.DataObject
) -> None:
    stars = data.draw(st.integers(0, length))
    kept = length - stars
    for value, label in zip(values, mask_labels(connection, values, side, length, stars), strict=True):
        if stars == 0:
            assert label == value
        elif kept == 0:
            assert label == ROOT
        elif side == "right":
            assert label == value[:kept] + "*" * stars
        else:
            assert label == "*" * stars + value[max(len(value) - kept, 0) :]


def test_a_mask_of_an_unknown_side_is_null(connection: psycopg.Connection) -> None:
    assert mask_labels(connection, ["12345"], "middle", 5, 2) == [None]


CALLS = [
    ("anondb.range_label(%s::numeric, %s::numeric, %s::numeric)", ("1", "0", "5")),
    ("anondb.range_start(%s::numeric, %s::numeric, %s::numeric)", ("1", "0", "5")),
    ("anondb.date_label(%s::timestamp, %s::text)", ("2024-03-09", "day")),
    ("anondb.year_digits(%s::int)", ("2024",)),
    ("anondb.mask_label(%s::text, %s::text, %s::int, %s::int)", ("12345", "right", "5", "0")),
    ("anondb.mask_label(%s::text, %s::text, %s::int, %s::int)", ("12345", "left", "5", "5")),
]


@pytest.mark.parametrize(("call", "arguments"), CALLS)
def test_null_in_any_argument_gives_null(
    connection: psycopg.Connection, call: str, arguments: tuple[str, ...]
) -> None:
    query = "select " + call
    assert connection.execute(query, arguments).fetchone() != (None,)
    for place in range(len(arguments)):
        with_null = [None if i == place else argument for i, argument in enumerate(arguments)]
        assert connection.execute(query, with_null).fetchone() == (None,)


@pytest.mark.parametrize(
    "query",
    [
        "select anondb.range_label(t.v, 0, 5) from (values (1.0), (2.0)) as t (v)",
        "select anondb.date_label(t.v, 'month') from (values (timestamp '2024-03-09'), (null)) as t (v)",
        "select anondb.mask_label(t.v, 'right', 5, 2) from (values ('12345'), ('54321')) as t (v)",
    ],
)
def test_a_label_is_computed_inside_the_query_that_asks_for_it(
    connection: psycopg.Connection, query: str
) -> None:
    plan = "".join(line for (line,) in connection.execute("explain (verbose) " + query))
    assert "anondb." not in plan
