"""The demo's hospital is a domain like any user's: what depends on what, and how often it occurs."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable
from typing import cast

import pytest

from anondb.api import Database
from anondb.cli.demo import make_admissions
from anondb.hierarchies import csvfile
from tests.acceptance.clinic import Clinic
from tests.conftest import Cli
from tests.documentation import ROOT

EXAMPLE = ROOT / "examples" / "hospital"
DOMAIN = EXAMPLE / "hospital.toml"
IMPOSSIBLE = [
    "a.job = 'Student' and a.age >= 30",
    "a.job = 'Retired' and a.age < 60",
    "a.job <> 'Retired' and a.age >= 67",
    "a.job in ('Professor', 'Surgeon') and a.age < 30",
    "a.diagnosis = 'Childbirth' and (a.sex = 'male' or a.age > 45)",
    "a.diagnosis = 'Hip fracture' and a.age < 60",
    "a.admitted not between '2024-01-01' and '2024-12-31'",
    "a.zip !~ '^47[129][0-3][0-9]$'",
]


@pytest.fixture
def hospital(db: Database) -> Database:
    make_admissions(db, EXAMPLE)
    return db


def test_the_demos_table_is_what_the_command_makes_of_its_domain(hospital: Database, cli: Cli) -> None:
    done = cli("generate", DOMAIN, "--rows", "5000", "--table", "share.same")
    assert (done.returncode, done.stderr) == (0, "")
    difference = """
    (table hospital.admissions except all table share.same)
    union all (table share.same except all table hospital.admissions)
    """
    assert hospital.connection.execute(difference).fetchall() == []
    assert hospital.connection.execute("select count(*) from share.same").fetchall() == [(5000,)]


def test_a_table_of_somebody_else_is_refused_and_stays(clinic: Clinic) -> None:
    with clinic.unchanged(None):
        done = clinic.cli("demo", "--dsn", clinic.dsn)
    assert done.returncode == 2
    assert "the demo has not made it\n  hint: " in done.stderr


@pytest.mark.once
def test_nobody_is_what_cannot_be(db: Database) -> None:
    db.synthetic.generate(DOMAIN, 50_000, "public.many", seed=7)
    for impossible in IMPOSSIBLE:
        query = f"select count(*) from public.many as a where {impossible}"  # noqa: S608
        assert db.connection.execute(query.encode()).fetchall() == [(0,)], impossible


@pytest.mark.once
def test_every_job_has_its_place_in_the_hierarchy_and_each_occurs(hospital: Database) -> None:
    jobs = hospital.connection.execute("select distinct a.job from hospital.admissions as a").fetchall()
    leaves = {row[0] for row in csvfile.read(EXAMPLE / "occupation.csv").rows}
    assert {job for (job,) in jobs} == leaves


@pytest.mark.once
def test_diagnoses_follow_age_and_sex_as_the_file_says(hospital: Database) -> None:
    """A chi-square test for each group, with a fixed seed; the groups are told apart by hand."""
    from scipy.stats import chisquare

    said = tomllib.loads(DOMAIN.read_text(encoding="utf-8"))["attributes"]["diagnosis"]["table"]
    ages = {"youth": range(17, 23), "*": range(23, 46), "middle": range(46, 60), "retiring": range(60, 67)}
    records = hospital.connection.execute("select a.age, a.sex, a.diagnosis from hospital.admissions as a")
    seen: Counter[tuple[str, str, str]] = Counter()
    for age, sex, diagnosis in cast(Iterable[tuple[int, str, str]], records):
        seen[next((group for group, years in ages.items() if age in years), "old"), sex, diagnosis] += 1
    assert {(group, sex) for group, sex, _ in seen} == {(group, sex) for group in said for sex in said[group]}
    for group, sexes in said.items():
        for sex, weights in sexes.items():
            counts = [seen[group, sex, diagnosis] for diagnosis in weights]
            expected = [sum(counts) * weight / sum(weights.values()) for weight in weights.values()]
            assert chisquare(counts, expected).pvalue > 0.001
