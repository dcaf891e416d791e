"""Kept columns that are released changed: noise, rounding, and values exchanged within their class."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from statistics import mean, stdev
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Connection
from anondb.errors import AnondbError, PolicyError

TABLE = """
create schema hospital;
create schema share;
create table hospital.stays as
select 'P' || i as name, i % 41 as age, 'Z' || i % 3 as zip,
       case when i % 17 <> 0 then 60 + i % 30 end as weight,
       (i % 9)::int2 * 4000::int2 - 100::int2 as small,
       (i % 50)::numeric / 4 as cost, case when i % 29 = 0 then 'NaN' else (i % 70)::float8 / 2 end as dose,
       timestamptz '2024-01-15 10:30+00' + (i % 25) * interval '9 days' as seen, date '2024-01-15' + i % 25 as came,
       (array['a', 'b', 'c', null])[1 + i % 4] as ward, (array['x', 'y'])[1 + i % 2] as kind
from generate_series(1, 1200) as i;
"""
OUT = {"role": "identifier"}
AGE = {"role": "quasi", "hierarchy": {"widths": [10, 20]}}


def other(**keys: Any) -> dict[str, Any]:
    return {"role": "other", "keep": "identifying", **keys}


def policy(
    method: dict[str, Any] | None = None, privacy: dict[str, Any] | None = None, **columns: Any
) -> dict[str, Any]:
    left_out = dict.fromkeys("name age zip weight small cost dose seen came ward kind".split(), OUT)
    return {
        "source": "hospital.stays",
        "target": "share.stays",
        "privacy": privacy or {"k": 5},
        "method": method or {"algorithm": "datafly"},
        "columns": left_out | {"age": AGE} | columns,
    }


@pytest.fixture
def stays(db: Database, connection: Connection) -> Database:
    connection.execute(TABLE.encode())
    return db


def rows(connection: Connection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode()).fetchall()


METHODS: tuple[dict[str, Any], ...] = (
    {"algorithm": "datafly"},
    {"algorithm": "datafly", "recode": "local"},
    {"algorithm": "mondrian"},
    {"algorithm": "fusion"},
)


def test_noise_moves_every_number_about_its_value(stays: Database, connection: Connection) -> None:
    """Beside a copy of the value: the noise is the difference."""
    connection.execute(
        b"alter table hospital.stays add w int, add c numeric, add d float8;"
        b"update hospital.stays set w = weight, c = cost, d = dose"
    )
    noise = other(noise=0.5)
    kept = dict.fromkeys("wcd", other())
    stays.run(policy(weight=noise, cost=noise, dose=noise, **kept))
    found = rows(connection, "select s.weight, s.w, s.cost, s.c, s.dose, s.d from share.stays as s")
    assert len(found) == 1200
    for place in (0, 2, 4):
        changed, own = zip(*[(row[place], row[place + 1]) for row in found], strict=True)
        numbers = [value for value in own if value is not None and value == value]
        assert [a is None for a in changed] == [b is None or b != b for b in own]
        moved = [float(a) - float(b) for a, b in zip(changed, own, strict=True) if a is not None]
        spread = stdev(map(float, numbers))
        assert all(moved)
        assert abs(mean(moved)) < 0.1 * spread
        assert 0.4 * spread < stdev(moved) < 0.6 * spread
        assert len(set(moved)) > 20  # of equal values too
    digits = {row[2].as_tuple().exponent for row in found}
    assert min(digits) == -2


def test_noise_stays_within_its_type_and_moves_what_is_all_the_same(
    stays: Database, connection: Connection
) -> None:
    connection.execute(
        b"alter table hospital.stays add s int2; update hospital.stays set s = small, cost = 0.1, dose = 1e12"
    )
    stays.run(policy(small=other(noise=10), s=other(), cost=other(noise=0.01), dose=other(noise=0.01)))
    assert rows(connection, "select count(*) from share.stays as s where s.small = s.s") == [(0,)]
    assert rows(connection, "select distinct s.cost from share.stays as s order by 1") == [
        (Decimal("0.0"),), (Decimal("0.2"),),
    ]  # fmt: skip
    assert rows(connection, "select count(*) from share.stays as s where s.dose = 1e12") == [(0,)]


def contents(connection: Connection) -> list[tuple[Any, ...]]:
    return rows(connection, "select t::text from share.stays as t")


@pytest.mark.parametrize("method", METHODS[1:3], ids=str)
def test_changes_are_the_same_for_the_same_data_however_it_lies(
    stays: Database, connection: Connection, method: dict[str, Any]
) -> None:
    columns = {
        "weight": other(noise=0.2),
        "cost": other(round=5),
        "ward": other(shuffle=True),
        "kind": other(),
    }
    stays.run(policy(method, **columns))
    first = contents(connection)
    connection.execute(
        b"create table hospital.again as select * from hospital.stays as s order by md5(s.name);"
        b"truncate hospital.stays; insert into hospital.stays select * from hospital.again"
    )
    stays.run(policy(method, **columns))
    assert contents(connection) == first
    connection.execute(b"select anondb.renew_secret()")
    stays.run(policy(method, **columns))
    assert Counter(contents(connection)) != Counter(first)


def test_rounded_values_are_the_nearest_multiples(stays: Database, connection: Connection) -> None:
    stays.run(
        policy(
            weight=other(round=7), small=other(round=30000), cost=other(round=0.5), dose=other(round=10),
            seen=other(round="month"), came=other(round="week"),
        )
    )  # fmt: skip
    of_release = "select t.{0}, count(*) from share.stays as t group by 1 order by 1"
    of_source = "select {1}, count(*) from hospital.stays as t group by 1 order by 1"
    for column, value in {
        "weight": "(round(t.weight / 7.0) * 7)::int",
        "small": "(least(round(t.small / 30000.0), 1) * 30000)::int2",
        "cost": "round(t.cost / 0.5) * 0.5",
        "dose": "(round(t.dose::numeric / 10) * 10)::float8",
        "seen": "timezone('UTC', date_trunc('month', timezone('UTC', t.seen)))",
        "came": "date_trunc('week', t.came::timestamp)::date",
    }.items():
        found = rows(connection, of_release.format(column))
        assert str(found) == str(rows(connection, of_source.format(column, value)))
    types = (
        "select a.atttypid::regtype::text from pg_attribute as a "
        "where a.attrelid = 'share.stays'::regclass and a.attnum > 1 order by a.attnum"
    )
    assert [name for (name,) in rows(connection, types)] == [
        "integer", "smallint", "numeric", "double precision", "timestamp with time zone", "date",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "privacy"),
    [
        *[(method, {"k": 5}) for method in METHODS],
        (METHODS[0], {"k": 3, "unit": "zip"}),
        (METHODS[0], {"k": 30, "suppression": 0.9, "suppress": "mask"}),
        (METHODS[0], {"k": 30, "suppression": 0.5, "suppress": "cells"}),
    ],
    ids=str,
)
def test_shuffling_keeps_what_a_class_has_and_cuts_the_link_within(
    stays: Database, connection: Connection, method: dict[str, Any], privacy: dict[str, Any]
) -> None:
    kept = {"ward": other(), "kind": other()}
    shuffled = kept | {"ward": other(shuffle=True)}
    by_class = "select s.age, s.{0}, count(*) from share.stays as s group by 1, 2 order by 1, 2"
    joint = "select s.ward, s.kind, count(*) from share.stays as s where s.ward is not null group by 1, 2"
    seen = []
    for columns in (kept, shuffled):
        stays.run(policy(method, privacy, **columns))
        seen.append(
            [rows(connection, query) for query in (by_class.format("ward"), by_class.format("kind"), joint)]
        )
    assert seen[0][:2] == seen[1][:2]
    # a and c come with x alone, b with y; exchanged, each comes with both
    assert len(seen[0][2]) == 3
    assert len(seen[1][2]) == 6
    assert min(n for *_, n in seen[1][2]) > 60


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "quasi": ({"age": AGE | {"noise": 0.1}}, "quasi column \"age\" has noise"),
    "identifier": ({"name": OUT | {"shuffle": True}}, "identifier column \"name\" has shuffle"),
    "sensitive": ({"ward": {"role": "sensitive", "shuffle": True}}, "sensitive column \"ward\" has shuffle"),
    "both": ({"weight": other(noise=0.1, shuffle=True)}, "has noise and shuffle"),
    "text": ({"ward": other(noise=0.1)}, "\"ward\" is text, and only numbers get noise"),
    "date": ({"came": other(noise=0.1)}, "\"came\" is date, and only numbers get noise"),
    "zero": ({"weight": other(round=0)}, "round must be above 0, not 0"),
    "negative": ({"weight": other(round=-5)}, "round must be above 0, not -5"),
    "no noise": ({"weight": other(noise=0)}, "noise must be above 0 and at most 10, not 0"),
    "round text": ({"ward": other(round=5)}, "\"ward\" is text, and only numbers are rounded"),
    "round date": ({"came": other(round=5)}, "\"came\" is date, and only numbers are rounded"),
    "month": ({"weight": other(round="month")}, "\"weight\" is integer, and only dates are rounded to a month"),
    "day": ({"came": other(round="day")}, "is a date, which rounding to a day would leave"),
    "whole": ({"weight": other(round=0.5)}, "its multiples of 0.5 are no fewer"),
    "word": ({"came": other(round="fortnight")}, "round"),
    "flag": ({"ward": other(shuffle="yes")}, "shuffle must be true or false"),
}  # fmt: skip


@pytest.mark.parametrize(("columns", "words"), REFUSED.values(), ids=list(REFUSED))
def test_changes_that_do_not_fit_are_refused(stays: Database, columns: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        stays.run(policy(**columns))
    [problem] = refusal.value.problems
    assert words in problem.message
    assert problem.hint


def test_what_depends_on_all_records_does_not_go_with_records_that_are_followed(stays: Database) -> None:
    followed = policy(name={"role": "identifier"}, weight=other(noise=0.1), cost=other(round=5))
    with pytest.raises(PolicyError) as refusal:
        stays.run(followed | {"key": "name"})
    assert any('"weight" has noise, and with a key' in problem.message for problem in refusal.value.problems)


def test_methods_that_exchange_nothing_say_so(stays: Database) -> None:
    model = {"le_diversity": {"column": "kind", "l": 2, "e": 1}}
    with pytest.raises(PolicyError, match="le_diversity does not exchange values"):
        stays.run(policy({"algorithm": "le_diversity"}, model, ward=other(shuffle=True)))
    with pytest.raises(PolicyError, match="records of one value are dealt to several classes"):
        stays.run(policy({"algorithm": "mondrian", "strict": False}, ward=other(shuffle=True)))


def test_a_method_that_copies_records_copies_changed_numbers(stays: Database, connection: Connection) -> None:
    model = {"le_diversity": {"column": "kind", "l": 2, "e": 0}}
    kind = {"role": "sensitive", "hierarchy": {"mask": "all"}}
    changed = {"weight": other(noise=0.1), "cost": other(round=5)}
    release = stays.run(policy({"algorithm": "le_diversity"}, model, kind=kind, **changed))
    assert release is not None
    found = rows(connection, "select t.cost, count(*) from share.stays_quasi as t group by 1 order by 1")
    assert [cost for cost, _ in found] == [0, 5, 10]
    assert rows(connection, "select count(distinct t.weight) > 30 from share.stays_quasi as t") == [(True,)]


def test_numbers_too_large_fail_without_being_told(stays: Database, connection: Connection) -> None:
    connection.execute(b"update hospital.stays set dose = 1.7e308 where name = 'P7'")
    with pytest.raises(AnondbError) as refusal:
        stays.run(policy(dose={"role": "other", "noise": 0.3}))
    assert "1.7" not in str(refusal.value)


def test_kept_columns_are_judged_as_they_are_written(stays: Database, connection: Connection) -> None:
    connection.execute(
        b"alter table hospital.stays add salary int; update hospital.stays set salary = substr(name, 2)::int"
    )
    with pytest.raises(PolicyError, match="salary"):
        stays.run(policy(salary={"role": "other"}))
    with pytest.raises(PolicyError, match="salary"):
        stays.run(policy(salary={"role": "other", "shuffle": True}))
    stays.run(policy(salary={"role": "other", "round": 400}))
    assert rows(connection, "select count(distinct s.salary) from share.stays as s") == [(4,)]
