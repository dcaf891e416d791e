"""Mondrian through the command line: what it releases, counted and written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.clinic import COLUMNS, IDENTIFIER, OTHER, Clinic, complaint, quasi
from tests.acceptance.test_plan import squeezed

BARE = '{ role = "quasi" }'


def mondrian(clinic: Clinic, columns: dict[str, str], privacy: str, *, strict: bool = True) -> Path:
    policy = clinic.policy(columns, source="hospital.patients", privacy=privacy)
    said = f'"mondrian"\nstrict = {str(strict).lower()}'
    policy.write_text(policy.read_text().replace('"datafly"', said))
    return policy


def test_the_patients_of_the_paper_are_two_classes(clinic: Clinic) -> None:
    """LeFevre et al., figure 2. All three ranges are whole at first, so the first column is cut, at 26."""
    clinic.execute(
        "create table hospital.patients (age int, sex text, zip int, disease text);"
        "insert into hospital.patients values (25, 'Male', 53711, 'Flu'), (25, 'Female', 53712, 'Hepatitis'),"
        " (26, 'Male', 53711, 'Brochitis'), (27, 'Male', 53710, 'Broken Arm'),"
        " (27, 'Female', 53712, 'AIDS'), (28, 'Male', 53711, 'Hang Nail')"
    )
    columns = {"age": BARE, "sex": BARE, "zip": BARE, "disease": OTHER}
    said = clinic.publish(mondrian(clinic, columns, "k = 2"))
    assert (said["levels"], said["classes"], said["iterations"], said["partitioned"]) == ({}, 2, 3, ["age"])
    assert "checks" not in said
    found = clinic.execute("select distinct age, sex, zip from share.admissions order by 1")
    assert found == [
        ("[25, 26]", "{Female, Male}", "[53711, 53712]"),
        ("[27, 28]", "{Female, Male}", "[53710, 53712]"),
    ]


@pytest.mark.parametrize(
    ("k", "labels"), [(2, [("[30, 31]", 2), (None, 2)]), (3, [("*", 4)])], ids=["alone", "with others"]
)
def test_null_is_cut_off_first_and_stays_null_where_it_is_alone(
    clinic: Clinic, k: int, labels: list[tuple[str | None, int]]
) -> None:
    clinic.execute(
        "create table hospital.patients (age numeric(5, 2));"
        "insert into hospital.patients values (30), (null), (31), (null)"
    )
    clinic.publish(mondrian(clinic, {"age": BARE}, f"k = {k}"))
    assert (
        clinic.execute('select age, count(*) from share.admissions group by 1 order by age collate "C"')
        == labels
    )


def test_relaxed_nothing_but_quasi_identifiers_may_be_released(clinic: Clinic) -> None:
    clinic.execute("create table hospital.patients as select i % 3 as age from generate_series(1, 30) as i")
    said = clinic.publish(mondrian(clinic, {"age": BARE}, "k = 5", strict=False))
    assert (said["released"], said["k"] >= 5) == (30, True)


def test_relaxed_the_records_of_the_median_are_dealt_and_keep_what_they_are(clinic: Clinic) -> None:
    """Four of 30 and two of 31: strict, no cut leaves three on both sides; relaxed, one of 30 goes right."""
    clinic.execute(
        "create table hospital.patients (age int, paid numeric, note json, at float8[]);"
        """insert into hospital.patients values (30, 1.0, '{"a":  1}', '{-0}'), (30, 1.00, null, null),"""
        """ (30, 1.0, '{"a":  1}', '{-0}'), (30, 7, '{"b": 1, "b": 2}', '{1e300}'),"""
        """ (31, 1.0, 'null', '{NaN}'), (31, 2, '{}', '{}')"""
    )
    kept = "select paid::text, note::text, at::text from {} order by 1, 2, 3"
    before = clinic.execute(kept.format("hospital.patients"))
    columns = {"age": BARE, "paid": OTHER, "note": OTHER, "at": OTHER}
    assert clinic.publish(mondrian(clinic, columns, "k = 3"))["classes"] == 1
    assert clinic.publish(mondrian(clinic, columns, "k = 3", strict=False))["classes"] == 2
    sizes = clinic.execute('select age, count(*) from share.admissions group by 1 order by age collate "C"')
    assert sizes == [("30", 3), ("[30, 31]", 3)]
    assert clinic.execute(kept.format("share.admissions")) == before


def test_a_class_of_days_is_a_range_and_a_class_of_categories_their_lowest_common_ancestor(
    clinic: Clinic,
) -> None:
    clinic.execute(
        "create table hospital.patients (born date, job text);"
        "insert into hospital.patients values ('2001-02-03', 'surgeon'), ('2001-02-05', 'nurse'),"
        " ('2021-02-05', 'tamer'), ('2022-03-04', 'clown')"
    )
    (clinic.folder / "job.csv").write_text(
        "surgeon;health;person\nclown;circus;person\nnurse;health;person\ntamer;circus;person\n"
    )
    columns = {"born": quasi("{ dates = true }"), "job": quasi('{ csv = "job.csv" }')}
    clinic.publish(mondrian(clinic, columns, "k = 2"))
    assert clinic.execute("select distinct born, job from share.admissions order by 1") == [
        ("[2001-02-03, 2001-02-05]", "health"),
        ("[2021-02-01, 2022-03-31]", "circus"),
    ]


def test_what_is_not_finite_has_no_place_in_a_range(clinic: Clinic) -> None:
    clinic.execute("create table hospital.patients as select unnest(array[1.5, 'nan', 2, 3]::float8[]) as x")
    with clinic.unchanged():
        said = complaint(clinic.cli("run", mondrian(clinic, {"x": BARE}, "k = 2")), 2)
    assert 'column "x" has values that are not finite' in said


def test_strict_is_a_flag_of_mondrian_alone(clinic: Clinic) -> None:
    policy = clinic.policy()
    policy.write_text(policy.read_text().replace('"datafly"', '"datafly"\nstrict = false'))
    assert "datafly does not partition the records" in complaint(clinic.cli("run", policy), 2)
    policy.write_text(policy.read_text().replace('"datafly"\nstrict = false', '"mondrian"\nstrict = 1'))
    assert "strict must be true or false, not 1" in complaint(clinic.cli("run", policy), 2)


@pytest.mark.parametrize("strict", [True, False])
def test_every_statement_of_a_run_is_in_its_plan(clinic: Clinic, strict: bool) -> None:
    clinic.execute("create view hospital.patients as select * from hospital.admissions")
    columns = COLUMNS | {"name": IDENTIFIER, "zip": BARE}
    policy = mondrian(clinic, columns, "k = 6", strict=strict)
    planned = clinic.cli("plan", policy)
    assert (planned.returncode, planned.stderr) == (0, "")
    clinic.publish(policy)
    plan = squeezed(planned.stdout)
    steps = clinic.execute("select s.name, s.sql from anondb.run_step as s where s.stage <> 'prepare'")
    # the second of two tables takes the first's turn, and columns of lower rank have their own statements
    shown = [sql for name, sql in steps if not name.endswith(tuple("23456789"))]
    assert len(shown) > 20
    assert [sql for sql in shown if squeezed(sql) not in plan and "cell1" not in sql] == []
