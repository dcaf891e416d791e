"""Random columns with hierarchies that compute their labels."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from decimal import Decimal

from hypothesis import strategies as st

from tests.properties.examples import Column
from tests.properties.forms_oracle import Ages, Capped, Cells, Ends, Prefixes, Years
from tests.properties.oracle import Ranges

AT = date(2024, 2, 29)


@st.composite
def codes(draw: st.DrawFn, name: str) -> Column:
    """With separators, in several scripts, shorter and longer than the lengths that are asked for."""
    lengths = sorted(draw(st.sets(st.integers(1, 7), min_size=1, max_size=3)))
    alphabet = st.sampled_from([*"ab12", *"./- _:,", "Ж", "語", "é", "🙂", "'", "*", "\n", "\\"])
    values = draw(st.lists(st.text(alphabet, max_size=7), min_size=1, max_size=12))
    return Column(name, "text", Prefixes(lengths), f"{{ code = {json.dumps(lengths)} }}", values)


@st.composite
def years(draw: st.DrawFn, name: str) -> Column:
    numbers = [draw(st.sampled_from([2, 3, 5]))]
    for times in draw(st.lists(st.integers(2, 4), max_size=2)):
        numbers.append(numbers[-1] * times)
    written = json.dumps([f"{number} years" for number in numbers])
    days = draw(st.lists(st.dates(date(1, 1, 1), date(2100, 12, 31)), min_size=1, max_size=12))
    return Column(name, "date", Years(numbers), f"{{ dates = {written} }}", days)


def _ends(draw: st.DrawFn, *, whole: bool) -> tuple[Ends, str]:
    places = st.sampled_from(["-20", "0", "18", "17.5", "40"])
    below, above = sorted(Decimal(draw(places)) for _ in range(2))
    which = draw(st.sampled_from(["both", "below", "above"]))
    keys = {"below": below, "above": above}
    if which != "both":
        keys = {which: keys[which]}
    written = ", ".join(f"{key} = {value}" for key, value in keys.items())
    return Ends(keys.get("below"), keys.get("above"), whole), f"{{ {written} }}"


def _widths(draw: st.DrawFn, first: list[str]) -> list[Decimal]:
    widths = [Decimal(draw(st.sampled_from(first)))]
    for times in draw(st.lists(st.integers(2, 5), max_size=2)):
        widths.append(widths[-1] * times)
    return widths


@st.composite
def capped(draw: st.DrawFn, name: str) -> Column:
    kind = draw(st.sampled_from(["int", "bigint", "numeric", "double precision"]))
    whole = kind in ("int", "bigint")
    ends, cap = _ends(draw, whole=whole)
    widths = _widths(draw, ["1", "5", "0.5"])
    values = st.integers(-50, 50) if whole else st.integers(-400, 400).map(lambda eighths: eighths / 8)
    return Column(
        name,
        kind,
        Capped(Ranges(Decimal(0), widths), ends),
        f"{{ widths = [{', '.join(map(str, widths))}] }}, cap = {cap}",
        draw(st.lists(values, min_size=1, max_size=30)),
    )


@st.composite
def ages(draw: st.DrawFn, name: str) -> Column:
    ends, cap = _ends(draw, whole=True)
    widths = _widths(draw, ["2", "5"])
    near = st.integers(0, 800).map(lambda days: AT.replace(year=AT.year - 20) - timedelta(days))
    days = draw(st.lists(st.one_of(st.dates(date(1, 1, 1), AT), near), min_size=1, max_size=20))
    kind = draw(st.sampled_from(["date", "timestamp"]))
    if kind == "timestamp":
        days = [datetime(day.year, day.month, day.day, 14, 30) for day in days]
    return Column(
        name,
        kind,
        Ages(AT, Ranges(Decimal(0), widths), ends),
        f'{{ age_at = "{AT}", widths = [{", ".join(map(str, widths))}] }}, cap = {cap}',
        days,
    )


@st.composite
def cells(draw: st.DrawFn, name: str) -> Column:
    widths = _widths(draw, ["0.1", "1", "0.25"])
    side = st.integers(-1000, 1000).map(lambda eighths: format(eighths / 8, "g"))
    values = draw(
        st.lists(st.tuples(side, side).map(lambda xy: f"({xy[0]},{xy[1]})"), min_size=1, max_size=12)
    )
    return Column(name, "point", Cells(widths), f"{{ grid = [{', '.join(map(str, widths))}] }}", values)


FORMS = (codes, years, capped, ages, cells)
