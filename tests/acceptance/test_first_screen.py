"""The first lines of a run say what is released as it was, how sure a guess is, and what was not looked at."""

from __future__ import annotations

import pytest

from tests.acceptance.clinic import COLUMNS, OTHER, Clinic, quasi

# the share of the most frequent diagnosis in the class that gives away most, by hand
SUREST = """
select max(v.n / v.of)::float8 from (
    select count(*)::numeric as n, sum(count(*)) over (partition by {classes}) as of
    from {release} as r group by {classes}, r.{sensitive}) as v
"""


def surest(clinic: Clinic, release: str, classes: str, sensitive: str) -> float:
    query = SUREST.format(release=release, classes=classes, sensitive=sensitive)  # names of the test's own
    [(share,)] = clinic.connection.execute(query.encode()).fetchall()
    return float(str(share))


@pytest.mark.parametrize("method", ['algorithm = "datafly"', 'algorithm = "mondrian"'])
def test_a_run_tells_what_a_release_shows_and_what_nobody_looked_at(clinic: Clinic, method: str) -> None:
    clinic.execute("alter table hospital.admissions add ward text default 'A'")
    policy = clinic.policy(COLUMNS | {"ward": OTHER}, method=method)
    told = clinic.cli("run", policy).stdout.splitlines()
    found = clinic.publish(policy)
    share = surest(clinic, "share.admissions", "r.age, r.zip", "diagnosis")
    assert found["surest_guess"] == {"diagnosis": pytest.approx(share)}
    assert found["metrics"]["attribute_disclosure_max:diagnosis"] == pytest.approx(share)
    unchanged = [name for name, level in found["levels"].items() if level == 0] + ["diagnosis", "ward"]
    assert found["released_as_is"] == unchanged
    assert found["declared_harmless"] == ["ward"]
    first = told[:8]
    assert f"Released as it was: {', '.join(unchanged)}." in first
    [guess] = [line for line in first if line.startswith("Surest guess: ")]
    assert f"{share:.1%}".replace(".0%", "%") in guess
    assert guess.endswith("no l-diversity was asked for.")
    assert any(line.startswith("Declared harmless: ward") for line in first)
    assert any("other releases" in line for line in first)


def test_where_l_diversity_was_asked_for_it_is_not_missed(clinic: Clinic) -> None:
    privacy = 'k = 3\nl_diversity = { column = "diagnosis", l = 2 }'
    told = clinic.cli("run", clinic.policy(privacy=privacy)).stdout
    assert "Surest guess: " in told
    assert "l-diversity was" not in told


def test_what_was_not_evaluated_is_not_guessed_at(clinic: Clinic) -> None:
    found = clinic.publish(None, "--evaluate", "none")
    assert found["surest_guess"] == {}
    assert found["released_as_is"][-1] == "diagnosis"


def test_of_two_tables_the_guess_is_by_their_common_class(clinic: Clinic) -> None:
    (clinic.folder / "d.csv").write_text(
        "flu;lung;*\nasthma;lung;*\nulcer;gut;*\ngastritis;gut;*\nhiv;virus;*\n"
    )
    clinic.execute(
        "create table hospital.two as select n as age,"
        " (array['flu', 'asthma', 'ulcer', 'gastritis', 'hiv'])[1 + n % 5] as disease"
        " from generate_series(1, 40) as n"
    )
    policy = clinic.policy(
        {"age": '{ role = "quasi" }', "disease": '{ role = "sensitive", hierarchy = { csv = "d.csv" } }'},
        source="hospital.two",
        target="share.two",
        privacy='le_diversity = { column = "disease", l = 2, e = 1 }',
        method='algorithm = "le_diversity"',
    )
    found = clinic.publish(policy)
    share = surest(clinic, "share.two_sensitive", "r.class_id", "disease")
    assert found["surest_guess"] == {"disease": pytest.approx(share)}
    assert share <= 0.5
    assert found["released_as_is"] == ["age", "disease"]


def test_a_column_that_is_generalized_is_not_said_to_be_as_it_was(clinic: Clinic) -> None:
    columns = COLUMNS | {"age": quasi("{ widths = [5], start = 0 }")[:-2] + ", min_level = 1 }"}
    assert clinic.publish(clinic.policy(columns))["released_as_is"] != ["age", "zip", "diagnosis"]
    assert "age" not in clinic.publish(clinic.policy(columns))["released_as_is"]
