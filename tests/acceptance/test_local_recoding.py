"""recode = "local" through the command line: what it gives, what it tells, what it refuses."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.acceptance.clinic import COLUMNS, Clinic, complaint

LOCAL = 'algorithm = "{}"\nrecode = "local"'


@pytest.mark.parametrize("algorithm", ["datafly", "optimal"])
def test_rounds_lose_less_than_one_node_and_are_told(clinic: Clinic, algorithm: str) -> None:
    clinic.execute(
        "insert into hospital.admissions select 'x', 25, 'Z9071', 'Mumpox' from generate_series(1, 9)"
    )
    plain = clinic.has_released(clinic.policy(method=f'algorithm = "{algorithm}"'))
    policy = clinic.policy(method=LOCAL.format(algorithm))
    printed = clinic.publish(policy)
    assert printed["recode"] == "local"
    assert printed["score"] < plain["metrics"]["gen_iloss"]
    assert printed["score"] == pytest.approx(printed["metrics"]["gen_iloss"])
    rows = clinic.execute("select a.age, a.zip from share.admissions as a")
    assert sum(one["records"] for one in printed["rounds"]) == len(rows) == printed["released"]
    assert min(Counter(rows).values()) >= 3
    assert ("25", "Z9071") in rows
    assert "round" in clinic.cli("run", policy).stdout
    assert clinic.cli("plan", policy).returncode == 0


def test_a_report_tells_the_rounds(clinic: Clinic) -> None:
    policy = clinic.policy(method=LOCAL.format("datafly"))
    clinic.publish(policy)
    assert clinic.cli("report", "last", "--out", "rounds.html").returncode == 0
    assert "Records were released in" in (clinic.folder / "rounds.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("method", "privacy", "said"),
    [
        (LOCAL.format("optimal") + '\nobjective = "classes"', "k = 3", "know no objective"),
        (LOCAL.format("datafly"), 'k = 3\nsuppress = "mask"', "is left out, and nothing else"),
        (LOCAL.format("optimal"), 'k = 3\nsuppress = "cells"', "is left out, and nothing else"),
        (LOCAL.format("datafly"), 'k = 3\nunit = "name"', "rounds count records"),
        (LOCAL.format("incognito"), "k = 3", "incognito"),
        (LOCAL.format("mondrian"), "k = 3", "mondrian"),
        ('algorithm = "datafly"\nrecode = "regional"', "k = 3", "recode"),
        ('algorithm = "optimal"\nweights = { diagnosis = 2 }', "k = 3", "only quasi-identifiers"),
    ],
)
def test_what_it_cannot_do_is_refused_with_the_reason(
    clinic: Clinic, method: str, privacy: str, said: str
) -> None:
    assert said in complaint(clinic.cli("plan", clinic.policy(method=method, privacy=privacy)), 2)


def test_levels_of_one_node_are_refused(clinic: Clinic) -> None:
    policy = clinic.policy(method=LOCAL.format("datafly"))
    assert "one for each round" in complaint(clinic.cli("run", policy, "--levels", "1,1"), 2)


def test_a_closeness_that_no_release_has_ends_with_code_3(clinic: Clinic) -> None:
    privacy = 'k = 3\nt_closeness = { column = "diagnosis", t = 0.0 }'
    clinic.execute("update hospital.admissions set diagnosis = 'Mumpox' where zip = 'Z9071'")
    columns = COLUMNS | {"zip": '{ role = "quasi", hierarchy = { mask = "right" }, max_level = 0 }'}
    policy = clinic.policy(columns, privacy=privacy, method=LOCAL.format("optimal"))
    complaint(clinic.cli("run", policy), 3)


def test_a_release_keeps_t_closeness_against_its_own_rows(clinic: Clinic) -> None:
    privacy = 'k = 2\nsuppression = 0.5\nt_closeness = { column = "diagnosis", t = 0.34 }'
    printed = clinic.publish(clinic.policy(privacy=privacy, method=LOCAL.format("optimal")))
    assert printed["metrics"]["t_closeness_equal:diagnosis"] <= 0.34 + 1e-9
