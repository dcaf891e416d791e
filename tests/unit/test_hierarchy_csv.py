"""Hierarchies in CSV files and as text trees: what is read, what is refused, what is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anondb.errors import UsageError
from anondb.hierarchies import csvfile, tree
from anondb.hierarchies.forms import VghTable
from tests import adult

ANIMALS = VghTable((("Salmon", "Fish", "*"), ("Trout", "Fish", "*"), ("Wren", "Bird", "*")))


def refusal(text: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        csvfile.parse(text, place="animals.csv")
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Salmon;Fish;*\nTrout;Fish;*\nWren;Bird;*\n", id="plain"),
        pytest.param("Salmon;Fish;*\nTrout;Fish;*\nWren;Bird;*", id="no-newline-at-the-end"),
        pytest.param("\ufeffSalmon;Fish;*\r\nTrout;Fish;*\r\nWren;Bird;*\r\n", id="bom-and-crlf"),
        pytest.param('"Salmon";"Fish";"*"\n"Trout";"Fish";"*"\n"Wren";"Bird";"*"\n', id="quoted"),
        pytest.param("Salmon,Fish,*\nTrout,Fish,*\nWren,Bird,*\n", id="commas"),
        pytest.param("Salmon\tFish\t*\nTrout\tFish\t*\nWren\tBird\t*\n", id="tabs"),
        pytest.param(' Salmon ; Fish;*\nTrout ;"Fish" ; *\nWren; Bird ;*\n', id="white-space"),
        pytest.param("Salmon;Fish;*;;\n\nTrout;Fish;*\n;;\nWren;Bird;*;\n", id="empty-ends-and-lines"),
    ],
)
def test_every_form_of_a_file_gives_the_same_table(text: str) -> None:
    assert csvfile.parse(text, place="animals.csv") == ANIMALS


def test_a_quoted_cell_is_a_label_as_it_stands() -> None:
    table = csvfile.parse('" a;b ";"say ""x""\nor y";*\n5";5" and 6";*\n', place="odd.csv")
    assert table.rows == ((" a;b ", 'say "x"\nor y', "*"), ('5"', '5" and 6"', "*"))


def test_a_semicolon_inside_quotes_does_not_separate() -> None:
    table = csvfile.parse('"a;b",*\n"c;d",*\n', place="commas.csv")
    assert table.rows == (("a;b", "*"), ("c;d", "*"))


def test_a_shorter_row_repeats_its_leaf_upwards() -> None:
    table = csvfile.parse("Wren;Songbird;Bird;*\nSalmon;Fish;*\nStone;*;;\n", place="animals.csv")
    assert table.rows == (
        ("Wren", "Songbird", "Bird", "*"),
        ("Salmon", "Salmon", "Fish", "*"),
        ("Stone", "Stone", "Stone", "*"),
    )


def test_a_repeated_leaf_may_be_a_class_with_the_same_parent() -> None:
    table = csvfile.parse("Salmon;Fish;*\nFish;*\n", place="animals.csv")
    assert table.rows == (("Salmon", "Fish", "*"), ("Fish", "Fish", "*"))


def test_a_repeated_leaf_may_not_be_a_class_with_another_parent() -> None:
    error = refusal("Salmon;Fish;Water;*\nFish;Animal;*\n")
    assert '"Fish" at level 1 lies under "Animal", and in line 1 under "Water"' in error.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;b;*\nc;d;Food\n", 'line 2: two roots: "Food" here, and "*" in line 1'),
        ("name;group;all\na;b;*\nc;d;*\n", 'line 1: two roots: "all" here, and "*" in line 2'),
        ("a;b;*\nc;b;;\n", 'line 2: two roots: "b" here, and "*" in line 1'),
        ("a;b;*\nc;b;*\na;d;*\n", 'line 3: the leaf "a" is in line 1 already'),
        ("a;b;*\na;b;*\n", 'line 2: the leaf "a" is in line 1 already'),
        ("a#1;b;*\na#2;c;*\n", 'line 2: the leaf "a#2" is in line 1 already as "a#1"'),
        ("a;b;*\nc;;*\n", 'line 2: the cell after "c" is empty'),
        ('a;b;*\nc;"";*\n', 'line 2: the cell after "c" is empty'),
        ("a;b;*\n ;b;*\n", "line 2: the leaf is empty"),
        ("a;b;*\nc\n", 'line 2: "c" stands without a root'),
        ("a;x;A;*\nb;x;B;*\n", 'line 2: "x" at level 1 lies under "B", and in line 1 under "A"'),
        ('a;b;*\n"c;d;*\n', 'line 2: the quote of "\\"c" is not closed'),
        ('"a\nb";*\n;*\n', "line 3: the leaf is empty"),
        ("a\nb\n", "every row is one cell"),
        ("\n;;\n", "holds no rows"),
        ("", "holds no rows"),
        ("a\0;*\n", "NUL character"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place_and_a_hint(text: str, expected: str) -> None:
    error = refusal(text)
    assert expected in error.message
    assert error.message.startswith("animals.csv")
    assert error.hint


def test_all_problems_are_told_at_once() -> None:
    error = refusal("a;b;*\nc;;*\na;b;*\n;b;*\nd;b;Food\n")
    assert [line.split(":")[0] for line in error.message.splitlines()] == [
        f"animals.csv line {number}" for number in (2, 3, 4, 5)
    ]


def test_of_many_problems_ten_are_listed_and_the_rest_is_counted() -> None:
    lines = refusal("a;b;*\n" + ";b;*\n" * 25).message.splitlines()
    assert len(lines) == 11
    assert lines[-1] == "and 15 more"


def test_an_ambiguous_class_is_told_once() -> None:
    error = refusal("a;x;A;*\nb;x;B;*\nc;x;B;*\nd;x;B;*\n")
    assert len(error.message.splitlines()) == 1


def test_a_file_that_cannot_be_read_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        csvfile.read(tmp_path / "absent.csv")
    with pytest.raises(UsageError, match="cannot be read"):
        csvfile.read(tmp_path)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("Löwe;*\n".encode("latin-1"))
    with pytest.raises(UsageError, match="not UTF-8"):
        csvfile.read(latin)


LABELS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
PARTS = st.lists(LABELS, min_size=1, max_size=8, unique_by=lambda label: csvfile.split_sense(label)[0])


@given(leaves=PARTS, groups=PARTS, root=LABELS, data=st.data())
def test_a_written_table_is_read_back_unchanged(
    tmp_path_factory: pytest.TempPathFactory,
    leaves: list[str],
    groups: list[str],
    root: str,
    data: st.DataObject,
) -> None:
    table = VghTable(tuple((leaf, data.draw(st.sampled_from(groups)), root) for leaf in leaves))
    assert csvfile.parse(csvfile.write(table), place="x.csv") == table
    file = tmp_path_factory.mktemp("written") / "x.csv"
    file.write_bytes(csvfile.write(table).encode())
    assert csvfile.read(file) == table


@given(st.text(alphabet='ab#1;,\t" \r\n*', max_size=60))
def test_any_text_is_a_table_or_a_usage_error(text: str) -> None:
    try:
        table = csvfile.parse(text, place="x.csv")
    except UsageError:
        return
    assert {len(row) for row in table.rows} == {table.height + 1}
    assert len({row[-1] for row in table.rows}) == 1
    assert len({row[0] for row in table.rows}) == len(table.rows)
    assert all(cell for row in table.rows for cell in row)


@pytest.mark.parametrize(
    ("label", "parts"),
    [
        ("salmon#1", ("salmon", 1)),
        ("salmon#12", ("salmon", 12)),
        ("C##2", ("C#", 2)),
        ("salmon", ("salmon", None)),
        ("salmon#0", ("salmon#0", None)),
        ("salmon #x", ("salmon #x", None)),
        ("#1", ("#1", None)),
        (" #1", (" #1", None)),
        ("salmon#1\n", ("salmon#1\n", None)),
        ("salmon#" + "9" * 5000, ("salmon#" + "9" * 5000, None)),
    ],
)
def test_a_sense_is_a_number_after_a_term(label: str, parts: tuple[str, int | None]) -> None:
    assert csvfile.split_sense(label) == parts


def test_hierarchies_in_the_form_that_arx_writes_are_read(tmp_path: Path) -> None:
    tables = {
        path.stem.removeprefix("adult_hierarchy_"): csvfile.read(path)
        for path in adult.write(tmp_path).glob("adult_hierarchy_*.csv")
    }
    assert {name: table.height for name, table in tables.items()} == {
        "age": 4,
        "education": 3,
        "marital-status": 2,
        "native-country": 2,
        "occupation": 2,
        "race": 1,
        "salary-class": 1,
        "sex": 1,
        "workclass": 2,
    }
    assert len(tables["age"].rows) == 100


def test_a_tree_is_drawn_from_its_root_in_the_order_of_the_leaves() -> None:
    table = csvfile.parse("Wren;Bird;*\nSalmon;Fish;*\nStone;*\nTrout;Fish;*\n", place="animals.csv")
    assert list(tree.lines(table)) == [
        "*",
        "├─ Bird",
        "│  └─ Wren",
        "├─ Fish",
        "│  ├─ Salmon",
        "│  └─ Trout",
        "└─ Stone",
    ]


def test_a_long_list_of_siblings_is_cut_and_the_rest_is_counted() -> None:
    table = VghTable((*((f"a{i}", "A", "*") for i in range(40)), ("b", "B", "*")))
    assert list(tree.lines(table, max_leaves=3)) == [
        "*",
        "├─ A",
        "│  ├─ a0",
        "│  ├─ a1",
        "│  ├─ a2",
        "│  └─ … 37 more",
        "└─ B",
        "   └─ b",
    ]


def test_a_label_takes_one_line_of_a_tree() -> None:
    assert list(tree.lines(VghTable((("two\nlines", "*"),)))) == ["*", "└─ two\\nlines"]
