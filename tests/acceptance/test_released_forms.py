"""A run says in which forms it releases: on the terminal, to machines, and in what is kept for its report."""

from __future__ import annotations

from tests.acceptance.clinic import COLUMNS, Clinic, complaint, quasi


def test_a_summary_says_that_a_mean_is_one(clinic: Clinic) -> None:
    age = '{ role = "quasi", hierarchy = { widths = [5, 10] }, release = ["lower", "upper", "mean"] }'
    policy = clinic.policy(COLUMNS | {"age": age})
    done = clinic.cli("run", policy)
    assert (done.returncode, done.stderr) == (0, "")
    told = (
        '"age" is released as the lower end of the range of its class and the upper end of the range of its'
    )
    text = " ".join(done.stdout.split())
    assert told in text
    assert "the mean of its class (microaggregation), which nobody need have." in text
    result = clinic.publish(policy)  # in the place of the first one
    assert result["release"] == {"age": "lower, upper, mean"}
    assert clinic.cli("plan", policy).returncode == 0
    [(low, mean, high)] = clinic.execute(
        "select bool_and(a.age_lower <= a.age_mean), sum(a.age_mean), bool_and(a.age_mean <= a.age_upper)"
        " from share.admissions as a"
    )
    ages = clinic.execute("select sum(a.age) from hospital.admissions as a")
    assert (low, high) == (True, True)
    assert result["suppressed"] or [(mean,)] == ages
    report = clinic.cli("report", str(result["run"]), "--out", "report.html")
    assert report.returncode == 0
    assert "microaggregation" in (clinic.folder / "report.html").read_text(encoding="utf-8")


def test_codes_that_do_not_fit_are_counted_and_not_shown(clinic: Clinic) -> None:
    clinic.execute("update hospital.admissions set zip = case when age < 23 then 'Z90.7' else 'no code' end")
    policy = clinic.policy(COLUMNS | {"zip": quasi('"builtin:icd10"')})
    told = complaint(clinic.cli("run", policy), 2)
    assert 'column "zip": 1 distinct value in 18 records is outside the hierarchy' in told
    assert "no code" not in told
