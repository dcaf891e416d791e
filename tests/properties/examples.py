"""Random small tables of persons, each with a policy that fits it."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.properties.oracle import (
    Calendar,
    Class,
    Hierarchy,
    Outcome,
    Ranges,
    Row,
    Stars,
    Tree,
    Value,
    datafly,
    text,
)

laws = settings(
    # ANONDB_EXAMPLES=2000 for a long look; the same database serves all examples of a test
    max_examples=int(os.environ.get("ANONDB_EXAMPLES", "15")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

KEPT = '{ role = "other", keep = "identifying" }'
NAMES = ("age", 'Zip "code"', "select", "größe %s")
UNITS = ("day", "month", "quarter", "year", "decade")
# alike in some sense that must not matter here: case, accents, spaces, signs that mean something in SQL
WORDS = ("a", "A", "ä", "a ", " a", "a'b", 'a"b', "%s", "$1", "\\N", "\\", "*", "", "🙂", "a;b", "null", "--")


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    hierarchy: Hierarchy
    written: str  # the hierarchy as the policy writes it
    values: Sequence[Value]  # that may occur
    file: str | None = None  # the text of its CSV file


@dataclass(frozen=True)
class Example:
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]  # the quasi-identifiers; a record's number is its place
    k: int
    suppression: Fraction
    suppress: str
    nulls: str
    numbered: bool  # the record's number is released, so that each record can be followed
    analyzed: bool  # the server has statistics: where few values are kept, rows are counted as a whole

    @property
    def eligible(self) -> list[int]:
        """The numbers of the records that a NULL does not leave out."""
        return [record for record, row in enumerate(self.rows) if self.nulls == "value" or None not in row]

    @property
    def hierarchies(self) -> list[Hierarchy]:
        """A mask is as high as the longest value that it has to hide."""
        return [
            replace(column.hierarchy, length=self._longest(position))
            if isinstance(column.hierarchy, Stars)
            else column.hierarchy
            for position, column in enumerate(self.columns)
        ]

    def _longest(self, position: int) -> int:
        values = (self.rows[record][position] for record in self.eligible)
        return max((len(text(value)) for value in values if value is not None), default=0)

    @property
    def satisfiable(self) -> bool:
        """At the top all records are one class, which is too small only where the table is."""
        return not 0 < len(self.eligible) < self.k

    def outcome(self) -> Outcome:
        """What the oracle makes of the records that are eligible."""
        rows = [self.rows[record] for record in self.eligible]
        made = datafly(rows, self.hierarchies, self.k, self.suppression, mask=self.suppress == "mask")
        assert made is not None
        return made

    def released_as(self, outcome: Outcome) -> dict[int, Class]:
        """What becomes of the quasi-identifiers of each record that is released."""
        released = zip(self.eligible, outcome.classes, strict=True)
        return {record: labels for record, labels in released if labels is not None}

    def kept(self, record: int) -> tuple[object, ...]:
        """What is released of a record as it is."""
        return (diagnosis(record), record) if self.numbered else (diagnosis(record),)

    def policy(self, folder: Path) -> str:
        lines = [
            'source = "clinic.Admissions 2024"',
            'target = "share.admissions"',
            "[privacy]",
            f"k = {self.k}",
            f"suppression = {float(self.suppression)}",
            f'suppress = "{self.suppress}"',
            f'nulls = "{self.nulls}"',
            '[method]\nalgorithm = "datafly"\n[columns]',
            'name = { role = "identifier" }',
            'diagnosis = { role = "sensitive" }',
            "record = " + (KEPT if self.numbered else '{ role = "identifier" }'),
        ]
        for number, column in enumerate(self.columns):
            written = column.written
            if column.file is not None:
                (folder / f"{number}.csv").write_text(column.file, encoding="utf-8", newline="")
                written = f'{{ csv = "{number}.csv" }}' if written == "csv" else f'"vgh {number}"'
            lines.append(f'{json.dumps(column.name)} = {{ role = "quasi", hierarchy = {written} }}')
        return "\n".join(lines)


def diagnosis(record: int) -> str:
    return ("flu", "cold", "'; --")[record % 3]


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    suppress: Sequence[str] = ("remove", "mask"),
    suppression: Sequence[str] = ("0", "0.01", "0.05", "0.29", "0.5", "1"),
    of: Sequence[Callable[[str], st.SearchStrategy[Column]]] | None = None,
) -> Example:
    makers = draw(st.lists(st.sampled_from(COLUMNS if of is None else of), min_size=1, max_size=4))
    columns = tuple(draw(maker(name)) for maker, name in zip(makers, NAMES, strict=False))
    nullable = [draw(st.booleans()) for _ in columns]
    number_of_rows = draw(st.integers(0, 200))
    skew = draw(st.sampled_from([0.05, 0.2, 0.5]))
    dice = Random(draw(st.integers(0, 2**16)))  # rows that hypothesis drew one by one would be few
    rows = tuple(
        tuple(
            None if may_be_null and dice.random() < 0.1 else _skewed(dice, column.values, skew)
            for column, may_be_null in zip(columns, nullable, strict=True)
        )
        for _ in range(number_of_rows)
    )
    return Example(
        columns,
        rows,
        k=draw(st.integers(2, 12)),
        suppression=Fraction(draw(st.sampled_from(suppression))),
        suppress=draw(st.sampled_from(suppress)),
        nulls=draw(st.sampled_from(["value", "suppress"])),
        numbered=draw(st.booleans()),
        analyzed=draw(st.booleans()),
    )


def _skewed(dice: Random, values: Sequence[Value], skew: float) -> Value:
    """The first values most often, as in life."""
    return values[min(int(dice.expovariate(skew)), len(values) - 1)]


@st.composite
def trees(draw: st.DrawFn, name: str) -> Column:
    """Branches of different lengths; a leaf may share its label with an inner node beside it."""
    word = draw(st.sampled_from(WORDS))
    paths: dict[str, list[str]] = {}

    def grow(above: list[str], depth: int) -> None:
        for _ in range(draw(st.integers(1, 3))):
            label = f"{word}{len(paths)}{'-' * depth}"
            if depth == 3 or draw(st.booleans()):
                paths[label] = above
            else:
                grow([label, *above], depth + 1)
                if draw(st.booleans()):
                    paths[label] = above

    grow([draw(st.sampled_from(["*", "Anything", "it's"]))], 1)
    sense = draw(st.sampled_from(["", "#1", "#12"]))
    lines = (";".join(_cell(label + sense) for label in (leaf, *above)) for leaf, above in paths.items())
    return Column(
        name,
        draw(st.sampled_from(["text", "varchar(40)", 'text collate "C"'])),
        Tree(paths),
        draw(st.sampled_from(["csv", "stored"])),
        draw(st.permutations(list(paths))),
        file="\n".join(lines) + "\n",
    )


def _cell(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


@st.composite
def numbers(draw: st.DrawFn, name: str) -> Column:
    """Below zero and above, with and without a fraction."""
    kind = draw(st.sampled_from(["int", "bigint", "numeric", "numeric(9, 3)", "double precision"]))
    whole = kind in ("int", "bigint")
    if kind == "double precision":
        values = st.integers(-400, 400).map(lambda eighths: eighths / 8)
    elif whole:
        values = st.integers(-50, 50)
    else:
        # 1.5 and 1.50 are one value
        values = st.one_of(*[st.decimals(-50, 50, places=places) for places in range(4)])
    widths = [draw(st.sampled_from([Decimal(w) for w in ("1", "3", "5", "0.1", "0.25", "2.50")]))]
    for times in draw(st.lists(st.integers(2, 10), max_size=2)):
        widths.append(widths[-1] * times)
    start = draw(st.sampled_from([Decimal(s) for s in ("0", "17", "-3", "0.05", "-0.125")]))
    return Column(
        name,
        kind,
        Ranges(start, widths),
        f"{{ start = {start}, widths = [{', '.join(map(str, widths))}] }}",
        draw(st.lists(values, min_size=1, max_size=30)),
    )


@st.composite
def calendars(draw: st.DrawFn, name: str) -> Column:
    units = [unit for unit in UNITS if draw(st.booleans())] or ["year"]
    written = f"{{ dates = {json.dumps(units)} }}"
    days = draw(st.lists(st.dates(date(999, 1, 1), date(2040, 12, 31)), min_size=1, max_size=6))
    near = [day + timedelta(days=n) for day in days for n in draw(st.lists(st.integers(0, 400), max_size=3))]
    if draw(st.booleans()):
        # the text of a date is its day, so that level does not exist
        coarser = [unit for unit in units if unit != "day"]
        return Column(name, "date", Calendar(coarser), written, days + near)
    clock = st.times(min_value=datetime(2000, 1, 1, 0, 0).time())
    moments = [datetime.combine(day, draw(clock)) for day in days + near]
    return Column(name, "timestamp", Calendar(units), written, moments)


@st.composite
def masks(draw: st.DrawFn, name: str) -> Column:
    side = draw(st.sampled_from(["right", "left", "all"]))
    written = f'{{ mask = "{side}" }}'
    if side == "all" and draw(st.booleans()):
        values: list[Value] = list(draw(st.lists(st.integers(-10, 12000), min_size=1, max_size=30)))
        return Column(name, "int", Stars(side, 0), written, values)
    alphabet = st.sampled_from([*string.digits[:3], "ß", "🙂", "*", " ", "'"])
    codes = draw(st.lists(st.text(alphabet, max_size=5), min_size=1, max_size=12))
    return Column(name, "text", Stars(side, 0), written, codes)


COLUMNS = (trees, numbers, calendars, masks)
