"""Values are equal where their type says so: one person, one sensitive value, one value of a quasi-identifier.

Each type has two spellings of one value, and another value. What a run counts is compared with what GROUP BY finds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.acceptance.clinic import IDENTIFIER, MASK_ALL, Clinic, complaint

OTHER, SENSITIVE = (f'{{ role = "{role}", keep = "identifying" }}' for role in ("other", "sensitive"))
NO_CASE = (
    "create collation hospital.no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
)
NEEDED = {  # what a type needs before it exists
    "public.citext": "create extension citext schema public",
    "hospital.mail": "create extension citext schema hospital;"
    " create domain hospital.mail as hospital.citext check (value <> '')",
    "text collate hospital.no_case": NO_CASE,
    "varchar(9) collate hospital.no_case": NO_CASE,
    "hospital.pair": "create type hospital.pair as (x numeric, y text)",
    "hospital.share": "create domain hospital.share as numeric",
}
SAME = {
    "public.citext": ("Anna@x", "anna@x", "bob@x"),
    "hospital.mail": ("Anna@x", "anna@x", "bob@x"),
    "text collate hospital.no_case": ("Anna", "anna", "Bob"),
    "varchar(9) collate hospital.no_case": ("Anna", "anna", "Bob"),
    "bpchar": ("ab", "ab  ", "c"),
    "char(6)": ("ab", "ab  ", "c"),
    "float4": ("0", "-0", "1"),
    "float8": ("0", "-0", "NaN"),
    "interval": ("1 mon", "30 days", "30 days 1 sec"),
    "jsonb": ('{"a": 1}', '{"a": 1.0}', '{"a": null}'),
    "numrange": ("[1,5)", "[1.0,5)", "[1,5]"),
    "nummultirange": ("{[1,5)}", "{[1.0,5)}", "{}"),
    "numeric": ("1", "1.0", "2"),
    "hospital.share": ("1", "1.0", "2"),
    "numeric[]": ("{1,NULL}", "{1.0,NULL}", "{}"),
    "hospital.pair": ("(1,a)", "(1.0,a)", "(1,b)"),
    "text": ("a", "a", "A"),
    "int8": ("7", "07", "8"),
    "timestamptz": ("2024-07-01 12:00+02", "2024-07-01 10:00Z", "infinity"),
}
types = pytest.mark.parametrize("type_", list(SAME))

Row = tuple[int, str | None]


def table(clinic: Clinic, type_: str, rows: list[Row]) -> None:
    """A source of a number q and a value x of a type."""
    try:
        clinic.execute(NEEDED.get(type_, "select"))
    except psycopg.errors.FeatureNotSupported as error:
        pytest.skip(f"this server does not have it: {error.diag.message_primary}")
    clinic.execute(f"create table hospital.t (q int, x {type_})")
    with clinic.connection.cursor() as cursor:
        cursor.executemany("insert into hospital.t values (%s, %s)", rows)


def bare(type_: str) -> str:
    return type_.partition(" collate")[0]


def policy(clinic: Clinic, privacy: str, x: str, q: str = MASK_ALL, **rest: str) -> Path:
    return clinic.policy({"q": q, "x": x}, source="hospital.t", target="share.t", privacy=privacy, **rest)


def released(clinic: Clinic, privacy: str, x: str, **rest: str) -> dict[str, Any]:
    return clinic.has_released(policy(clinic, privacy, x, **rest))


@types
def test_a_person_in_two_spellings_is_one(clinic: Clinic, type_: str) -> None:
    one, same, other = SAME[type_]
    table(clinic, type_, [(1, one), (1, same), (2, same), (2, other)])
    assert released(clinic, 'k = 2\nunit = "x"', IDENTIFIER)["levels"] == {"q": 1}


@types
def test_two_persons_are_two(clinic: Clinic, type_: str) -> None:
    one, same, other = SAME[type_]
    table(clinic, type_, [(1, one), (1, other), (2, same), (2, None), (3, None), (3, one), (3, same)])
    assert released(clinic, 'k = 2\nunit = "x"', OTHER)["levels"] == {"q": 0}
    [(k,)] = clinic.execute("select anondb.k_anonymity('share.t', '{q}', 'x')")
    assert k == 2


def test_an_index_of_other_equality_does_not_make_every_record_a_person(clinic: Clinic) -> None:
    table(clinic, "public.citext", [(1, "Anna"), (1, "anna"), (2, "anna "), (2, "Bob")])
    clinic.execute("alter table hospital.t alter x set not null")
    clinic.execute("create unique index on hospital.t (x text_ops)")
    assert released(clinic, 'k = 2\nunit = "x"', IDENTIFIER)["levels"] == {"q": 1}


ALIKE = 'l_diversity = {{ column = "x", l = 2, kind = "{}" }}'
MODELS = {
    "distinct": ALIKE.format("distinct"),
    "entropy": ALIKE.format("entropy"),
    "recursive": 'l_diversity = { column = "x", l = 2, kind = "recursive", c = 2 }',
    "equal": 't_closeness = { column = "x", t = 0.1 }',
}
MONDRIAN = 'algorithm = "mondrian"'
RELAXED = 'algorithm = "mondrian"\nstrict = false'


def diversity(clinic: Clinic) -> int:
    """The fewest sensitive values of a released class, by the equality of their own type."""
    [(found,)] = clinic.execute(
        "select min(c.n) from (select count(*) as n from (select q, x from share.t group by q, x) as v group by q) as c"
    )
    return int(found)


@types
def test_a_sensitive_value_in_two_spellings_is_one(clinic: Clinic, type_: str) -> None:
    one, same, other = SAME[type_]
    table(clinic, type_, [(1, one), (1, same), (2, other), (2, None)])
    for model in MODELS.values():
        assert released(clinic, f"k = 2\n{model}", SENSITIVE)["levels"] == {"q": 1}
        assert diversity(clinic) == 3


@types
def test_classes_with_the_same_values_in_other_spellings_are_alike(clinic: Clinic, type_: str) -> None:
    one, same, other = SAME[type_]
    table(clinic, type_, [(1, one), (1, other), (2, same), (2, other)])
    for model in MODELS.values():
        assert released(clinic, f"k = 2\n{model}", SENSITIVE)["levels"] == {"q": 0}
        assert clinic.execute("select anondb.t_closeness('share.t', '{q}', 'x')") == [(0.0,)]
        assert diversity(clinic) == 2


@types
def test_partitions_are_diverse_by_the_equality_of_the_type(clinic: Clinic, type_: str) -> None:
    one, same, other = SAME[type_]
    # cut between 2 and 3 the first half has one value only, and nothing else can be cut
    table(clinic, type_, [(1, one), (2, same), (3, one), (4, other)])
    privacy, any_number = f"k = 2\n{MODELS['distinct']}", '{ role = "quasi" }'
    for method in (MONDRIAN, RELAXED):
        assert released(clinic, privacy, SENSITIVE, q=any_number, method=method)["classes"] == 1
        assert diversity(clinic) == 2


@types
def test_spellings_of_a_quasi_identifier_share_a_class_and_a_label(clinic: Clinic, type_: str) -> None:
    one, same, other = SAME[type_]
    table(clinic, type_, [(1, one), (1, same), (1, other), (1, other), (1, None), (1, None)])
    assert released(clinic, "k = 2", MASK_ALL, q=OTHER)["levels"] == {"x": 0}
    labels = clinic.execute("select x, count(*) from share.t group by x order by count(*), x")
    assert [n for _, n in labels] == [2, 2, 2]
    # the label is a spelling of the value that it stands for
    clinic.execute(f"alter table share.t alter x type {type_} using x::{bare(type_)}")
    assert clinic.execute(
        "select count(distinct x) from (table share.t union all table hospital.t) as t"
    ) == [(2,)]


@types
def test_other_columns_keep_their_spelling(clinic: Clinic, type_: str) -> None:
    one, same, other = SAME[type_]
    table(clinic, type_, [(1, one), (1, same), (1, other), (1, None)])
    released(clinic, "k = 2", OTHER)
    assert sorted(clinic.dump("t").splitlines()) == sorted(clinic.dump("t", "hospital").splitlines())


@pytest.mark.parametrize("type_", ["json", "xml", "point", "json[]"])
def test_a_type_without_equality_names_no_person_and_no_sensitive_value(clinic: Clinic, type_: str) -> None:
    table(clinic, type_, [(1, None), (1, None)])
    for privacy, role in (('k = 2\nunit = "x"', IDENTIFIER), (f"k = 2\n{MODELS['distinct']}", SENSITIVE)):
        with clinic.unchanged():
            said = complaint(clinic.cli("run", policy(clinic, privacy, role)), 2)
        assert f'"x" is {type_}, a type whose values cannot be compared' in said


BY_MEANING = {
    "datafly": 'k = 2\nt_closeness = { column = "x", t = 0.1, distance = "hierarchical" }',
    "le_diversity": 'le_diversity = { column = "x", l = 2, e = 0 }',
}


@pytest.mark.parametrize("algorithm", list(BY_MEANING))
def test_spellings_of_a_sensitive_value_have_one_place_in_its_hierarchy(
    clinic: Clinic, algorithm: str
) -> None:
    table(clinic, "public.citext", [(1, "Flu"), (1, "Gout"), (2, "flu"), (2, "gout")] * 2)
    (clinic.folder / "x.csv").write_text("flu;infection;*\ngout;joint;*\n")
    assert clinic.cli("vgh", "load", "illness", "x.csv").returncode == 0
    illness = '{ role = "sensitive", hierarchy = "illness" }'
    clinic.has_released(policy(clinic, BY_MEANING[algorithm], illness, method=f'algorithm = "{algorithm}"'))
    if algorithm == "le_diversity":
        rows = clinic.execute(
            "select class_id from share.t_sensitive group by 1 having count(distinct x) < 2"
        )
        assert rows == []
    else:
        assert clinic.execute("select count(distinct q) from share.t") == [(2,)]
        asked = "select anondb.t_closeness('share.t', '{q}', 'x', 'hierarchical', 'illness')"
        assert clinic.execute(asked) == [(0.0,)]
