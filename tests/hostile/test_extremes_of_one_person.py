"""A recipient who reads what one person has off the bounds of a class."""

from __future__ import annotations

from anondb.api import Database
from anondb.policy.load import parse

POLICY = """
source = "people"
target = "share"
[privacy]
k = 3
[method]
algorithm = "mondrian"
[columns]
income = { role = "quasi" }
born   = { role = "quasi" }
"""
INCOMES = (12_345, 23_456, 31_789, 98_112, 120_450, 98_765_432)


def people(db: Database) -> None:
    db.connection.execute("create table people (income int, born date)")
    with db.connection.cursor() as cursor:
        rows = [(income, f"19{30 + 11 * place}-07-{11 + place}") for place, income in enumerate(INCOMES)]
        cursor.executemany("insert into people values (%s, %s::date)", rows)


def released(db: Database) -> list[tuple[str, str]]:
    found = db.connection.execute("select distinct income, born from share order by income").fetchall()
    return [(str(income), str(born)) for income, born in found]


def test_no_bound_of_a_wide_class_is_the_value_of_a_person(db: Database) -> None:
    people(db)
    db.run(parse(POLICY))
    own = {str(income) for income in INCOMES}
    bounds = {bound for label, _ in released(db) for bound in label.strip("[]").split(", ")}
    assert bounds & own == set()
    assert released(db) == [
        ("[0, 100000000]", "[1963-01-01, 1985-12-31]"),
        ("[12000, 32000]", "[1930-01-01, 1952-12-31]"),
    ]


def test_exact_bounds_have_to_be_asked_for(db: Database) -> None:
    people(db)
    db.run(parse(POLICY.replace('"mondrian"', '"mondrian"\nbounds = "exact"')))
    assert ("[98112, 98765432]", "[1963-07-14, 1985-07-16]") in released(db)
