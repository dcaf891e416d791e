"""recode = "local" through the command line: what it gives, what it tells, what it refuses."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anondb.api import Database
from anondb.db.connection import Door
from anondb.db.execute import Step
from anondb.run.plan import Options
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


class Slow:
    """Listens to a run, and holds it up after its first way."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.ways = seconds, 0

    def stage(self, name: str) -> None: ...

    def step(self, step: Step) -> None:
        if step.name == "rounds":
            self.ways += 1
            time.sleep(self.seconds)


@pytest.mark.parametrize("algorithm", ["datafly", "optimal"])
def test_what_a_clock_has_cut_while_ways_were_tried_is_not_said_to_be_repeatable(
    clinic: Clinic, algorithm: str
) -> None:
    policy = clinic.policy(method=LOCAL.format(algorithm))

    def done(listener: Slow, limit: float) -> dict[str, Any]:
        with Database(Door(clinic.dsn)) as database:
            found = database.run(policy, options=Options(time_limit=limit), listener=listener).result
        printed = found.as_json()
        assert ("ended by the clock" in found.finding.way(found)[0]) is not printed["repeatable"]
        return printed

    quick, slow = Slow(0), Slow(4)
    assert done(quick, 600)["repeatable"] is True
    assert quick.ways > 1
    assert done(slow, 4)["repeatable"] is False
    assert slow.ways == 1


def test_checks_count_what_the_ways_look_at_too(clinic: Clinic) -> None:
    policy = clinic.policy(method=LOCAL.format("optimal"))
    most = clinic.publish(policy)
    assert "most_checks" not in most
    few = clinic.publish(policy, "--checks", "1")
    assert (few["most_checks"], few["repeatable"]) == (1, True)
    assert few["checks"] < most["checks"]
    assert most["score"] <= few["score"]
    enough = clinic.publish(policy, "--checks", "60")
    assert enough["checks"] <= 60
    again = clinic.publish(policy, "--checks", "60")
    assert (again["rounds"], again["score"]) == (enough["rounds"], enough["score"])


def test_forms_other_than_texts_are_refused_with_the_reason(clinic: Clinic) -> None:
    def written(form: str) -> Path:
        age = f'{{ role = "quasi", hierarchy = {{ start = 0, widths = [5, 10, 20] }}, release = {form} }}'
        return clinic.policy(COLUMNS | {"age": age}, method=LOCAL.format("datafly"))

    for form in ('"midpoint"', '["text", "lower"]'):
        said = complaint(clinic.cli("plan", written(form)), 2)
        assert 'the labels of a class are released as texts: release of "age"' in said
    for form in ('"text"', '["text"]'):
        assert clinic.cli("plan", written(form)).returncode == 0


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
