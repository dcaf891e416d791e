"""anondb experiment le-diversity: what a user sees, what is left behind, and what comes out on several draws."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from anondb.api import Database
from anondb.errors import UnsatisfiableError, UsageError
from anondb.policy.load import parse
from anondb.study.diversity_experiment import DiversityRequest
from tests.conftest import Cli
from tests.documentation import rows as table_rows
from tests.sql.test_le_diversity import DISEASES

pytestmark = pytest.mark.once  # another server version would say the same

SMALL = DiversityRequest(l=(2, 4), records=(300, 900), fixed_l=3)
OWN = DiversityRequest("patients", ("age", "zip"), "disease", "disease.csv", l=(2, 3), records=(60, 10**6))
_KEPT = (
    "select (select count(*) from anondb.run), (select count(*) from anondb.vgh),"
    " (select count(*) from pg_class where relname like 'anondb_study%')"
)


@pytest.fixture
def patients(db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Database:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disease.csv").write_text(DISEASES)
    names = [line.split(";")[0] for line in DISEASES.splitlines()]
    db.connection.execute("create table patients (name text, age int, zip text, disease text)")
    with db.connection.cursor().copy("copy patients from stdin") as copy:
        for number in range(120):
            copy.write_row((f"p{number}", number % 50, str(number % 7), names[number * 5 // 3 % 8]))
    return db


def test_the_command_tells_its_figures_and_leaves_nothing_behind(
    db: Database, cli: Cli, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="charts come with the extra `report`")
    given = ("--l", "2,4", "--records", "300,900", "--e", "0,1")
    done = cli("experiment", "le-diversity", *given, "--json", "--out", "d.csv", "--report", "d.html")
    assert done.returncode == 0, done.stderr
    study = json.loads(done.stdout)
    assert (study["sensitive"], study["fixed_l"], study["failures"]) == ("education", 3, {})
    settings = [(one["records"], one["l"], one["e"]) for one in study["releases"]]
    assert settings == [(*one, e) for one in ((300, 3), (900, 2), (900, 3), (900, 4)) for e in (0, 1)]
    for one in study["releases"]:
        assert one["loss_sum"] == pytest.approx(one["loss"] * one["records"])
        assert one["suppressed_share"] == one["suppressed"] / one["records"]
        assert one["seconds"] > 0
    with (tmp_path / "d.csv").open() as file:
        assert [int(row["classes"]) for row in csv.DictReader(file)] == [
            r["classes"] for r in study["releases"]
        ]
    page = (tmp_path / "d.html").read_text()
    assert page.count("<svg") == 6
    for title in ("Information loss by l", "Diversity of classes by records", "Time by l", "Time by records"):
        assert title in page
    assert db.connection.execute(_KEPT).fetchone() == (0, 0, 0)
    told = cli("experiment", "le-diversity", *given)
    assert "8 releases of 900 synthetic adults" in told.stdout
    assert "Left out" in told.stdout


def test_the_documented_figures_come_out(db: Database) -> None:
    study = db.diversity_experiment(DiversityRequest(records=(30_000,)))
    documented = [
        row
        for row in table_rows("docs/le_diversity.md", "The source's figures, on your data")
        if row[0].isdigit()
    ]
    assert [row[0] for row in documented] == ["2", "3", "4", "5", "6"]
    for row in documented:
        for place, e in enumerate((0, 1)):
            [found] = [one for one in study.against_l(e) if one.l == int(row[0])]
            left, loss, summed, dot = row[1 + place :: 2]
            assert left == f"{100 * found.suppressed_share:.1f} %"
            assert float(loss) == pytest.approx(found.loss, abs=0.002)
            assert float(summed.replace(",", "")) == pytest.approx(found.loss_sum, rel=0.005)
            assert float(dot) == pytest.approx(found.dot, abs=0.02)


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_keeping_relatives_apart_gains_diversity_and_costs_records_whatever_is_drawn(
    db: Database, seed: int
) -> None:
    study = db.diversity_experiment(DiversityRequest(l=(2, 3, 4, 5), records=(3_000,), seed=seed))
    plain, apart = study.against_l(0), study.against_l(1)
    for without, with_e in zip(plain, apart, strict=True):
        assert with_e.dot > without.dot
        assert with_e.suppressed >= without.suppressed
        assert with_e.loss >= without.loss - 1e-9
    for lower, higher in pairwise(apart):
        assert higher.dot > lower.dot
        assert higher.loss > lower.loss


def test_the_figures_are_those_of_a_run_on_the_same_records(patients: Database) -> None:
    study = patients.diversity_experiment(OWN)
    assert [(one.records, one.l, one.e) for one in study.releases][-2:] == [(120, 3, 0), (120, 3, 1)]
    for one in study.against_l(1):
        result = patients.run(
            parse(f"""
            source = "patients"
            target = "released"
            [privacy]
            suppression = 1
            le_diversity = {{ column = "disease", l = {one.l}, e = 1 }}
            [method]
            algorithm = "le_diversity"
            [columns]
            name = {{ role = "identifier" }}
            age = {{ role = "quasi" }}
            zip = {{ role = "quasi" }}
            disease = {{ role = "sensitive", hierarchy = {{ csv = "disease.csv" }} }}
            """)
        ).result
        assert (one.classes, one.suppressed) == (result.classes, result.suppressed)
        assert one.loss == pytest.approx(result.all_metrics()["information_loss"], abs=0.02)


def test_a_sample_is_as_the_data_is(patients: Database) -> None:
    """Equal records are drawn one by one: else a sample would have all of some and none of others."""
    patients.connection.execute(
        "create table same as select 1 as age, case when i % 4 = 0 then 'flu' else 'cancer' end as disease"
        " from generate_series(1, 1000) as i"
    )
    asked = replace(OWN, table="same", quasi=("age",), l=(2,), fixed_l=2, records=(400,), e=(0.0,))
    [found] = patients.diversity_experiment(asked).releases
    assert found.records == 400
    assert 60 <= found.classes <= 140  # 100, give or take four deviations


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quasi": ()}, "a table needs quasi-identifiers"),
        ({"sensitive": "diseases"}, 'patients has no column "diseases"'),
        ({"sensitive": "age"}, "named twice"),
        ({"table": "nobody"}, "nobody does not exist"),
        ({"l": (1,)}, "l is at least 2"),
        ({"e": (-1.0,)}, "e is at least 0"),
        ({"records": ()}, "nothing to try"),
        ({"l": tuple(range(2, 1000))}, "at most 1,000"),
    ],
)
def test_what_cannot_be_tried_is_refused(patients: Database, change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        patients.diversity_experiment(replace(OWN, **change))  # type: ignore[arg-type]


def test_settings_without_a_release_are_told_and_a_study_of_nothing_else_is_an_error(
    patients: Database,
) -> None:
    study = patients.diversity_experiment(replace(OWN, l=(2, 9)))
    assert [name for name in study.failures if "l = 9" in name] == [
        "120 records, l = 9, e = 0",
        "120 records, l = 9, e = 1",
    ]
    with pytest.raises(UnsatisfiableError, match="no setting has a release"):
        patients.diversity_experiment(replace(OWN, l=(9,), fixed_l=9))
