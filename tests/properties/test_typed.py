"""Labels that are released as numbers, dates and ranges, against an oracle; classes are what the rows say."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.policy.load import parse
from anondb.run.plan import Options
from tests.properties import typed_oracle
from tests.properties.examples import Column, Example, calendars, laws, numbers, tables
from tests.properties.form_examples import ages, capped, years
from tests.properties.forms_oracle import Ages
from tests.properties.oracle import Class, Value
from tests.properties.test_datafly import fill, released

WORDS = st.sampled_from(["text", "range", "midpoint", "mean", "lower", "upper", "both"])
ALL = (numbers, calendars, years, capped, ages)
fewer = settings(laws, max_examples=max(laws.max_examples * 2 // 3, 1))


def kind(column: Column) -> str:
    if isinstance(column.hierarchy, Ages) or column.type in ("int", "bigint"):
        return "whole"
    return "date" if column.type == "date" else "number"


def with_words(draw: st.DrawFn, example: Example) -> tuple[Example, list[list[str]]]:
    """The same with a form for each column, as the policy writes it."""
    columns, words = [], []
    for column in example.columns:
        word = draw(WORDS)
        if column.type == "timestamp" and kind(column) != "whole":
            word = "text"  # moments: see the tests of the function
        if "cap" in column.written and word in ("midpoint", "mean"):
            word = "range"
        several = ["lower", "upper"] if word == "both" else [word]
        names = ", ".join(f'"{one}"' for one in several)
        columns.append(replace(column, written=f"{column.written}, release = [{names}]"))
        words.append(several)
    return replace(example, columns=tuple(columns)), words


@st.composite
def typed_tables(draw: st.DrawFn) -> tuple[Example, list[list[str]]]:
    return with_words(draw, draw(tables(of=ALL, suppress=["remove"])))


def shown(example: Example, words: list[list[str]], labels: Class, members: list[int]) -> tuple[object, ...]:
    """What is released of each record of a class."""
    values: list[object] = []
    for position, (column, several) in enumerate(zip(example.columns, words, strict=True)):
        originals: list[Value] = [example.rows[record][position] for record in members]
        if isinstance(column.hierarchy, Ages):
            originals = [None if one is None else column.hierarchy.age(one) for one in originals]
        for word in several:
            if word == "mean":
                values.append(typed_oracle.mean(originals, kind(column)))
            else:
                values.append(typed_oracle.value(labels[position], word, kind(column)))
    return tuple(values)


def comparable(row: tuple[object, ...]) -> tuple[object, ...]:
    """A mean that has no end of digits is rounded by the server."""
    numbers = (round(Fraction(one), 9) if isinstance(one, Decimal | Fraction) else one for one in row)
    return tuple(numbers)


@fewer
@given(typed_tables())
def test_what_is_released_is_what_the_label_says_or_the_mean_of_the_class(
    db: Database, tmp_path: Path, drawn: tuple[Example, list[list[str]]]
) -> None:
    example, words = drawn
    assume(example.satisfiable)
    fill(db, example)
    members: dict[Class, list[int]] = defaultdict(list)
    for record, labels in example.released_as(example.outcome()).items():
        members[labels].append(record)
    expected: Counter[tuple[object, ...]] = Counter()
    for labels, records in members.items():
        row = shown(example, words, labels, records)
        expected.update(comparable((*row, *example.kept(record))) for record in records)
    result = db.run(parse(example.policy(tmp_path), base=tmp_path), options=Options(allow_empty=True)).result
    rows = released(db)
    assert Counter(map(comparable, rows)) == expected
    columns = sum(map(len, words))
    sizes = Counter(row[:columns] for row in rows)
    assert result.k == min(sizes.values(), default=0) >= (example.k if rows else 0)
    assert result.classes == len(sizes) <= len(members)


@fewer
@given(st.data())
def test_classes_of_mondrian_are_what_the_rows_say(db: Database, tmp_path: Path, data: st.DataObject) -> None:
    example, words = data.draw(typed_tables())
    example = replace(example, numbered=True, nulls="value", suppression=Fraction(0))
    assume(example.satisfiable and example.rows)
    fill(db, example)
    text = example.policy(tmp_path).replace('"datafly"', '"mondrian"')
    result = db.run(parse(text, base=tmp_path)).result
    rows = released(db)
    assert len(rows) == len(example.rows)
    columns = sum(map(len, words))
    classes: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for *shown_values, _, record in rows:
        assert isinstance(record, int)
        classes[tuple(shown_values)].append(record)
    assert min(map(len, classes.values())) == result.k >= example.k
    at = 0
    for position, (column, several) in enumerate(zip(example.columns, words, strict=True)):
        for word in several:
            for values, records in classes.items():
                originals = [example.rows[record][position] for record in records]
                if isinstance(column.hierarchy, Ages):
                    originals = [one if one is None else column.hierarchy.age(one) for one in originals]
                check(word, values[at], originals, kind(column))
            at += 1
    assert at == columns


def check(word: str, value: object, originals: list[Value], kind: str) -> None:
    """True of every original; a mean lies among them, and is theirs where classes are not merged."""
    if word == "text" or all(one is None for one in originals):
        return
    known = [one if kind == "date" else Fraction(str(one)) for one in originals if one is not None]
    if word == "mean":
        mean = value if kind == "date" else Fraction(str(value))
        assert min(known) <= mean <= max(known) or abs(mean - min(known)) < Fraction(1, 10**9)  # type: ignore
    elif word == "range":
        assert all(one in value for one in known)  # type: ignore[operator]
    elif value is not None and word != "midpoint":
        bound = value if kind == "date" else Fraction(str(value))
        assert all(bound <= one if word == "lower" else one <= bound for one in known)  # type: ignore
