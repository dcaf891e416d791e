"""Quasi-identifiers beside a set: distances against their definition, and releases by a program of its own."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.errors import PolicyError, UnsatisfiableError
from anondb.policy.load import parse
from anondb.policy.model import Policy
from tests.acceptance.search_logs import log as make_log
from tests.properties.examples import laws
from tests.properties.mdav_oracle import delta, set_distance
from tests.properties.test_mdav_laws import GRAPH as SETS
from tests.properties.test_mdav_laws import fill as fill_sets
from tests.properties.test_mdav_laws import rows
from tests.properties.test_mdav_laws import toy as toy

TEXTS = ["jazz", "swimming", "windsurfing", "sea", "football"]
Person = tuple[list[str], int | None, str | None, str | None]  # texts, age, country, birthday
people = st.lists(
    st.tuples(
        st.lists(st.sampled_from(TEXTS), max_size=3, unique=True),
        st.one_of(st.none(), st.integers(17, 90)),
        st.one_of(st.none(), st.sampled_from(["AT", "DE", "FR"])),
        st.one_of(st.none(), st.sampled_from(["1970-01-01", "1999-12-31", "2004-02-29"])),
    ),
    min_size=4,
    max_size=14,
)


def policy(k: int, method: str = "", column: str = 'age = { role = "quasi" }') -> Policy:
    return parse(
        f"""
        source = "logs"
        target = "share"
        [privacy]
        k = {k}
        suppression = 1.0
        [method]
        algorithm = "mdav"
        {method}
        [columns]
        id = {{ role = "identifier" }}
        city = {{ role = "identifier" }}
        {column}
        queries = {{ role = "quasi", set = true, ontology = "toy" }}
        country = {{ role = "quasi" }}
        born = {{ role = "quasi" }}
        """
    )


def fill(db: Database, found: list[Person]) -> None:
    make_log(db, [texts for texts, *_ in found])
    db.connection.execute("alter table logs add age int, add country text, add born date")
    with db.connection.cursor() as cursor:
        cursor.executemany(
            "update logs set age = %s, country = %s, born = %s where id = %s",
            [(*others, n) for n, (_, *others) in enumerate(found)],
        )


@settings(laws, max_examples=max(laws.max_examples // 2, 10))  # each is a whole run
@given(found=people, k=st.integers(2, 4))
@example(
    found=[(["jazz"], 20, "AT", None), (["jazz"], 40, "AT", "1999-12-31")] * 3 + [([], None, None, None)] * 3,
    k=3,
)
def test_a_release_of_several_columns_keeps_its_promises(db: Database, found: list[Person], k: int) -> None:
    fill(db, found)
    try:
        result = db.run(policy(k)).result
    except UnsatisfiableError:
        known = sum(bool(texts) for texts, *_ in found)
        assert max(known, len(found) - known) < k or len(found) < k
        return
    told: list[Any] = db.connection.execute("select queries, age, country, born from share").fetchall()
    assert len(told) == result.released
    alike = Counter((tuple(queries), *others) for queries, *others in told)
    assert min(alike.values()) >= k
    assert (result.k, result.classes) == (min(alike.values()), len(alike))
    countries = Counter(country for _, _, country, _ in found)
    ages = [age for _, age, _, _ in found if age is not None]
    days = [day for _, _, _, day in found if day is not None]
    for _, age, country, born in told:
        assert country == "*" or countries[country] >= k
        assert age in (None, "*") or (min(ages) <= int(age) <= max(ages) and len(ages) >= k)
        assert born in (None, "*") or (min(days) <= born <= max(days) and len(days) >= k)


@laws
@given(
    found=st.lists(
        st.tuples(
            st.frozensets(st.sampled_from(TEXTS), min_size=1, max_size=3),
            st.one_of(st.none(), st.integers(-3, 3)),
            st.one_of(st.none(), st.sampled_from("ab")),
        ),
        min_size=1,
        max_size=10,
    ),
    weights=st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)).filter(any),
)
def test_the_distance_is_the_weighted_mean_of_those_of_the_columns(
    toy: Connection,
    found: list[tuple[frozenset[str], int | None, str | None]],
    weights: tuple[int, int, int],
) -> None:
    """By definition: the set's own, the share of the range of all numbers, and 0 or 1 for texts; NULL is a value."""
    sets = {number: texts for number, (texts, _, _) in enumerate(found, 5)}
    fill_sets(toy, sets)
    toy.execute("select anondb.mdav_distances()")
    toy.execute(
        "drop table if exists mdav_beside;"
        " create temporary table mdav_beside (record int, place int, kind text, number float8, text text)"
    )
    with toy.cursor() as cursor:
        for record, (_, number, text) in enumerate(found, 5):
            cursor.execute("insert into mdav_beside values (%s, 2, 'integer', %s, null)", (record, number))
            cursor.execute("insert into mdav_beside values (%s, 3, 'text', null, %s)", (record, text))
    toy.execute("select anondb.mdav_mix(%s, %s::float8[])", (weights[0], list(weights[1:])))
    apart = delta(SETS, "shared")
    numbers = [number for _, number, _ in found if number is not None]

    def far(a: int, b: int) -> Fraction:
        (texts, number, text), (others, other, word) = found[a], found[b]
        of_numbers = Fraction(number != other)
        if number is not None and other is not None and number != other:
            of_numbers = Fraction(abs(number - other), max(numbers) - min(numbers))
        each = (set_distance(texts, others, "average", apart), of_numbers, Fraction(text != word))
        return sum((w * one for w, one in zip(weights, each, strict=True)), Fraction()) / sum(weights)

    unit = float(rows(toy, "select anondb.mdav_unit()")[0][0])
    got = rows(toy, "select distances::float8[] from mdav_record order by place")
    for a, (distances,) in enumerate(got):
        expected = [float(far(a, b)) for b in range(len(found))]
        assert [one / unit for one in distances] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("method", "column", "problem"),
    [
        ('draw = "record"', 'age = { role = "quasi" }', "sets alone are told apart by meaning"),
        ("", 'age = { role = "quasi", hierarchy = { widths = [5] } }', "compared beside a set as it is"),
        ("", 'age = { role = "quasi", set = true }', "takes one set, and there are 2"),
    ],
)
def test_what_cannot_be_beside_a_set_is_refused(method: str, column: str, problem: str) -> None:
    with pytest.raises(PolicyError, match=problem):
        policy(2, method, column)


def test_who_is_near_in_age_shares_a_class(db: Database) -> None:
    fill(db, [(["jazz"], age, "AT", "1970-01-01") for age in (20, 22, 60, 64)])
    db.run(policy(2))
    told = db.connection.execute("select age, queries, country, born from share order by age").fetchall()
    assert told == [("21", ["jazz"], "AT", "1970-01-01")] * 2 + [("62", ["jazz"], "AT", "1970-01-01")] * 2
    fill(db, [([text], age, "AT", None) for text in ("jazz", "opera") for age in (20, 22)])
    db.run(policy(2, "weights = { age = 0, queries = 1 }"))
    ages = db.connection.execute("select queries, age from share order by 1").fetchall()
    assert ages == [(["jazz"], "21")] * 2 + [(["opera"], "21")] * 2
