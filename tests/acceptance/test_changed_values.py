"""What computing with numbers gives that a release has changed: means, deviations, correlations, before and after."""

from __future__ import annotations

import json
from statistics import correlation, mean, pvariance, stdev
from typing import Any

import pytest

from anondb.api import Database
from anondb.api.release import Release
from anondb.db.connection import Connection
from tests.conftest import Cli

TABLE = """
create table stays as
select i as id, 20 + i % 40 as age, 100 + i * 7 % 90 as weight, (i % 40) * 30 + i % 7 as cost, (i % 50) * 1.5 as score,
       case when i % 9 > 0 then i % 23 end as dose
from generate_series(1, 400) as i
"""
OTHER = {"role": "other", "keep": "identifying"}


def policy(**columns: Any) -> dict[str, Any]:
    left_out = {name: {"role": "identifier"} for name in "id age weight cost score dose".split()}
    return {
        "source": "stays",
        "target": "stays_release",
        "privacy": {"k": 5},
        "method": {"algorithm": "datafly"},
        "columns": left_out | {"age": {"role": "quasi", "hierarchy": {"widths": [10, 20]}}} | columns,
    }


@pytest.fixture
def stays(db: Database, connection: Connection) -> Database:
    connection.execute(TABLE.encode())
    return db


def asked(connection: Connection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query.encode()).fetchall()


def column(connection: Connection, query: str) -> list[float]:
    return [float(value) for (value,) in asked(connection, query)]


def noted(released: Release) -> dict[str, str]:
    return {metric.key: metric.note or "" for metric in released.result.metric_values}


def moved(pairs: list[tuple[float, float]]) -> float:
    return mean((new - old) ** 2 for old, new in pairs) / (2 * pvariance([old for old, _ in pairs]))


def test_means_deviations_and_correlations_are_those_of_source_and_release(
    stays: Database, connection: Connection
) -> None:
    """Noise and rounding beside a copy of the column, so that the release tells how far each value moved."""
    connection.execute(b"alter table stays add c int; update stays set c = cost")
    released = stays.run(
        policy(cost=OTHER | {"noise": 0.3}, c=OTHER, weight=OTHER | {"round": 25}, dose=OTHER)
    )
    figures = released.metrics
    for name in ("cost", "weight"):
        before, after = (
            column(connection, f"select {name} from {table}")  # noqa: S608
            for table in ("stays", "stays_release")
        )
        assert figures[f"value_mean:{name}"] == pytest.approx(mean(after))
        assert figures[f"value_mean_before:{name}"] == pytest.approx(mean(before))
        assert figures[f"value_deviation:{name}"] == pytest.approx(stdev(after))
        assert figures[f"value_deviation_before:{name}"] == pytest.approx(stdev(before))
    both = asked(connection, "select c::float8, cost::float8 from stays_release")
    assert figures["value_loss:cost"] == pytest.approx(moved(both))
    weights = [
        (value, round(value / 25 + 1e-9) * 25.0) for value in column(connection, "select weight from stays")
    ]
    assert figures["value_loss:weight"] == pytest.approx(moved(weights), rel=0.1)
    other = noted(released)["value_correlation:cost"].removeprefix("with ")
    changes: dict[str, tuple[float, float, float]] = {}
    for name in ("c", "weight", "dose"):
        pairs = [
            list(zip(*asked(connection, query), strict=True))
            for query in (
                f"select cost::float8, {name}::float8 from {table} where {name} is not null"  # noqa: S608
                for table in ("stays", "stays_release")
            )
        ]
        of_source, of_release = (correlation(first, second) for first, second in pairs)
        changes[name] = (abs(of_release - of_source), of_source, of_release)
    assert other == max(changes, key=lambda name: changes[name])
    assert figures["value_correlation:cost"] == pytest.approx(changes[other][2])
    assert figures["value_correlation_before:cost"] == pytest.approx(changes[other][1])
    assert "value_mean:c" not in figures


def test_shuffled_values_keep_their_mean_and_lose_what_lies_within_a_class(
    stays: Database, connection: Connection
) -> None:
    figures = stays.run(policy(cost=OTHER | {"shuffle": True})).metrics
    assert figures["value_mean:cost"] == pytest.approx(figures["value_mean_before:cost"])
    rows = asked(connection, "select age, cost::float8 from stays_release")
    classes: dict[str, list[float]] = {}
    for age, cost in rows:
        classes.setdefault(age, []).append(cost)
    within = sum(pvariance(values) * len(values) for values in classes.values())
    expected = within / (pvariance([cost for _, cost in rows]) * len(rows))
    assert figures["value_loss:cost"] == pytest.approx(expected)
    assert 0 < expected < 0.2


def test_means_of_classes_are_told_as_numbers_and_what_is_not_changed_is_not(
    stays: Database, cli: Cli
) -> None:
    ages = {"role": "quasi", "hierarchy": {"widths": [10, 20]}, "release": ["mean", "range"], "min_level": 1}
    released = stays.run(policy(age=ages, cost=OTHER))
    assert released.metrics["value_mean:age_mean"] == pytest.approx(
        released.metrics["value_mean_before:age_mean"]
    )
    assert released.metrics["value_deviation:age_mean"] < released.metrics["value_deviation_before:age_mean"]
    plain = stays.run(policy(cost=OTHER) | {"target": "plain"})
    assert not [name for name in plain.metrics if name.startswith("value_")]
    shown = cli("evaluate", str(released.result.run))
    assert shown.returncode == 0, shown.stderr
    assert "Mean of" in shown.stdout
    assert "with cost" in shown.stdout


def test_two_tables_are_compared_by_their_numbers_and_by_ranges_of_every_form(
    stays: Database, connection: Connection, cli: Cli
) -> None:
    connection.execute(
        b"create table texts as select id, '[' || age / 10 * 10 || ', ' || age / 10 * 10 + 10 || ')' as age,"
        b" cost, round(weight, -1)::int as weight from stays;"
        b"create table ranges as select id, int4range(age / 10 * 10, age / 10 * 10 + 10) as age,"
        b" cost, round(weight, -1)::int as weight from stays;"
        b"create table capped as select id, case when age >= 50 then '50+' else '[20, 50)' end as age from stays;"
        b"create table opened as select id,"
        b" case when age >= 50 then int4range(50, null) else int4range(null, 50) end as age from stays"
    )

    def compared(release: str) -> dict[str, Any]:
        told = cli(
            *("evaluate", "--original", "stays", "--release", release, "--key", "id", "--quasi", "age"),
            "--json",
        )
        assert told.returncode == 0, told.stderr
        answer: dict[str, Any] = json.loads(told.stdout)
        return answer

    texts, ranges = compared("texts")["metrics"], compared("ranges")["metrics"]
    for name in ("gen_iloss", "non_uniform_entropy", "record_linkage_coverage", "value_mean:weight"):
        assert ranges[name] == pytest.approx(texts[name]), name
    weights = asked(
        connection,
        "select s.weight::float8, r.weight::float8 from stays as s join ranges as r using (id)",
    )
    assert ranges["value_loss:weight"] == pytest.approx(moved(weights))
    assert "value_mean:cost" not in ranges
    capped, opened = compared("capped")["metrics"], compared("opened")["metrics"]
    for name in ("gen_iloss", "record_linkage_coverage", "non_uniform_entropy"):
        assert opened[name] == pytest.approx(capped[name], abs=0.02), name
    # the span is 39: 20 to 49 take 30 of it, 50 and more 9
    assert capped["gen_iloss"] == pytest.approx((300 * 30 + 100 * 9) / 400 / 39)
