"""The laws of a Mondrian release, on random tables, against a naive recursive implementation in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anondb.api import Database, Release
from anondb.errors import UnsatisfiableError
from anondb.policy.load import parse
from anondb.run.plan import Options
from tests.properties.examples import Example, laws, tables
from tests.properties.mondrian_oracle import Point, mondrian
from tests.properties.oracle import Label, Tree, Value, label_of, text
from tests.properties.test_datafly import fill, released, released_bytes

ORDERED = ("int", "bigint", "numeric", "double precision", "date", "timestamp")


@dataclass(frozen=True)
class Partitioned:
    """An example, and what only partitioning can do with it."""

    example: Example
    bare: tuple[bool, ...]  # which columns have no hierarchy in the policy
    strict: bool
    exact: bool = False
    by_loss: bool = False  # cuts are those that save most of the loss

    def policy(self, folder: Path) -> str:
        written = self.example.policy(folder).replace(
            '"datafly"', f'"mondrian"\nstrict = {self.flag}\nbounds = "{self.bounds}"\nsplit = "{self.split}"'
        )
        lines = written.splitlines()
        for column, bare in zip(self.example.columns, self.bare, strict=True):
            start = f'{json.dumps(column.name)} = {{ role = "quasi"'
            lines = [start + " }" if bare and line.startswith(start) else line for line in lines]
        return "\n".join(lines)

    @property
    def flag(self) -> str:
        return "true" if self.strict else "false"

    @property
    def split(self) -> str:
        return "loss" if self.by_loss else "width"

    @property
    def bounds(self) -> str:
        return "exact" if self.exact else "rounded"

    @property
    def rows(self) -> list[tuple[Value, ...]]:
        """The quasi-identifiers of the records that are released."""
        return [self.example.rows[record] for record in self.example.eligible]

    def ordered(self, column: int) -> bool:
        return self.example.columns[column].type.startswith(ORDERED)

    def order(self, column: int) -> list[Value]:
        """The values of a column from code 1 on."""
        values = {text(row[column]): row[column] for row in self.rows if row[column] is not None}
        hierarchy = self.example.columns[column].hierarchy
        if self.ordered(column):
            return sorted(values.values(), key=measure)
        if isinstance(hierarchy, Tree) and not self.bare[column]:
            return [leaf for leaf in hierarchy.paths if leaf in values]
        return [values[one] for one in sorted(values, key=str.encode)]

    def coded(self) -> tuple[list[Point], list[list[Fraction]]]:
        """The records as codes, and what the codes of each column measure."""
        codes: list[dict[str | None, int]] = []
        places: list[list[Fraction]] = []
        for column, _ in enumerate(self.example.columns):
            order = self.order(column)
            codes.append({None: 0} | {text(value): code for code, value in enumerate(order, 1)})
            if self.ordered(column):
                measured = [measure(value) for value in order]
                # a NULL adds nothing to the width of a range of numbers
                places.append([min(measured, default=Fraction(0)), *measured])
            else:
                # of categories it is one more; the place of a NULL counts only where there are some
                first = 0 if any(row[column] is None for row in self.rows) else 1
                places.append([Fraction(max(code, first)) for code in range(len(order) + 1)])
        points = [
            tuple(codes[c][None if value is None else text(value)] for c, value in enumerate(row))
            for row in self.rows
        ]
        return points, places

    def label(self, column: int, values: Sequence[Value]) -> Label:
        """What a class with these values releases."""
        hierarchy = self.example.hierarchies[column]
        known = {text(value) for value in values if value is not None}
        if len({None if value is None else text(value) for value in values}) == 1:
            return next(iter(known), None)
        if self.ordered(column) or self.bare[column]:
            if None in values:
                return "*"
            present = [text(value) for value in self.order(column) if text(value) in known]
            if self.ordered(column) and self.exact:
                return f"[{present[0]}, {present[-1]}]"
            if self.ordered(column):
                ends = [value for value in self.order(column) if text(value) in (present[0], present[-1])]
                return rounded(ends[0], ends[-1], self.example.columns[column].type)
            return "{" + ", ".join(present) + "}"
        levels = (
            {label_of(value, hierarchy, level) for value in values} for level in range(hierarchy.height + 1)
        )
        return next(labels.pop() for labels in levels if len(labels) == 1)


def measure(value: Value) -> Fraction:
    match value:
        case datetime():
            since = value - datetime(1, 1, 1)
            return Fraction((since.days * 86400 + since.seconds) * 10**6 + since.microseconds, 10**6)
        case date():
            return Fraction(value.toordinal() * 86400)
    return Fraction(text(value))


def measured(end: str, like: Value) -> Fraction:
    """What the end of a range measures."""
    if isinstance(like, datetime):
        return measure(datetime.fromisoformat(end))
    return measure(date.fromisoformat(end)) if isinstance(like, date) else Fraction(end)


def years(at: datetime, many: int) -> tuple[datetime, datetime]:
    first = at.year // many * many
    return datetime(first, 1, 1), datetime(first + many, 1, 1)


def months(at: datetime, many: int) -> tuple[datetime, datetime]:
    first = at.year * 12 + (at.month - 1) // many * many
    return datetime(first // 12, first % 12 + 1, 1), datetime(
        (first + many) // 12, (first + many) % 12 + 1, 1
    )


def days_of(at: datetime, many: int) -> tuple[datetime, datetime]:
    first = datetime(at.year, at.month, at.day)
    return first, first + timedelta(many)


def part_of_day(at: datetime, seconds: Fraction) -> tuple[datetime, datetime]:
    micros = int(seconds * 10**6)
    midnight = datetime(at.year, at.month, at.day)
    first = midnight + (at - midnight) // timedelta(microseconds=micros) * timedelta(microseconds=micros)
    return first, first + timedelta(microseconds=micros)


UNITS: list[tuple[Fraction, Callable[[datetime], tuple[datetime, datetime]]]] = [
    (Fraction(86400 * days), unit)
    for days, unit in [
        (3653, lambda at: years(at, 10)),
        (366, lambda at: years(at, 1)),
        (92, lambda at: months(at, 3)),
        (31, lambda at: months(at, 1)),
        (7, lambda at: days_of(at - timedelta(at.weekday()), 7)),
        (1, lambda at: days_of(at, 1)),
    ]
] + [
    (Fraction(seconds), partial(part_of_day, seconds=Fraction(seconds)))
    for seconds in ("3600", "60", "1", "1/1000", "1/1000000")
]
"""Seconds of a calendar unit, and the unit that a moment lies in."""


def rounded(low: Value, high: Value, type_: str) -> str:
    """A range with both ends moved outward, by the largest step that is not above a tenth of it."""
    width = measure(high) - measure(low)
    if isinstance(low, date) and isinstance(high, date):
        return rounded_days(low, high, width)
    steps = (factor * Fraction(10) ** power for power in range(20, -20, -1) for factor in (5, 2, 1))
    step = next(step for step in steps if step * 10 <= width)
    if type_.startswith(("int", "bigint")):
        step = max(step, Fraction(1))
    return f"[{number(measure(low) // step * step)}, {number(-(-measure(high) // step) * step)}]"


def rounded_days(low: date, high: date, width: Fraction) -> str:
    if isinstance(low, datetime) and isinstance(high, datetime):
        unit = next(unit for seconds, unit in UNITS if seconds * 10 <= width)
        last = high if unit(high)[0] == high else unit(high)[1]
        return f"[{text(unit(low)[0])}, {text(last)}]"
    days = UNITS[:6]
    unit = next((unit for seconds, unit in days if seconds * 10 <= width), days[-1][1])
    first, end = (unit(datetime(at.year, at.month, at.day)) for at in (low, high))
    return f"[{first[0].date()}, {end[1].date() - timedelta(1)}]"


def number(value: Fraction) -> str:
    """As a decimal without zeros at its end."""
    written = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


@st.composite
def partitioned(draw: st.DrawFn, strict: bool | None = None) -> Partitioned:
    example = draw(tables(suppress=["remove"], suppression=["0"]))
    bare = tuple(draw(st.booleans()) for _ in example.columns)
    by_loss = strict is None and draw(st.booleans())
    strict = by_loss or draw(st.booleans()) if strict is None else strict
    return Partitioned(example, bare, strict, exact=draw(st.booleans()), by_loss=by_loss)


def publish(db: Database, case: Partitioned, folder: Path) -> Release:
    policy = case.policy(folder)
    for number, column in enumerate(case.example.columns):
        if column.written == "stored":
            db.hierarchies.load(f"vgh {number}", folder / f"{number}.csv", replace=True)
    return db.run(parse(policy, base=folder), options=Options(allow_empty=True))


@laws
@given(case=partitioned(strict=True))
def test_strict_classes_are_those_of_the_naive_recursion(
    db: Database, tmp_path: Path, case: Partitioned
) -> None:
    fill(db, case.example)
    if not case.example.satisfiable:
        with pytest.raises(UnsatisfiableError, match="larger than the table"):
            publish(db, case, tmp_path)
        return
    result = publish(db, case, tmp_path).result
    points, places = case.coded()
    classes = mondrian(points, places, case.example.k)
    expected: Counter[tuple[object, ...]] = Counter()
    for members in classes:
        columns = range(len(case.example.columns))
        labels = tuple(case.label(c, [case.rows[member][c] for member in members]) for c in columns)
        expected.update((*labels, *case.example.kept(case.example.eligible[member])) for member in members)
    assert Counter(released(db)) == expected
    assert result.as_json()["iterations"] == max(2 * len(classes) - 1, 1)
    assert result.suppressed == len(case.example.rows) - len(case.example.eligible)


@laws
@given(case=partitioned())
def test_every_class_has_k_records_and_no_record_is_lost(
    db: Database, tmp_path: Path, case: Partitioned
) -> None:
    assume(case.example.satisfiable)
    fill(db, case.example)
    result = publish(db, case, tmp_path).result
    rows = released(db)
    sizes = Counter(row[: len(case.example.columns)] for row in rows)
    assert all(size >= case.example.k for size in sizes.values())
    assert (len(rows), len(sizes)) == (result.released, result.classes)
    assert len(rows) == len(case.example.eligible)
    assert Counter(row[len(case.example.columns)] for row in rows) == Counter(
        case.example.kept(record)[0] for record in case.example.eligible
    )


@laws
@given(case=partitioned())
def test_every_label_is_true_of_its_record(db: Database, tmp_path: Path, case: Partitioned) -> None:
    assume(case.example.satisfiable)
    case = replace(case, example=replace(case.example, numbered=True))
    fill(db, case.example)
    publish(db, case, tmp_path)
    for *labels, _, record in released(db):
        assert isinstance(record, int)
        for column, label in enumerate(labels):
            assert label is None or isinstance(label, str)
            assert says(case, column, label, case.example.rows[record][column])


def says(case: Partitioned, column: int, label: Label, value: Value) -> bool:
    """Whether a label could stand for a value, by nothing but reading it."""
    hierarchy = case.example.hierarchies[column]
    if value is None:
        return label in (None, "*", hierarchy.root)
    if label is None:
        return False
    if label in ("*", text(value)):
        return True
    if case.ordered(column):
        low, high = (measured(end, value) for end in label[1:-1].split(", "))
        return low <= measure(value) <= high
    if case.bare[column]:
        return text(value) in label and label[0] + label[-1] == "{}"
    return hierarchy.covers(label, value)


two_runs = settings(laws, max_examples=max(laws.max_examples // 2, 1))


@two_runs
@given(case=partitioned())
def test_the_same_rows_give_the_same_bytes_whatever_their_order_and_statistics(
    db: Database, tmp_path: Path, case: Partitioned
) -> None:
    assume(case.example.satisfiable)
    fill(db, case.example)
    publish(db, case, tmp_path)
    first = released_bytes(db)
    order = list(range(len(case.example.rows)))
    Random(7).shuffle(order)
    fill(db, replace(case.example, analyzed=not case.example.analyzed), order)
    publish(db, case, tmp_path)
    assert released_bytes(db) == first
