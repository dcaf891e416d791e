"""Policies: what a text means, and that everything wrong with it is said at once, with place and hint."""

from __future__ import annotations

import contextlib
import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from anondb.errors import PolicyError, Problem, UsageError
from anondb.hierarchies.forms import DATE_UNITS, BuiltVgh, CsvVgh, Dates, Intervals, Mask, StoredVgh
from anondb.methods.registry import METHODS
from anondb.policy.hierarchy_forms import ANY_TYPE
from anondb.policy.load import load, parse
from anondb.policy.model import Column, Method, Name, Policy, Privacy, Role
from anondb.policy.names import parse_name
from tests.unit.admissions import POLICY, policy, problem, problems


def hierarchy_problem(hierarchy: str) -> Problem:
    return problem(('{ mask = "right" }', hierarchy))


def zip_hierarchy(hierarchy: str, base: Path | None = None) -> object:
    return parse(policy(('{ mask = "right" }', hierarchy)), base=base).columns[2].hierarchy


# ---- what a policy means


def test_a_policy_says_what_it_says() -> None:
    read = parse(POLICY, place="admissions.toml")
    assert read == Policy(
        source=Name("hospital", "admissions"),
        target=Name("share", "admissions"),
        privacy=Privacy(k=5, suppression=0.02, suppress="remove", nulls="value"),
        method=Method("datafly", "distinct"),
        columns=(
            Column("name", Role.IDENTIFIER),
            Column("age", Role.QUASI, Intervals(Decimal(17), (Decimal(5), Decimal(10), Decimal(20)))),
            Column("zip", Role.QUASI, Mask("right")),
            Column("job", Role.QUASI, StoredVgh("occupation")),
            Column("diagnosis", Role.SENSITIVE),
            Column("visited", Role.OTHER),
        ),
        text=POLICY,
        place="admissions.toml",
        sha256=read.sha256,
        classes_sha256=read.classes_sha256,
    )
    assert [column.name for column in read.quasi] == ["age", "zip", "job"]


def test_every_key_can_be_said() -> None:
    read = parse(
        policy(
            ("suppression = 0.02", 'suppression = 1\nsuppress = "mask"\nnulls = "suppress"'),
            ('"datafly"', '"datafly"\nheuristic = "distinct"'),
        )
    )
    assert read.privacy == Privacy(k=5, suppression=1.0, suppress="mask", nulls="suppress")
    assert read.method == Method("datafly", "distinct")


def test_columns_may_be_tables_of_their_own() -> None:
    written_out = policy(
        ('visited = { role = "other" }', '[columns.visited]\nrole = "other"'),
        ('diagnosis = { role = "sensitive" }', 'diagnosis.role = "sensitive"'),
    )
    assert parse(written_out).columns == parse(POLICY).columns
    assert parse(written_out).sha256 == parse(POLICY).sha256


def test_a_column_may_have_any_name_that_postgresql_allows() -> None:
    names = ["a b", "a.b", 'q"', "select", "Größe", "x" * 63]
    lines = "".join(f"'{name}' = {{ role = 'other' }}\n" for name in names)
    assert [column.name for column in parse(POLICY + lines).columns[6:]] == names


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"zip codes"', StoredVgh("zip codes")),
        ("{ widths = [5] }", Intervals(Decimal(0), (Decimal(5),))),
        (
            "{ start = -0.5, widths = [0.1, 0.3] }",
            Intervals(Decimal("-0.5"), (Decimal("0.1"), Decimal("0.3"))),
        ),
        ("{ dates = true }", Dates(DATE_UNITS)),
        ('{ dates = ["month", "year"] }', Dates(("month", "year"))),
        ('{ mask = "left" }', Mask("left")),
        ('{ mask = "all" }', Mask("all")),
        ("{ build = true }", BuiltVgh("wordnet")),
        ('{ build = true, ontology = "icd" }', BuiltVgh("icd")),
    ],
)
def test_each_form_of_a_hierarchy_is_understood(written: str, meant: object) -> None:
    assert zip_hierarchy(written) == meant


def test_a_csv_hierarchy_lies_beside_its_policy(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("1010;1***;*\n")
    (tmp_path / "p.toml").write_text(policy(('{ mask = "right" }', '{ csv = "zip.csv" }')))
    assert load(tmp_path / "p.toml").columns[2].hierarchy == CsvVgh(tmp_path / "zip.csv")
    assert load(str(tmp_path / "p.toml")).place == "p.toml"


def test_the_allowed_suppression_is_counted_exactly() -> None:
    assert Privacy(k=2, suppression=0.29).may_suppress(100) == 29
    assert Privacy(k=2, suppression=0.02).may_suppress(149) == 2
    assert Privacy(k=2, suppression=1e-05).may_suppress(100_000) == 1
    assert Privacy(k=2).may_suppress(10**9) == 0


# ---- what is wrong, one mistake at a time


@pytest.mark.parametrize(
    ("old", "new", "place", "message", "hint"),
    [
        ('source = "hospital.admissions"\n', "", "", "source is missing", "source ="),
        ('target = "share.admissions"\n', "", "", "target is missing", "target ="),
        ('"hospital.admissions"', "7", "", "source must be a text", "source ="),
        ('"hospital.admissions"', '""', "", "source must be a text that is not empty", "source ="),
        ('"hospital.admissions"', '"db.hospital.x"', "", "has 3 parts", "schema.table"),
        ('"share.admissions"', '"hospital.admissions"', "", "target is the source", "another table"),
        ('"share.admissions"', "'hospital.\"admissions\"'", "", "target is the source", "another table"),
        ('"share.admissions"', '"share."', "", "target: a name is empty", "schema.table"),
        ("[privacy]", "unit = 1\n[privacy]", "", 'unknown key "unit"', "source, target, scope, key"),
        ("[privacy]", "[privicy]\n[privacy]", "", 'unknown key "privicy"', '"privacy"'),
        ("k = 5\n", "", " [privacy]", "k is missing", "k = 5"),
        ("k = 5", "k = 1", " [privacy]", "at least 2, not 1", "protects nobody"),
        ("k = 5", "k = true", " [privacy]", "at least 2, not true", "k = 5"),
        ("k = 5", "k = 5.0", " [privacy]", "whole number of at least 2, not 5.0", "k = 5"),
        ("k = 5", 'k = "5"', " [privacy]", 'not "5"', "k = 5"),
        ("k = 5", "k = 9223372036854775808", " [privacy]", "larger than any table", "k = 5"),
        ("0.02", "2", " [privacy]", "suppression must be a share between 0 and 1, not 2", "0.02"),
        ("0.02", "-0.1", " [privacy]", "between 0 and 1, not -0.1", "0.02"),
        ("0.02", "nan", " [privacy]", "finite number", "0.5"),
        ("0.02", "1e-999999999", " [privacy]", "more than 30 digits", "plain number"),
        ("0.02", "true", " [privacy]", "suppression must be a number, not true", "plain number"),
        ("0.02", '0.02\nsuppress = "Mask"', " [privacy]", 'remove, mask, rows, not "Mask"', '"mask"?'),
        ("0.02", "0.02\nnulls = 2020-01-01", " [privacy]", "nulls must be one of", "value, suppress"),
        ("suppression", "supression", " [privacy]", 'unknown key "supression"', '"suppression"?'),
        ("k = 5", "k = 5\nl_divresity = { l = 3 }", " [privacy]", "unknown key", '"l_diversity"?'),
        (
            '"datafly"',
            '"datafli"',
            " [method]",
            f'must be one of {", ".join(METHODS)}, not "datafli"',
            '"datafly"?',
        ),
        ('"datafly"', '"swap"', " [method]", ', not "swap"', "choose from datafly"),
        ('algorithm = "datafly"', "", " [method]", "algorithm is missing", "datafly"),
        (
            '"datafly"',
            '"datafly"\nheuristic = "distnct"',
            " [method]",
            "heuristic must be one of",
            '"distinct"?',
        ),
        ('"datafly"', '"datafly"\nseed = 7', " [method]", "draws nothing at random", "leave the key out"),
        ('{ role = "other" }', '{ role = "othr" }', " [columns.visited]", 'not "othr"', '"other"?'),
        ('{ role = "other" }', "{}", " [columns.visited]", "role is missing", "quasi"),
        (
            '{ role = "other" }',
            '"other"',
            " [columns]",
            "visited must be a table",
            'visited = { role = "other" }',
        ),
        (
            '{ role = "other" }',
            '{ role = "other", set = true }',
            " [columns.visited]",
            "has a set of texts",
            "leave the key out",
        ),
        (
            '{ role = "other" }',
            '{ role = "other", hierarchy = "x" }',
            " [columns.visited]",
            "only quasi-identifiers are generalized",
            'role = "quasi"',
        ),
        (
            ', hierarchy = { mask = "right" }',
            "",
            " [columns.zip]",
            'quasi-identifier "zip" has no hierarchy, and datafly needs one',
            "for dates { dates = true }, for numbers { widths = [5, 10, 20] }",
        ),
        ("visited", f'"{"ü" * 32}"', " [columns]", "64 bytes", "cut off"),
        ("visited", '"a\\u0000b"', " [columns]", "NUL", "PostgreSQL"),
        ("visited", '""', " [columns]", "a name is empty", "one character"),
        ('"occupation"', '""', " [columns.job]", "hierarchy must be a text that is not empty", "hierarchy ="),
    ],
)
def test_a_mistake_is_told_with_place_and_hint(
    old: str, new: str, place: str, message: str, hint: str
) -> None:
    found = problem((old, new))
    assert found.place == "admissions.toml" + place
    assert message in found.message
    assert hint in str(found.hint)


@pytest.mark.parametrize(
    ("hierarchy", "message", "hint"),
    [
        ("{ start = inf, widths = [5] }", "hierarchy.start must be a finite number", "plain number"),
        ("{ start = true, widths = [5] }", "hierarchy.start must be a number, not true", "plain number"),
        ("{ start = 1e999999999, widths = [5] }", "more than 30 digits", "plain number"),
        ("{ start = 17 }", "hierarchy.widths is missing", "widths = [5, 10, 20]"),
        ("{ widths = [] }", "list of numbers, not an empty list", "[5, 10, 20]"),
        ("{ widths = 5 }", "list of numbers, not 5", "[5, 10, 20]"),
        ("{ widths = [nan] }", "finite number", "plain number"),
        ("{ widths = [0, 5] }", "above 0, and 0 is not", "leave it out"),
        ("{ widths = [-5, 5] }", "above 0, and -5 is not", "leave it out"),
        ("{ widths = [10, 5] }", "10 is followed by 5", "finest first"),
        ("{ widths = [5, 5] }", "5 is followed by 5", "each once"),
        ("{ widths = [5, 12] }", "12 is no multiple of 5, so that the ranges would not nest", "such as 15"),
        ("{ widths = [0.1, 0.25] }", "0.25 is no multiple of 0.1", "such as 0.3"),
        # a quotient of 28 digits, Decimal's own, would be rounded to a whole number
        ("{ widths = [3, 100000000000000000000000000000] }", "no multiple of 3", "multiple"),
        ('{ mask = "RIGHT" }', 'right, left, all, not "RIGHT"', '"right"?'),
        ("{ build = false }", "hierarchy.build must be true, not false", "build = true"),
        ('{ ontology = "icd" }', "hierarchy.build is missing", "build = true"),
        ("{ dates = false }", "true or a list of units, not false", "dates = true"),
        ("{ dates = [] }", "not an empty list", "dates = true"),
        ('{ dates = ["week"] }', 'day, month, quarter, year, decade, 5 years, not "week"', "choose from day"),
        ('{ dates = ["year", "month"] }', "from fine to coarse", '["month", "year"]'),
        ('{ dates = ["year", "year"] }', "each unit once", '["year"]'),
        ('{ mask = "right", dates = true }', "mixes several forms", "{ dates = true }"),
        ("{}", "none of the forms", '{ csv = "job.csv" }, { build = true }, { start = 17'),
        ("3", "none of the forms", '"name of a stored hierarchy"'),
        ('{ mask = "right", char = "#" }', 'unknown key "hierarchy.char"', "mask"),
    ],
)
def test_a_wrong_hierarchy_is_told_with_its_column(hierarchy: str, message: str, hint: str) -> None:
    found = hierarchy_problem(hierarchy)
    assert found.place == "admissions.toml [columns.zip]"
    assert message in found.message
    assert hint in str(found.hint)


def test_a_missing_csv_file_is_told_with_its_path(tmp_path: Path) -> None:
    (only,) = problems(policy(('{ mask = "right" }', '{ csv = "zips.csv" }')), base=tmp_path)
    assert only.place == "admissions.toml [columns.zip]"
    assert "zips.csv" in only.message
    assert "folder of the policy" in str(only.hint)


def test_a_folder_is_no_csv_file(tmp_path: Path) -> None:
    (only,) = problems(policy(('{ mask = "right" }', '{ csv = "." }')), base=tmp_path)
    assert "is not a file" in only.message


def test_a_column_with_an_odd_name_is_quoted_in_its_place() -> None:
    assert problem(("visited = {", '"seen on" = { x = 1,')).place == 'admissions.toml [columns."seen on"]'


def test_a_release_needs_a_quasi_identifier() -> None:
    without = re.sub(r'"quasi".*', '"other" }', POLICY)
    (only,) = problems(without)
    assert only.place == "admissions.toml [columns]"
    assert "no column is a quasi-identifier" in only.message


def test_a_misspelt_role_is_not_called_a_missing_quasi_identifier() -> None:
    assert len(problems(re.sub(r'"quasi".*', '"quas" }', POLICY))) == 3


def test_a_table_that_is_no_table_is_told() -> None:
    found = problems('source = "a"\ntarget = "b"\nprivacy = 5\nmethod = []\ncolumns = "all"\n')
    assert [each.message.partition(",")[0] for each in found] == [
        "privacy must be a table",
        "method must be a table",
        "columns must be a table",
    ]


def test_algorithms_without_a_need_take_columns_without_hierarchies() -> None:
    free = (', hierarchy = "occupation"', "")
    assert parse(policy(('"datafly"', '"mondrian"'), free)).method == Method("mondrian", None)
    refused = problem(('"datafly"', '"mondrian"\nheuristic = "distinct"'), free)
    assert refused.message == "mondrian has no heuristics"


# ---- many mistakes


def test_all_mistakes_are_one_error_in_the_order_of_the_file() -> None:
    found = problems("""\
target = "a.b.c"
[columns]
zip = { role = "quasi" }
age = { role = "quasi", hierarchy = { start = inf, widths = [5, 12] } }
job = { role = "qasi" }
[privacy]
nulls = "no"
k = 0
[method]
algorithm = "datafly"
heuristics = "distinct"
""")
    told = [(each.place.removeprefix("admissions.toml"), each.message.split(" ")[0]) for each in found]
    assert told == [
        ("", "source"),
        ("", "target:"),
        (" [columns.zip]", "quasi-identifier"),
        (" [columns.age]", "hierarchy.start"),
        (" [columns.age]", "hierarchy.widths:"),
        (" [columns.job]", "role"),
        (" [privacy]", "nulls"),
        (" [privacy]", "k"),
        (" [method]", "unknown"),
    ]
    assert all(each.hint for each in found)


def test_an_empty_policy_misses_everything() -> None:
    missing = [each.message for each in problems("")]
    assert missing == [f"{key} is missing" for key in ("source", "target", "privacy", "method", "columns")]


def test_the_text_of_the_error_says_where_what_and_what_next() -> None:
    with pytest.raises(PolicyError) as raised:
        parse(policy((', hierarchy = { mask = "right" }', ""), ("k = 5", "k = 0")), place="admissions.toml")
    assert raised.value.exit_code == 2
    assert str(raised.value) == (
        "admissions.toml [privacy]: k must be a whole number of at least 2, not 0\n"
        "  hint: 5 is a common choice: k = 5\n"
        'admissions.toml [columns.zip]: quasi-identifier "zip" has no hierarchy, and datafly needs one\n'
        f"  hint: {ANY_TYPE}"
    )


# ---- files


def test_a_missing_file_is_told_without_its_folder_as_the_place(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"^p\.toml: there is no such file\n  hint: "):
        load(tmp_path / "p.toml")


def test_a_folder_is_no_policy(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        load(tmp_path)


def test_a_path_that_cannot_be_is_told() -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        load("a\0b.toml")


def test_a_file_that_is_not_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(b'source = "a"\ntarget = "gr\xfcn"\n')
    with pytest.raises(PolicyError, match=r"^p\.toml line 2: the text is not UTF-8"):
        load(tmp_path / "p.toml")


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_bytes(b"\xef\xbb\xbf" + POLICY.replace("\n", "\r\n").encode())
    assert load(tmp_path / "p.toml").sha256 == parse(POLICY).sha256


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("source = hospital\n", "admissions.toml line 1"),
        (POLICY + 'zip = { role = "other" }\n', "admissions.toml line 18"),
        ('source = "a', "admissions.toml"),
        ("x = 1" + "0" * 5000, "admissions.toml"),
        ("x = 1e" + "9" * 30, "admissions.toml"),
        ("x = " + "[" * 5000, "admissions.toml"),
        ('source = "\ud800"', "admissions.toml"),
    ],
)
def test_what_is_not_toml_is_one_problem_with_its_line(text: str, place: str) -> None:
    (only,) = problems(text)
    assert only.place == place
    assert only.hint


_words = (
    "k source privacy columns role hierarchy widths dates mask l_diversity t_closeness column kind c l t"
    " distance unit method objective weights min_level [ ] { } = . , 5 -0.0 inf true 1979-05-27"
)
_scraps = st.sampled_from([*_words.split(), '"quasi"', '"a.b"', "\n", " ", "0x" + "f" * 5000])


@given(
    st.one_of(st.text(), st.lists(_scraps).map("".join), st.lists(_scraps).map(lambda s: POLICY + "".join(s)))
)
@example("[privacy]\nsuppress" + ".a" * 3000 + " = 1")
def test_any_text_is_a_policy_or_a_policy_error(text: str) -> None:
    with contextlib.suppress(PolicyError):
        parse(text)


# ---- the fingerprint


def test_the_fingerprint_ignores_how_a_policy_is_written() -> None:
    laid_out = (
        POLICY.replace("k = 5\nsuppression = 0.02", "# a comment\nsuppression   = 2e-2\n\nk = 0x5")
        .replace('{ role = "identifier" }', "{role='identifier'}")
        .replace("{ start = 17, widths = [5, 10, 20] }", "{ widths = [5.0, 1e1, 20], start = 17.00 }")
    )
    source, target, *rest = laid_out.splitlines()
    assert parse("\n".join([target, source, *rest])).sha256 == parse(POLICY).sha256


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("k = 5", "k = 6"),
        ("0.02", "0.020000000000000000000000000001"),
        ("share.admissions", "share.other"),
        ("[5, 10, 20]", "[5, 10]"),
        ('"sensitive"', '"other"'),
        ("visited", "visit"),
    ],
)
def test_the_fingerprint_knows_what_a_policy_says(old: str, new: str) -> None:
    assert parse(policy((old, new))).sha256 != parse(POLICY).sha256


def test_the_fingerprint_knows_the_order_of_the_columns() -> None:
    line = 'name = { role = "identifier" }\n'
    moved = policy((line, "")) + line
    assert parse(moved).sha256 != parse(POLICY).sha256


def test_the_fingerprint_knows_the_content_of_a_csv_file(tmp_path: Path) -> None:
    text = policy(('{ mask = "right" }', '{ csv = "zip.csv" }'))

    def fingerprint(content: str) -> str:
        (tmp_path / "zip.csv").write_text(content)
        return parse(text, base=tmp_path).sha256

    first = fingerprint("1010;*\n")
    assert fingerprint("1010;*\n") == first
    assert fingerprint("1020;*\n") != first


def test_the_fingerprint_does_not_depend_on_the_folder(tmp_path: Path) -> None:
    text = policy(('{ mask = "right" }', '{ csv = "zip.csv" }'))
    fingerprints = set()
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        (folder / "zip.csv").write_text("1010;*\n")
        fingerprints.add(parse(text, base=folder).sha256)
    assert len(fingerprints) == 1


# ---- names of tables


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("admissions", Name(None, "admissions")),
        ("hospital.admissions", Name("hospital", "admissions")),
        ("Hospital.User", Name("Hospital", "User")),
        ("my table", Name(None, "my table")),
        ('hospital."My.Table"', Name("hospital", "My.Table")),
        ('"a.b"."c""d"', Name("a.b", 'c"d')),
        ('"Zip; drop table x--"', Name(None, "Zip; drop table x--")),
        ("x" * 63, Name(None, "x" * 63)),
    ],
)
def test_a_name_is_taken_as_it_is_spelt(text: str, name: Name) -> None:
    assert parse_name(text) == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (".", "empty"),
        ("a.", "empty"),
        (".a", "empty"),
        ('""', "empty"),
        ("a.b.c", "has 3 parts"),
        ('a"b', "double quote"),
        ('"a', "double quote"),
        ('"a"b', "double quote"),
        ('a."b', "double quote"),
        ("a\0b", "NUL"),
        ("x" * 64, "64 bytes"),
        ("s." + "é" * 32, "64 bytes"),
        ("\ud800", "UTF-8"),
    ],
)
def test_a_name_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        parse_name(text)
    assert raised.value.hint
    str(raised.value).encode()


_part = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=63)


@given(st.none() | _part, _part)
@example("a.b", 'c"."d')
def test_every_name_survives_being_written_and_read(schema: str | None, table: str) -> None:
    assume(all(len(part.encode()) <= 63 for part in (schema or "", table)))
    name = Name(schema, table)
    assert parse_name(str(name)) == name
