"""anondb compare tries every combination as a run would, publishes nothing, and says of each what it found."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

from anondb.api import Database
from anondb.cli.demo import make_admissions
from anondb.compare.trial import Setting
from anondb.db.connection import Door
from anondb.db.locks import target_held
from anondb.evaluation.metrics import describe
from anondb.report.words import formatted
from anondb.run.pipeline import Silence
from anondb.run.plan import Options
from tests.acceptance.clinic import COLUMNS, IDENTIFIER, Clinic, complaint
from tests.documentation import ROOT, rows

pytestmark = pytest.mark.once  # trials are runs, which other tests make on every server

EXAMPLE = ROOT / "examples" / "hospital"
ALL = "datafly,incognito,optimal,mondrian"


def compared(clinic: Clinic, *arguments: object, code: int = 0, **environment: str) -> dict[str, Any]:
    """What `anondb compare --json` prints; it changes nothing, and no run is in the history."""
    with clinic.unchanged(None):
        done = clinic.cli("compare", "--json", *map(str, arguments), **environment)
    assert (done.returncode, done.stderr) == (code, "")
    return dict(json.loads(done.stdout))


def lasting(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures that are the same each time."""
    return {
        name: value for name, value in figures.items() if not name.startswith(("seconds", "bytes", "client"))
    }


def test_a_trial_finds_what_a_run_publishes(clinic: Clinic) -> None:
    found = compared(clinic, clinic.policy(), "--algorithms", ALL, "--k", "2,6", "--quasi", "1..2")
    assert len(found["trials"]) == 4 * 2 * 2
    with Database(Door(clinic.dsn)) as database:
        for trial in found["trials"]:
            columns = COLUMNS | ({"zip": IDENTIFIER} if trial["quasi"] == ["age"] else {})
            method, privacy = f'algorithm = "{trial["algorithm"]}"', f"k = {trial['k']}"
            result = database.run(clinic.policy(columns, privacy=privacy, method=method)).result
            figures = trial["figures"]
            assert {name: figures[name] for name in result.all_metrics()} == pytest.approx(
                result.all_metrics()
            )
            assert (trial["levels"], trial["partitioned"]) == (
                result.levels,
                list(result.as_json().get("partitioned", [])),
            )
            assert (figures["checks"], figures["iterations"]) == (
                result.as_json().get("checks"),
                result.as_json().get("iterations"),
            )
            counts = [figures[name] for name in ("records", "released", "suppressed", "classes", "k_reached")]
            assert counts == [24, result.released, result.suppressed, result.classes, result.k]
            assert trial["failure"] is None


def test_the_characteristics_of_a_trial_are_told(clinic: Clinic) -> None:
    """By hand: of the ages in pairs, level 3 leaves two; a zip code goes with every fourth age."""
    [levelled, cut] = compared(clinic, clinic.policy(), "--algorithms", "incognito,mondrian")["trials"]
    assert (levelled["selected"], levelled["levels"]) == ("age 3, zip 0", {"age": 3, "zip": 0})
    figures = levelled["figures"]
    assert (figures["generalizations"], figures["classes"], figures["lattice"]) == (3, 4, 30)
    assert figures["partitioned"] is None
    assert (cut["selected"], cut["figures"]["generalizations"]) == ("cut by age, zip", None)
    assert cut["figures"]["iterations"] >= 2 * cut["figures"]["classes"] - 1
    for trial in (levelled, cut):
        seconds = {n: s for n, s in trial["figures"].items() if n.startswith("seconds_")}
        stages = ["prepare", "encode", "search", "publish", "verify", "evaluate"]
        assert list(seconds) == [f"seconds_{stage}" for stage in stages]
        assert min(seconds.values()) > 0
        measuring = seconds.pop("seconds_evaluate")
        assert trial["figures"]["seconds"] == pytest.approx(sum(seconds.values()), abs=0.001)
        assert measuring > 0.001
        assert trial["figures"]["bytes"] > 0


def test_the_same_comparison_says_the_same_but_for_times(clinic: Clinic) -> None:
    first = compared(clinic, clinic.policy(), "--k", "2,5")
    clinic.execute("update hospital.admissions set age = age where age % 2 = 0")  # the rows lie elsewhere now
    second = compared(clinic, clinic.policy(), "--k", "2,5")
    for one, other in zip(first["trials"], second["trials"], strict=True):
        assert one | {"figures": lasting(one["figures"])} == other | {"figures": lasting(other["figures"])}


def test_full_measures_are_there_when_they_are_asked_for(clinic: Clinic) -> None:
    policy = clinic.policy()
    [basic] = compared(clinic, policy, "--algorithms", "mondrian")["trials"]
    [full] = compared(clinic, policy, "--algorithms", "mondrian", "--evaluate", "full")["trials"]
    assert {"rand", "nmi", "record_linkage_hierarchy"} <= full["figures"].keys() - basic["figures"].keys()


def test_csv_and_report_have_every_trial(clinic: Clinic, tmp_path: Path) -> None:
    arguments = ("--k", "3,99", "--csv", tmp_path / "c.csv", "--report", tmp_path / "c.html")
    found = compared(clinic, clinic.policy(), *arguments)
    lines = list(csv.DictReader(io.StringIO((tmp_path / "c.csv").read_text(encoding="utf-8"))))
    for row, trial in zip(lines, found["trials"], strict=True):
        assert (row["algorithm"], row["k"], row["columns"]) == (
            trial["algorithm"],
            str(trial["k"]),
            "age, zip",
        )
        assert row["failure"] == (trial["failure"] or "")
        for name, value in trial["figures"].items():
            assert row[name] == ("" if value is None else str(value))
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "Algorithms side by side" in page
    assert "k = 99 is larger than the table" in page
    assert "Secretitis" not in page
    assert found["guidance"][0].split(" (")[0] in page


def test_the_table_has_a_line_for_each_trial_and_the_advice(clinic: Clinic) -> None:
    done = clinic.cli("compare", clinic.policy(), "--k", "3,99", "--algorithms", "datafly,mondrian")
    assert (done.returncode, done.stderr) == (0, "")
    head, *lines = done.stdout.splitlines()
    shown = "algorithm k seconds classes suppressed loss risk linkage generalization"
    assert head.split() == shown.split()
    assert [line.split()[:2] for line in lines[:2]] == [["datafly", "3"], ["mondrian", "3"]]
    assert "k = 99 is larger than the table" in lines[2]
    assert "To keep detail: mondrian" in done.stdout


def test_what_cannot_run_is_a_row_with_its_reason(clinic: Clinic) -> None:
    columns = COLUMNS | {"zip": '{ role = "quasi" }'}
    policy = clinic.policy(columns, method='algorithm = "mondrian"')
    trials = compared(clinic, policy, "--quasi", "1,2", "--k", "3")["trials"]
    reason = 'no hierarchy for "zip", and {} needs one'
    assert [trial["failure"] for trial in trials] == [
        None, None, None, reason.format("datafly"), reason.format("incognito"), None,
    ]  # fmt: skip


def test_persons_are_counted_by_those_who_can(clinic: Clinic) -> None:
    policy = clinic.policy(privacy='k = 3\nunit = "name"')
    datafly, mondrian = compared(clinic, policy, "--algorithms", "datafly,mondrian")["trials"]
    assert datafly["figures"]["persons_min"] >= 3
    assert 'a person may have several: "name" is not unique' in mondrian["failure"]


def test_every_failure_alike_is_the_error_of_the_call(clinic: Clinic) -> None:
    with clinic.unchanged(None):
        said = complaint(clinic.cli("compare", clinic.policy(source="hospital.nowhere")), 2)
        assert "hospital.nowhere does not exist" in said
        assert "not named" in complaint(clinic.cli("compare", clinic.policy({"age": COLUMNS["age"]})), 2)


def test_a_comparison_without_any_release_shows_why_and_ends_with_3(clinic: Clinic) -> None:
    found = compared(clinic, clinic.policy(), "--k", "25,26", code=3)
    assert all("larger than the table" in trial["failure"] for trial in found["trials"])
    assert found["guidance"][0].startswith("No combination gave a release.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--algorithms", "mondrain"], 'did you mean "mondrian"'),
        (["--k", "two"], "--k takes whole numbers"),
        (["--k", "0"], "k must be at least 1"),
        (["--quasi", "2..1"], "--quasi takes whole numbers"),
        (["--weights", "lose=1"], 'did you mean "loss"'),
        (["--sizes", "0"], "a size is at least one row"),
        (["--sizes", "25"], "hospital.admissions has 24 rows, and 25 are to be drawn"),
        (["--quasi", "1..3"], "the policy has 2 quasi-identifiers"),
        (["--csv", "nowhere/c.csv"], "nowhere/c.csv: cannot be written"),
        (["--report", "nowhere/c.html"], "nowhere/c.html: cannot be written"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_is_tried(
    clinic: Clinic, arguments: list[str], words: str
) -> None:
    with clinic.unchanged(None):
        assert words in complaint(clinic.cli("compare", clinic.policy(), *arguments), 2)


def test_a_comparison_needs_no_right_but_to_read(clinic: Clinic, new_role: Callable[[], str]) -> None:
    """Neither the target's schema nor the history; the target need not even be possible."""
    role = new_role()
    clinic.execute("grant usage on schema hospital, anondb to {role}", role=role)
    clinic.execute("grant select on hospital.admissions to {role}", role=role)
    clinic.execute(
        "grant select on anondb.install, anondb.secret, anondb.vgh, anondb.vgh_node, anondb.vgh_path to {role}",
        role=role,
    )
    as_role = make_conninfo(clinic.dsn, options=f"-c role={role}")
    for target in ("share.admissions", "nowhere.admissions"):
        found = compared(clinic, clinic.policy(target=target), "--k", "3", ANONDB_DSN=as_role)
        assert [trial["failure"] for trial in found["trials"]] == [None, None, None]


def test_a_comparison_waits_for_nobody_who_holds_the_target(clinic: Clinic) -> None:
    clinic.has_released()
    with target_held(clinic.connection, "share.admissions"), clinic.connection.transaction():
        clinic.execute("lock table share.admissions in access exclusive mode")
        done = clinic.cli("compare", clinic.policy(), "--json", "--k", "3")
    assert (done.returncode, done.stderr) == (0, "")


class Meddler(Silence):
    """Changes the source after the first trial."""

    def __init__(self, clinic: Clinic) -> None:
        self.clinic = clinic
        self.seen: list[str] = []

    def trial(self, setting: Setting, number: int, of: int) -> None:
        self.seen.append(f"{number} of {of}: {setting.algorithm}, {setting.k}")
        if number == 2:
            self.clinic.execute("delete from hospital.admissions where age < 25")


def test_all_trials_see_the_data_of_one_moment(clinic: Clinic) -> None:
    listener = Meddler(clinic)
    with Database(Door(clinic.dsn)) as database:
        found = database.releases.compare(
            clinic.policy(),
            algorithms=["datafly", "mondrian"],
            k=[2, 3],
            options=Options(),
            listener=listener,
        )
    assert listener.seen == [
        "1 of 4: datafly, 2",
        "2 of 4: mondrian, 2",
        "3 of 4: datafly, 3",
        "4 of 4: mondrian, 3",
    ]
    assert clinic.execute("select count(*) from hospital.admissions") == [(14,)]
    frame = found.to_frame()
    assert list(frame["records"]) == [24, 24, 24, 24]
    assert list(frame["algorithm"]) == ["datafly", "mondrian"] * 2


def test_the_documented_comparison_is_the_examples(db: Database) -> None:
    make_admissions(db, EXAMPLE)
    shown = ("classes", "suppressed", "gen_iloss", "prosecutor_mean")
    documented = {(row[0], row[1]): row for row in rows("docs/compare.md", "Which algorithm fits your data")}
    found = db.releases.compare(EXAMPLE / "admissions.toml", k=[50])
    for run in found.runs:
        told = [formatted(run.metrics[name], describe(name).format) for name in shown]
        row = documented[run.algorithm, str(run.k)]
        assert [*row[2:6], row[7]] == [*told, run.selected]


def test_a_guide_tries_all_ways_within_a_budget_and_recommends_one(clinic: Clinic, tmp_path: Path) -> None:
    page = tmp_path / "guide.html"
    found = compared(clinic, clinic.policy(), "--guide", "--budget", 600, "--report", page)
    names = [" ".join(filter(None, (one["algorithm"], one["way"]))) for one in found["trials"]]
    assert names[:3] == ["datafly", "datafly cells", "datafly local"]
    assert {"mondrian by loss", "optimal local"} <= set(names)
    assert not any(one["failure"] for one in found["trials"] if one["way"] == "local")
    losses = [trial["figures"].get("gen_iloss", 1.0) for trial in found["trials"]]
    assert losses[found["recommended"]] <= min(losses) + 0.01
    assert losses.index(min(losses)) in found["front"]
    assert found["guidance"][0].startswith(f"Recommended: {names[found['recommended']]} at k")
    report = page.read_text()
    assert "Risk against loss" in report
    assert "On the Pareto front" in report


def test_no_trial_begins_once_the_budget_is_spent(clinic: Clinic) -> None:
    for seconds, said in (
        ("0.000001", "the budget was spent before"),
        ("0", "the budget is not a time to spend"),
    ):
        done = clinic.cli("compare", str(clinic.policy()), "--guide", "--budget", seconds)
        assert done.returncode == 2
        assert said in done.stderr


def test_rows_are_drawn_by_seed_and_are_those_of_the_source(clinic: Clinic) -> None:
    """All rows give what the table gives; fewer differ by seed, and are the same wherever the rows lie."""
    arguments = ("--algorithms", "mondrian", "--k", "2", "--sizes", "24,12", "--seeds", "3")
    found = compared(clinic, clinic.policy(), *arguments)
    assert [(one["size"], one["seed"]) for one in found["trials"]] == [
        (size, seed) for size in (12, 24) for seed in range(3)
    ]
    [whole] = compared(clinic, clinic.policy(), "--algorithms", "mondrian", "--k", "2")["trials"]
    for one in found["trials"][3:]:
        assert lasting(one["figures"]) == lasting(whole["figures"])
    halves = [one["figures"] for one in found["trials"][:3]]
    assert [figures["records"] for figures in halves] == [12, 12, 12]
    assert len({figures["gen_iloss"] for figures in halves}) > 1
    few, all_rows = found["means"]
    assert few["figures"]["gen_iloss"] == pytest.approx(fmean(figures["gen_iloss"] for figures in halves))
    assert few["deviations"]["gen_iloss"] == pytest.approx(stdev(figures["gen_iloss"] for figures in halves))
    assert set(found["front"]) <= {0, 3}
    assert (few["trials"], all_rows["deviations"]["gen_iloss"]) == ([0, 1, 2], 0)
    clinic.execute("update hospital.admissions set age = age where age % 2 = 0")  # the rows lie elsewhere now
    again = compared(clinic, clinic.policy(), *arguments)
    assert [lasting(one["figures"]) for one in again["trials"]] == [
        lasting(one["figures"]) for one in found["trials"]
    ]


def test_a_size_that_the_table_does_not_have_is_a_row_with_its_reason(clinic: Clinic) -> None:
    trials = compared(clinic, clinic.policy(), "--algorithms", "mondrian", "--k", "2", "--sizes", "12,25")[
        "trials"
    ]
    assert trials[0]["failure"] is None
    assert "has 24 rows" in trials[1]["failure"]


def test_a_person_who_is_one_record_of_the_source_is_one_of_the_drawn_rows(clinic: Clinic) -> None:
    clinic.execute("alter table hospital.admissions add primary key (name)")
    policy = clinic.policy(privacy='k = 2\nunit = "name"')
    [trial] = compared(clinic, policy, "--algorithms", "mondrian", "--sizes", "12")["trials"]
    assert (trial["failure"], trial["figures"]["records"]) == (None, 12)


def test_rows_that_a_rule_hides_are_an_error_and_not_left_out_of_the_draw(
    clinic: Clinic, new_role: Callable[[], str]
) -> None:
    role = new_role()
    clinic.execute("grant usage on schema hospital, anondb to {role}", role=role)
    clinic.execute("grant select on hospital.admissions to {role}", role=role)
    clinic.execute(
        "grant select on anondb.install, anondb.secret, anondb.vgh, anondb.vgh_node, anondb.vgh_path to {role}",
        role=role,
    )
    clinic.execute("alter table hospital.admissions enable row level security")
    clinic.execute("create policy young on hospital.admissions using (age < 28)")
    as_role = make_conninfo(clinic.dsn, options=f"-c role={role}")
    done = clinic.cli("compare", clinic.policy(), "--k", "2", "--sizes", "8", ANONDB_DSN=as_role)
    assert done.returncode != 0
    assert "row" in done.stderr


def test_several_criteria_rank_the_algorithms_together(clinic: Clinic, tmp_path: Path) -> None:
    page = tmp_path / "c.html"
    arguments = ("--k", "2,5", "--sizes", "12,24", "--weights", "loss=3,classes=1", "--report", page)
    found = compared(clinic, clinic.policy(), *arguments)
    assert found["weights"] == {"loss": 0.75, "classes": 0.25}
    scores = [rank["score"] for rank in found["ranking"]]
    assert scores == sorted(scores)
    assert {rank["algorithm"] for rank in found["ranking"]} == {"datafly", "incognito", "mondrian"}
    first = found["ranking"][0]["algorithm"]
    assert found["guidance"][0].startswith(f"Ranked by loss 75% and classes 25%: 1. {first} ")
    assert any(said.startswith("From 12 rows to 24, ") for said in found["guidance"])
    assert "by rows" in page.read_text(encoding="utf-8")


def test_the_table_has_rows_and_deviations(clinic: Clinic) -> None:
    arguments = ("--algorithms", "mondrian", "--k", "2", "--sizes", "12", "--seeds", "2")
    done = clinic.cli("compare", clinic.policy(), *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    head, line, *_ = done.stdout.splitlines()
    assert head.split()[:3] == ["algorithm", "k", "rows"]
    assert line.split()[:3] == ["mondrian", "2", "12"]
    assert "±" in line
