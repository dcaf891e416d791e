"""What a CSV file is taken for: its form, the types of its columns, and why it is refused; never quoting a cell."""

from __future__ import annotations

import csv
import io
import random
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anondb.errors import UsageError
from anondb.exchange import csv_rows
from anondb.exchange.csv_form import recognize
from anondb.exchange.csv_table import Wishes, inspect

SECRET = "Secretia"


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    file = folder / "people.csv"
    file.write_bytes(text.encode(encoding))
    return file


def types(folder: Path, text: str, **wishes: object) -> dict[str, str]:
    found = inspect(written(folder, text), Wishes(**wishes))  # type: ignore[arg-type]
    return {column.name: column.kind.name for column in found.columns}


def kind_of(folder: Path, *cells: str, delimiter: str = ";") -> str:
    """The kind of a column with these cells, beside one of texts."""
    lines = "".join(f"{cell}{delimiter}text\n" for cell in cells)
    return types(folder, f"value{delimiter}other\n{lines}")["value"]


def refused(path: Path, wishes: Wishes | None = None) -> str:
    with pytest.raises(UsageError) as raised:
        inspect(path, wishes)
    assert SECRET not in str(raised.value)
    assert raised.value.hint
    return raised.value.message


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2", "0"], "integer"),
        (["1", "2147483648"], "bigint"),
        (["1", "9223372036854775808"], "numeric"),
        (["1", "2.50", "-.5"], "numeric"),
        (["1", "2.5e10"], "double"),
        (["02139", "10001"], "text"),  # a code
        (["+49", "1"], "text"),  # a number of a telephone
        (["1 000", "2"], "text"),
        (["٣", "1"], "text"),  # a digit, and none that PostgreSQL reads
        (["NaN", "1"], "text"),
        (["true", "FALSE"], "boolean"),
        (["t", "f"], "text"),
        (["2024-02-29", "1980-12-31"], "date"),
        (["2023-02-29", "1980-12-31"], "text"),  # no such day
        (["2024-02-29", "2024-01-01 10:30"], "timestamp"),
        (["2024-01-01T10:30:00Z", "2024-01-01 10:30+02"], "timestamptz"),
        (["10:30", "23:59:59.5"], "time"),
        (["31.12.1980", "1.2.1990"], "date:dmy"),
        (["31/12/1980", "01/02/1990"], "date:dmy"),
        (["12/31/1980", "01/02/1990"], "date:mdy"),
        (["01/02/1990", "03/04/1990"], "text"),  # may be either
        (["31/12/1980", "12/31/1980"], "text"),
        (["72,5", "80"], "numeric:comma"),
        (["1,250", "80"], "text"),  # may be either
        (["1,250", "72,5"], "numeric:comma"),
        (["", ""], "text"),
        (["1", "", "3"], "integer"),
        (["1", "n/a"], "text"),
    ],
)
def test_a_column_has_the_narrowest_type_that_is_true_of_all_its_cells(
    tmp_path: Path, cells: list[str], kind: str
) -> None:
    assert kind_of(tmp_path, *cells) == kind


def test_a_doubt_is_told_and_can_be_settled(tmp_path: Path) -> None:
    text = "born;pay\n01/02/1990;1,250\n03/04/1991;2,500\n"
    found = inspect(written(tmp_path, text))
    assert [bool(column.doubt) for column in found.columns] == [True, True]
    wanted = inspect(found.path, Wishes(types={"born": "date:mdy", "pay": "numeric:comma"}))
    assert [column.doubt for column in wanted.columns] == [None, None]
    assert list(wanted.rows()) == [["1990-01-02", "1.250"], ["1991-03-04", "2.500"]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "windows-1252"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_encoding_separator_and_line_ends_are_recognized(
    tmp_path: Path, delimiter: str, encoding: str, line_end: str
) -> None:
    lines = ["name|town", "Zoë|Besançon", f'"a{delimiter}b"|"say ""x"""', "Bob|"]
    text = line_end.join(delimiter.join(line.split("|")) for line in lines)
    found = inspect(written(tmp_path, text, encoding))
    assert [column.name for column in found.columns] == ["name", "town"]
    assert list(found.rows()) == [["Zoë", "Besançon"], [f"a{delimiter}b", 'say "x"'], ["Bob", None]]
    assert found.form.delimiter == delimiter


def test_a_guessed_encoding_is_called_so(tmp_path: Path) -> None:
    assert inspect(written(tmp_path, "name,town\nZoë,X\n", "windows-1252")).form.is_guessed
    assert not inspect(written(tmp_path, "name,town\nZoë,X\n")).form.is_guessed


def test_blanks_after_every_separator_are_no_part_of_the_cells(tmp_path: Path) -> None:
    assert types(tmp_path, "age, job\n39, State-gov\n50, Private\n") == {"age": "integer", "job": "text"}
    assert list(inspect(tmp_path / "people.csv").rows()) == [["39", "State-gov"], ["50", "Private"]]


def test_other_texts_stand_for_null_where_it_is_said(tmp_path: Path) -> None:
    text = "age,job\nNA,\n?,clerk\n7,NA\n"
    assert types(tmp_path, text, nulls=("NA", "?")) == {"age": "integer", "job": "text"}
    found = inspect(tmp_path / "people.csv", Wishes(nulls=("NA", "?")))
    assert list(found.rows()) == [[None, ""], [None, "clerk"], ["7", None]]


def test_rows_of_another_width_are_refused_by_line(tmp_path: Path) -> None:
    text = f'name,age\nAnn,3\n"{SECRET}\n{SECRET}",4\n{SECRET}\n\nBob,5,{SECRET}\n'
    file = written(tmp_path, text)
    assert refused(file) == (
        f"{file} line 5: 1 cell, and the header has 2\n{file} line 7: 3 cells, and the header has 2"
    )


def test_only_the_first_of_many_bad_rows_are_told(tmp_path: Path) -> None:
    assert len(refused(written(tmp_path, "a,b\n" + f"{SECRET}\n" * 1000)).splitlines()) == 10


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("name,name\n", "columns 1 and 2 have the same name"),
        (f"{SECRET},39,{SECRET}\nx,40,y\n", "columns 1 and 3 have the same name"),
        ("name,,age,\n", "columns 2, 4 have no name"),
        (f"{'x' * 64},age\n", "the name of column 1 is longer than PostgreSQL's 63 bytes"),
        (f"{SECRET},39\nAnn,40\nBob,50\n", "the first line looks like a row: column 2 has a value there"),
        (f"name,age\n{SECRET}\0,3\n", "line 2: holds a NUL character"),
        (f'name,age\nAnn,3\n"{SECRET},4\nBob,5\n', "line 3: a quote that opens here is never closed"),
        (f'name,age\n"{SECRET}"x,3\n', "line 2: something follows the quote that closes a cell"),
        (",".join(f"c{i}" for i in range(1601)) + "\n", "has 1,601 columns"),
    ],
)
def test_what_cannot_be_loaded_is_refused_by_line_or_column(tmp_path: Path, text: str, told: str) -> None:
    assert told in refused(written(tmp_path, text))


def test_a_table_of_1600_columns_is_taken(tmp_path: Path) -> None:
    text = ",".join(f"c{i}" for i in range(1600)) + "\n" + ",".join("1" * 1600) + "\n"
    assert len(types(tmp_path, text)) == 1600


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    found = inspect(written(tmp_path, "name,age\n"))
    assert ([column.kind.name for column in found.columns], found.records) == (["text", "text"], 0)


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_cell_beyond_all_bounds_is_refused_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quote: str
) -> None:
    monkeypatch.setattr(csv_rows, "LONGEST", 200_000)
    before = csv.field_size_limit()
    fitting = written(tmp_path, f"name,age\n{quote}{'x' * 150_000}{quote},3\n")  # more than csv's own limit
    assert inspect(fitting).records == 1
    beyond = f"{SECRET}\n" * 30_000 if quote else SECRET * 30_000
    assert "line 2: " in refused(written(tmp_path, f"name,age\n{quote}{beyond}{quote},3\n"))
    assert csv.field_size_limit() == before


def test_names_can_be_given(tmp_path: Path) -> None:
    text = "Ann,39\nBob,40\n"
    assert types(tmp_path, text, columns=("name", "age")) == {"name": "text", "age": "integer"}
    assert types(tmp_path, text, header=False) == {"column1": "text", "column2": "integer"}
    assert types(tmp_path, "a,a\nAnn,39\n", columns=("name", "age"), header=True)["age"] == "integer"
    assert types(tmp_path, "2023,2024\n1,2\n", header=True) == {"2023": "integer", "2024": "integer"}
    assert "3 names were given" in refused(tmp_path / "people.csv", Wishes(columns=("a", "b", "c")))


def test_a_type_that_was_asked_for_is_held_against_every_cell(tmp_path: Path) -> None:
    text = f"zip,age\n12345,39\n23456,{SECRET}\n"
    assert types(tmp_path, text, types={"zip": "text"})["zip"] == "text"
    file = tmp_path / "people.csv"
    assert (
        refused(file, Wishes(types={"age": "integer"})) == f'{file} line 3: the value of "age" is not integer'
    )
    assert "no type is called" in refused(file, Wishes(types={"age": "int4; drop table x"}))
    assert "no column 'ago'" in refused(file, Wishes(types={"ago": "text"}))


@pytest.mark.parametrize(
    ("wishes", "told"),
    [
        (Wishes(encoding="klingon"), "no encoding is called"),
        (Wishes(encoding="rot13"), "no encoding is called"),
        (Wishes(encoding="ascii"), "not ascii, in line 1 or soon after"),
        (Wishes(delimiter='"'), "a delimiter is one character"),
        (Wishes(delimiter="ab"), "a delimiter is one character"),
    ],
)
def test_a_wish_that_cannot_be_is_refused(tmp_path: Path, wishes: Wishes, told: str) -> None:
    assert told in refused(written(tmp_path, f"name,age\n{SECRET}ë,3\n"), wishes)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "there is none" in refused(tmp_path / "nobody.csv")
    assert "is no file" in refused(tmp_path)


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@settings(max_examples=60)
@given(st.data())
def test_what_was_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A file that Python's own writer makes has the cells that it was given, whatever they are."""
    width = data.draw(st.integers(2, 4))
    rows = data.draw(st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=8))
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([[f"c{i}" for i in range(width)], *rows])
    file = written(tmp_path_factory.mktemp("csv"), text.getvalue())
    found = inspect(file, Wishes(header=True, types={f"c{i}": "text" for i in range(width)}, delimiter=","))
    assert list(found.rows()) == [[cell or None for cell in row] for row in rows]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    dice = random.Random(1)
    for records in (20_000, 80_000):
        lines = "".join(f"{dice.random()},{dice.random()}\n" for _ in range(records))
        file = written(tmp_path, f"a,b\n{lines}")
        tracemalloc.start()
        assert sum(1 for _ in inspect(file).rows()) == records
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_the_form_is_told_in_words(tmp_path: Path) -> None:
    assert re.fullmatch("UTF-8, separated by semicolons", str(recognize(written(tmp_path, "a;b\n"))))
