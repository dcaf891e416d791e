"""A lattice whose nodes are too many to keep track of: the best that a number of checks finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from psycopg import sql

from tests.acceptance.clinic import Clinic, complaint

COLUMNS = 14  # of three levels: 4.8 million nodes
HIERARCHY = '{ role = "quasi", hierarchy = { mask = "right" } }'


LETTERS = sql.SQL(
    "chr(97 + ((i % 5) * ({n} + 2) + (hashint4(i * 31 + {n}) & 15) / 13) % 4)"
    " || chr(97 + (hashint4(i * 17 + {n}) & 3)) as {name}"
)


def wide(clinic: Clinic, method: str) -> Path:
    """Records of 14 columns with two letters each, which mostly follow the record's kind."""
    names = [f"c{number}" for number in range(COLUMNS)]
    letters = [LETTERS.format(n=sql.Literal(n), name=sql.Identifier(name)) for n, name in enumerate(names)]
    create = sql.SQL(
        "create table if not exists hospital.wide as select {} from generate_series(1, 300) as i"
    )
    clinic.connection.execute(create.format(sql.SQL(", ").join(letters)))
    return clinic.policy(
        dict.fromkeys(names, HIERARCHY),
        source="hospital.wide",
        target="share.wide",
        privacy="k = 3\nsuppression = 0.1",
        method=method,
    )


def test_the_best_of_so_many_checks_is_released_with_its_gap_and_can_be_repeated(clinic: Clinic) -> None:
    policy = wide(clinic, 'algorithm = "optimal"')
    first = clinic.publish(policy, "--checks", "150")
    assert first["proven"] is False
    assert first["repeatable"] is True
    assert first["most_checks"] == 150
    assert first["checks"] <= 150
    assert first["lattice"] == 3**COLUMNS
    assert 0 <= first["bound"] <= first["score"]
    assert first["gap"] == pytest.approx(first["score"] - first["bound"])
    again = clinic.publish(policy, "--checks", "150")
    assert (again["levels"], again["score"]) == (first["levels"], first["score"])
    watched = [
        name for (name,) in clinic.execute("select s.name from anondb.run_step as s where s.stage = 'search'")
    ]
    assert any("best so far: loss 0." in name for name in watched)
    more = json.loads(clinic.cli("run", policy, "--json", "--checks", "400").stdout)
    assert more["score"] <= first["score"]
    greedy = clinic.has_released(wide(clinic, 'algorithm = "datafly"'))
    assert greedy["metrics"]["gen_iloss"] >= first["score"] - 1e-9


def test_what_a_clock_has_ended_is_not_said_to_be_repeatable(clinic: Clinic) -> None:
    policy = wide(clinic, 'algorithm = "optimal"')
    done = clinic.cli("run", policy, "--json", "--time-limit", "0.8")
    if done.returncode == 0:
        printed = json.loads(done.stdout)
        assert (printed["proven"], printed["repeatable"]) == (False, False)
    else:
        assert "--time-limit" in complaint(done, 3)


@pytest.mark.parametrize(
    ("algorithm", "arguments", "said"),
    [
        ("optimal", ["--checks", "0"], "--checks"),
        ("optimal", ["--checks", "many"], "--checks"),
        ("optimal", ["--time-limit", "0"], "--time-limit"),
        ("datafly", ["--checks", "10"], "datafly goes one way"),
        ("mondrian", ["--checks", "10"], "mondrian looks at no nodes"),
    ],
)
def test_limits_that_mean_nothing_are_refused(
    clinic: Clinic, algorithm: str, arguments: list[str], said: str
) -> None:
    policy = clinic.policy(method=f'algorithm = "{algorithm}"')
    done = clinic.cli("run", policy, *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_seed_that_is_no_number_is_refused(clinic: Clinic) -> None:
    policy = clinic.policy(method='algorithm = "optimal"\nseed = "seven"')
    assert "seed must be a whole number" in complaint(clinic.cli("run", policy), 2)
