"""Synthetic rows: the seed and the number of a row decide it, and the weights of the domain are met."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from anondb.db import synthetic as cocoa
from anondb.db.connection import Connection
from anondb.sqltree.tables import Relation
from anondb.synthetic.cocoa import recipe
from anondb.synthetic.domain import Attribute, Conditional, Expression, Frequencies, Weights
from anondb.synthetic.domain_file import NAMES, load, parse
from tests.properties.examples import laws
from tests.sql.synthetic_rows import TOY, rows_of


def oracle(connection: Connection, made: dict[str, Any], row: int, seed: int) -> dict[int, Any]:
    """The values of one row, by walking along the weights one attribute after the other."""
    found: dict[int, Any] = {}
    order = sorted(range(len(made["attributes"])), key=lambda place: made["attributes"][place]["level"])
    for place in order:
        entry = made["attributes"][place]
        if "expression" in entry:
            size = found[0]
            found[place] = -size * 2 if size in (1, 2) else size * 2
            continue
        [(salt,)] = connection.execute("select hashtextextended(%s, %s)", (entry["name"], seed)).fetchall()
        [weights] = [
            weights
            for weights in entry["table"]
            if weights["given"] == [str(found[other]) for other in entry["given"]]
        ]
        at = sum(bound <= draw(connection, row, salt) for bound in weights["bounds"])
        found[place] = weights["low"][at]
        if entry["ranges"]:
            [(inner,)] = connection.execute("select hashint8extended(%s, %s)", (salt, seed)).fetchall()
            width = weights["high"][at] - weights["low"][at] + 1
            found[place] += int(draw(connection, row, inner) * width)
    return found


def draw(connection: Connection, row: int, salt: object) -> float:
    [(number,)] = connection.execute("select hashint8extended(%s, %s)", (row, salt)).fetchall()
    return ((int(str(number)) % 2**64 >> 11) % 2**53) / 2**53


@settings(laws, max_examples=15)
@given(row=st.integers(1, 50), seed=st.integers(-(2**63), 2**63 - 1))
def test_a_row_is_what_its_number_the_seed_and_the_weights_say(
    shared: Connection, row: int, seed: int
) -> None:
    made = recipe(parse(TOY))
    expected = oracle(shared, made, row, seed)
    assert rows_of(shared, made, row, seed)[row - 1] == tuple(expected[place] for place in range(4))


@settings(laws, max_examples=8)
@given(rows=st.integers(1, 12), chunk=st.integers(1, 13), seed=st.integers(0, 9), name=st.sampled_from(NAMES))
def test_the_same_rows_come_in_any_chunking(
    shared: Connection, rows: int, chunk: int, seed: int, name: str
) -> None:
    made = recipe(load(name))
    with shared.transaction(force_rollback=True):
        assert cocoa.generate(shared, made, Relation("public", "parts"), rows, seed, chunk=chunk) == rows
        parts = shared.execute("select * from public.parts").fetchall()
    assert Counter(parts) == Counter(rows_of(shared, made, rows, seed))


def test_another_seed_gives_other_rows(shared: Connection) -> None:
    made = recipe(load("irish_census"))
    assert rows_of(shared, made, 50, 1) != rows_of(shared, made, 50, 2)


def test_the_same_seed_gives_the_same_rows_on_every_server(shared: Connection) -> None:
    """As they were seen first: who changes them changes everybody's tables."""
    columns = ("given_name", "family_name", "age", "gender", "marital_status", "county")
    shown = [load("irish_census").columns.index(name) for name in columns]
    rows = rows_of(shared, recipe(load("irish_census")), 3)
    assert [tuple(row[place] for place in shown) for row in rows] == [
        ("Helen", "Wilson", 49, "Female", "Single", "Kildare"),
        ("Aoife", "O'Neill", 28, "Female", "Single", "Mayo"),
        ("Thomas", "White", 25, "Male", "Single", "Louth"),
    ]


def chi_square(seen: Counter[Any], weights: dict[Any, float]) -> tuple[float, int]:
    """The statistic and its degrees of freedom; values that are expected too rarely are taken as one."""
    total, share = sum(seen.values()), sum(weights.values())
    assert set(seen) <= {value for value, weight in weights.items() if weight > 0}
    pairs = [(seen[value], weight * total / share) for value, weight in weights.items()]
    common = [pair for pair in pairs if pair[1] >= 5]
    rest = (total - sum(count for count, _ in common), total - sum(count for _, count in common))
    cells = [*common, rest] if rest[1] >= 5 else common
    if len(cells) < 2:
        return 0.0, 0
    return sum((count - expected) ** 2 / expected for count, expected in cells), len(cells) - 1


def distance(attribute: Attribute, rows: list[dict[str, Any]]) -> tuple[float, int]:
    """How far rows are from the weights that the domain says, for each combination that they are given for."""
    generator = attribute.generator
    assert isinstance(generator, Frequencies | Conditional)
    tables: dict[tuple[str, ...], Weights] = (
        {(): generator.weights} if isinstance(generator, Frequencies) else dict(generator.rows)
    )
    of: dict[tuple[str, ...], Counter[Any]] = {}
    for row in rows:
        value = row[attribute.name]
        key = tuple(str(row[name]) for name in attribute.needs)
        found = next(one for one in product(*((part, "*") for part in key)) if one in tables)
        if attribute.kind != "text":  # the range that it was drawn from
            value = next(range_ for range_ in tables[found] if range_[0] <= value <= range_[1])
        of.setdefault(found, Counter())[value] += 1
    parts = [chi_square(seen, dict(tables[key])) for key, seen in of.items()]
    return sum(part for part, _ in parts), sum(degrees for _, degrees in parts)


@pytest.mark.once
@pytest.mark.parametrize("name", NAMES)
def test_marginals_and_conditionals_are_those_of_the_domain(shared: Connection, name: str) -> None:
    """Chi-square with a fixed seed; the statistics of all tables of an attribute are added up."""
    domain = load(name)
    made = recipe(domain)
    for entry in made["attributes"]:
        entry["hidden"] = False
    names = [attribute.name for attribute in domain.attributes]
    rows = [dict(zip(names, row, strict=True)) for row in rows_of(shared, made, 10_000)]
    for attribute in domain.attributes:
        if not isinstance(attribute.generator, Expression):
            statistic, degrees = distance(attribute, rows)
            assert not degrees or stats.chi2.sf(statistic, degrees) > 0.001, attribute.name


def test_the_irish_are_like_the_irish(shared: Connection) -> None:
    """A field of study has one area, gender tells nothing of age, and there is almost no widowed teenager."""
    domain = load("irish_census")
    people = [dict(zip(domain.columns, row, strict=True)) for row in rows_of(shared, recipe(domain), 10_000)]
    pairs = {(person["field_of_study"], person["field_of_study_area"]) for person in people}
    assert len(pairs) == len({field for field, _ in pairs})
    seen = Counter((person["gender"], person["age"] // 10) for person in people)
    table = [[seen[gender, decade] for decade in range(1, 9)] for gender in ("Male", "Female")]
    assert stats.chi2_contingency(table).pvalue > 0.001
    teenagers = [person for person in people if person["age"] < 20]
    assert sum(person["marital_status"] == "Widowed" for person in teenagers) <= len(teenagers) / 1000


@pytest.mark.parametrize("distribution", ["original", "exponential"])
def test_nobody_is_too_young_for_a_degree_or_years_of_work(shared: Connection, distribution: str) -> None:
    """Whatever the distribution: the exponential one makes most people young. The Adult data has a master of 18."""
    cases = {
        "irish_census": (
            "education",
            {"Doctorate": 25, "Postgraduate diploma or degree": 22, "Honours bachelor degree": 20},
        ),
        "adult": ("education", {"Doctorate": 22, "Prof-school": 25, "Bachelors": 18, "Masters": 18}),
        "german_credit": ("employment", {"7 years or more": 26}),
    }
    for name, (column, least) in cases.items():
        domain = load(name)
        places = domain.columns.index("age"), domain.columns.index(column)
        for row in rows_of(shared, recipe(domain, distribution), 3000):
            age, reached = (row[place] for place in places)
            assert age >= least.get(reached, 0)


def test_the_age_range_the_classes_and_experience_follow_in_insurance(shared: Connection) -> None:
    domain = load("insurance")
    for row in rows_of(shared, recipe(domain, "uniform"), 3000):
        one = dict(zip(domain.columns, row, strict=True))
        low, high = map(int, one["age_range"].split("-"))
        assert low <= one["age"] <= high
        assert 0 <= one["years_of_experience"] <= one["age"] - 16
        assert (one["salary_class"] == "Low") == (one["salary"] < 25000)
        assert (one["risk_class"] == "Very high") == (one["risk_of_accident"] >= 60)


def test_a_named_distribution_gives_its_density_over_the_sorted_values(shared: Connection) -> None:
    """Hand-made: five points between the quantiles -3.0902 and 3.0902 of the standard normal distribution."""
    domain = parse("[attributes.x]\nfrequencies = { e = 1, d = 1, c = 1, b = 1, a = 90 }")
    seen = Counter(value for (value,) in rows_of(shared, recipe(domain, "normal"), 20_000))
    points = [-3.0902, -1.5451, 0.0, 1.5451, 3.0902]
    expected = dict(zip("abcde", (math.exp(-x * x / 2) for x in points), strict=True))
    assert stats.chi2.sf(*chi_square(seen, expected)) > 0.001


def test_progress_is_told_after_every_chunk(rolled_back: Connection) -> None:
    told: list[tuple[int, int]] = []
    target = Relation("public", "t")
    cocoa.generate(
        rolled_back, recipe(parse(TOY)), target, 25, 1, chunk=10, progress=lambda *seen: told.append(seen)
    )
    assert told == [(10, 25), (20, 25), (25, 25)]
